"""`ratecard check`: report the faults of a folder of tables, its wrong examples, and changes that are not allowed."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import click

from ratecard.base.errors import Fault, TableError
from ratecard.base.messages import plural
from ratecard.card import RateCard, load_rate_card
from ratecard.cli.diff import diff_text
from ratecard.cli.options import FOLDER, as_wrong_use, checkout_tables, instant, json_option, now, tell_tables
from ratecard.cli.simulate_options import share
from ratecard.examples import faults_of
from ratecard.load.folder import shipped_folder
from ratecard.load.revision import RevisionError, find_revision, load_revision
from ratecard.notes import notes_on
from ratecard.review.compare import compare_sides
from ratecard.review.contracts import contract_notes
from ratecard.review.guard import Rules, refusals
from ratecard.review.margins import TableCosts, thin_margins
from ratecard.review.sides import Side
from ratecard.tables.scalars import read_number

# The most models that a sentence names, and the most notes below a verdict.
_NAMED, _NOTED = 5, 5


def _factor(given: str) -> Decimal:
    try:
        factor = read_number(given)
    except ValueError as error:
        raise click.BadParameter(f"'{given}' {error}") from None
    if factor < 1:
        raise click.BadParameter(f"'{given}' is below 1. A factor of 2 lets prices double or halve")
    return factor


@click.command(short_help="Report every fault of a folder of tables.")
@click.argument("folder", required=False, type=FOLDER, default=checkout_tables)
@click.option("--against", metavar="REVISION", help="Also refuse edits of what was in effect at this git revision.")
@click.option("--as-of", type=instant, help="What is in effect at this instant may not be edited; now if left out.")
@click.option("--max-change", type=_factor, help="Greatest factor by which a rate may change; 2 if left out.")
@click.option("--min-margin", type=share, help="Refuse prices that leave less than this, like 20%.")
@click.option(
    "--cost", metavar="COSTS", help="What we pay: a folder of tables; or 60%, of the price --against REVISION."
)
@click.option("--strict", is_flag=True, help="Treat notes as faults: print all of them, and exit with status 1.")
@json_option
def check(
    folder: Path | None,
    against: str | None,
    as_of: datetime | None,
    max_change: Decimal | None,
    min_margin: Fraction | None,
    cost: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Check the tables of FOLDER and run their examples.

    Without a folder, they are those of the checkout that you are in, or else the shipped ones; it says which.

    Every fault is printed as file:line, what was given and what is allowed; with faults the exit status is 1.

    Sound tables may have notes, on what may be a mistake: a rate or factor that can never apply, one that no example
    reaches, a tier that one bucket alone has, an unlikely date. They fail with --strict alone.

    With --against, a version that is in effect may not be edited or deleted unless it says `correction: reason`, a
    model may not vanish unless it is retired, and a rate may not change by more than a factor unless its version says
    `expected_change: FACTOR`. A contract that has begun may not be edited, ended early or taken away, and a new one
    may not begin in the past, unless it says `correction: reason`. The same holds for the terms of monthly.yaml in
    months that have begun. What differs is printed below the verdict.

    With --min-margin and --cost, every price (each row of `ratecard sheet --every-request`) that holds now or later
    must leave that share of itself after its cost; the others are refused at the line of their rate. Models without a
    cost are named.

    \b
    ratecard check pricing_tables --against main
    ratecard check pricing_tables --min-margin 20% --cost costs
    ratecard check pricing_tables --against main --min-margin 20% --cost 60%
    """
    if against is None and (max_change or (as_of and min_margin is None)):
        raise click.UsageError("--as-of and --max-change go with --against")
    if (min_margin is None) != (cost is None):
        raise click.UsageError("--min-margin and --cost go together")
    if min_margin is not None and min_margin >= 1:
        raise click.UsageError("--min-margin must be below 100%: at 100%, nothing is left for the cost")
    if cost is not None and cost.endswith("%") and against is None:
        raise click.UsageError(f"--cost {cost} is a share of earlier prices. Name these: --against REVISION")
    tell_tables(folder)
    try:
        card = load_rate_card(folder)
        before = _before(against, folder) if against is not None else None
        costs = _costs(cost, before) if cost is not None else None
    except TableError as error:
        _refuse(error.body(), error.faults, as_json)
    examples = list(card.work_all())
    wrong, refused, below, more = faults_of(examples), [], "", {}
    if before:
        diff = compare_sides(before, Side(str(folder or shipped_folder()), card))
        refused = refusals(before.card, card, Rules(as_of or now(), max_change or Decimal(2), against or ""))
        below, more = f"\n{diff_text(diff)}", {"against": before.label, "diff": diff.to_dict()}
    thin: list[Fault] = []
    if costs and min_margin is not None and not wrong:
        found_margins = thin_margins(card, costs, min_margin, (as_of or now()).astimezone(UTC).date())
        thin = list(found_margins.faults)
        words = f"{found_margins.compared:,} prices compared with their costs"
        if missing := found_margins.unknown:
            named = ", ".join(missing[:_NAMED]) + (f" and {len(missing) - _NAMED} more" if missing[_NAMED:] else "")
            words += f"; prices of {plural(len(missing), 'model')} have no cost and are not compared: {named}"
        below += f"\n{words}.\n"
        more |= {"margins": {"compared": found_margins.compared, "without_cost": list(missing)}}
        if not found_margins.compared:
            thin = [Fault(cost or "", 1, (), f"has no cost for any of these prices; {words}")]
    if wrong or refused or thin:
        error_words = [TableError(wrong).body()["error"]] if wrong else []
        error_words += [f"{plural(len(refused), 'change')} refused"] if refused else []
        error_words += [f"{plural(len(thin), 'rate')} below the margin"] if thin else []
        faults = [*wrong, *refused, *thin]
        body = {"error": ", ".join(error_words), "details": TableError(faults).details, **more}
        _refuse(body, faults, as_json, below)
    notes = [*contract_notes(card, examples), *notes_on(card.tables, examples, as_of or now())]
    if notes and strict:
        _refuse({"error": plural(len(notes), "note"), "details": TableError(notes).details, **more}, notes, as_json)
    versions = sum(len(model.versions) for model in card.tables.models.values())
    counts = {"models": len(card.tables.models), "versions": versions, "examples": len(examples)}
    counts |= {"contracts": len(card.contracts)} if card.contracts else {}
    if as_json:
        more |= {"notes": list(map(str, notes))} if notes else {}
        click.echo(json.dumps({**counts, "digest": card.digest, **more}, ensure_ascii=False))
        return
    words = ", ".join(plural(count, noun[:-1]) for noun, count in counts.items())
    click.echo(f"Sound: {words}. Digest {card.digest}.")
    if before:
        click.echo(f"Nothing that was in effect at {before.label} is changed without a correction.")
    if notes:
        click.echo(f"\n{plural(len(notes), 'note')}, which fail with --strict alone:")
        click.echo("\n".join(f"  {note}" for note in notes[:_NOTED]))
        if notes[_NOTED:]:
            click.echo(f"  and {len(notes) - _NOTED:,} more: --strict names all")
    click.echo(below, nl=False)


def _refuse(body: Mapping[str, Any], faults: Sequence[Fault], as_json: bool, below: str = "") -> NoReturn:
    """Print every fault with its line, and the number of faults, or all as JSON; then exit with status 1."""
    if as_json:
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        click.echo(str(TableError(faults)))
        click.echo(below, nl=False)
        click.echo(body["error"], err=True)
    raise SystemExit(1)


def _before(against: str, folder: Path | None) -> Side:
    """Load the tables of a folder at a revision. Raises `click.UsageError` if it cannot be read."""
    with as_wrong_use(RevisionError):
        revision = find_revision(folder or shipped_folder(), against)
        return Side(revision.label, RateCard(load_revision(revision)))


def _costs(given: str, before: Side | None) -> TableCosts:
    """Read costs from a folder of tables, or as a share of the prices before. Raises `TableError`."""
    if given.endswith("%") and before:
        return TableCosts(before.card, share(given))
    if not Path(given).is_dir():
        raise click.UsageError(f"--cost {given} is not a folder of tables, nor a share like 60%")
    return TableCosts(load_rate_card(given))
