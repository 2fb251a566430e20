"""Run `ratecard simulate` once its options are read. This module loads the engine."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import click
from babel import Locale

from ratecard.base.errors import InstantError
from ratecard.base.instants import read_instant
from ratecard.changes.sides import Side
from ratecard.cli.options import tell_tables
from ratecard.cli.simulate_progress import progress
from ratecard.cli.simulate_text import show_simulation, show_tornado, tell, tell_beyond
from ratecard.simulation.answers.limits import ChangeLimits, beyond, check_change_limits
from ratecard.simulation.answers.target import read_target, smallest_factor
from ratecard.simulation.answers.tornado import tornado
from ratecard.simulation.answers.volume import read_elasticity
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.groups.engines.engine import writable
from ratecard.simulation.prices.costs import Costs
from ratecard.simulation.prices.remap import Remapping
from ratecard.simulation.prices.sides import AS_BILLED, costs_of, sides
from ratecard.simulation.report.groups import write_groups
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import CUSTOMER, Question, Report
from ratecard.simulation.report.tornado_page import write_tornado
from ratecard.simulation.rows.where import Chosen
from ratecard.simulation.simulate import simulate
from ratecard.simulation.simulation import Simulation


class SimulateOptions(NamedTuple):
    """The options of one run."""

    usage: tuple[str, ...]
    current: str | None
    candidates: tuple[str, ...]
    by: tuple[str, ...] | None
    columns: Mapping[str, str]
    # Files to write, and addresses that Spark writes to.
    out: Sequence[Path]
    places: Sequence[str]
    tables: Path | None
    elasticities: tuple[str, ...]
    cost: str | None
    successors: bool
    # Models whose rows candidates price as requests of another model.
    remap: Mapping[str, str]
    until_target: str | None
    rise: Fraction
    bridge: tuple[str, str] | None
    max_change: Fraction | None
    max_rise: Fraction | None
    tornado: Fraction | None
    locale: Locale
    show_sql: bool
    command: str
    # Further arguments of `simulate`.
    settings: Mapping[str, Any]


def run(asked: SimulateOptions) -> None:
    """Simulate, and write or show the result."""
    try:
        compared = sides(asked.current, asked.candidates, asked.tables)
        costs = costs_of(asked.cost, compared, asked.tables)
        remapping = Remapping(asked.remap, asked.successors)
        remapping.check(side.card for side in compared)
        elasticities = dict(map(read_elasticity, asked.elasticities))
        target = read_target(asked.until_target) if asked.until_target else None
        Chosen.of(*(asked.settings[name] for name in ("where", "since", "until")))
    except SimulationError as error:
        raise click.UsageError(str(error)) from None
    if target and (len(asked.candidates) != 1 or not Path(asked.candidates[0]).is_file()):
        raise click.UsageError("--until-target needs one --candidate, a file that scales rates by a factor")
    limits = ChangeLimits(asked.max_change, asked.max_rise)
    question = Question(asked.command, elasticities, asked.rise, target, bridge=asked.bridge)
    with ExitStack() as stack:
        if asked.places:
            stack.enter_context(writable(asked.places, asked.settings["master"]))
        with progress() as begin:
            simulation = stack.enter_context(_simulated(asked, compared, costs, begin))
            if asked.show_sql:
                stack.callback(_show_sql, simulation)
            if not simulation.priced:
                raise SimulationError(simulation.unpriced_text())
            if asked.tornado is not None:
                _tornado(asked, simulation, begin)
                return
            check_change_limits(simulation, limits, CUSTOMER)
            if target:
                begin("Seeking the factor", None)
                found = smallest_factor(simulation, Path(asked.candidates[0]), target)
                question = replace(question, reached=found)
            report = Report(simulation, question, asked.locale)
            if written := [*map(str, asked.out), *asked.places]:
                begin("Writing", None)
                write(report, asked.out)
                for place in asked.places:
                    write_groups(report, place, asked.settings["master"])
        if written:
            tell(report, written)
        else:
            show_simulation(report)
        crossed = list(beyond(simulation, limits, CUSTOMER))
    _tell_tables(asked, err=bool(written))
    if crossed:
        tell_beyond(report, limits, crossed)
        raise SystemExit(1)


def _show_sql(simulation: Simulation) -> None:
    """Print what the engine has run, as it can be run by hand."""
    for statement in simulation.sql:
        click.echo(f"{dedent(statement).strip().removesuffix(';')};\n", err=True)


def _tornado(asked: SimulateOptions, simulation: Simulation, begin: Any) -> None:
    """Show or write how much each family moves revenue."""
    share = asked.tornado or Fraction(0)
    begin("Moving each family", None)
    swings = tornado(simulation, share)
    report = Report(simulation, Question(asked.command), asked.locale)
    if not asked.out:
        show_tornado(report, share, swings)
    for path in asked.out:
        write_tornado(report, share, swings, path)
        click.echo(f"Wrote {path}", err=True)
    _tell_tables(asked, err=bool(asked.out))


def _tell_tables(asked: SimulateOptions, *, err: bool) -> None:
    """Say which tables are read, unless the specifications say it."""
    if asked.current in (None, AS_BILLED) or any(map(_is_date, (asked.current, *asked.candidates, asked.cost))):
        tell_tables(asked.tables, err=err)


def _is_date(given: str | None) -> bool:
    """Whether a specification is a date, and so means the tables; a folder or a revision names its own."""
    try:
        return given is not None and bool(read_instant(given))
    except InstantError:
        return False


def _simulated(asked: SimulateOptions, compared: Sequence[Side], costs: Costs | None, begin: Any) -> Simulation:
    current, *candidates = compared
    return simulate(
        list(asked.usage),
        current,
        candidates,
        by=asked.by,
        columns=asked.columns,
        costs=costs,
        successors=asked.successors,
        remap=asked.remap,
        progress=begin,
        **asked.settings,
    )
