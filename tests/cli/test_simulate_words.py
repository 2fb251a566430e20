"""What `ratecard simulate` says of usage of one day, without days, and of a question that it cannot answer."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ratecard.cli import main

MODEL = "kling-o3-pro-text-to-video"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *words])


@pytest.fixture
def one_day(tmp_path: Path) -> str:
    path = tmp_path / "usage.csv"
    rows = [f"video,{MODEL},2026-10-01T12:00:00Z,{name},{seconds}s" for name, seconds in (("a", 5), ("b", 8))]
    path.write_text("\n".join(("type,model,timestamp,customer,duration", *rows, "")), encoding="utf-8")
    return str(path)


def said(result: Result) -> str:
    return " ".join(result.stdout.split())


def test_a_target_out_of_reach_writes_the_report_and_says_so(one_day: str, tmp_path: Path) -> None:
    candidate, outs = tmp_path / "c.yaml", [tmp_path / f"out{ending}" for ending in (".json", ".html", ".csv")]
    head = "candidate: dearer\neffective: 2026-10-01\nproposed_by: x\nwhy: x\nchanges:\n"
    candidate.write_text(f"{head}  - scale: {{model: {MODEL}}}\n    factor: 1.1\n", encoding="utf-8")
    asked = [one_day, "--candidate", str(candidate), "--until-target", "90%", "--elasticity", "all=-2"]
    result = run(*asked, *(word for out in outs for word in ("--out", str(out))))
    assert result.exit_code == 1
    assert "the target is not reached: volume answers, and a factor of" in result.stderr
    assert all(out.exists() for out in outs)
    assert "volume answers" in json.loads(outs[0].read_text(encoding="utf-8"))["target"]["reason"]
    words = "The target is not reached: volume answers"
    assert words in outs[1].read_text(encoding="utf-8")
    result = run(*asked)
    assert (result.exit_code, words in said(result)) == (1, True)
    result = run(*asked[:3], "--until-target", "5%", "--out", str(outs[0]))
    assert result.exit_code == 0
    assert json.loads(outs[0].read_text(encoding="utf-8"))["target"]["factor"].startswith("1.0")


def test_one_day_is_named_once(one_day: str) -> None:
    words = said(run(one_day))
    assert "a year, at the pace of the only day (2026-10-01, x 365). The usage covers 1 of the 90 days that" in words
    assert "at the pace of the only day" in said(run(one_day, "--pace", "all"))
    assert "covers" not in said(run(one_day, "--pace", "all"))


def test_usage_without_days_says_which_column_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(f"type,model,duration\nvideo,{MODEL},5s\n", encoding="utf-8")
    words = said(run(str(path), "--current", "2026-12-01"))
    assert "cannot be had: the usage has no column 'timestamp'. Name it: --map timestamp=COLUMN." in words
    assert "--by" not in words


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["--by", "month", "--bridge", "2026-09..2026-10"],
            "no request of 2026-09 has a price. The months are:",
        ),
        (
            ["--by", "model", "--volume", "customer:a=-5%"],
            "not grouped by 'customer'. Add it: by=[",
        ),
        (["--volume", "veo=-5%"], "volume of 'veo': no usage of a model, family or type of this name"),
    ],
)
def test_nothing_is_said_before_a_question_is_refused(one_day: str, words: list[str], why: str) -> None:
    result = run(one_day, *words)
    assert (result.exit_code, result.stdout, why in result.stderr) == (1, "", True), result.output
