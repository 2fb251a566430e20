"""`ratecard whatif`: open a page to try prices on recorded usage."""

import shlex
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click
from babel import Locale
from click.core import ParameterSource

from ratecard.cli.options import instant, locale_option, now, tables_option, tell_tables
from ratecard.cli.simulate import stopping
from ratecard.cli.simulate_options import check_usage, map_option, memory_option, rows_options


class _Asked(NamedTuple):
    usage: tuple[str, ...]
    at: datetime
    tables: Path | None
    cost: str | None
    columns: Mapping[str, str]
    where: str | None
    since: str | None
    until: str | None
    memory: str | None
    locale: Locale
    port: int
    no_open: bool
    # Whether --tables was given.
    named: bool = True

    def command(self) -> str:
        """The command that simulates the same usage, without its prices."""
        words = ["ratecard", "simulate", *self.usage]
        words += [word for name, column in self.columns.items() for word in ("--map", f"{name}={column}")]
        chosen = {"--where": self.where, "--since": self.since, "--until": self.until}
        words += [word for name, given in chosen.items() if given is not None for word in (name, given)]
        words += ["--tables", str(self.tables)] if self.tables and self.named else []
        return shlex.join(words + (["--cost", self.cost] if self.cost else []))


def _tomorrow() -> datetime:
    return datetime.combine(now().date() + timedelta(days=1), time(), UTC)


@click.command(short_help="Open a page to try prices on recorded usage.")
@click.argument("usage", nargs=-1, required=True)
@click.option(
    "--at", type=instant, default=_tomorrow, show_default="tomorrow", help="Day of the prices, and of what changes."
)
@click.option("--cost", metavar="SPEC", help="What we pay: tables, a candidate, a CSV file, or 60%. Shows the margin.")
@click.option("--customer", metavar="COLUMN", help="Column that names customers. Default: customer, if there is one.")
@map_option
@rows_options
@memory_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="any free one", help="Port of the page.")
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@tables_option
@locale_option
@click.pass_context
def whatif(context: click.Context, /, customer: str | None, columns: Mapping[str, str], **given: Any) -> None:
    """Open a page on which prices are moved, and see at once what the recorded requests of USAGE would then bring.

    \b
    ratecard whatif usage.parquet
    ratecard whatif 'usage/*.csv' --customer account --cost costs

    USAGE is Parquet, CSV or JSON lines: files, folders or patterns. It is read once; then a change takes a fraction of
    a second: a factor on models, families or types, or another rate. All usage is priced at the prices of one day, and
    at those with the changes. They are saved as a candidate, for `ratecard simulate`, `diff` and `promote`.

    The page is served to this machine alone, until Ctrl-C.
    """
    check_usage(given["usage"], None)
    names = {**columns, **({"customer": customer} if customer else {})}
    for needed in ("duckdb", "pyarrow", "nicegui"):
        if find_spec(needed) is None:
            raise click.UsageError(f"The page needs {needed}: pip install 'ratecard[simulate]'")
    with stopping(context, ""):
        named = context.get_parameter_source("tables") is ParameterSource.COMMANDLINE
        _run(_Asked(columns=names, named=named, **given))


def _run(asked: _Asked) -> None:
    """Read the usage, and serve the page."""
    # Loaded here, because --help needs none of it.
    from ratecard.card import load_rate_card
    from ratecard.changes.promote import folder_of
    from ratecard.changes.sides import Side
    from ratecard.cli.simulate_progress import progress
    from ratecard.simulation.errors import SimulationError
    from ratecard.simulation.prices.sides import costs_of
    from ratecard.simulation.rows.where import Chosen
    from ratecard.simulation.simulate import simulate
    from ratecard.whatif.app import HOST, PortError, free_port, serve_page
    from ratecard.whatif.draft_pricer import DraftPricer

    try:
        port = free_port(asked.port)
        day = asked.at.astimezone(UTC).date()
        current = Side(day.isoformat(), load_rate_card(asked.tables), datetime.combine(day, time(), UTC))
        costs = costs_of(asked.cost, [current], asked.tables)
        Chosen.of(asked.where, asked.since, asked.until)
    except (PortError, SimulationError) as error:
        raise click.UsageError(str(error)) from None
    tell_tables(asked.tables)
    with progress() as begin:
        simulation = simulate(
            list(asked.usage),
            current,
            columns=asked.columns,
            where=asked.where,
            since=asked.since,
            until=asked.until,
            costs=costs,
            memory=asked.memory,
            progress=begin,
        )
    with simulation:
        if not simulation.priced:
            raise SimulationError(simulation.unpriced_text())
        serve_page(
            DraftPricer(simulation, asked.locale),
            usage=", ".join(asked.usage),
            command=asked.command(),
            day=day,
            tables=folder_of(asked.tables),
            port=port,
            show=not asked.no_open,
            ready=lambda: click.echo(f"http://{HOST}:{port}  {simulation.rows:,} rows. Ctrl-C ends it."),
        )
