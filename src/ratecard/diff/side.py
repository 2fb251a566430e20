"""One side of a comparison: a rate card, and the instant at which it stands still if it is a date."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.price_book import PriceBook
from ratecard.tables.candidate import Candidate
from ratecard.tables.card import AnyModel
from ratecard.tables.version import Version
from ratecard.tables.vocabulary import Unit


class Side(NamedTuple):
    """A card by the name that it was asked for; `at` is the one instant that counts, None for all of them.

    `candidates` are those that are laid over its tables: their names, dates and reasons.
    """

    label: str
    card: RateCard
    at: datetime | None = None
    candidates: tuple[Candidate, ...] = ()

    def book(self, day: date) -> PriceBook:
        """What is in effect on this side on a day of the comparison, as it is written: proved or not."""
        return self.card.unproved.at(self.at.astimezone(UTC).date() if self.at else day)

    def days(self) -> set[date]:
        """The days on which something changes on this side."""
        return {self.at.astimezone(UTC).date()} if self.at else {each.date() for each in self.card.boundaries()}


class Priceable(NamedTuple):
    """A version in effect with what its rates mean: its model, and the units of its card."""

    model: AnyModel
    version: Version
    units: Mapping[str, Unit]


class Standing(NamedTuple):
    """A model on one side on one day: itself if the tables have it, and its version if it has a price."""

    model: AnyModel | None
    version: Version | None
    retired: bool

    @classmethod
    def of(cls, book: PriceBook, name: str) -> "Standing":
        """How a model stands in a price book."""
        model = book.card.tables.models.get(name)
        retired = model is not None and model.retired_on(book.day)
        return cls(model, model.version_on(book.day) if model and not retired else None, retired)

    def priceable(self, book: PriceBook) -> Priceable | None:
        """What its prices are made of; None where it has none."""
        units = book.card.tables.units
        return Priceable(self.model, self.version, units) if self.model and self.version else None

    @property
    def place(self) -> str:
        """`file:line` of the version, or of the newest one of a model that has no price."""
        version = self.version or (self.model.versions[0] if self.model else None)
        return version.place if version else ""
