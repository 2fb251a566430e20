"""The files of a report say what the simulation says, digit for digit, and are there whole or not at all."""

import csv
import errno
import gc
import json
import os
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pyarrow.parquet
import pytest
from openpyxl.cell import Cell

from ratecard.base.errors import SimulationError
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.report import output
from ratecard.simulation.report.output import WRITERS, write
from ratecard.simulation.report.report import Question, Report
from ratecard.simulation.report.tornado_page import Swing, write_tornado
from ratecard.simulation.result import Simulation
from reports import CUSTOMERS, fifteen, number_in, simulated, small_disk


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    with simulated(tmp_path_factory.mktemp("usage"), costs="2026-10-01") as found:
        yield found


@pytest.fixture(scope="module")
def report(simulation: Simulation) -> Report:
    return Report(simulation, Question("ratecard simulate usage.parquet"))


@pytest.fixture(scope="module")
def written(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write(report, [folder / f"report{ending}" for ending in WRITERS])
    return folder


@pytest.fixture(scope="module")
def book(written: Path) -> Any:
    """The workbook with the values of its cells; no test changes it."""
    return openpyxl.load_workbook(written / "report.xlsx", data_only=True)


@pytest.fixture(scope="module")
def formulas(written: Path) -> Any:
    """The workbook with the formulas of its cells; no test changes it."""
    return openpyxl.load_workbook(written / "report.xlsx")


def test_csv_has_every_group_with_all_digits(simulation: Simulation, written: Path) -> None:
    with (written / "report.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(simulation.groups) > 100
    for row, group in zip(sorted(rows, key=_key_of), sorted(simulation.groups, key=_sortable), strict=True):
        assert row["requests"] == str(group.requests)
        assert [Decimal(row[name]) for name in QUANTITY_NAMES] == list(group.quantities)
        assert [Decimal(row[name]) for name in ("current", "dearer text")] == list(group.amounts)
        assert Decimal(row["dearer text difference"]) == group.difference()
        assert f"{Decimal(row['dearer text percent'] or 0):+}%" == (group.percent() or "+0%").replace(
            "-0%", "+0%"
        ).replace("<", "")
        assert "E" not in "".join(row[name] for name in ("current", "dearer text", "dearer text difference"))


def test_csv_runs_nothing_in_a_spreadsheet(written: Path) -> None:
    with (written / "report.csv").open(encoding="utf-8", newline="") as file:
        names = {row["customer"] for row in csv.DictReader(file)}
    assert not [name for name in names if name.startswith(("=", "+", "-", "@"))]
    assert names == {f"'{name}" if name and name[0] in "=+-@" else name or "" for name in CUSTOMERS}


def test_csv_of_a_tornado_runs_nothing_in_a_spreadsheet(report: Report, tmp_path: Path) -> None:
    swings = [Swing("=1+1", Decimal(2), Decimal(-1), None, "@why")]
    write_tornado(report, Fraction(1, 2), swings, tmp_path / "tornado.csv")
    assert (tmp_path / "tornado.csv").read_text(encoding="utf-8").splitlines()[1] == "'=1+1,2,-1,,'@why"


def test_json_of_a_tornado_can_be_read_by_a_person(report: Report, tmp_path: Path) -> None:
    write_tornado(report, Fraction(1, 2), [Swing("Élan", Decimal(2), None, None, "")], tmp_path / "tornado.json")
    assert '"family": "Élan"' in (tmp_path / "tornado.json").read_text(encoding="utf-8")


def test_parquet_has_decimals_and_names_as_they_are(simulation: Simulation, written: Path) -> None:
    table = pyarrow.parquet.read_table(written / "report.parquet")
    assert str(table.schema.field("current").type).startswith("decimal128(38,")
    found = {
        (
            tuple(row[key] for key in simulation.by),
            row["requests"],
            row["current"],
            row["dearer text"],
            row["dearer text difference"],
        )
        for row in table.to_pylist()
    }
    assert found == {(row.key, row.requests, *row.amounts, row.difference()) for row in simulation.groups}


def test_json_has_the_whole_result(simulation: Simulation, written: Path) -> None:
    found = json.loads((written / "report.json").read_text(encoding="utf-8"), parse_float=_no_float)
    assert (found["rows"], found["priced"]) == (240, 234)
    assert [each["rows"] for each in found["unpriced"]] == [6]
    assert found["command"] == "ratecard simulate usage.parquet"
    assert [Decimal(found["total"][name]) for name in ("current", "dearer text")] == list(simulation.total.amounts)
    assert [side["digest"] for side in found["sides"]] == [side.card.digest for side in simulation.sides]
    parts = [Decimal(part["amount"]) for part in found["attribution"]["dearer text"]]
    assert sum(parts) == simulation.total.difference()
    assert {(row["model"], row["day"], row["customer"], Decimal(row["current"])) for row in found["groups"]} == {
        (*row.key, row.amounts[0]) for row in simulation.groups
    }


def test_charts_have_the_values_that_they_draw(book: Any, formulas: Any) -> None:
    """A preview of a mail computes no cells: it draws what a chart itself has."""
    charts = formulas["Charts"]._charts
    assert len(charts) == 2
    for chart in charts:
        for series in chart.series:
            name, names, amounts = series.tx.strRef, series.cat.strRef, series.val.numRef
            for reference, cached in ((name, name.strCache), (names, names.strCache), (amounts, amounts.numCache)):
                sheet, _, area = reference.f.rpartition("!")
                cells = book[sheet.strip("'")][area.replace("$", "")]
                flat = [cells] if isinstance(cells, Cell) else [row[0] for row in cells]
                shown = [number_in(cell.value) if reference is amounts else _named(cell.value) for cell in flat]
                drawn = [number_in(point.v) if reference is amounts else point.v for point in cached.pt]
                assert drawn == shown


def _named(value: object) -> str:
    return value.date().isoformat() if isinstance(value, datetime) else str(value)


def test_the_totals_of_the_sheets_are_what_their_formulas_say(
    simulation: Simulation, report: Report, book: Any, formulas: Any
) -> None:
    assert book.sheetnames == [
        *("Summary", "Charts", "By model", "By day", "By customer", "Groups", "Attribution", "Winners and losers"),
        *("Below cost", "Rates without usage", "Margin", "Unpriced", "About", "Changes"),
    ]
    candidate = report.names[1]
    for name in ("By model", "By day", "By customer", "Groups"):
        sheet, written_as = book[name], formulas[name]
        columns = [cell.value for cell in sheet[1]]
        last = sheet.max_row
        for heading in ("Requests", "Uncached tokens", "Current", candidate, "Change"):
            number = columns.index(heading) + 1
            letter = sheet.cell(1, number).column_letter
            assert written_as.cell(last, number).value == f"=SUM({letter}2:{letter}{last - 1})"
            if heading in ("Requests", "Uncached tokens"):  # all amounts are compared in test_workbook_amounts.py
                cells = [number_in(sheet.cell(row, number).value) for row in range(2, last)]
                assert sum(cells) == number_in(sheet.cell(last, number).value), (name, heading)
        share, change, current, new = (columns.index(each) + 1 for each in ("%", "Change", "Current", candidate))
        for row in range(2, last + 1):
            base = sheet.cell(row, current).value
            shown = sheet.cell(row, share).value
            if row < last:
                cells = [sheet.cell(row, column).coordinate for column in (new, current)]
                assert written_as.cell(row, change).value == "={}-{}".format(*cells)
            assert written_as.cell(row, share).value.startswith("=IF(")
            assert (
                shown == "" or shown is None
                if not base
                else shown == pytest.approx(sheet.cell(row, change).value / base)
            )
        assert sheet.freeze_panes == "A2"
        assert sheet.auto_filter.ref or sheet.tables
    assert book["Groups"].tables["Groups"].ref == f"A1:Q{len(simulation.groups) + 1}"


def test_the_summary_and_the_charts_refer_to_the_sheets(
    simulation: Simulation, written: Path, book: Any, formulas: Any
) -> None:
    cells = [[cell.value for cell in row] for row in formulas["Summary"].iter_rows()]
    top = next(number for number, row in enumerate(cells) if row[0] == "Prices")
    total = formulas["By model"].max_row
    column = {cell.value: cell.column_letter for cell in formulas["By model"][1]}
    assert [row[2] for row in cells[top + 1 :]] == [
        f"='By model'!${column[name]}${total}" for name in ("Current", "dearer text")
    ]
    assert cells[top + 2][3:5] == [f"=C{top + 3}-C{top + 2}", f'=IF(C{top + 2}=0,"",D{top + 3}/C{top + 2})']
    assert number_in(book["Summary"].cell(top + 3, 4).value) == fifteen(simulation.total.difference())
    with ZipFile(written / "report.xlsx") as file:
        charts = [file.read(name).decode() for name in file.namelist() if name.startswith("xl/charts/chart")]
    assert len(charts) == 2
    assert "<c:lineChart>" in charts[0]
    assert "'By day'!$A$2:$A$" in charts[0]
    assert "<c:barChart>" in charts[1]
    assert "Changes!$" in charts[1]


def test_the_sheets_have_dates_formats_and_every_digit_as_text(simulation: Simulation, book: Any) -> None:
    groups, columns = book["Groups"], [cell.value for cell in book["Groups"][1]]
    assert isinstance(groups.cell(2, columns.index("Day") + 1).value, datetime)
    assert "#,##0.00" in groups.cell(2, columns.index("Current") + 1).number_format
    exact = [columns.index(name) + 1 for name in ("Current, exact", "dearer text, exact")]
    for number, row in enumerate(simulation.groups, 2):
        assert [Decimal(str(groups.cell(number, place).value)) for place in exact] == list(row.amounts)
        assert groups.cell(number, columns.index("Day") + 1).value.date() == date.fromisoformat(row.key[1] or "")
    assert {cell.data_type for row in groups.iter_rows(min_row=2, max_col=3) for cell in row} <= {"s", "d"}


def test_a_disk_that_is_full_leaves_what_was_there(report: Report, tmp_path: Path) -> None:
    for ending in WRITERS:
        target = tmp_path / f"report{ending}"
        target.write_text("before", encoding="utf-8")
        with (
            small_disk(),
            pytest.raises(SimulationError, match=r"report\S+ cannot be written: .*No report is written"),
        ):
            write(report, [target])
        assert target.read_text(encoding="utf-8") == "before"
        assert [path.name for path in tmp_path.iterdir()] == [target.name]
        target.unlink()


def test_a_workbook_that_fails_leaves_no_open_archive_to_the_collector(report: Report, tmp_path: Path) -> None:
    """The collector may close the file below an archive before the archive, which then complains in another's test."""
    gc.collect()
    gc.disable()
    try:
        with small_disk(), pytest.raises(SimulationError, match=r"report.xlsx cannot be written"):
            write(report, [tmp_path / "report.xlsx"])
        assert not [found for found in gc.get_objects() if isinstance(found, ZipFile) and found.mode == "w"]
    finally:
        gc.enable()


def test_a_file_that_fails_takes_back_those_before_it(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Report, path: Path) -> None:
        path.write_text("half", encoding="utf-8")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(output, "WRITERS", {**WRITERS, ".html": fails})
    with pytest.raises(SimulationError, match=r"page.html cannot be written: No space left on device"):
        write(report, [tmp_path / "groups.csv", tmp_path / "page.html"])
    assert not list(tmp_path.iterdir())


def _no_float(digits: str) -> None:
    raise AssertionError(f"{digits} is a number, not text")


def _key_of(row: dict[str, str]) -> tuple[str, ...]:
    name = row["customer"]
    return (row["model"], row["day"], name[1:] if name.startswith("'") else name)


def _sortable(row: Any) -> tuple[str, ...]:
    return tuple(key or "" for key in row.key)
