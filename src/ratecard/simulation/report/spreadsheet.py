"""A simulation as a workbook: every table of the report on a sheet of its own."""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from xlsxwriter import Workbook
from xlsxwriter.exceptions import XlsxWriterException
from xlsxwriter.utility import xl_rowcol_to_cell

from ratecard.simulation.report.about import about_table
from ratecard.simulation.report.breakdown import breakdown, changing_most, heading, sides_table
from ratecard.simulation.report.costs import below_cost_table, exact_margin_table
from ratecard.simulation.report.people import customers_table, disputed_table, uncommon_table, unpriced_table
from ratecard.simulation.report.periods import exact_bridge_table
from ratecard.simulation.report.reasons import attribution_table, untouched_table
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import every_sentence
from ratecard.simulation.report.sheet import MOST_ROWS, Placed, Sheets
from ratecard.simulation.report.table import Column, Table

_SUMMARY, _CHARTS, _GROUPS = "Summary", "Charts", "Groups"
_BY_MODEL = "By model"
# How many models a chart of changes has, and how many rows of a sheet a chart covers.
_MODELS, _CHART_ROWS = 15, 22


def write_spreadsheet(report: Report, path: Path) -> None:
    """The workbook: exact amounts as numbers of 15 digits, and beside those of groups all of their digits as text.

    Totals, changes, shares and the summary are formulas. Groups is a table of the spreadsheet, and charts are its own.
    """
    file = BytesIO()  # where the library cannot fail halfway
    with TemporaryDirectory(prefix="ratecard-") as work:
        workbook = Workbook(file, {"tmpdir": work, "strings_to_formulas": False, "strings_to_urls": False})
        sheets = Sheets(workbook, report.figures)
        for first in (_SUMMARY, _CHARTS):
            sheets.begin(first)
        placed = {
            name: sheets.add(name, table, named=name if name == _GROUPS else "") for name, table in _tables(report)
        }
        _write_summary(sheets, report, placed[_BY_MODEL])
        _write_charts(sheets, report, placed)
        if (failed := _failure(workbook)) is not None:
            raise failed
    path.write_bytes(file.getbuffer())


def _write_summary(sheets: Sheets, report: Report, models: Placed) -> None:
    """Revenue under each side, from the totals of the sheet by model, and every sentence."""
    sentences, table = list(every_sentence(report)), sides_table(report, exact=True)
    first = len(sentences) + 2  # below the sentences, an empty row and the headings
    revenue = [xl_rowcol_to_cell(first + side, 2) for side in range(len(report.names))]
    formulas = {}
    if models.first <= models.last:
        for side, name in enumerate(report.names):
            formulas[side, "Revenue"] = f"={models.total(name)}"
    for side in report.candidates:
        change = xl_rowcol_to_cell(first + side, 3)
        formulas[side, "Change"] = f"={revenue[side]}-{revenue[0]}"
        formulas[side, "%"] = f'=IF({revenue[0]}=0,"",{change}/{revenue[0]})'
    sheets.add(_SUMMARY, table, sentences, formulas=formulas)


def _write_charts(sheets: Sheets, report: Report, placed: Mapping[str, Placed]) -> None:
    """The models that change most under each candidate, and revenue by day, drawn by the spreadsheet itself."""
    sheet, row = sheets.begin(_CHARTS), 0
    if (period := report.period) is not None:
        times = placed[f"By {heading(period).lower()}"]
        if times.first <= times.last:
            sheets.chart(sheet, row, "line", f"Revenue by {period}", times, heading(period), report.names)
            row += _CHART_ROWS
    for candidate in report.candidates:
        name = f"Changes {candidate}" if len(report.candidates) > 1 else "Changes"
        changes = sheets.add(name, changing_most(report, "model", _MODELS, candidate, exact=True))
        if changes.first <= changes.last:
            title = f"Change by model: {report.names[candidate]}"
            sheets.chart(sheet, row, "bar", title, changes, heading("model"), ["Change"])
            row += _CHART_ROWS
    if not row:
        sheet.write_string(0, 0, "There is nothing to draw: no request has a price.")


def _failure(workbook: Workbook) -> OSError | None:
    """Why the parts cannot be put together. No name here outlives the library's error, which holds an open archive."""
    try:
        workbook.close()
    except XlsxWriterException as error:
        return _plain(error)
    return None


def _plain(error: XlsxWriterException) -> OSError:
    cause = error.args[0] if error.args else error
    known = isinstance(cause, OSError) and cause.errno is not None
    return OSError(cause.errno, cause.strerror) if known else OSError(str(error))


def _tables(report: Report) -> Iterator[tuple[str, Table]]:
    simulation = report.simulation
    for key in dict.fromkeys(("model", *simulation.by)):
        yield f"By {heading(key).lower()}", _groups(report, key)
    if len(simulation.by) > 1:
        yield _GROUPS, _groups(report, *simulation.by)
    for candidate in report.candidates:
        number = f" {candidate}" if len(report.candidates) > 1 else ""
        yield f"Attribution{number}", attribution_table(report, candidate, exact=True)
        if (uncommon := uncommon_table(report, candidate, exact=True)).rows:
            yield f"Lost and new{number}", uncommon
        if (customers := report.customers(candidate)) is not None:
            yield f"Winners and losers{number}", customers_table(report, customers, exact=True)
        if report.margin is not None:
            yield f"Below cost{number}", below_cost_table(report, report.margin, candidate, exact=True)
        yield f"Rates without usage{number}", untouched_table(report, candidate)
    if report.margin is not None:
        yield "Margin", exact_margin_table(report, report.margin)
    if report.bridge is not None:
        yield "Bridge", exact_bridge_table(report.bridge)
    yield "Unpriced", unpriced_table(report)
    if simulation.disputed:
        yield "Disputed", disputed_table(report)
    yield "About", about_table(report)


def _groups(report: Report, *keys: str) -> Table:
    """A breakdown; one sentence where it has more rows than a sheet."""
    size = report.simulation.size(*keys)
    if size <= MOST_ROWS:
        return breakdown(report, *keys, exact=True)
    words = f"{report.figures.count(size)} groups are more than a sheet holds; write .csv or .parquet"
    return Table("", (Column("By " + ", ".join(keys)),), ((words,),))
