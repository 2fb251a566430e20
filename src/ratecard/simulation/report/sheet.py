"""A table as a sheet of a workbook: numbers with formats, totals and percentages as formulas with their values.

A spreadsheet keeps 15 digits of a number, so that an amount stands there rounded as it is shown; the cells of a column
add up to the total shown. What has more digits than 15 is written as text.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.utility import xl_rowcol_to_cell

from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.table import Column, Kind, Table, Value, written
from ratecard.words.money import from_fraction, plain, text

# The rows of a sheet, without its headings and its total.
MOST_ROWS = 1_048_576 - 2
_DIGITS = 15
_SHARE_PLACES = 12
_LEAST_WIDTH, _MOST_WIDTH, _MEASURED = 8, 60, 1_000
_NOT_IN_NAMES = str.maketrans("[]:*?/\\", "_______")
_LONGEST_NAME = 31
_SUMMED = (Kind.COUNT, Kind.MONEY, Kind.CHANGE)


class Sheets:
    """The sheets of one workbook, with its formats."""

    def __init__(self, workbook: Workbook, figures: Figures) -> None:
        self.workbook, self.figures = workbook, figures
        before, behind = (f'"{part}"' if part else "" for part in figures.symbol)
        money = f"{before}#,##0.{'0' * figures.places}{behind}"
        numbers = {
            Kind.COUNT: "#,##0",
            Kind.MONEY: money,
            Kind.CHANGE: f"+{money};-{money};{money}",
            Kind.PERCENT: "+0.00%;-0.00%;0.00%",
            Kind.RATE: "0.############",
            Kind.DAY: "yyyy-mm-dd",
        }
        self._formats, self._totals = (
            {kind: workbook.add_format({"num_format": numbers.get(kind, "@"), **look}) for kind in Kind}
            for look in ({}, {"bold": True, "top": 1})
        )
        self._heading = workbook.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})

    def add(self, name: str, table: Table, above: Sequence[str] = ()) -> None:
        """A sheet with a table; `above` are sentences over it."""
        sheet = self.workbook.add_worksheet(name.translate(_NOT_IN_NAMES)[:_LONGEST_NAME])
        for number, sentence in enumerate(above):
            sheet.write_string(number, 0, sentence)
        top = len(above) + 1 if above else 0
        for number, column in enumerate(table.columns):
            sheet.write_string(top, number, column.name, self._heading)
            sheet.set_column(number, number, self._width(table, number))
        sheet.freeze_panes(top + 1, 0)
        for number, row in enumerate(table.rows, top + 1):
            self._write(sheet, number, row, table.columns, self._formats)
        last = top + len(table.rows)
        if table.rows:
            sheet.autofilter(top, 0, last, len(table.columns) - 1)
        if table.total and table.rows:
            self._write(sheet, last + 1, table.total, table.columns, self._totals)
            self._sum(sheet, top + 1, last, table.total, table.columns)

    def _write(self, sheet: Any, row: int, values: Sequence[Value], columns: Sequence[Column], formats: Any) -> None:
        names = [column.name for column in columns]
        for number, (value, column) in enumerate(zip(values, columns, strict=True)):
            look = formats[column.kind]
            if column.of and value is not None:
                base, part = (xl_rowcol_to_cell(row, place) for place in (names.index(column.of), number - 1))
                shown = _share(values[number - 1], values[names.index(column.of)])
                sheet.write_formula(row, number, f'=IF({base}=0,"",{part}/{base})', look, shown)
            else:
                self._write_value(sheet, row, number, value, column.kind, look)

    def _write_value(self, sheet: Any, row: int, number: int, value: Value, kind: Kind, look: Any) -> None:
        if isinstance(value, Fraction):
            value = from_fraction(value, _SHARE_PLACES)
        if value is None:
            sheet.write_blank(row, number, None, look)
        elif isinstance(value, str):
            day = _day(value) if kind is Kind.DAY else None
            if day is not None:
                sheet.write_datetime(row, number, day, look)
            else:
                sheet.write_string(row, number, value, look)
        elif kind is Kind.EXACT or len(plain(Decimal(value)).as_tuple().digits) > _DIGITS:
            sheet.write_string(row, number, text(plain(Decimal(value))), look)
        else:
            sheet.write_number(row, number, value, look)

    def _sum(self, sheet: Any, first: int, last: int, total: Sequence[Value], columns: Sequence[Column]) -> None:
        """The totals as formulas; that of a share is one already."""
        for number, (value, column) in enumerate(zip(total, columns, strict=True)):
            if column.kind in _SUMMED and isinstance(value, (int, Decimal)):
                cells = ":".join(xl_rowcol_to_cell(row, number) for row in (first, last))
                sheet.write_formula(
                    last + 1, number, f"=SUM({cells})", self._totals[column.kind], plain(Decimal(value))
                )

    def _width(self, table: Table, number: int) -> int:
        column = table.columns[number]
        rows = (*table.rows[:_MEASURED], *([table.total] if table.total else []))
        longest = max((len(written(row[number], column.kind, self.figures)) for row in rows), default=0)
        return max(_LEAST_WIDTH, min(_MOST_WIDTH, max(longest, len(column.name)) + 2))


def _share(part: Value, base: Value) -> Decimal | str:
    """The value of a formula, from what its cells show."""
    if not isinstance(part, Decimal) or not isinstance(base, Decimal) or not base:
        return ""
    return from_fraction(Fraction(part) / Fraction(base), _SHARE_PLACES)


def _day(value: str) -> date | None:
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None
