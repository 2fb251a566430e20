"""Run `ratecard simulate` once its options are read, and print the answer. This module loads the engine."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any

import click
from babel import Locale

from ratecard.base.errors import SimulationError
from ratecard.base.messages import plural, printable
from ratecard.cli.modes import OF_DISPUTES, is_date
from ratecard.cli.options import as_wrong_use, tell_tables
from ratecard.cli.screen import align, heading_style, paragraph, show_table
from ratecard.cli.simulate_progress import progress
from ratecard.simulation.answers.bridge import are_months
from ratecard.simulation.answers.target import (
    Beyond,
    ChangeLimits,
    NotReachedError,
    Reached,
    beyond,
    check_customers,
    read_target,
    smallest_factor,
)
from ratecard.simulation.answers.volume import DEFAULT_PACE, elasticities_of, read_pace, volumes_of
from ratecard.simulation.disputes import write_disputes
from ratecard.simulation.groups.engines import writable
from ratecard.simulation.prices.pricer import Remapping
from ratecard.simulation.prices.sides import AS_BILLED, costs_of, sides
from ratecard.simulation.progress import PRICED, within
from ratecard.simulation.report.figures import CHANGES, Kind, Table, Value, written
from ratecard.simulation.report.groups import write_groups
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import CUSTOMER, USUAL_RISE, Question, Report, share_of_change
from ratecard.simulation.report.sentences import answers, bridge_sentences, further, own_days, proposals, reached, scope
from ratecard.simulation.report.tables import (
    attribution_table,
    below_cost_table,
    beyond_table,
    bridge_table,
    changing_most,
    discounts_table,
    disputed_table,
    effects_table,
    largest,
    losers_table,
    lost_customers_table,
    sides_table,
    uncommon_table,
    unpriced_table,
    untouched_table,
    winners_table,
)
from ratecard.simulation.report.tornado_page import Swing, step_of, tornado_headline, tornado_table, write_tornado
from ratecard.simulation.report.tornado_page import tornado as swings_of
from ratecard.simulation.result import Simulation
from ratecard.simulation.rows.where import Chosen
from ratecard.simulation.simulate import simulate
from ratecard.simulation.workspace import enough_memory
from ratecard.statements.simulated import SimulatedMonth, simulated_months, write_months

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
    """Print the revenue of the usage, by each key."""
    _say(*further(report, 0))
    for key in dict.fromkeys(("model", *report.simulation.by)):
        table = largest(report, key, _MODELS)
        _show(report, table.columns_at([*range(2, len(table.columns)), 1, 0]))


def _discounts(report: Report, sides: Sequence[int]) -> None:
    """Print the totals at list prices and at the prices of the customers' contracts."""
    if report.discounts:
        table = discounts_table(report, sides)
        _show(report, _first(table.without(Kind.COUNT), _CUSTOMERS, table.title))


def tell(report: Report, written_to: Sequence[str]) -> None:
    """Print on standard error, in short, what the written files hold."""
    if report.unpriced:
        reasons = list(dict.fromkeys(entry.reason for entry in report.simulation.unpriced))
        further = reasons[3:]
        more = f"; and {plural(len(further), 'more reason')}" if further else ""
        click.echo(f"{_unpriced(report)}: {'; '.join(reasons[:3])}{more}", err=True)
    for words in report.simulation.reading.warnings():
        click.echo(words, err=True)
    for words in filter(None, (*answers(report), scope(report), own_days(report))):
        click.echo(words, err=True)
    for path in written_to:
        click.echo(f"Wrote {path}", err=True)


def tell_beyond(report: Report, limits: ChangeLimits, exceeded: Sequence[Beyond]) -> None:
    """Print on standard error which limits are exceeded, by how much, and by which customers."""
    figures = report.figures
    for side in exceeded:
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
    _show(report, tornado_table(report, share, swings))


def table_lines(report: Report, table: Table) -> list[str]:
    """Return a table as lines of aligned text."""
    right = {index for index, column in enumerate(table.columns) if column.kind in _NUMBERS}
    return align([[column.name for column in table.columns], *_cells(report, table, table.rows)], right)


def _cells(report: Report, table: Table, rows: Sequence[Sequence[Value]]) -> list[list[str]]:
    kinds = [column.kind for column in table.columns]
    # A name or a reason may hold what a row of the usage does, like a line break.
    return [
        [
            printable(value) if isinstance(value, str) else written(value, kind, report.figures)
            for value, kind in zip(row, kinds, strict=True)
        ]
        for row in rows
    ]


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


@enough_memory()
def run(
    command: str,
    *,
    usage: tuple[str, ...],
    current: str | None,
    candidates: tuple[str, ...],
    out: Sequence[Path],
    places: Sequence[str],
    tables: Path | None,
    elasticities: tuple[str, ...],
    volumes: tuple[str, ...],
    pace: str | None,
    cost: str | None,
    until_target: str | None,
    rise: Fraction | None,
    bridge: tuple[str, str] | None,
    max_change: Fraction | None,
    max_rise: Fraction | None,
    tornado: Fraction | None,
    locale: Locale,
    show_sql: bool,
    **settings: Any,
) -> bool:
    """Simulate, and write or show the result; return False beyond a limit and for a target that is not reached.

    `out` are files, and `places` addresses that Spark writes to; `settings` are further arguments of `simulate`.
    """
    with as_wrong_use(SimulationError):
        compared = sides(current, candidates, tables)
        costs = costs_of(cost, compared, tables)
        Remapping(settings["remap"], settings["successors"]).check(side.card for side in compared)
        answers = elasticities_of(elasticities)
        target = read_target(until_target) if until_target else None
        changes, days = volumes_of(volumes), read_pace(pace) if pace else DEFAULT_PACE
        Chosen.of(settings["where"], settings["since"], settings["until"])
        if tornado is not None:
            step_of(tornado)
        if bridge is not None:
            are_months(*bridge)
    if target and (len(candidates) != 1 or not Path(candidates[0]).is_file()):
        raise click.UsageError("--until-target needs one --candidate, a file that scales rates by a factor")
    limits = ChangeLimits(max_change, max_rise)
    counted_above = USUAL_RISE if rise is None else rise
    question = Question(command, answers, counted_above, target, None, bridge, changes, days)
    # The output names the tables that are read, unless the specifications name them.
    tells_tables = current in (None, AS_BILLED) or any(map(is_date, (current, *candidates, cost)))
    with ExitStack() as stack:
        if places:
            stack.enter_context(writable(places, settings["master"]))
        with progress() as begin:
            simulation = stack.enter_context(
                simulate(list(usage), compared[0], compared[1:], costs=costs, progress=begin, **settings)
            )
            if show_sql:
                stack.callback(_show_sql, simulation)
            if not simulation.priced:
                raise SimulationError(simulation.unpriced_text())
            if tornado is not None:
                begin("Moving each family", None)
                _tornado(Report(simulation, Question(command), locale), tornado, out)
                if tells_tables:
                    tell_tables(tables, err=bool(out))
                return True
            if pace and simulation.pace(days) is None:
                raise SimulationError("--pace needs to know the days. Add day to --by")
            for name, share in (("--rise", rise), ("--max-rise", max_rise)):
                if share is not None:
                    check_customers(simulation, name, CUSTOMER)
            if target:
                begin("Seeking the factor", None)
                try:
                    reached: Reached | str = smallest_factor(
                        *(simulation, Path(candidates[0]), target),
                        elasticities=answers,
                        volumes=changes,
                        pace=simulation.pace(days),
                    )
                except NotReachedError as error:
                    reached = str(error)
                question = replace(question, reached=reached)
            report = Report(simulation, question, locale)
            report.check()
            if written := [*map(str, out), *places]:
                write(report, out, within(begin, PRICED, 100))
                for place in places:
                    write_groups(report, place, settings["master"])
        if written:
            tell(report, written)
        else:
            show_simulation(report)
        crossed = list(beyond(simulation, limits, CUSTOMER))
    if tells_tables:
        tell_tables(tables, err=bool(written))
    if crossed:
        tell_beyond(report, limits, crossed)
    if isinstance(question.reached, str):
        click.echo(f"{question.reached}. The report is of the candidate as it is", err=True)
    return not crossed and not isinstance(question.reached, str)


def simulated_statements(given: Mapping[str, Any]) -> tuple[SimulatedMonth, ...]:
    """Return the statements of accounts with contracts by month, under the current prices and each candidate."""
    names = ("current", "candidates", "tables", "columns", "dialect", "currency", "memory")
    return simulated_months(list(given["usage"]), **{name: given[name] for name in names})


def write_statements(months: Sequence[SimulatedMonth], path: Path) -> bool:
    """Write the statements of simulated months; return False if a month has none, and print why."""
    write_months(months, path)
    click.echo(f"Wrote {path}", err=True)
    # Several months may have the same reason.
    missing = dict.fromkeys(f"{month.side}: {month.reason}" for month in months if month.statement is None)
    for words in missing:
        click.echo(words, err=True)
    return not missing


def _show_sql(simulation: Simulation) -> None:
    """Print the SQL that the engine has run, in a form that can be run by hand."""
    for statement in simulation.sql:
        click.echo(f"{dedent(statement).strip().removesuffix(';')};\n", err=True)


def _tornado(report: Report, share: Fraction, out: Sequence[Path]) -> None:
    swings = swings_of(report.simulation, share)
    if not out:
        show_tornado(report, share, swings)
    for path in out:
        write_tornado(report, share, swings, path)
        click.echo(f"Wrote {path}", err=True)


_NOT_SETTINGS = ("usage", "disputes", "current", "tables")


@enough_memory()
def run_disputes(path: Path, given: Mapping[str, Any]) -> None:
    """Write the disputed rows of a bill, and print their number and their sum."""
    if given["current"] == AS_BILLED:
        raise click.UsageError("--disputes compares a bill with prices; --current names them, or leave it out")
    with as_wrong_use(SimulationError):
        [current] = sides(given["current"], (), given["tables"])
        Chosen.of(given["where"], given["since"], given["until"])
    settings = {name: given[name] for name in OF_DISPUTES if name not in _NOT_SETTINGS}
    with progress() as begin:
        disputes = write_disputes(list(given["usage"]), current, path, progress=begin, **settings)
    verb = "disagrees" if disputes.disputed == 1 else "disagree"
    words = f"{disputes.disputed:,} of {disputes.rows:,} rows {verb} with the prices of their days"
    if disputes.disputed - disputes.unpriced:
        direction = "little" if disputes.difference < 0 else "much"
        words += f"; what is too {direction} in them comes to {disputes.difference.copy_abs():f} {disputes.currency}"
    click.echo(f"{words}.")
    if disputes.unpriced:
        click.echo(f"For {disputes.unpriced:,} of them no price is known.")
    if disputes.foreign:
        words = f"Rows in another currency than {disputes.currency}, which are not compared: {disputes.foreign:,}."
        click.echo(f"{words} --currency names another.")
    if disputes.unchecked:
        words = "Further rows that say too little to be compared, like refunds and rows of a contract"
        click.echo(f"{words}: {disputes.unchecked:,}.")
    click.echo(f"Wrote {path}", err=True)
    if given["current"] is None:
        tell_tables(given["tables"], err=True)
