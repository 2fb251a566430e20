"""A table as a sheet of a workbook: exact numbers under short formats; totals, changes and shares as formulas.

A spreadsheet keeps 15 digits of a number. A cell has those of the exact amount under a format of two places, so that
sums and pivots of the cells agree, whatever they are grouped by. Where all digits matter, they are beside it as text.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from xlsxwriter import Workbook
from xlsxwriter.utility import xl_rowcol_to_cell

from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.table import CHANGES, Column, Kind, Table, Value, written
from ratecard.words.money import plain, text

# The rows of a sheet, without its headings and its total.
MOST_ROWS = 1_048_576 - 2
_DIGITS = 15
_LEAST_WIDTH, _MOST_WIDTH, _MEASURED = 8, 60, 1_000
# The colours of the page.
_RISE, _FALL = "#1c62a8", "#b4460f"
_NOT_IN_NAMES = str.maketrans("[]:*?/\\", "_______")
_LONGEST_NAME = 31
_SUMMED = (Kind.COUNT, Kind.QUANTITY, Kind.MONEY, *CHANGES)
_FIFTEEN = Context(prec=_DIGITS, rounding=ROUND_HALF_UP)


class Placed(NamedTuple):
    """Where a table is on its sheet: the row of its headings, its first and last row, and the number of each column."""

    sheet: str
    top: int
    first: int
    last: int
    columns: Mapping[str, int]

    def cells(self, column: str) -> list[str | int]:
        """The cells of a column as a chart names them: sheet, first row, column, last row, column."""
        return [self.sheet, self.first, self.columns[column], self.last, self.columns[column]]

    def total(self, column: str) -> str:
        """The total of a column, as a formula of another sheet names it."""
        name = self.sheet.replace("'", "''")
        return f"'{name}'!{xl_rowcol_to_cell(self.last + 1, self.columns[column], row_abs=True, col_abs=True)}"


class Sheets:
    """The sheets of one workbook, with its formats."""

    def __init__(self, workbook: Workbook, figures: Figures) -> None:
        self.workbook, self.figures = workbook, figures
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
        """The sheet of a name; a new one comes after those that are there."""
        title = name.translate(_NOT_IN_NAMES)[:_LONGEST_NAME]
        return self.workbook.get_worksheet_by_name(title) or self.workbook.add_worksheet(title)

    def add(
        self,
        name: str,
        table: Table,
        above: Sequence[str] = (),
        *,
        named: str = "",
        formulas: Mapping[tuple[int, str], str] | None = None,
    ) -> Placed:
        """A sheet with a table; `above` are sentences over it.

        `named` makes it a table of the spreadsheet by that name, as pivots want it. `formulas` are further cells that
        are computed, by the number of the row and the heading of the column.
        """
        sheet = self.begin(name)
        for number, sentence in enumerate(above):
            sheet.write_string(number, 0, sentence)
        top = len(above) + 1 if above else 0
        names = _unlike([column.name for column in table.columns])
        for number, heading in enumerate(names):
            sheet.write_string(top, number, heading, self._heading)
            sheet.set_column(number, number, self._width(table, number))
        sheet.freeze_panes(top + 1, 0)
        placed = Placed(sheet.name, top, top + 1, top + len(table.rows), {each: at for at, each in enumerate(names)})
        for number, row in enumerate(table.rows):
            self._write(sheet, placed.first + number, row, table.columns, self._formats)
        for (number, heading), formula in (formulas or {}).items():
            place = placed.columns[heading]
            value, look = table.rows[number][place], self._formats[table.columns[place].kind]
            sheet.write_formula(placed.first + number, place, formula, look, _cell_value(value))
        if table.rows and named:
            headings = [{"header": each, "header_format": self._heading} for each in names]
            area = (top, 0, placed.last, len(names) - 1)
            sheet.add_table(*area, {"name": named, "columns": headings, "style": "Table Style Light 1"})
        elif table.rows:
            sheet.autofilter(top, 0, placed.last, len(names) - 1)
        if table.total and table.rows:
            self._write(sheet, placed.last + 1, table.total, table.columns, self._totals)
            self._sum(sheet, placed, table.total, table.columns)
        return placed

    def chart(
        self, sheet: Any, row: int, kind: str, title: str, placed: Placed, names: str, columns: Sequence[str]
    ) -> None:
        """Draw some columns of a table over another one, at a row of a sheet, as a chart of the spreadsheet."""
        chart = self.workbook.add_chart({"type": kind})
        for column in columns:
            at = [placed.sheet, placed.top, placed.columns[column]]
            series = {"name": at, "categories": placed.cells(names), "values": placed.cells(column)}
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
        # A key of the usage may be called like an amount, and is before it.
        places = {column.name: number for number, column in enumerate(columns)}
        for number, (value, column) in enumerate(zip(values, columns, strict=True)):
            look = formats[column.kind]
            if column.of and value is not None:
                of, taken = places[column.of], places[column.part] if column.part else number - 1
                base, part = (xl_rowcol_to_cell(row, place) for place in (of, taken))
                if column.kind in (Kind.PERCENT, Kind.SHARE):
                    shown = _share(values[taken], values[of])
                    sheet.write_formula(row, number, f'=IF({base}=0,"",{part}/{base})', look, shown)
                else:
                    sheet.write_formula(row, number, f"={part}-{base}", look, _cell_value(value))
            else:
                self._write_value(sheet, row, number, value, column.kind, look)

    def _write_value(self, sheet: Any, row: int, number: int, value: Value, kind: Kind, look: Any) -> None:
        if value is None:
            sheet.write_blank(row, number, None, look)
        elif isinstance(value, str):
            day = _day(value) if kind is Kind.DAY else None
            if day is not None:
                sheet.write_datetime(row, number, day, look)
            else:
                sheet.write_string(row, number, value, look)
        elif kind is Kind.EXACT and not isinstance(value, Fraction):
            sheet.write_string(row, number, text(plain(Decimal(value))), look)
        else:
            sheet.write_number(row, number, _cell_value(value), look)

    def _sum(self, sheet: Any, placed: Placed, total: Sequence[Value], columns: Sequence[Column]) -> None:
        """The totals as formulas; that of a share is one already."""
        for number, (value, column) in enumerate(zip(total, columns, strict=True)):
            if column.kind in _SUMMED and isinstance(value, (int, Decimal, Fraction)):
                cells = ":".join(xl_rowcol_to_cell(row, number) for row in (placed.first, placed.last))
                look = self._totals[column.kind]
                sheet.write_formula(placed.last + 1, number, f"=SUM({cells})", look, _cell_value(value))

    def _width(self, table: Table, number: int) -> int:
        column = table.columns[number]
        rows = (*table.rows[:_MEASURED], *([table.total] if table.total else []))
        longest = max((len(written(row[number], column.kind, self.figures)) for row in rows), default=0)
        return max(_LEAST_WIDTH, min(_MOST_WIDTH, max(longest, len(column.name)) + 2))


def _cell_value(value: Value) -> Decimal | str:
    """A number as a cell keeps it."""
    if isinstance(value, Fraction):
        return _FIFTEEN.divide(Decimal(value.numerator), Decimal(value.denominator))
    return _FIFTEEN.create_decimal(value) if isinstance(value, (int, Decimal)) else ""


def _unlike(names: Sequence[str]) -> list[str]:
    """Headings that differ in more than capital letters, as a spreadsheet wants them: the second gets a number."""
    found: list[str] = []
    for name in names:
        heading, number = name, 1
        while heading.lower() in {each.lower() for each in found}:
            number += 1
            heading = f"{name} {number}"
        found.append(heading)
    return found


def _share(part: Value, base: Value) -> Decimal | str:
    """The value of a formula, from what its cells show."""
    if not isinstance(part, Decimal) or not isinstance(base, Decimal) or not base:
        return ""
    return _cell_value(Fraction(part) / Fraction(base))


def _day(value: str) -> date | None:
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None
