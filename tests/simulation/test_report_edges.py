"""What a report says where there is little, nothing, or too much to say."""

from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow
import pytest
from babel import Locale

import ratecard
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.report import page
from ratecard.simulation.report import workbook as spreadsheet
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import answer
from reports import simulated

SWAPPED = """
candidate: swapped
effective: 2026-09-30
proposed_by: Pricing
why: a test
changes:
  - set: stable-audio-25
    rate: 0.2
  - set: lyria-3-pro
    rate: 0.09
"""


def test_small_amounts_are_shown_with_six_decimals() -> None:
    row = pyarrow.table({"type": ["rpc"], "network": ["ethereum-mainnet"], "method": ["eth_call"]})
    with ratecard.simulate(row, "2026-10-01", by=["network"]) as simulation:
        report = Report(simulation, locale=Locale("de", "DE"))
        assert report.figures.money(report.rounded(0)).replace("\N{NO-BREAK SPACE}", " ") == "0,000013 $"


def test_rises_and_falls_that_cancel_out_are_said_so(tmp_path: Path) -> None:
    swapped = tmp_path / "swapped.yaml"
    swapped.write_text(SWAPPED, encoding="utf-8")
    songs = pyarrow.table({"type": ["music", "music"], "model": ["stable-audio-25", "lyria-3-pro"]})
    with ratecard.simulate(songs, "2026-10-01", swapped, by=["model"]) as simulation:
        assert simulation.total.difference() == Decimal(0)
        words = "Revenue stays at $0.290000 under swapped: rises and falls cancel out."
        assert answer(Report(simulation), 1) == words


def test_more_groups_than_fit_are_left_to_files_that_hold_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheet, "_MOST_ROWS", 20)
    monkeypatch.setattr(page, "_MOST_ROWS", 5)
    with simulated(tmp_path) as simulation:
        write(Report(simulation), [tmp_path / "report.xlsx", tmp_path / "report.html"])
    book = openpyxl.load_workbook(tmp_path / "report.xlsx")
    assert "groups are more than a sheet holds; write .csv or .parquet" in str(book["Groups"]["A2"].value)
    assert book["By model"].max_row == 1 + 4 + 1
    words = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<summary>By model" in words
    assert "<summary>By day" not in words


def test_a_page_needs_a_candidate(tmp_path: Path) -> None:
    row = pyarrow.table({"type": ["rpc"], "network": ["ethereum-mainnet"], "method": ["eth_call"]})
    with ratecard.simulate(row, "2026-10-01", by=["network"]) as simulation:
        with pytest.raises(SimulationError, match=r"none is given\. Allowed: \.xlsx, \.csv, \.parquet, \.json"):
            simulation.write(tmp_path / "report.csv", tmp_path / "report.html")
        assert not list(tmp_path.iterdir())
        simulation.write(tmp_path / "report.csv")
