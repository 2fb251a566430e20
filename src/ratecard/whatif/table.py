"""A table of the report as HTML for the page: amounts to the right, changes in the colour of their direction."""

from html import escape

from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.page_table import tone_of
from ratecard.simulation.report.table import Column, Kind, Table, Value, written


def table_html(table: Table, figures: Figures) -> str:
    """The rows under their headings, and the total below; nothing for a table without rows."""
    if not table.rows:
        return ""
    head = "".join(f'<th scope="col"{_class(column.kind)}>{escape(column.name)}</th>' for column in table.columns)
    body = "".join(_row(row, table.columns, figures) for row in table.rows)
    foot = f"<tfoot>{_row(table.total, table.columns, figures)}</tfoot>" if table.total else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table>"


def _row(row: tuple[Value, ...], columns: tuple[Column, ...], figures: Figures) -> str:
    cells = (
        f"<td{_class(column.kind, value)}>{escape(written(value, column.kind, figures))}</td>"
        for value, column in zip(row, columns, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _class(kind: Kind, value: Value = None) -> str:
    if kind is Kind.TEXT:
        return ""
    return f' class="number{tone_of(value, kind)}"'
