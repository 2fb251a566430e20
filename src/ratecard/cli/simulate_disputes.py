"""Run `ratecard simulate BILL --disputes FILE`. This module loads the engine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ratecard.cli.modes import OF_DISPUTES
from ratecard.cli.options import tell_tables
from ratecard.cli.simulate_progress import progress
from ratecard.simulation.disputes import write_disputes
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.prices.sides import AS_BILLED, sides

_NOT_SETTINGS = ("usage", "disputes", "current", "tables")


def run_disputes(path: Path, given: Mapping[str, Any]) -> None:
    """Write the disputed rows of a bill, and print their number and their sum."""
    if given["current"] == AS_BILLED:
        raise click.UsageError("--disputes compares a bill with prices; --current names them, or leave it out")
    try:
        [current] = sides(given["current"], (), given["tables"])
    except SimulationError as error:
        raise click.UsageError(str(error)) from None
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
        click.echo(f"Further rows that say too little to be compared, like refunds: {disputes.unchecked:,}.")
    click.echo(f"Wrote {path}", err=True)
    if given["current"] is None:
        tell_tables(given["tables"], err=True)
