"""A table of the report as HTML that sorts on a click."""

from decimal import Decimal
from fractions import Fraction
from html import escape

from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.table import Column, Kind, Table, Value, written
from ratecard.words.money import from_fraction, text

_TEXTS = {Kind.TEXT, Kind.DAY}
_SIGNED = {Kind.CHANGE, Kind.PERCENT}
# More rows than a person reads, and than a browser sorts at once; the files have all.
MOST_ROWS = 1_000
_SORTED_PLACES = 12


def table_html(table: Table, figures: Figures) -> str:
    """The table with its note; of a very long one the first thousand rows."""
    kept = table.without(Kind.EXACT)
    head = "".join(_heading(column) for column in kept.columns)
    body = "".join(f"<tr>{_cells(row, kept.columns, figures)}</tr>" for row in kept.rows[:MOST_ROWS])
    foot = f"<tfoot><tr>{_cells(kept.total, kept.columns, figures)}</tr></tfoot>" if kept.total else ""
    more = (
        f"The first {MOST_ROWS:,} of {len(kept.rows):,} rows; a spreadsheet or CSV has all."
        if len(kept.rows) > MOST_ROWS
        else ""
    )
    notes = "".join(f'<p class="quiet">{escape(note)}</p>' for note in (table.note, more) if note)
    return (
        f'{notes}<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table></div>\n"
    )


def _heading(column: Column) -> str:
    number = "" if column.kind in _TEXTS else ' class="number"'
    return f'<th scope="col" aria-sort="none"{number}><button type="button">{escape(column.name)}</button></th>'


def _cells(row: tuple[Value, ...], columns: tuple[Column, ...], figures: Figures) -> str:
    return "".join(_cell(value, column.kind, figures) for value, column in zip(row, columns, strict=True))


def _cell(value: Value, kind: Kind, figures: Figures) -> str:
    words = escape(written(value, kind, figures))
    if kind in _TEXTS:
        return f"<td>{words}</td>"
    sign = ""
    if kind in _SIGNED and isinstance(value, (Decimal, Fraction)) and value:
        sign = " rise" if value > 0 else " fall"
    return f'<td class="number{sign}" data-value="{_sortable(value)}">{words}</td>'


def _sortable(value: Value) -> str:
    """A number as a program reads it."""
    if isinstance(value, Fraction):
        return text(from_fraction(value, _SORTED_PLACES))
    return text(value) if isinstance(value, Decimal) else str("" if value is None else value)
