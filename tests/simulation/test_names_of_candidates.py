"""A candidate is called what it calls itself, in every file; its own file is named only where two would be alike."""

import csv
import json
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import openpyxl
import pyarrow.parquet
import pytest

import ratecard
from ratecard.simulation.report.output import WRITERS, write
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import every_sentence
from reports import NOW, files


class Named(NamedTuple):
    """A candidate file and what it calls itself; an empty name is that of a side without a candidate."""

    label: str
    names: tuple[str, ...]


def names_of(*sides: Named) -> tuple[str, ...]:
    found = [Mock(label=side.label, candidates=[Mock(candidate=name) for name in side.names]) for side in sides]
    report = Report.__new__(Report)
    report.simulation = Mock(sides=[Mock(label="each row's own date", candidates=()), *found])
    return report.names[1:]


@pytest.mark.parametrize(
    ("sides", "called"),
    [
        ([Named("proposals/a.yaml", ("spring 2027",))], ("spring 2027",)),
        ([Named("a.yaml+p/b.yaml", ("spring", "sale"))], ("spring+sale",)),
        ([Named("2026-12-01", ()), Named("tables/main", ())], ("2026-12-01", "main")),
        ([Named("a.yaml", ("spring",)), Named("p/b.yaml", ("Spring",))], ("spring (a.yaml)", "Spring (b.yaml)")),
        ([Named("p/a.yaml", ("spring",)), Named("q/a.yaml", ("spring",))], ("p/a.yaml", "q/a.yaml")),
        ([Named("2026-12-01", ()), Named("a.yaml", ("2026-12-01",))], ("2026-12-01", "2026-12-01 (a.yaml)")),
        ([Named("a.yaml", ("Current",))], ("Current (a.yaml)",)),
        ([Named("a.yaml", ("requests",))], ("requests (a.yaml)",)),
        ([Named("a.yaml", ("Customer",))], ("Customer (a.yaml)",)),
        ([Named("a.yaml", ("model",))], ("model (a.yaml)",)),
        ([Named("a.yaml", ("Cached tokens",))], ("Cached tokens (a.yaml)",)),
        # Its cost would be in the column `without cost`.
        ([Named("a.yaml", ("without",))], ("without (a.yaml)",)),
        ([Named("a.yaml", ("current cost",))], ("current cost (a.yaml)",)),
        ([Named("a.yaml", ("x",)), Named("b.yaml", ("x lost",))], ("x", "x lost (b.yaml)")),
        ([Named("a.yaml", ("two\n  lines",))], ("two lines",)),
    ],
)
def test_what_a_candidate_is_called(sides: list[Named], called: tuple[str, ...]) -> None:
    assert names_of(*sides) == called


def test_every_file_has_the_names_of_candidates(tmp_path: Path) -> None:
    table, dearer, cheaper = files(tmp_path)
    paths = [tmp_path / f"report{ending}" for ending in WRITERS]
    with ratecard.simulate(table, NOW, [dearer, cheaper], by=["model", "customer"], costs="60%") as simulation:
        report = Report(simulation)
        write(report, paths)
        words = " ".join(every_sentence(report))
        arrow = {name: simulation.to_arrow(name).column_names for name in ("groups", "customers", "margin")}
    page, book, listed, parquet, document = (path for path in paths)
    sheets = openpyxl.load_workbook(book)
    headings = [str(cell.value) for sheet in sheets for row in sheet.iter_rows() for cell in row if _bold(cell)]
    with listed.open(encoding="utf-8", newline="") as file:
        columns = [*next(csv.reader(file)), *pyarrow.parquet.read_schema(parquet).names]
    found = json.loads(document.read_text(encoding="utf-8"))
    keys = [*found["total"], *found["attribution"], *found["margin"]["total"], *found["groups"][0]]
    html = page.read_text(encoding="utf-8")
    shown = html[: html.index("<h2>All figures</h2>")] + html[html.index("<h2>All figures</h2>") :].split("About")[0]
    for name, file_name in (("dearer text", dearer.name), ("cheaper video", cheaper.name)):
        for text in (words, " ".join(headings), " ".join(columns), " ".join(keys), *map(" ".join, arrow.values())):
            assert name in text
            assert file_name not in text
        assert f"<h2>{name}</h2>" in shown
        # Its lines and its file are named once each, in their own places.
        assert f"under {file_name}" not in shown
    assert [side["name"] for side in found["sides"]] == ["Current", "dearer text", "cheaper video"]


def _bold(cell: object) -> bool:
    return bool(getattr(cell, "font", None) and cell.font.b and getattr(cell, "value", None))  # type: ignore[attr-defined]
