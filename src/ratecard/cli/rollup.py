"""`ratecard rollup`: keep usage as groups, which `ratecard simulate` and `whatif` take as usage."""

from collections.abc import Sequence
from typing import Any

import click

from ratecard.base.errors import SimulationError
from ratecard.cli.modes import CommandOfModes
from ratecard.cli.options import as_wrong_use, tables_option
from ratecard.cli.simulate import stopping
from ratecard.cli.simulate_options import (
    by_option,
    candidate_option,
    check_usage,
    dialect_option,
    engine_options,
    map_option,
    needing,
    where_option,
)


@click.command(cls=CommandOfModes, short_help="Keep usage as groups, to simulate it in seconds.")
@click.argument("usage", nargs=-1, required=True)
@click.option(
    "--out",
    metavar="FOLDER",
    required=True,
    help="Folder to keep the groups in, or its address: s3://bucket/folder, gs://, az://.",
)
@by_option("Columns that can be grouped by later. Default: model,day.")
@candidate_option("Other prices that need more than the current ones, like another threshold; repeatable.")
@where_option
@map_option
@dialect_option
@engine_options
@tables_option
def rollup(usage: Sequence[str], out: str, **given: Any) -> None:
    """Keep USAGE as groups in a folder, which is then usage itself: for the same answers, in seconds.

    \b
    ratecard rollup 'usage/*.parquet' --out kept
    ratecard simulate kept --candidate kling.yaml
    ratecard whatif kept
    ratecard rollup 'usage/*.parquet' --out kept             again: reads what is new or changed
    ratecard rollup usage.parquet --out kept --by model,day,customer --candidate long-context.yaml

    USAGE is Parquet, CSV or JSON lines: files, folders or patterns. A group is of one day and model, and of all that
    decides a price under the tables and the candidates: attributes, conditions, thresholds of prompts, hours. Tables
    that differ only in rates, dates and models need no other groups. A question that the groups cannot answer (by
    another column, at another threshold) is refused, with the command that makes a roll-up for it.

    The folder remembers each file of USAGE by size, time and identity. A further run reads only files that are new or
    changed, and drops the groups of files that are gone. With other options it reads all of them. The folder is written
    whole or not at all; a run that is broken off leaves it as it was. In an object storage (docs/roll-ups.md), the
    first of two runs at a time wins.

    Exit status: 0 done, 1 for usage that cannot be read, 2 for wrong use.
    """
    check_usage(usage, given["engine"])
    with stopping("the roll-up is as it was, or, if the run was at its end, whole and new"):
        with needing("A roll-up"):
            # Loaded only here, because --help does not need the engine.
            from ratecard.cli.simulate_progress import progress
            from ratecard.simulation.prices.sides import sides
            from ratecard.simulation.rollup import rollup as keep
            from ratecard.simulation.rows.where import Chosen
        with as_wrong_use(SimulationError):
            current, *candidates = sides(None, given.pop("candidates"), given["tables"])
            Chosen.of(given["where"], None, None)
        with progress() as begin:
            report = keep(list(usage), out, current, candidates, progress=begin, **given)
    for words in report.warnings:
        click.echo(f"Warning: {words}", err=True)
    if report.anew:
        click.echo(f"All files are read again: {report.anew}", err=True)
    counts = {"new": report.changes.new, "changed": report.changes.changed, "gone": report.changes.gone}
    parts = [f"{len(files)} {name}" for name, files in counts.items() if files]
    parts += [f"{len(report.changes.same)} not read again"] if report.changes.same else []
    click.echo(f"Files: {', '.join(parts) or 'none'}", err=True)
    size = f"{report.bytes / 1_000_000:.1f} MB"
    click.echo(f"Kept {report.folder}: {report.rows:,} rows as {report.groups:,} groups, {size}", err=True)
