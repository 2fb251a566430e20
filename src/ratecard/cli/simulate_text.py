"""A simulation as text: first the rows without a price, then the answer, then the reasons."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import click

from ratecard.cli.screen import align, heading_style, paragraph, show_table
from ratecard.simulation.answers.limits import Beyond, ChangeLimits
from ratecard.simulation.answers.tornado import Swing
from ratecard.simulation.report.breakdown import changing_most, largest, sides_table
from ratecard.simulation.report.bridge_tables import bridge_sentences, bridge_table, effects_table
from ratecard.simulation.report.report import Report, share_of_change
from ratecard.simulation.report.sections import (
    attribution_table,
    below_cost_table,
    beyond_table,
    discounts_table,
    disputed_table,
    losers_table,
    lost_customers_table,
    uncommon_table,
    unpriced_table,
    untouched_table,
    winners_table,
)
from ratecard.simulation.report.sentences import answers, further, own_days, proposals, reached, scope
from ratecard.simulation.report.table import CHANGES, Kind, Table, Value, written
from ratecard.simulation.report.tornado_page import tornado_headline, tornado_table

_REASONS, _MODELS, _PARTS, _CUSTOMERS, _CELLS = 10, 10, 10, 5, 5
_NUMBERS = {Kind.COUNT, Kind.MONEY, Kind.PERCENT, Kind.SHARE, Kind.RATE, Kind.QUANTITY, *CHANGES}


def show_simulation(report: Report) -> None:
    """Print a summary; the files of `--out` have everything."""
    for words in report.simulation.reading.warnings():
        click.echo(click.style(paragraph(words), fg="yellow"))
    if report.unpriced:
        click.echo(click.style(_unpriced(report), fg="yellow"))
        reasons = unpriced_table(report).columns_named("Rows", "Type", "Reason")
        _show(report, _first(reasons, _REASONS, "Reasons"))
    disputed = disputed_table(report).columns_named("Rows", "Reason")
    _show(report, _first(disputed, _REASONS, "Disputed rows of the export"))
    click.echo() if report.unpriced or disputed.rows else None
    for words in answers(report):
        click.echo(click.style(paragraph(words), bold=True))
    _say(scope(report), own_days(report))
    question = report.question
    if question.target and question.reached:
        _say(reached(report, question.target, question.reached))
    if report.bridge is not None:
        _show(report, effects_table(report, report.bridge))
        click.echo()
        _say(*bridge_sentences(report, report.bridge))
        _show(report, _first(bridge_table(report, report.bridge), _MODELS, "By model"))
    if len(report.candidates) > 1:
        _show(report, sides_table(report).columns_named("Revenue", "Change", "%", "Prices"))
    if not report.candidates:
        _now(report)
        _discounts(report, [0])
    for candidate in report.candidates:
        _candidate(report, candidate)


def _say(*sentences: str) -> None:
    for words in filter(None, sentences):
        click.echo(paragraph(words))


def _now(report: Report) -> None:
    """Print what the usage brings, by each key."""
    _say(*further(report, 0))
    for key in dict.fromkeys(("model", *report.simulation.by)):
        table = largest(report, key, _MODELS)
        shown = (*table.columns[2:], table.columns[1], table.columns[0])
        _show(report, table.columns_named(*(column.name for column in shown)))


def _discounts(report: Report, sides: Sequence[int]) -> None:
    """Print the totals at list prices and at the prices of the customers' contracts."""
    if report.discounts:
        table = discounts_table(report, sides)
        _show(report, _first(table.without(Kind.COUNT), _CUSTOMERS, table.title))


def tell(report: Report, written_to: Sequence[str]) -> None:
    """Print on standard error, in short, what the written files hold."""
    if report.unpriced:
        reasons = "; ".join(entry.reason for entry in report.simulation.unpriced[:3])
        click.echo(f"{_unpriced(report)}: {reasons}", err=True)
    for words in report.simulation.reading.warnings():
        click.echo(words, err=True)
    for words in filter(None, (*answers(report), scope(report), own_days(report))):
        click.echo(words, err=True)
    for path in written_to:
        click.echo(f"Wrote {path}", err=True)


def tell_beyond(report: Report, limits: ChangeLimits, found: Sequence[Beyond]) -> None:
    """Print on standard error which limits are exceeded, by how much, and by which customers."""
    figures = report.figures
    for side in found:
        of_usage = " at unchanged usage" if report.expected is not None else ""
        under = f"{of_usage} under {report.names[side.candidate]}"
        if side.change is not None and limits.change is not None:
            share = figures.percent(share_of_change(side.change, side.candidate)) or "from nothing"
            words = f"revenue changes by {share}{under}, and --max-change is"
            click.echo(f"Beyond the limit: {words} {figures.percent(limits.change, signed=False)}", err=True)
        if side.customers and limits.rise is not None:
            customers, most = figures.counted(side.of, "customer"), figures.percent(limits.rise, signed=False)
            words = f"{figures.count(side.over)} of {customers} {'pays' if side.over == 1 else 'pay'}"
            click.echo(f"Beyond the limit: {words} more than {most} more{under}, and --max-rise is {most}", err=True)
            for line in table_lines(report, beyond_table(report, side.candidate, side.customers)):
                click.echo(f"  {line}", err=True)
            if side.over > len(side.customers):
                more = figures.count(side.over - len(side.customers))
                click.echo(f"  and {more} more; --out FILE.csv --by customer has all", err=True)


def show_tornado(report: Report, share: Fraction, swings: Sequence[Swing]) -> None:
    """Print a table of the families, with a bar on each side."""
    if report.unpriced:
        click.echo(click.style(_unpriced(report), fg="yellow"))
    click.echo(click.style(paragraph(tornado_headline(report, share, swings)), bold=True))
    click.echo(paragraph(scope(report)))
    _show(report, tornado_table(report, share, swings, bars=True))


def table_lines(report: Report, table: Table) -> list[str]:
    """Return a table as lines of aligned text."""
    right = {index for index, column in enumerate(table.columns) if column.kind in _NUMBERS}
    return align([[column.name for column in table.columns], *_cells(report, table, table.rows)], right)


def _cells(report: Report, table: Table, rows: Sequence[Sequence[Value]]) -> list[list[str]]:
    kinds = [column.kind for column in table.columns]
    return [[written(value, kind, report.figures) for value, kind in zip(row, kinds, strict=True)] for row in rows]


def _candidate(report: Report, candidate: int) -> None:
    if len(report.candidates) > 1:
        click.echo(f"\n{heading_style(report.names[candidate])}")
    _say(*proposals(report, candidate), *further(report, candidate))
    for table in _tables(report, candidate):
        _show(report, table)
    _discounts(report, [0, candidate])
    unused = untouched_table(report, candidate)
    if unused.rows:
        count = len(unused.rows)
        words = f"{report.figures.counted(count, 'changed rate')} {'was' if count == 1 else 'were'} used by no request"
        click.echo(paragraph(f"\n{words}, of {_models(unused)}."))


def _tables(report: Report, candidate: int) -> Iterator[Table]:
    most = changing_most(report, "model", _MODELS, candidate)._replace(title="Models that change most")
    yield most.columns_named("Change", "%", "Current", "Model")
    uncommon = uncommon_table(report, candidate).columns_named("Adds", "Requests", "What", "Model", "Reason")
    yield _first(uncommon, _REASONS, "Lost and new")
    parts = attribution_table(report, candidate).columns_named("Adds", "Rate changes", "Model", "Rate")
    yield _first(parts, _PARTS, "Why")
    if (customers := report.customers(candidate)) is not None:
        for table in (losers_table(report, customers), winners_table(report, customers)):
            largest = table._replace(rows=table.rows[:_CUSTOMERS])  # A sentence of the report says how many there are.
            yield largest.columns_named("Change", "%", "Current", "Customer")
        lost = lost_customers_table(report, customers, _CUSTOMERS)
        yield _first(lost.columns_named("Lost", "Requests lost", "Customer"), _CUSTOMERS, lost.title)
    if report.margin is not None:
        below = below_cost_table(report, report.margin, candidate)
        yield _first(below.columns_named("Loss", "Requests", "Model", "Request"), _CELLS, below.title)


def _first(table: Table, most: int, title: str) -> Table:
    """Return the first rows; if that is not all, the title says how many there are."""
    if table.size <= most:
        return table._replace(title=title)
    words = f"the first {most} of {table.size:,}"
    return table._replace(title=f"{title} ({words})", rows=table.rows[:most])


def _unpriced(report: Report) -> str:
    unpriced, rows = report.figures.count(report.unpriced), report.figures.counted(report.simulation.rows, "row")
    return f"{unpriced} of {rows} cannot be priced and {'is' if report.unpriced == 1 else 'are'} in no figure"


def _models(table: Table) -> str:
    names = list(dict.fromkeys(str(row[0]) for row in table.rows))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} further models" if len(names) > 3 else "")


def _show(report: Report, table: Table) -> None:
    if not table.rows:
        return
    if table.title:
        click.echo(f"\n{table.title}")
    rows = (*table.rows, table.total) if table.total else table.rows
    right = {column.name for column in table.columns if column.kind in _NUMBERS}
    show_table([column.name for column in table.columns], _cells(report, table, rows), right)
