"""`ratecard whatif`: open a page to try prices on recorded usage."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from babel import Locale
from click.core import ParameterSource

from ratecard.base.instants import utc
from ratecard.cli.options import as_wrong_use, day, locale_option, now, tables_option, tell_tables
from ratecard.cli.simulate import stopping
from ratecard.cli.simulate_options import (
    check_usage,
    contracts_option,
    cost_option,
    map_option,
    memory_option,
    rows_options,
)


def _tomorrow() -> date:
    return now().date() + timedelta(days=1)


@click.command(short_help="Open a page to try prices on recorded usage.")
@click.argument("usage", nargs=-1, required=True)
@click.option(
    "--at", type=day, default=_tomorrow, show_default="tomorrow", help="Day of the prices, and of what changes."
)
@cost_option
@contracts_option
@click.option("--customer", metavar="COLUMN", help="Column that names customers. Default: customer, if there is one.")
@map_option
@rows_options
@memory_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="any free one", help="Port of the page.")
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@tables_option
@locale_option
@click.pass_context
def whatif(
    context: click.Context,
    /,
    usage: tuple[str, ...],
    at: date,
    cost: str | None,
    customer: str | None,
    port: int,
    no_open: bool,
    tables: Path | None,
    locale: Locale,
    **settings: Any,
) -> None:
    """Open a page on which prices can be changed, and see at once the revenue of the recorded requests of USAGE.

    \b
    ratecard whatif usage.parquet
    ratecard whatif 'usage/*.csv' --customer account --cost costs

    USAGE is Parquet, CSV or JSON lines: files, folders or patterns. It is read once; then a change takes a fraction of
    a second: a factor on models, families or types, or another rate. All usage is priced at the prices of one day, and
    at those with the changes; with --contracts, each row by the contract of its account. Changes are saved as a
    candidate, for `ratecard simulate`, `diff` and `promote`.

    The page is served to this machine alone, until Ctrl-C.
    """
    check_usage(usage, None)
    if customer and "customer" in settings["columns"]:
        raise click.UsageError("--customer and --map customer=... name one column; leave out one of them")
    if customer:
        settings["columns"] = {**settings["columns"], "customer": customer}
    for needed in ("duckdb", "pyarrow", "nicegui"):
        if find_spec(needed) is None:
            raise click.UsageError(f"The page needs {needed}: pip install 'ratecard[simulate]'")
    named = context.get_parameter_source("tables") is ParameterSource.COMMANDLINE
    again = command(usage, {**settings, "tables": tables if named else None, "cost": cost})
    with stopping(""):
        # Loaded only here, because --help does not need these modules.
        from ratecard.base.errors import SimulationError
        from ratecard.card import load_rate_card
        from ratecard.cli.simulate_progress import progress
        from ratecard.review.sides import Side
        from ratecard.simulation.prices.sides import costs_of
        from ratecard.simulation.rows.where import Chosen
        from ratecard.simulation.simulate import simulate
        from ratecard.whatif.app import HOST, PortError, free_port, serve_page
        from ratecard.whatif.draft_pricer import DraftPricer
        from ratecard.whatif.report_process import RecordedUsage

        with as_wrong_use(PortError, SimulationError):
            port = free_port(port)
            current = Side(at.isoformat(), load_rate_card(tables), utc(at))
            costs = costs_of(cost, [current], tables)
            Chosen.of(settings["where"], settings["since"], settings["until"])
        tell_tables(tables)
        with progress() as begin:
            simulation = simulate(list(usage), current, costs=costs, progress=begin, **settings)
        with simulation:
            if not simulation.priced:
                raise SimulationError(simulation.unpriced_text())
            serve_page(
                DraftPricer(simulation, locale),
                command=again,
                recorded=RecordedUsage(usage, settings, cost, tables, str(locale)),
                day=at,
                port=port,
                show=not no_open,
                ready=lambda: click.echo(f"http://{HOST}:{port}  {simulation.rows:,} rows. Ctrl-C ends it."),
            )


def command(usage: Sequence[str], settings: Mapping[str, Any]) -> str:
    """Return the command that simulates the same usage, without its prices."""
    words = ["ratecard", "simulate", *usage]
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        if name == "columns":
            words += [word for known, column in value.items() for word in ("--map", f"{known}={column}")]
        elif value is True:
            words.append(option)
        elif value not in (None, False) and name != "memory":
            words += [option, str(value)]
    return shlex.join(words)
