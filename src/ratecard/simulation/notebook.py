"""How a simulation shows itself in a notebook: a small table, with bars that need neither a script nor a network."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from ratecard.simulation.report.breakdown import changing_most
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import answer, scope
from ratecard.simulation.report.table import Kind, Table, written

if TYPE_CHECKING:
    from ratecard.simulation.result import Simulation

_MODELS = 10
_NUMBER = ' style="text-align: right; font-variant-numeric: tabular-nums"'


def html_of(simulation: "Simulation") -> str:
    """The answers in sentences, and the models that change most."""
    report = Report(simulation)
    parts = [f"<p><b>{escape(answer(report, candidate))}</b></p>" for candidate in report.candidates]
    parts.append(f"<p>{escape(scope(report))}</p>")
    for candidate in report.candidates:
        parts.append(_table(report, changing_most(report, "model", _MODELS, candidate), candidate))
    if not report.candidates:
        parts.append(f"<p>Revenue: {escape(report.figures.money(report.rounded(0)))}</p>")
    return "".join(parts)


def _table(report: Report, table: Table, candidate: int) -> str:
    place = next(number for number, column in enumerate(table.columns) if column.name == report.change_name(candidate))
    changes = [value for row in table.rows if isinstance(value := row[place], Decimal)]
    most = max((change.copy_abs() for change in changes), default=Decimal(0))
    head = "".join(f"<th>{escape(column.name)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(_cells(report, table, row))}<td>{_bar(change, most)}</td></tr>"
        for row, change in zip(table.rows, changes, strict=True)
    )
    last = "".join(_cells(report, table, table.total or ()))
    return f"<table><thead><tr>{head}<th></th></tr></thead><tbody>{rows}<tr>{last}<td></td></tr></tbody></table>"
