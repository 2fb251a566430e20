"""The two sides of a comparison, and how an argument names them: a folder, candidates, a git revision or a date."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from ratecard.base.errors import RateCardError
from ratecard.base.instants import day_or_instant, read_instant
from ratecard.candidates.file import read_candidate
from ratecard.card import RateCard, load_rate_card
from ratecard.load.revision import Revision, RevisionError, find_revision, load_revision, repository_of
from ratecard.price_book import PriceBook
from ratecard.tables.candidate import Candidate
from ratecard.tables.card import AnyModel
from ratecard.tables.meters import Unit
from ratecard.tables.version import Version


@dataclass(frozen=True, slots=True)
class Side:
    """A card with the name that the user gave; `at` is the only instant that counts, None for all instants.

    `candidates` are the names, dates and reasons of the candidates that are laid over its tables.
    """

    label: str
    card: RateCard
    at: datetime | None = None
    candidates: tuple[Candidate, ...] = ()

    @property
    def has_rates(self) -> bool:
        """Return True if its amounts come from rates, not from a bill."""
        return True

    def book(self, day: date) -> PriceBook:
        """Return the list of this side on a day or at an instant, whether or not examples prove it.

        It has the models that contracts keep for themselves too: their prices follow the list.
        """
        return self.card.listed._unproved.at(self.at or day)

    def days(self) -> set[date]:
        """Return the days and instants at which something changes on this side."""
        return {day_or_instant(moment) for moment in ((self.at,) if self.at else self.card.boundaries())}


class Priceable(NamedTuple):
    """A version in effect, with its model and the units of its card, which give its rates a meaning."""

    model: AnyModel
    version: Version
    units: Mapping[str, Unit]


class Standing(NamedTuple):
    """The state of a model on one side on one day: the model if the tables have it, its version if it has a price."""

    model: AnyModel | None
    version: Version | None
    retired: bool

    @classmethod
    def of(cls, book: PriceBook, name: str) -> "Standing":
        """Return the state of a model in a price book."""
        model = book.tables.models.get(name)
        retired = model is not None and model.retired_at(book.instant)
        return cls(model, model.version_at(book.instant) if model and not retired else None, retired)

    def priceable(self, book: PriceBook) -> Priceable | None:
        """Return the model, version and units that make its prices; None if it has no price."""
        units = book.tables.units
        return Priceable(self.model, self.version, units) if self.model and self.version else None

    @property
    def place(self) -> str:
        """Return `file:line` of its version, or of the newest version of a model that has no price."""
        version = self.version or (self.model.versions[0] if self.model else None)
        return version.place if version else ""


_TABLES, _YEAR = "pricing_tables", timedelta(days=365)
# The sign between the candidate files of a stack.
_ON_TOP = "+"


@dataclass(frozen=True, slots=True)
class Stack:
    """One or several candidate files, each laid over the result of those before it: `spring.yaml+promotion.yaml`."""

    paths: tuple[Path, ...]

    def __str__(self) -> str:
        return _ON_TOP.join(map(str, self.paths))

    def over(self, card: RateCard) -> RateCard:
        """Return the card under all of these candidates. Raises `TableError`."""
        for path in self.paths:
            card = card.with_candidate(path)
        return card

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Return the head of each candidate."""
        return tuple(read_candidate(path).candidate for path in self.paths)

    def unlikely_days(self, today: date) -> Iterator[str]:
        """Yield a warning, with `file:line`, for each date that has passed or is more than a year ahead."""
        for file in map(read_candidate, self.paths):
            for key, day in (("effective", file.candidate.effective), ("until", file.candidate.until)):
                if day is not None and day < today:
                    words = "has passed: what was charged since then stays as it was charged. Is that day right?"
                    yield f"{file.text.place((key,))}: {key} {day} {words}"
                elif day is not None and day > today + _YEAR:
                    yield f"{file.text.place((key,))}: {key} {day} is more than a year ahead. Is its year right?"

    def holds(self, since: date) -> date:
        """Return the first day from `since` on when all candidates hold. Raises `SideError` if one has ended before."""
        heads = self.candidates
        day = max(since, *(head.effective for head in heads))
        for path, head in zip(self.paths, heads, strict=True):
            if head.until is not None and head.until <= day:
                words = f"{path} holds until {head.until}, and all usage would be priced at {day}"
                raise SideError(f"{words}. Name an earlier day, or price each row at its own time")
        return day


# The things that a word can name; a `str` is a folder.
Named = str | Stack | Revision | datetime
# Unambiguous spellings of a word that could mean two things.
_PLAINLY = {
    "folder": "./{0} for the folder",
    "candidate": "./{0} for the file",
    "revision": "refs/heads/{0}, refs/tags/{0} or its hash for the revision",
    "date": "{0}T00:00Z for the date",
}

# Words that begin like this are paths. Git is not asked about them: that takes a while, and it would read
# `/tables-g0a1b2c3` as a commit.
_PATHS = ("/", "./", "../")


class SideError(RateCardError):
    """A word that names no prices, or more than one thing."""


def named(given: str, tables: Path | None) -> Named:
    """Return what a word names: a folder, a stack, a revision or an instant. Raises `SideError` with every attempt."""
    readers: Mapping[str, Callable[[str], Named]] = {
        "folder": _folder,
        "candidate": stack_of,
        "revision": lambda word: _revision(word, tables),
        "date": read_instant,
    }
    meanings, refused = {}, []
    for kind, read in readers.items():
        try:
            meanings[kind] = read(given)
        except RateCardError as error:
            refused.append(f"\n  {kind}: {error}")
    if not meanings:
        raise SideError(f"'{given}' names nothing that can be compared. Tried:{''.join(refused)}")
    if len(meanings) > 1:
        plainly = ", ".join(_PLAINLY[kind].format(given) for kind in meanings)
        raise SideError(f"'{given}' is a {' and a '.join(meanings)}. Write {plainly}")
    return next(iter(meanings.values()))


def side_of(given: str, meaning: str | Revision | datetime, tables: Path | None) -> Side:
    """Return the side of a folder, a revision or an instant."""
    if isinstance(meaning, Revision):
        return Side(meaning.label, RateCard(load_revision(meaning)))
    if isinstance(meaning, datetime):
        return Side(given, load_rate_card(tables), meaning)
    return Side(given, load_rate_card(meaning))


def _revision(given: str, folder: Path | None) -> Revision:
    """Return a revision of a folder, or of the tables of the current repository. Raises `RevisionError`."""
    if given.startswith(_PATHS):
        raise SideError("a path is not a revision")
    place = folder or repository_of(Path()) / _TABLES
    if not place.is_dir():
        raise RevisionError(f"the repository has no folder {_TABLES}. Name that of its tables by --tables")
    return find_revision(place, given)


def _folder(given: str) -> str:
    if not given or not Path(given).is_dir():
        raise SideError("there is no folder of this name")
    return given


def stack_of(given: str) -> Stack:
    """Return the candidate files that a word names. Raises `SideError` for one that is missing or named twice."""
    if Path(given).is_file():
        return Stack((Path(given),))
    stack = Stack(tuple(map(Path, given.split(_ON_TOP))))
    missing = [str(path) for path in stack.paths if not path.is_file()]
    if len(missing) == len(stack.paths):
        raise SideError("there is no file of this name")
    if missing:
        raise SideError(f"of {stack}, there is no file {', '.join(missing)}")
    places = [path.resolve() for path in stack.paths]
    if twice := next((str(path) for path in stack.paths if places.count(path.resolve()) > 1), ""):
        raise SideError(f"{stack} names {twice} twice, so that its changes would count twice. Name it once")
    return stack
