"""A table of the report as HTML that sorts on a click."""

from decimal import Decimal
from fractions import Fraction
from html import escape

from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.table import CHANGES, Column, Kind, Table, Value, written
from ratecard.words.money import from_fraction, text

_TEXTS = {Kind.TEXT, Kind.DAY}
# More rows than a person reads, and than a browser sorts at once; the files have all.
MOST_ROWS = 1_000
_SORTED_PLACES = 12
# More columns than these are written smaller.
_MOST_COLUMNS = 9


def table_html(table: Table, figures: Figures) -> str:
    """The table with its note; of a very long one the first thousand rows."""
    kept = table.without(Kind.EXACT)
    head = "".join(_heading(column) for column in kept.columns)
    tones = kept.tones or (Kind.CHANGE,) * len(kept.rows)
    rows = list(zip(kept.rows, tones, strict=True))[:MOST_ROWS]
    body = "".join(f"<tr>{_cells(row, kept.columns, figures, tone)}</tr>" for row, tone in rows)
    foot = f"<tfoot><tr>{_cells(kept.total, kept.columns, figures)}</tr></tfoot>" if kept.total else ""
    more = (
        f"The first {MOST_ROWS:,} of {len(kept.rows):,} rows; a spreadsheet or CSV has all."
        if len(kept.rows) > MOST_ROWS
        else ""
    )
    dense = ' class="dense"' if len(kept.columns) > _MOST_COLUMNS else ""
    notes = "".join(f'<p class="quiet">{escape(note)}</p>' for note in (table.note, more) if note)
    return (
        f'{notes}<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table{dense}>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table></div>\n"
    )


def _heading(column: Column) -> str:
    number = "" if column.kind in _TEXTS else ' class="number"'
    return f'<th scope="col" aria-sort="none"{number}><button type="button">{escape(column.name)}</button></th>'


def tone_of(value: Value, kind: Kind, row: Kind = Kind.CHANGE) -> str:
    """The class of a change, for its colour: `rise`, `fall`, `lost` or `new`; of an amount below zero `fall`."""
    if not isinstance(value, (Decimal, Fraction)) or not value:
        return ""
    tone = row if kind is Kind.CHANGE else kind
    if tone in (Kind.LOST, Kind.NEW):
        return f" {tone.value}"
    if kind in CHANGES or kind is Kind.PERCENT:
        return " rise" if value > 0 else " fall"
    return " fall" if value < 0 else ""


def _cells(row: tuple[Value, ...], columns: tuple[Column, ...], figures: Figures, tone: Kind = Kind.CHANGE) -> str:
    return "".join(_cell(value, column.kind, figures, tone) for value, column in zip(row, columns, strict=True))


def _cell(value: Value, kind: Kind, figures: Figures, tone: Kind) -> str:
    words = escape(written(value, kind, figures))
    if kind in _TEXTS:
        return f"<td>{words}</td>"
    return f'<td class="number{tone_of(value, kind, tone)}" data-value="{_sortable(value)}">{words}</td>'


def _sortable(value: Value) -> str:
    """A number as a program reads it."""
    if isinstance(value, Fraction):
        return text(from_fraction(value, _SORTED_PLACES))
    return text(value) if isinstance(value, Decimal) else str("" if value is None else value)
