"""`ratecard check`: every fault of a folder of tables, its examples worked again, and what its changes may not do."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import click

from ratecard.card import RateCard, load_rate_card
from ratecard.diff.compare import compare
from ratecard.diff.side import Side
from ratecard.doors.cli.diff_text import diff_text
from ratecard.doors.cli.options import FOLDER, checkout_tables, instant, json_option, now, tell_tables
from ratecard.examples import work, wrong_examples
from ratecard.guard.refusals import Rules, refusals
from ratecard.load.folder import shipped_folder
from ratecard.load.revision import RevisionError, find_revision, load_revision
from ratecard.tables.scalars import read_number
from ratecard.words.errors import Fault, TableError


def _factor(given: str | Decimal) -> Decimal:
    try:
        found = given if isinstance(given, Decimal) else read_number(given)
    except ValueError as error:
        raise click.BadParameter(f"'{given}' {error}") from None
    if found < 1:
        raise click.BadParameter(f"'{given}' is below 1. A factor of 2 lets prices double or halve")
    return found


@click.command(short_help="Report every fault of a folder of tables.")
@click.argument("folder", required=False, type=FOLDER, default=checkout_tables)
@click.option("--against", metavar="REVISION", help="Also refuse edits of what was in effect at this git revision.")
@click.option("--as-of", type=instant, help="What is in effect at this instant may not be edited; now if left out.")
@click.option("--max-change", type=_factor, help="Greatest factor by which a rate may change; 2 if left out.")
@json_option
def check(
    folder: Path | None, against: str | None, as_of: datetime | None, max_change: Decimal | None, as_json: bool
) -> None:
    """Check the tables of FOLDER and run their examples.

    Where none is named, they are those of the checkout that you are in, else the shipped ones; which, is said.

    Every fault is printed as file:line, what was given and what is allowed; with faults the exit status is 1.

    With --against, a version that is in effect may not be edited or deleted unless it says `correction: reason`, a
    model may not vanish unless it is retired, and a rate may not change by more than a factor unless its version says
    `expected_change: FACTOR`. What differs is printed below the verdict.
    """
    if against is None and (as_of or max_change):
        raise click.UsageError("--as-of and --max-change go with --against")
    tell_tables(folder)
    try:
        card = load_rate_card(folder)
        before = _before(against, folder) if against is not None else None
    except TableError as error:
        _refuse(error.body(), error.faults, as_json)
    wrong, refused, below, more = wrong_examples(card), [], "", {}
    if before:
        found = compare(before, Side(str(folder or shipped_folder()), card))
        refused = refusals(before.card, card, Rules(as_of or now(), max_change or Decimal(2), against or ""))
        below, more = f"\n{diff_text(found)}", {"against": before.label, "diff": found.to_dict()}
    if wrong or refused:
        error_words = [TableError(wrong).body()["error"]] if wrong else []
        error_words += [f"{len(refused)} change{'' if len(refused) == 1 else 's'} refused"] if refused else []
        faults = [*wrong, *refused]
        body = {"error": ", ".join(error_words), "details": TableError(faults).details, **more}
        _refuse(body, faults, as_json, below)
    versions = sum(len(model.versions) for model in card.tables.models.values())
    counts = {"models": len(card.tables.models), "versions": versions, "examples": sum(1 for _ in work(card))}
    if as_json:
        click.echo(json.dumps({**counts, "digest": card.digest, **more}, ensure_ascii=False))
        return
    words = ", ".join(f"{count} {noun if count > 1 else noun[:-1]}" for noun, count in counts.items())
    click.echo(f"Sound: {words}. Digest {card.digest}.")
    if before:
        click.echo(f"Nothing that was in effect at {before.label} is changed.")
        click.echo(below, nl=False)


def _refuse(body: Mapping[str, Any], faults: Sequence[Fault], as_json: bool, below: str = "") -> NoReturn:
    """Every fault at its line and how many there are, or the tree of them; the exit status is 1."""
    if as_json:
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        click.echo(str(TableError(faults)))
        click.echo(below, nl=False)
        click.echo(body["error"], err=True)
    raise SystemExit(1)


def _before(against: str, folder: Path | None) -> Side:
    """The tables of a folder at a revision. A revision that cannot be read is a wrong use."""
    try:
        revision = find_revision(folder or shipped_folder(), against)
        return Side(revision.label, RateCard(load_revision(revision)))
    except RevisionError as error:
        raise click.UsageError(str(error)) from None
