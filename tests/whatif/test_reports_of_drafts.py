"""A report of a draft is that of `simulate`, made in a process of its own while the page answers."""

import asyncio
from pathlib import Path

import pytest
from small_usage import DAY, KLING, write_usage

import ratecard
from contract_tables import card_of, contract, write
from ratecard.base.errors import SimulationError
from ratecard.card import load_rate_card
from ratecard.simulation.report.report import Report
from ratecard.simulation.simulate import simulate
from ratecard.whatif.draft import Draft, DraftError, Factor, Head, to_json
from ratecard.whatif.report_process import RecordedUsage, make, report_of

HEAD = Head("spring", "Pricing", "costs rose")
ROUNDED = Factor("type", ("video",), "1.0725", (), (("model", ("ovi-image-to-video",)),), "up", "0.01")


def made(
    usage: Path, draft: Draft, digest: str, ending: str = ".html", label: str = "spring"
) -> tuple[bytes, list[str]]:
    said: list[str] = []
    recorded = RecordedUsage((str(usage),), {"columns": {}, "until": "2026-10-06"}, cost="60%")
    content = asyncio.run(report_of(recorded, draft, label, digest, ending, lambda words, _: said.append(words)))
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


def test_a_workbook_is_one(tmp_path: Path, card: ratecard.RateCard) -> None:
    content, _ = made(
        write_usage(tmp_path / "usage.csv"), Draft(DAY, (ROUNDED,)), card.tables.digest_with_contracts, ".xlsx"
    )
    assert content.startswith(b"PK")


def test_what_cannot_be_made_says_why(tmp_path: Path, card: ratecard.RateCard) -> None:
    usage = write_usage(tmp_path / "usage.csv")
    with pytest.raises(SimulationError, match="The tables have changed since the page was opened"):
        made(usage, Draft(DAY, (ROUNDED,)), "0" * 16)
    with pytest.raises(SimulationError, match="changes nothing: every rate x 1 is the same"):
        made(usage, Draft(DAY, (Factor("model", (KLING,), "1"),)), card.tables.digest_with_contracts)
    with pytest.raises(SimulationError, match=r"usage\.csv"):
        made(tmp_path / "none" / "usage.csv", Draft(DAY, (ROUNDED,)), card.tables.digest_with_contracts)


def test_what_is_wrong_in_a_draft_is_the_error_of_its_change(card: ratecard.RateCard) -> None:
    wrong = Draft(DAY, (Factor("model", ("no-such-model",), "2"),))
    task = {
        "tables": None,
        "digest": card.tables.digest_with_contracts,
        "draft": to_json(wrong),
        "label": "x",
        "cost": None,
    }
    with pytest.raises(DraftError, match="no model 'no-such-model'"):
        make(task)


def test_a_report_is_refused_once_a_contract_has_changed(tmp_path: Path) -> None:
    texts = (("20%", "a"), ("30%", "a"), ("20%", "a, b"))
    terms = [contract(f"- {{for: {{type: text}}, percent: -{words}}}", "plain", accounts) for words, accounts in texts]
    digests = {card_of(text).tables.digest_with_contracts for text in terms}
    assert len(digests) == len(texts)
    tables = write(tmp_path / "tables", terms[0])
    opened = card_of(terms[1])
    assert load_rate_card(tables).digest == opened.digest
    draft = to_json(Draft(DAY, (Factor("model", ("flat",), "2"),)))
    task = {"tables": tables, "digest": opened.tables.digest_with_contracts, "draft": draft, "label": "x", "cost": None}
    with pytest.raises(SimulationError, match="The tables have changed since the page was opened"):
        make(task)
