"""A simulation as a workbook: every table of the report on a sheet of its own."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from xlsxwriter import Workbook
from xlsxwriter.exceptions import XlsxWriterException

from ratecard.simulation.report.about import about_table
from ratecard.simulation.report.breakdown import breakdown, heading, sides_table
from ratecard.simulation.report.costs import below_cost_table, margin_table
from ratecard.simulation.report.people import customers_table, disputed_table, uncommon_table, unpriced_table
from ratecard.simulation.report.reasons import attribution_table, untouched_table
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import every_sentence
from ratecard.simulation.report.sheet import MOST_ROWS, Sheets
from ratecard.simulation.report.table import Column, Table


def write_spreadsheet(report: Report, path: Path) -> None:
    """The workbook. Amounts are numbers rounded as on the page, and beside them text with all of their digits."""
    file = BytesIO()  # where the library cannot fail halfway
    with TemporaryDirectory(prefix="ratecard-") as work:
        workbook = Workbook(file, {"tmpdir": work, "strings_to_formulas": False, "strings_to_urls": False})
        sheets = Sheets(workbook, report.figures)
        sheets.add("Summary", sides_table(report), list(every_sentence(report)))
        for name, table in _tables(report):
            sheets.add(name, table)
        if (failed := _failure(workbook)) is not None:
            raise failed
    path.write_bytes(file.getbuffer())


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
        yield "Groups", _groups(report, *simulation.by)
    for candidate in report.candidates:
        number = f" {candidate}" if len(report.candidates) > 1 else ""
        yield f"Attribution{number}", attribution_table(report, candidate)
        if (uncommon := uncommon_table(report, candidate)).rows:
            yield f"Lost and new{number}", uncommon
        if (customers := report.customers(candidate)) is not None:
            yield f"Winners and losers{number}", customers_table(report, customers)
        if report.margin is not None:
            yield f"Below cost{number}", below_cost_table(report, report.margin, candidate)
        yield f"Rates without usage{number}", untouched_table(report, candidate)
    if report.margin is not None:
        yield "Margin", margin_table(report, report.margin)
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
