"""`ratecard diff`: compare the prices of two folders, git revisions, candidates or days."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import click

from ratecard.card import RateCard, load_rate_card
from ratecard.cli.diff_text import diff_text
from ratecard.cli.modes import refuse_unused
from ratecard.cli.options import (
    FOLDER,
    as_json_text,
    checkout_tables,
    format_options,
    instant,
    show,
    today,
    warn_of_days,
)
from ratecard.load.revision import RevisionError
from ratecard.review.compare import Diff, compare_sides
from ratecard.review.markdown import diff_markdown
from ratecard.review.sides import Side, SideError, Stack, named, side_of


def _sides(old: str, new: str, tables: Path | None) -> tuple[Side, Side]:
    """Load both sides. A candidate is laid over the other side, or over the tables if both are candidates.

    Raises `click.UsageError` for an argument that matches nothing, or is ambiguous.
    """
    try:
        one, other = named(old, tables), named(new, tables)
        if isinstance(one, Stack) and isinstance(other, Stack):
            base = load_rate_card(tables)
            return _laid(old, one, base), _laid(new, other, base)
        if isinstance(one, Stack):
            after = side_of(new, other, tables)  # type: ignore[arg-type]
            return _laid(old, one, after.card), after
        before = side_of(old, one, tables)
        return before, _laid(new, other, before.card) if isinstance(other, Stack) else side_of(new, other, tables)
    except (SideError, RevisionError) as error:
        raise click.UsageError(str(error)) from None


def _laid(given: str, candidate: Stack, base: RateCard) -> Side:
    warn_of_days(candidate, today())
    return Side(given, candidate.over(base))


def _page(diff: Diff) -> str:
    # Loaded here, because the other formats need no templates.
    from ratecard.review.page import diff_page

    return diff_page(diff)


_FORMATS: dict[str, Callable[[Diff], str]] = {
    "text": diff_text,
    "markdown": diff_markdown,
    "json": as_json_text,
    "html": _page,
}


@click.command(short_help="Show what differs between two sets of prices.")
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
@click.pass_context
def diff(
    context: click.Context, /, old: str, new: str, at: datetime | None, kind: str, tables: Path | None, out: Path | None
) -> None:
    """Show what differs between OLD and NEW: rates, conditions, models, and what it does to prices.

    \b
    Each of them is one of
      a folder of tables     pricing_tables
      a git revision         HEAD~1, origin/main (of --tables, or of the
                             folder pricing_tables of the repository)
      a date                 2026-10-01 (of --tables, or of the shipped tables)
      a candidate file       proposal.yaml (laid over the other side), or
                             several: spring.yaml+promotion.yaml

    Every day on which either side changes is compared, so that prices of the future show; a date stands still. The exit
    status is 0 whether something differs or not.
    """
    refuse_unused(context)
    before, after = _sides(old, new, tables)
    show(_FORMATS[kind](compare_sides(before, after, at)), out)
