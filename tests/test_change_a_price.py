"""The five steps of pricing_tables/README.md, done literally on a copy, and its refusals, provoked."""

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from ratecard import load_rate_card
from ratecard.doors.cli import main
from ratecard.tables.card import Family
from readme_blocks import ROOT, blocks

PAGE = "pricing_tables/README.md"

# One mistake each, made in the change of the README: what is replaced, by what.
MISTAKES = (
    ("rate: 0.25", "rate: 0,25"),
    ("rate: 0.25", "rate: -0.25"),
    ("effective: 2027-03-01", "effective: 2027-02-30"),
    ("effective: 2027-03-01", "effective: 2025-03-01"),
    ("        source: public model page, 2027-02-20\n", ""),
    ("unit: clip", "unit: clips"),
    ("unit: clip", "unit: video_second"),
    ("duration: [5s]", "duration: [5s, 10 s]"),
    ("audio: always", "sound: always"),
    ("{rate: 0.25}", "{resolution: 720p, rate: 0.25}"),
    ("- {rate: 0.25}", "- {audio: false, rate: 0.25}"),
    ("- {rate: 0.25}", "- {rate: 0.25}\n              - {rate: 0.26}"),
    ("unit: clip", "unit: clip\n            unit: clip"),
    ("total: 0.25", "total: 0.52"),
)


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A copy of the tables with the change of the README."""
    tables = tmp_path / "pricing_tables"
    shutil.copytree(ROOT / "pricing_tables", tables)
    (diff,) = [block.text for block in blocks(PAGE) if block.language == "diff"]
    heading, *lines = diff.splitlines(keepends=True)
    file = tmp_path / heading.removeprefix("--- ").strip()
    before = "".join(line[1:] for line in lines[: next(i for i, line in enumerate(lines) if line[0] == "+")])
    added = "".join(line[1:] for line in lines if line[0] == "+")
    old = file.read_text(encoding="utf-8")
    assert old.count(before) == 1, "the lines around the change are not in the table any more"
    file.write_text(old.replace(before, before + added), encoding="utf-8")
    return tables


def ratecard(command: str) -> str:
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == 0, result.output
    return result.output


def test_the_five_steps_change_a_price_from_its_day_on(changed: Path) -> None:
    before = load_rate_card()
    step_1 = ratecard("explain ovi-image-to-video")
    step_4 = ratecard(f"check {changed}")
    step_5 = ratecard(f"quote --tables {changed} --at 2027-03-01 --model ovi-image-to-video --json")
    the_day_before = ratecard(f"quote --tables {changed} --at 2027-02-28 --model ovi-image-to-video --json")

    assert "video/ovi.yaml:" in step_1
    assert step_4.startswith("Sound: ")
    assert step_5 == '{"quote":0.25}\n'
    assert the_day_before == ratecard("quote --at 2027-02-28 --model ovi-image-to-video --json") != step_5
    assert load_rate_card(changed).digest != before.digest


def refusal(changed: Path, old: str, new: str) -> str:
    """What `ratecard check` prints after one mistake; a fault a line, without what belongs to it."""
    file = changed / "video" / "ovi.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    result = CliRunner().invoke(main, ["check", str(changed)])
    assert result.exit_code == 1, result.output
    return result.stdout


def test_refusals_are_those_of_the_page(changed: Path) -> None:
    sound = (changed / "video" / "ovi.yaml").read_text(encoding="utf-8")
    printed = []
    for old, new in MISTAKES:
        (changed / "video" / "ovi.yaml").write_text(sound, encoding="utf-8")
        printed.append(refusal(changed, old, new))
    shown = [block.text for block in blocks(PAGE) if block.language == "text"]

    assert shown == ["".join(printed)]


def test_every_mistake_is_told_in_one_go(changed: Path) -> None:
    file = changed / "video" / "ovi.yaml"
    text = file.read_text(encoding="utf-8").replace("rate: 0.25", "rate: a lot").replace("audio: always", "audio: loud")
    file.write_text(text, encoding="utf-8")

    result = CliRunner().invoke(main, ["check", str(changed)])

    assert result.exit_code == 1
    assert {"rate 'a lot'", "audio 'loud'"} <= set(re.findall(r"\w+ '[^']+'", result.output))


def test_the_page_names_every_key_and_method_of_a_video_table() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    definitions = Family.model_json_schema()["$defs"]
    video = {name: part for name, part in definitions.items() if name in _reached(definitions, "VideoModel")}
    keys = {key for part in video.values() for key in part.get("properties", {})} - {"@source", "attributes"}
    words = {
        word
        for part in video.values()
        for key in ("method", "mode", "audio", "megapixels")
        for value in [part.get("properties", {}).get(key, {})]
        for word in value.get("enum", [value["const"]] if "const" in value else [])
    }

    assert {word for word in keys | words if not re.search(rf"[`{{ ]{re.escape(word)}[`: ,]", page)} == set()


def _reached(definitions: dict[str, object], name: str) -> set[str]:
    """The definitions that one of them refers to, directly or not."""
    reached, left = set[str](), [name]
    while left:
        part = left.pop()
        reached.add(part)
        left += set(re.findall(r"#/\$defs/(\w+)", str(definitions[part]))) - reached
    return reached
