"""The two sides that the words of `ratecard diff` name."""

from pathlib import Path

import click

from ratecard.card import RateCard, load_rate_card
from ratecard.diff.naming import SideError, named, side_of
from ratecard.diff.side import Side
from ratecard.load.revision import RevisionError


def sides(old: str, new: str, tables: Path | None) -> tuple[Side, Side]:
    """Both sides; a candidate is laid over the other side, or over the tables where both are candidates.

    Raises `click.UsageError` for a word that names nothing, or more than one thing.
    """
    try:
        one, other = named(old, tables), named(new, tables)
        if isinstance(one, Path) and isinstance(other, Path):
            base = load_rate_card(tables)
            return _laid(one, base), _laid(other, base)
        if isinstance(one, Path):
            standing = side_of(new, other, tables)  # type: ignore[arg-type]
            return _laid(one, standing.card), standing
        standing = side_of(old, one, tables)
        return standing, _laid(other, standing.card) if isinstance(other, Path) else side_of(new, other, tables)
    except (SideError, RevisionError) as error:
        raise click.UsageError(str(error)) from None


def _laid(candidate: Path, base: RateCard) -> Side:
    return Side(str(candidate), base.with_candidate(candidate))
