"""`ratecard promote`: write an accepted candidate into the tables, as new lines only."""

from datetime import date
from pathlib import Path

import click

from ratecard.cli.options import day, tables_option, tell_tables, today, warn_of_days
from ratecard.review.promote import folder_of, promotion
from ratecard.review.sides import SideError, Stack, stack_of


def stack(given: str) -> Stack:
    """Read a candidate file, or several: `one.yaml+two.yaml`."""
    try:
        return stack_of(given)
    except SideError as error:
        raise click.BadParameter(f"'{given}': {error}") from None


@click.command(short_help="Write an accepted candidate into the tables.")
@click.argument("candidate", type=stack)
@tables_option
@click.option(
    "--checked", type=day, default=today, show_default="today", help="Day on which the new prices were checked."
)
@click.option("--dry-run", is_flag=True, help="Show the new lines, and write nothing.")
def promote(candidate: Stack, tables: Path | None, checked: date, dry_run: bool) -> None:
    """Write the file CANDIDATE into the tables as new versions; or several, stacked as in a simulation.

    \b
    ratecard promote proposal.yaml
    ratecard promote spring.yaml+promotion.yaml

    Only whole new lines are added: a version above the one that it supersedes, with each example worked again; a line
    that retires a model; new models below those of their family. The result must load, and have the prices of
    the candidate; else nothing is written, and the exit status is 1.
    """
    folder = folder_of(tables)
    if folder is None:
        raise click.UsageError("These tables belong to an installed package. Name yours: --tables FOLDER")
    tell_tables(folder)
    warn_of_days(candidate, checked)
    promoted = promotion(folder, candidate, checked)
    for added in promoted.added:
        click.echo(str(added))
        if dry_run:
            click.echo("".join(f"+{line}\n" for line in added.text.splitlines()))
    if not dry_run:
        promoted.write()
    number, _, files = promoted.summary.partition(" to ")
    click.echo(f"{number} {'would be ' if dry_run else ''}added to {files}. Digest {promoted.digest}.")
