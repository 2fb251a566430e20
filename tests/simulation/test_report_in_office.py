"""The workbook of a report, computed again by LibreOffice: every formula has the value that was written beside it."""

import shutil
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Question, Report
from ratecard.simulation.result import Simulation
from reports import PERIODS, mixed

OFFICE = shutil.which("soffice") or shutil.which("libreoffice")
pytestmark = pytest.mark.skipif(OFFICE is None, reason="there is no LibreOffice here: soffice is not on the path")
# LibreOffice keeps the values of other programs' files unless it is told to compute them.
ALWAYS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode"><value>0</value></prop>
</item>
</oor:items>
"""


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    with mixed(tmp_path_factory.mktemp("usage"), candidates=2) as found:
        yield found


@pytest.fixture(scope="module")
def books(simulation: Simulation, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Any]:
    """The formulas, the values as they were written, and as LibreOffice computes them from wrong ones."""
    folder = tmp_path_factory.mktemp("office")
    path = folder / "report.xlsx"
    write(Report(simulation, Question(bridge=PERIODS)), [path])
    formulas = openpyxl.load_workbook(path)
    return formulas, openpyxl.load_workbook(path, data_only=True), computed(formulas, folder)


def computed(formulas: Any, folder: Path) -> Any:
    """The values of a workbook that is saved without any: openpyxl writes formulas alone."""
    bare, profile, out = folder / "bare.xlsx", folder / "profile", folder / "out"
    formulas.save(bare)
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(ALWAYS, encoding="utf-8")
    words = [str(OFFICE), f"-env:UserInstallation={profile.as_uri()}", "--headless", "--convert-to", "xlsx"]
    subprocess.run([*words, "--outdir", str(out), str(bare)], check=True, capture_output=True, timeout=300)
    return openpyxl.load_workbook(out / "bare.xlsx", data_only=True)


def test_every_formula_computes_to_what_was_written(books: tuple[Any, Any, Any]) -> None:
    formulas, written, again = books
    seen = 0
    for sheet in formulas:
        for cell in (cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"):
            value, other = written[sheet.title][cell.coordinate].value, again[sheet.title][cell.coordinate].value
            if value in (None, ""):
                assert other in (None, ""), (sheet.title, cell.coordinate, cell.value)
            else:
                assert other == pytest.approx(value, rel=1e-12, abs=1e-12), (sheet.title, cell.coordinate, cell.value)
            seen += 1
    assert seen > 500


def test_the_summary_computes_to_the_exact_totals(simulation: Simulation, books: tuple[Any, Any, Any]) -> None:
    rows = [[cell.value for cell in row] for row in books[2]["Summary"].iter_rows()]
    top = next(number for number, row in enumerate(rows) if row[0] == "Prices")
    for row, amount in zip(rows[top + 1 :], simulation.total.amounts, strict=True):
        assert abs(Decimal(str(row[2])) - amount) < Decimal("1e-9")
