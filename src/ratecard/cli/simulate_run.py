"""Run `ratecard simulate` once its options are read. This module loads the engine."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any

import click
from babel import Locale

from ratecard.base.errors import SimulationError
from ratecard.cli.modes import OF_DISPUTES, is_date
from ratecard.cli.options import as_wrong_use, tell_tables
from ratecard.cli.simulate_progress import progress
from ratecard.cli.simulate_text import show_simulation, show_tornado, tell, tell_beyond
from ratecard.simulation.answers.limits import ChangeLimits, beyond, check_customers
from ratecard.simulation.answers.pace import DEFAULT_PACE, read_pace
from ratecard.simulation.answers.target import NotReachedError, Reached, read_target, smallest_factor
from ratecard.simulation.answers.tornado import tornado as swings_of
from ratecard.simulation.answers.volume import elasticities_of, volumes_of
from ratecard.simulation.disputes import write_disputes
from ratecard.simulation.groups.engines.engine import writable
from ratecard.simulation.prices.remap import Remapping
from ratecard.simulation.prices.sides import AS_BILLED, costs_of, sides
from ratecard.simulation.progress import PRICED, within
from ratecard.simulation.report.groups import write_groups
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import CUSTOMER, USUAL_RISE, Question, Report
from ratecard.simulation.report.tornado_page import write_tornado
from ratecard.simulation.result import Simulation
from ratecard.simulation.rows.where import Chosen
from ratecard.simulation.simulate import simulate
from ratecard.simulation.workspace import enough_memory
from ratecard.statements.simulated import SimulatedMonth, simulated_months, write_months


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
    # A reason may be that of several months.
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
    settings = {name: given[name] for name in OF_DISPUTES if name not in _NOT_SETTINGS}
    with progress() as begin:
        disputes = write_disputes(list(given["usage"]), current, path, progress=begin, **settings)
    verb = "disagrees" if disputes.disputed == 1 else "disagree"
    words = f"{disputes.disputed:,} of {disputes.rows:,} rows {verb} with the prices of their days"
    if disputes.disputed - disputes.unpriced:
        direction = "little" if disputes.difference < 0 else "much"
        words += f"; what is too {direction} in them comes to {abs(disputes.difference):f} {disputes.currency}"
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
