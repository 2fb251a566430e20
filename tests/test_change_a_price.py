"""The five steps of docs/change-a-price.md, done literally on a copy, and whether the format's page is complete."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from price_change import changed_file
from ratecard import load_rate_card
from ratecard.cli import main
from ratecard.tables.card import Family
from readme_blocks import FORMAT, ROOT
from shipped import CARD

# Keys that the loader writes, not a person.
OWN_KEYS = {"@source", "attributes"}


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A copy of the tables with the change of the page."""
    changed_file(tmp_path / "pricing_tables")
    return tmp_path / "pricing_tables"


def ratecard(command: str) -> str:
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == 0, result.output
    return result.output


def test_the_five_steps_change_a_price_from_its_day_on(changed: Path) -> None:
    step_1 = ratecard("explain ovi-image-to-video")
    step_4 = ratecard(f"check {changed}")
    step_5 = ratecard(f"quote --tables {changed} --at 2027-03-01 --model ovi-image-to-video --json")
    the_day_before = ratecard(f"quote --tables {changed} --at 2027-02-28 --model ovi-image-to-video --json")

    assert "video/ovi.yaml:" in step_1
    assert f"Tables: {changed}\nSound: " in step_4
    assert step_5 == '{"quote":0.25}\n'
    assert the_day_before == ratecard("quote --at 2027-02-28 --model ovi-image-to-video --json") != step_5
    assert load_rate_card(changed).digest != CARD.digest


def test_all_mistakes_of_a_folder_are_told_at_once(changed: Path) -> None:
    file = changed / "video" / "ovi.yaml"
    text = file.read_text(encoding="utf-8").replace("rate: 0.25", "rate: a lot").replace("audio: always", "audio: loud")
    file.write_text(text, encoding="utf-8")

    result = CliRunner().invoke(main, ["check", str(changed)])

    assert result.exit_code == 1
    assert {"rate 'a lot'", "audio 'loud'"} <= set(re.findall(r"\w+ '[^']+'", result.output))


def test_the_page_names_every_key_and_word_of_a_video_table() -> None:
    page = (ROOT / FORMAT).read_text(encoding="utf-8")
    definitions = Family.model_json_schema()["$defs"]
    parts = [definitions[name].get("properties", {}) for name in reached(definitions, "VideoModel")]
    keys = {key for part in parts for key in part} - OWN_KEYS
    values = [part[key] for part in parts for key in ("method", "audio", "megapixels") if key in part]
    words = {word for value in values for word in value.get("enum", [value.get("const")]) if word}

    assert {word for word in keys | words if not re.search(rf"[`{{ ]{re.escape(word)}[`: ,]", page)} == set()


def reached(definitions: dict[str, Any], name: str) -> set[str]:
    """The definitions that one of them refers to, directly or not, itself included."""
    found, left = set[str](), [name]
    while left:
        part = left.pop()
        found.add(part)
        left += set(re.findall(r"#/\$defs/(\w+)", str(definitions[part]))) - found
    return found
