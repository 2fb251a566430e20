"""A report of a draft is that of `simulate`, made in a process of its own while the page answers."""

import asyncio
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from small_usage import DAY, KLING, write_usage

import ratecard
from contract_tables import card_of, contract, write
from ratecard.base.errors import SimulationError
from ratecard.card import load_rate_card
from ratecard.simulation.report.report import Report
from ratecard.simulation.simulate import simulate
from ratecard.whatif.draft import Draft, DraftError, Factor, Head, to_json
from ratecard.whatif.report_process import RecordedUsage, _Steps, main, make, report_of

HEAD = Head("spring", "Pricing", "costs rose")
ROUNDED = Factor("type", ("video",), "1.0725", (), (("model", ("ovi-image-to-video",)),), "up", "0.01")


def made(usage: Path, draft: Draft, digest: str) -> tuple[bytes, list[str]]:
    """Return the page of a draft that a process of its own makes, and what that says meanwhile."""
    said: list[str] = []
    recorded = RecordedUsage((str(usage),), {"columns": {}, "until": "2026-10-06"}, cost="60%")
    content = asyncio.run(report_of(recorded, draft, "spring", digest, ".html", lambda words, _: said.append(words)))
    return content, said


def test_a_report_is_that_of_simulate_and_has_the_name_of_the_candidate(
    tmp_path: Path, card: ratecard.RateCard
) -> None:
    usage, draft = write_usage(tmp_path / "usage.csv"), Draft(DAY, (ROUNDED,), HEAD)
    content, said = made(usage, draft, card.tables.digest_with_contracts)
    page = content.decode()
    file = tmp_path / "spring.yaml"
    file.write_text(draft.text(), encoding="utf-8")
    with simulate(str(usage), DAY, [str(file)], until="2026-10-06", costs="60%") as simulation:
        report = Report(simulation)
        # 0.154 x 1.0725 is 0.165165, and rounded up 0.17: 5 requests of 5 seconds, at 0.85 instead of 0.77.
        change = f"{report.rounded(1) - report.rounded(0):.2f}"
        assert change in page
    assert "spring" in page
    assert "your changes" not in page
    assert said[-1] == "Writing"
    assert any(words.startswith("Reading usage") for words in said)


def task_of(usage: Path, draft: Draft, digest: str, out: Path | None = None, tables: Path | None = None) -> Any:
    """What the process is asked, to be made in this one."""
    return {
        **RecordedUsage((str(usage),), {})._asdict(),
        "tables": tables,
        "out": out,
        "draft": to_json(draft),
        "label": "x",
        "digest": digest,
    }


def test_a_step_tells_how_far_it_is_if_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    steps = _Steps()
    steps.begin("Reading", None)
    steps.tell()
    steps.begin("Writing", lambda: 12.7)
    steps.tell()
    said = capsys.readouterr().out.splitlines()
    assert list(map(json.loads, said)) == [["Reading", None], ["Writing", None], ["Writing", 12]]


def test_a_workbook_is_one(tmp_path: Path, card: ratecard.RateCard) -> None:
    usage, out = write_usage(tmp_path / "usage.csv"), tmp_path / "report.xlsx"
    make(task_of(usage, Draft(DAY, (ROUNDED,)), card.tables.digest_with_contracts, out))
    assert out.read_bytes().startswith(b"PK")


def test_what_cannot_be_made_says_why(
    tmp_path: Path, card: ratecard.RateCard, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage, digest = write_usage(tmp_path / "usage.csv"), card.tables.digest_with_contracts
    with pytest.raises(SimulationError, match=r"usage\.csv"):
        made(tmp_path / "none" / "usage.csv", Draft(DAY, (ROUNDED,)), digest)
    # What that process says is said here of other tasks.
    unchanged = Draft(DAY, (Factor("model", (KLING,), "1"),))
    for draft, tables, words in (
        (Draft(DAY, (ROUNDED,)), "0" * 16, "The tables have changed since the page was opened"),
        (unchanged, digest, "changes nothing: every rate x 1 is the same"),
    ):
        monkeypatch.setattr("sys.stdin", StringIO(json.dumps(task_of(usage, draft, tables))))
        main()
        ((said, _),) = map(json.loads, capsys.readouterr().out.splitlines())
        assert said.startswith("! ") and words in said
    with pytest.raises(DraftError, match="no model 'no-such-model'"):
        make(task_of(usage, Draft(DAY, (Factor("model", ("no-such-model",), "2"),)), digest))


def test_a_report_is_refused_once_a_contract_has_changed(tmp_path: Path) -> None:
    texts = (("20%", "a"), ("30%", "a"), ("20%", "a, b"))
    terms = [contract(f"- {{for: {{type: text}}, percent: -{words}}}", "plain", accounts) for words, accounts in texts]
    digests = {card_of(text).tables.digest_with_contracts for text in terms}
    assert len(digests) == len(texts)
    tables = write(tmp_path / "tables", terms[0])
    opened = card_of(terms[1])
    assert load_rate_card(tables).digest == opened.digest
    draft = Draft(DAY, (Factor("model", ("flat",), "2"),))
    with pytest.raises(SimulationError, match="The tables have changed since the page was opened"):
        make(task_of(tmp_path, draft, opened.tables.digest_with_contracts, tables=tables))
