"""How a simulation shows itself in a notebook: a small table, with bars that need neither a script nor a network."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from html import escape

from ratecard.base.errors import SimulationError
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.report.breakdown import changes_of, changing_most
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import answers, scope
from ratecard.simulation.report.table import Kind, Table, Value, written

_MODELS, _WIDTH = 10, 160
_NUMBER = ' style="text-align: right; font-variant-numeric: tabular-nums"'


def html_of(simulation: Answers) -> str:
    """Return the answers in sentences, and the models that change most, as HTML."""
    report = Report(simulation)
    parts = [f"<p><b>{escape(words)}</b></p>" for words in answers(report)]
    parts.append(f"<p>{escape(scope(report))}</p>")
    for candidate in report.candidates:
        parts.append(_table(report, changing_most(report, "model", _MODELS, candidate)))
    return "".join(parts)


def text_of(simulation: Answers) -> str:
    """Return `<Simulation of 240 rows, 234 priced, by model, day: Revenue rises by ...>`; once closed, just that."""
    try:
        report = Report(simulation)
        counted = f"{report.figures.counted(simulation.rows, 'row')}, {report.figures.count(simulation.priced)} priced"
        said = answers(report)
    except SimulationError as error:
        return f"<Simulation: {error}>"
    by = f", by {', '.join(simulation.by)}" if simulation.by else ""
    return f"<Simulation of {counted}{by}: {' '.join(said)}>"


def _table(report: Report, table: Table) -> str:
    changes = changes_of(table)
    most = max((change.copy_abs() for change in changes), default=Decimal(0))
    head = "".join(f"<th>{escape(column.name)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(_cells(report, table, row))}<td>{_bar(change, most)}</td></tr>"
        for row, change in zip(table.rows, changes, strict=True)
    )
    last = "".join(_cells(report, table, table.total or ()))
    return f"<table><thead><tr>{head}<th></th></tr></thead><tbody>{rows}<tr>{last}<td></td></tr></tbody></table>"


def _cells(report: Report, table: Table, row: tuple[Value, ...]) -> Iterator[str]:
    for value, column in zip(row, table.columns, strict=True):
        number = "" if column.kind is Kind.TEXT else _NUMBER
        yield f"<td{number}>{escape(written(value, column.kind, report.figures))}</td>"


def _bar(change: Decimal, most: Decimal) -> str:
    """Draw a bar whose length is the change's share of the greatest one."""
    if not change:
        return ""
    width = max(1, round(_WIDTH * Fraction(change.copy_abs()) / Fraction(most)))
    colour = "#1c62a8" if change > 0 else "#b4460f"
    return f'<div style="width: {width}px; height: .8em; background: {colour}"></div>'
