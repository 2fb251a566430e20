"""The two sides that the words of `ratecard diff` name."""

from pathlib import Path

import click

from ratecard.card import RateCard, load_rate_card
from ratecard.diff.naming import SideError, Stack, named, side_of
from ratecard.diff.side import Side
from ratecard.load.revision import RevisionError


def sides(old: str, new: str, tables: Path | None) -> tuple[Side, Side]:
    """Both sides; a candidate is laid over the other side, or over the tables where both are candidates.

    Raises `click.UsageError` for a word that names nothing, or more than one thing.
    """
    try:
        one, other = named(old, tables), named(new, tables)
        if isinstance(one, Stack) and isinstance(other, Stack):
            base = load_rate_card(tables)
            return _laid(old, one, base), _laid(new, other, base)
        if isinstance(one, Stack):
            standing = side_of(new, other, tables)  # type: ignore[arg-type]
            return _laid(old, one, standing.card), standing
        standing = side_of(old, one, tables)
        return standing, _laid(new, other, standing.card) if isinstance(other, Stack) else side_of(new, other, tables)
    except (SideError, RevisionError) as error:
        raise click.UsageError(str(error)) from None


def _laid(given: str, candidate: Stack, base: RateCard) -> Side:
    return Side(given, candidate.over(base))
