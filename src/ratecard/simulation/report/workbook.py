"""The report as a workbook: each table on a sheet, with formulas for totals, changes and shares.

A spreadsheet keeps 15 digits of a number. A cell has those of the exact amount and is shown rounded, so that sums and
pivots of the cells agree in every grouping. Where all digits matter, a further column has them as text.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from xlsxwriter import Workbook
from xlsxwriter.exceptions import XlsxWriterException
from xlsxwriter.utility import xl_rowcol_to_cell

from ratecard.base.money import plain, text
from ratecard.simulation.progress import Progress, silent
from ratecard.simulation.report import tables
from ratecard.simulation.report.figures import CHANGES, Column, Figures, Kind, Table, Value, unlike, written
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import every_sentence

# The rows of a sheet, without its headings and its total.
MOST_SHEET_ROWS = 1_048_576 - 2
_DIGITS = 15
_LEAST_WIDTH, _MOST_WIDTH, _MEASURED = 8, 60, 1_000
# The colours of the page.
_RISE, _FALL = "#1c62a8", "#b4460f"
_NOT_IN_NAMES = str.maketrans("[]:*?/\\", "_______")
_LONGEST_NAME = 31
_SUMMED = (Kind.COUNT, Kind.QUANTITY, Kind.MONEY, *CHANGES)
_FIFTEEN = Context(prec=_DIGITS, rounding=ROUND_HALF_UP)


class Placed(NamedTuple):
    """The place of a table on its sheet: the row of its headings, its first and last row, its columns by number."""

    sheet: str
    top: int
    first: int
    last: int
    columns: Mapping[str, int]

    def cells(self, column: str) -> list[str | int]:
        """Return the cells of a column as a chart names them: sheet, first row, column, last row, column."""
        return [self.sheet, self.first, self.columns[column], self.last, self.columns[column]]

    def total(self, column: str) -> str:
        """Return the cell of a column's total, for a formula of another sheet."""
        name = self.sheet.replace("'", "''")
        return f"'{name}'!{xl_rowcol_to_cell(self.last + 1, self.columns[column], row_abs=True, col_abs=True)}"


class _NoCells(dict[tuple[int, int], str]):
    """A stand-in for the cells that the library keeps to find overlapping tables; a sheet has only one table.

    For a quarter of a million groups they would take 400 MB.
    """

    def __setitem__(self, cell: tuple[int, int], area: str) -> None:
        """Do nothing."""


class Sheets:
    """The sheets of one workbook, with its formats."""

    def __init__(self, workbook: Workbook, figures: Figures) -> None:
        self.workbook, self.figures = workbook, figures
        # The number of rows written so far, and the sheets by what they were called before their names were shortened.
        self.rows, self._sheets = 0, dict[str, Any]()
        before, behind = (f'"{part}"' if part else "" for part in figures.symbol)
        money = f"{before}#,##0.{'0' * figures.places}{behind}"
        numbers = {
            Kind.COUNT: "#,##0",
            Kind.MONEY: money,
            **dict.fromkeys(CHANGES, f"+{money};-{money};{money}"),
            Kind.PERCENT: "+0.00%;-0.00%;0.00%",
            Kind.SHARE: "0.00%",
            Kind.QUANTITY: "#,##0.######",
            Kind.RATE: "0.############",
            Kind.DAY: "yyyy-mm-dd",
        }
        self._formats, self._totals = (
            {kind: workbook.add_format({"num_format": numbers.get(kind, "@"), **look}) for kind in Kind}
            for look in ({}, {"bold": True, "top": 1})
        )
        self._heading = workbook.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})

    def begin(self, name: str) -> Any:
        """Return the sheet of a name; a missing one is added after the others."""
        if name not in self._sheets:
            title = name.translate(_NOT_IN_NAMES)[:_LONGEST_NAME]
            if title.lower() in (sheet.name.lower() for sheet in self._sheets.values()):
                title = f"{title[: _LONGEST_NAME - 5]} {len(self._sheets) + 1}"
            self._sheets[name] = self.workbook.add_worksheet(title)
        return self._sheets[name]

    def add(
        self,
        name: str,
        table: Table,
        above: Sequence[str] = (),
        *,
        named: str = "",
        formulas: Mapping[int, Mapping[str, str]] | None = None,
    ) -> Placed:
        """Add a sheet with a table; `above` are sentences over it.

        `named` makes it a table of the spreadsheet by that name, which pivots need. `formulas` are further computed
        cells, by the number of the row and the heading of the column.
        """
        sheet = self.begin(name)
        for number, sentence in enumerate(above):
            sheet.write_string(number, 0, sentence)
        top = len(above) + 1 if above else 0
        names = unlike((column.name for column in table.columns), str.lower)
        placed = Placed(sheet.name, top, top + 1, top + len(table.rows), {title: at for at, title in enumerate(names)})
        if table.rows and named:
            # The table comes before its rows: its cells must be in memory, and a row leaves it when the next begins.
            sheet.constant_memory, sheet.table_cells = False, _NoCells()
            headings = [{"header": title, "header_format": self._heading} for title in names]
            area = (top, 0, placed.last, len(names) - 1)
            sheet.add_table(*area, {"name": named, "columns": headings, "style": "Table Style Light 1"})
            sheet.constant_memory = True
        elif table.rows:
            sheet.autofilter(top, 0, placed.last, len(names) - 1)
        measured = [*islice(table.rows, _MEASURED), *([table.total] if table.total else [])]
        for number, (name, column) in enumerate(zip(names, table.columns, strict=True)):
            sheet.write_string(top, number, name, self._heading)
            sheet.set_column(number, number, self._width(column, [row[number] for row in measured]))
        sheet.freeze_panes(top + 1, 0)
        for number, row in enumerate(table.rows):
            self._write(sheet, placed.first + number, row, table.columns, self._formats)
            self.rows += 1
            for name, formula in (formulas or {}).get(number, {}).items():
                place = placed.columns[name]
                look = self._formats[table.columns[place].kind]
                sheet.write_formula(placed.first + number, place, formula, look, _cell_value(row[place]))
        if table.total and table.rows:
            self._write(sheet, placed.last + 1, table.total, table.columns, self._totals)
            self._sum(sheet, placed, table.total, table.columns)
        return placed

    def chart(
        self, sheet: Any, row: int, kind: str, title: str, placed: Placed, table: Table, columns: Sequence[str]
    ) -> None:
        """Add a chart of some columns of a table over its first one, at a row of a sheet."""
        chart = self.workbook.add_chart({"type": kind})
        names, *_ = placed.columns
        for column in columns:
            at = [placed.sheet, placed.top, placed.columns[column]]
            series = {"name": at, "categories": placed.cells(names), "values": placed.cells(column)}
            # The preview of a mail or a file manager computes nothing: it draws only values that the chart itself has.
            amounts = [str(_cell_value(values[placed.columns[column]])) or None for values in table.rows]
            drawn = {"categories_data": [values[0] for values in table.rows], "values_data": amounts}
            series |= {"name_data": [column], **drawn}
            signed = {"invert_if_negative": True, "invert_if_negative_color": _FALL, "fill": {"color": _RISE}}
            chart.add_series(series | (signed if kind == "bar" else {}))
        chart.set_title({"name": title, "name_font": {"size": 12}})
        chart.set_size({"width": 960, "height": 400})
        if kind == "bar":
            chart.set_legend({"none": True})
            chart.set_y_axis({"reverse": True, "label_position": "low"})
        else:
            chart.set_legend({"position": "bottom"})
        sheet.insert_chart(row, 0, chart)

    def _write(self, sheet: Any, row: int, values: Sequence[Value], columns: Sequence[Column], formats: Any) -> None:
        # A key of the usage may have the name of an amount. Its column comes first, so the place of the amount wins.
        places = {column.name: number for number, column in enumerate(columns)}
        for number, (value, column) in enumerate(zip(values, columns, strict=True)):
            look = formats[column.kind]
            if column.of and value is not None:
                base_at, part_at = places[column.of], places[column.part] if column.part else number - 1
                base, part = (xl_rowcol_to_cell(row, place) for place in (base_at, part_at))
                if column.kind in (Kind.PERCENT, Kind.SHARE):
                    shown = _share(values[part_at], values[base_at])
                    sheet.write_formula(row, number, f'=IF({base}=0,"",{part}/{base})', look, shown)
                else:
                    sheet.write_formula(row, number, f"={part}-{base}", look, _cell_value(value))
            else:
                self._write_value(sheet, row, number, value, column.kind, look)

    def _write_value(self, sheet: Any, row: int, number: int, value: Value, kind: Kind, look: Any) -> None:
        if value is None:
            sheet.write_blank(row, number, None, look)
        elif isinstance(value, str):
            if kind is Kind.DAY:
                with suppress(ValueError):  # The text of a total, or of rows without a day, stays text.
                    sheet.write_datetime(row, number, date.fromisoformat(value), look)
                    return
            sheet.write_string(row, number, value, look)
        elif kind is Kind.EXACT and not isinstance(value, Fraction):
            sheet.write_string(row, number, text(plain(Decimal(value))), look)
        else:
            sheet.write_number(row, number, _cell_value(value), look)

    def _sum(self, sheet: Any, placed: Placed, total: Sequence[Value], columns: Sequence[Column]) -> None:
        """Write the totals as formulas; the total of a share is one already."""
        for number, (value, column) in enumerate(zip(total, columns, strict=True)):
            if column.kind in _SUMMED and isinstance(value, (int, Decimal, Fraction)):
                cells = ":".join(xl_rowcol_to_cell(row, number) for row in (placed.first, placed.last))
                look = self._totals[column.kind]
                sheet.write_formula(placed.last + 1, number, f"=SUM({cells})", look, _cell_value(value))

    def _width(self, column: Column, values: Iterable[Value]) -> int:
        longest = max((len(written(value, column.kind, self.figures)) for value in values), default=0)
        return max(_LEAST_WIDTH, min(_MOST_WIDTH, max(longest, len(column.name)) + 2))


def _cell_value(value: Value) -> Decimal | str:
    """Round a number to the 15 digits that a cell keeps; empty for other values."""
    if isinstance(value, Fraction):
        return _FIFTEEN.divide(Decimal(value.numerator), Decimal(value.denominator))
    return _FIFTEEN.create_decimal(value) if isinstance(value, (int, Decimal)) else ""


def _share(part: Value, base: Value) -> Decimal | str:
    """Return the value of a share's formula, computed from the values of its cells."""
    if not isinstance(part, Decimal) or not isinstance(base, Decimal) or not base:
        return ""
    return _cell_value(Fraction(part) / Fraction(base))


_SUMMARY, _CHARTS, _GROUPS = "Summary", "Charts", "Groups"
_BY_MODEL = "By model"
# The number of models in a chart of changes, and the rows of a sheet that a chart covers.
_MODELS, _CHART_ROWS = 15, 22


def write_spreadsheet(report: Report, path: Path, progress: Progress = silent) -> None:
    """Write the workbook: exact amounts as numbers of 15 digits; amounts of groups also as text with all digits.

    Totals, changes, shares and the summary are formulas. The groups are a table of the spreadsheet, which also draws
    the charts.
    """
    file = BytesIO()  # In memory, the library cannot fail halfway.
    with TemporaryDirectory(prefix="ratecard-") as work:
        workbook = Workbook(file, {"tmpdir": work, "constant_memory": True})
        try:
            sheets = Sheets(workbook, report.figures)
            groups = max(report.simulation.size(*report.simulation.by), 1)  # The other sheets have few rows.
            progress("Writing", lambda: 100 * sheets.rows / groups)
            _write_sheets(sheets, report)
            if (failed := _failure(workbook)) is not None:
                raise failed
        finally:
            # If a workbook fails, the library leaves the files of its rows open.
            for sheet in workbook.worksheets():
                with suppress(OSError):  # On a full disk, closing a file fails too.
                    sheet.row_data_fh.close()
    path.write_bytes(file.getbuffer())


def _write_sheets(sheets: Sheets, report: Report) -> None:
    # The sentences are made first, from rounded amounts; the exact report then reuses their answers.
    sentences, report = list(every_sentence(report)), report.exactly()
    for first in (_SUMMARY, _CHARTS):
        sheets.begin(first)
    placed = {name: sheets.add(name, table, named=name if name == _GROUPS else "") for name, table in _tables(report)}
    _write_summary(sheets, report, sentences, placed[_BY_MODEL])
    _write_charts(sheets, report, placed)


def _write_summary(sheets: Sheets, report: Report, sentences: Sequence[str], models: Placed) -> None:
    """Write revenue under each side, from the totals of the sheet by model, and every sentence."""
    table = tables.sides_table(report)
    first = len(sentences) + 2  # The rows begin below the sentences, an empty row and the headings.
    revenue = [xl_rowcol_to_cell(first + side, 2) for side in range(len(report.names))]
    formulas = defaultdict[int, dict[str, str]](dict)
    if models.first <= models.last:
        for side, name in enumerate(report.names):
            formulas[side]["Revenue"] = f"={models.total(name)}"
    for side in report.candidates:
        change = xl_rowcol_to_cell(first + side, 3)
        formulas[side]["Change"] = f"={revenue[side]}-{revenue[0]}"
        formulas[side]["%"] = f'=IF({revenue[0]}=0,"",{change}/{revenue[0]})'
    sheets.add(_SUMMARY, table, sentences, formulas=formulas)


def _write_charts(sheets: Sheets, report: Report, placed: Mapping[str, Placed]) -> None:
    """Write the sheet of charts: revenue by period, and the models that change most under each candidate."""
    sheet, row = sheets.begin(_CHARTS), 0
    if (period := report.period) is not None:
        times = placed[f"By {tables.heading(period).lower()}"]
        if times.first <= times.last:
            sheets.chart(sheet, row, "line", f"Revenue by {period}", times, _groups(report, period), report.names)
            row += _CHART_ROWS
    for candidate in report.candidates:
        name = f"Changes {candidate}" if len(report.candidates) > 1 else "Changes"
        table = tables.changing_most(report, "model", _MODELS, candidate)
        changes = sheets.add(name, table)
        if changes.first <= changes.last:
            title = f"Change by model: {report.names[candidate]}"
            sheets.chart(sheet, row, "bar", title, changes, table, ["Change"])
            row += _CHART_ROWS
    if not report.candidates and placed[_BY_MODEL].first <= placed[_BY_MODEL].last:
        table = tables.largest(report, "model", _MODELS)
        sheets.chart(sheet, row, "bar", "Revenue by model", sheets.add("Largest", table), table, ["Current"])
        row += _CHART_ROWS
    if not row:
        sheet.write_string(0, 0, "There is nothing to draw: no request has a price.")


def _failure(workbook: Workbook) -> OSError | None:
    """Close the workbook; return why that fails, without the library's error, which holds an open archive."""
    try:
        workbook.close()
    except XlsxWriterException as error:
        cause = error.args[0] if error.args else error
        known = isinstance(cause, OSError) and cause.errno is not None
        return OSError(cause.errno, cause.strerror) if known else OSError(str(error))
    return None


def _tables(report: Report) -> Iterator[tuple[str, Table]]:
    simulation = report.simulation
    keys = dict.fromkeys(("model", *simulation.by))
    # A column of the usage may be called `Month`.
    names = unlike(f"By {tables.heading(key).lower()}" for key in keys)
    for name, key in zip(names, keys, strict=True):
        yield name, _groups(report, key)
    if len(simulation.by) > 1:
        yield _GROUPS, _groups(report, *simulation.by)
    for candidate in report.candidates:
        number = f" {candidate}" if len(report.candidates) > 1 else ""
        yield f"Attribution{number}", tables.attribution_table(report, candidate)
        if (uncommon := tables.uncommon_table(report, candidate)).rows:
            yield f"Lost and new{number}", uncommon
        if (customers := report.customers(candidate)) is not None:
            yield f"Winners and losers{number}", tables.customers_table(report, customers)
        if report.margin is not None:
            yield f"Below cost{number}", tables.below_cost_table(report, report.margin, candidate)
        yield f"Rates without usage{number}", tables.untouched_table(report, candidate)
    if report.discounts:
        yield "Discounts", tables.discounts_table(report, range(len(report.names)))
    if report.margin is not None:
        yield "Margin", tables.margin_table(report, report.margin, range(len(report.names)))
    if report.expected is not None:
        yield "Expected", tables.expected_table(report, report.expected)
    if report.bridge is not None:
        yield "Bridge", tables.effects_table(report, report.bridge)
        yield "Bridge by model", tables.bridge_table(report, report.bridge)
    yield "Unpriced", tables.unpriced_table(report)
    if simulation.disputed:
        yield "Disputed", tables.disputed_table(report)
    yield "About", tables.about_table(report)


def _groups(report: Report, *keys: str) -> Table:
    """Return a breakdown; a single sentence if it has more rows than a sheet holds."""
    size = report.simulation.size(*keys)
    if size <= MOST_SHEET_ROWS:
        return tables.breakdown(report, *keys)
    words = f"{report.figures.count(size)} groups are more than a sheet holds; write .csv or .parquet"
    return Table("", (Column("By " + ", ".join(keys)),), ((words,),))
