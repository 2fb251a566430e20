"""What differs in the files that all tables share: units, vocabulary and limits."""

from collections.abc import Iterator, Sequence
from datetime import date

from ratecard.diff.change import CHANGED, Cells, Change
from ratecard.diff.side import Side
from ratecard.diff.terms import Terms, described, term_changes
from ratecard.load.folder import LIMITS, UNITS, VOCABULARY
from ratecard.price_book import PriceBook


def shared_changes(old: Side, new: Side, days: Sequence[date]) -> Iterator[Change]:
    """Every value of these files that differs; of the limits, those in effect on each day."""
    for name, terms in ((UNITS, _units), (VOCABULARY, _vocabulary), (LIMITS, _limits)):
        for index, day in enumerate(days):
            found = term_changes(terms(old.book(day)), terms(new.book(day)))
            if found:
                until = days[index + 1] if index + 1 < len(days) else None
                yield Change(name, CHANGED, day, until, "", "", name, (), found, Cells())


def _units(book: PriceBook) -> Terms:
    units = book.card.tables.units.values()
    return {unit.unit: f"{unit.per} x {unit.counts}" for unit in units}


def _vocabulary(book: PriceBook) -> Terms:
    return described(book.card.tables.vocabulary.video)


def _limits(book: PriceBook) -> Terms:
    return described(book.limits)
