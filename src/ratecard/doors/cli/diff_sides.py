"""What the two words of `ratecard diff` name: a folder, a candidate, a git revision or a date, by what exists."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from ratecard.card import RateCard, load_rate_card
from ratecard.diff.side import Side
from ratecard.doors.cli.options import instant
from ratecard.load.revision import Revision, RevisionError, find_revision, load_revision, repository_of
from ratecard.words.errors import RateCardError

_TABLES = "pricing_tables"
# How to write a word that could be two things.
_PLAINLY = {
    "folder": "./{0} for the folder",
    "candidate": "./{0} for the file",
    "revision": "refs/heads/{0}, refs/tags/{0} or its hash for the revision",
    "date": "{0}T00:00Z for the date",
}


class _NotThisError(RateCardError):
    """Why a word does not name a thing of one kind."""


def sides(old: str, new: str, tables: Path | None) -> tuple[Side, Side]:
    """Both sides; a candidate is laid over the other side, or over the tables where both are candidates.

    Raises `click.UsageError` for a word that names nothing, or more than one thing.
    """
    one, other = _named(old, tables), _named(new, tables)
    if isinstance(one, Path) and isinstance(other, Path):
        base = load_rate_card(tables)
        return _laid(one, base), _laid(other, base)
    if isinstance(one, Path):
        standing = _side(old, other, tables)
        return _laid(one, standing.card), standing
    standing = _side(old, one, tables)
    return standing, _laid(other, standing.card) if isinstance(other, Path) else _side(new, other, tables)


def revision_of(given: str, folder: Path | None) -> Revision:
    """A revision of a folder, or of the tables of the repository that we are in. Raises `RevisionError`."""
    place = folder or repository_of(Path()) / _TABLES
    if not place.is_dir():
        raise RevisionError(f"the repository has no folder {_TABLES}. Name that of its tables by --tables")
    return find_revision(place, given)


def _laid(candidate: Path, base: RateCard) -> Side:
    return Side(str(candidate), base.with_candidate(candidate))


def _side(given: str, found: Any, tables: Path | None) -> Side:
    """The side that a folder (as text), a revision or an instant makes."""
    if isinstance(found, Revision):
        try:
            return Side(found.label, RateCard(load_revision(found)))
        except RevisionError as error:
            raise click.UsageError(str(error)) from None
    if isinstance(found, datetime):
        return Side(given, load_rate_card(tables), found)
    return Side(given, load_rate_card(found))


def _named(given: str, tables: Path | None) -> Any:
    """What a word names: a folder as text, a candidate as path, a revision, or an instant."""
    found, refused = {}, []
    for kind, read in _readers(tables):
        try:
            found[kind] = read(given)
        except (RateCardError, click.BadParameter) as error:
            refused.append(f"\n  {kind}: {error}")
    if not found:
        raise click.UsageError(f"'{given}' names nothing that can be compared. Tried:{''.join(refused)}")
    if len(found) > 1:
        plainly = ", ".join(_PLAINLY[kind].format(given) for kind in found)
        raise click.UsageError(f"'{given}' is a {' and a '.join(found)}. Write {plainly}")
    return next(iter(found.values()))


def _readers(tables: Path | None) -> Iterator[tuple[str, Callable[[str], Any]]]:
    yield "folder", _folder
    yield "candidate", _candidate
    yield "revision", lambda given: revision_of(given, tables)
    yield "date", instant


def _folder(given: str) -> str:
    if not given or not Path(given).is_dir():
        raise _NotThisError("there is no folder of this name")
    return given


def _candidate(given: str) -> Path:
    if not Path(given).is_file():
        raise _NotThisError("there is no file of this name")
    return Path(given)
