"""`ratecard diff`: compare two folders, git revisions, candidates or days; `ratecard promote`: accept a candidate."""

from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path

import click

from ratecard.card import RateCard, load_rate_card
from ratecard.cli.modes import CommandOfModes
from ratecard.cli.options import (
    FOLDER,
    as_json_text,
    as_wrong_use,
    check_out,
    checkout_tables,
    day,
    format_options,
    instant,
    show,
    tables_option,
    tell_tables,
    today,
    warn_of_days,
)
from ratecard.cli.screen import heading_style, paragraph
from ratecard.load.revision import RevisionError
from ratecard.review.compare import Diff, compare_sides
from ratecard.review.difference import ADDED, CHANGED, MARKS, CellChange, Difference, RateChange, extremes
from ratecard.review.promote import folder_of, promotion
from ratecard.review.report import LEGEND, NO_CHANGES, diff_markdown, diff_page, summary
from ratecard.review.sides import Side, SideError, Stack, named, side_of, stack_of

_COLOURS = {"~": "yellow", "+": "green", "-": "red"}


def diff_text(diff: Diff) -> str:
    """Return the whole comparison, with the legend first."""
    if not diff.changes:
        return f"{NO_CHANGES}\n"
    head = [LEGEND, paragraph(f"{diff.old} -> {diff.new}", indent="  "), ""]
    body = [line for change in diff.changes for line in (*_of_model(change), "")]
    ending = [heading_style(paragraph(summary(diff))), *_extremes(*diff.worst, "", with_model=True)]
    return "\n".join([*head, *body, *ending]) + "\n"


def _of_model(change: Difference) -> Iterator[str]:
    words = f"{change.model}, {change.when}{f': {change.note}' if change.note else ''}"
    yield heading_style(_marked(MARKS[change.kind], "", words))
    # The rates of a removed model are not listed.
    for rate in change.rates if change.kind in (CHANGED, ADDED) else ():
        yield from _of_rate(rate)
    for term in change.terms:
        both = f"{term.old} -> {term.new}" if term.old and term.new else term.old or term.new
        yield _marked(MARKS[term.kind], "    ", f"{term.term}: {both}")
    if change.cells.affected:
        yield f"    {change.cells} affected"
    yield from (line for line in _extremes(*extremes(change.cells.differing), "    ") if change.kind == CHANGED)


def _of_rate(rate: RateChange) -> Iterator[str]:
    shown = " -> ".join(filter(None, rate.amounts))
    currency = f" {rate.currency}" if rate.currency else ""
    per = f"{currency} per {rate.unit}" if currency and rate.unit else currency
    percent = f" ({rate.by})" if rate.by else ""
    yield _marked(rate.mark, "    ", f"{rate.subject}: {shown}{per}{percent}")
    yield paragraph(f"      {' -> '.join(rate.places)}", indent="      ")


def _extremes(
    rise: CellChange | None, fall: CellChange | None, indent: str, *, with_model: bool = False
) -> Iterator[str]:
    for name, change in (("Worst rise", rise), ("Worst fall", fall)):
        if change:
            where = ", ".join(filter(None, (change.model if with_model else "", change.cell)))
            yield paragraph(f"{indent}{name}: {change}{f' for {where}' if where else ''}", indent=f"{indent}  ")


def _marked(sign: str, indent: str, words: str) -> str:
    """Return words behind their mark; only the mark has a colour."""
    wrapped = paragraph(f"{indent}{sign} {words}", indent=f"{indent}    ")
    return wrapped.replace(f"{indent}{sign}", f"{indent}{click.style(sign, fg=_COLOURS[sign])}", 1)


def _sides(old: str, new: str, tables: Path | None) -> tuple[Side, Side]:
    """Load both sides. A candidate is laid over the other side, or over the tables if both are candidates."""
    with as_wrong_use(SideError, RevisionError):
        one, other = named(old, tables), named(new, tables)
        if isinstance(one, Stack) and isinstance(other, Stack):
            base = load_rate_card(tables)
            return _laid(old, one, base), _laid(new, other, base)
        if isinstance(one, Stack):
            after = side_of(new, other, tables)  # type: ignore[arg-type]
            return _laid(old, one, after.card), after
        before = side_of(old, one, tables)
        return before, _laid(new, other, before.card) if isinstance(other, Stack) else side_of(new, other, tables)


def _files(given: str) -> tuple[str | Path, ...]:
    """Return the files of a stack of candidates; for anything else the word itself."""
    try:
        return stack_of(given).paths
    except SideError:
        return (given,)


def _laid(given: str, candidate: Stack, base: RateCard) -> Side:
    warn_of_days(candidate, today())
    return Side(given, candidate.over(base))


_FORMATS: dict[str, Callable[[Diff], str]] = {
    "text": diff_text,
    "markdown": diff_markdown,
    "json": as_json_text,
    "html": diff_page,
}


@click.command(cls=CommandOfModes, short_help="Show what differs between two sets of prices.")
@click.argument("old")
@click.argument("new")
@click.option("--at", type=instant, help="Compare at this instant only, like 2026-10-01.")
@click.option(
    "--tables",
    type=FOLDER,
    default=checkout_tables,
    show_default="of the checkout that you are in",
    help="Folder of rate tables of which OLD and NEW are revisions or dates.",
)
@format_options
def diff(old: str, new: str, at: datetime | None, kind: str, tables: Path | None, out: Path | None) -> None:
    """Show what differs between OLD and NEW: rates, conditions, models, and what it does to prices.

    \b
    Each of them is one of
      a folder of tables     pricing_tables
      a git revision         HEAD~1, origin/main (of --tables, or of the
                             folder pricing_tables of the repository)
      a date                 2026-10-01 (of --tables, or of the shipped tables)
      a candidate file       proposal.yaml (laid over the other side), or
                             several: spring.yaml+promotion.yaml

    Every day on which either side changes is compared, so that future prices show; a side that is a date has the
    prices of that day throughout. The exit status is 0 whether something differs or not.
    """
    check_out(out, *_files(old), *_files(new), tables)
    before, after = _sides(old, new, tables)
    show(_FORMATS[kind](compare_sides(before, after, at)), out)


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
