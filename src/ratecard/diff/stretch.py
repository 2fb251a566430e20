"""One model on both sides, day by day: a stretch of days on which both stand still, and what differs on it."""

from collections.abc import Iterator, Sequence
from datetime import date

from ratecard.diff.cells import compare_cells
from ratecard.diff.change import ADDED, CHANGED, REMOVED, RETIRED, Change
from ratecard.diff.rates import rate_changes
from ratecard.diff.side import Priceable, Side, Standing
from ratecard.diff.terms import term_changes, terms_of
from ratecard.price_book import PriceBook
from ratecard.tables.digest import digest

_NOT_IN_THE_TABLES = "not in the tables any more"


def stretches(name: str, old: Side, new: Side, days: Sequence[date]) -> Iterator[Change]:
    """Everything that differs of a model, a change for each pair of versions that are in effect together."""
    found: list[tuple[date, tuple[PriceBook, PriceBook], tuple[Standing, Standing]]] = []
    for day in days:
        books = old.book(day), new.book(day)
        pair = Standing.of(books[0], name), Standing.of(books[1], name)
        if not found or found[-1][2] != pair:
            found.append((day, books, pair))
    ends: list[date | None] = [day for day, *_ in found[1:]]
    for (day, books, pair), until in zip(found, [*ends, None], strict=True):
        change = _compare(name, books, pair, day)
        if change:
            yield change._replace(until=until)


def _compare(
    name: str, books: tuple[PriceBook, PriceBook], pair: tuple[Standing, Standing], day: date
) -> Change | None:
    old, new = pair
    kind, effective, note = _kind(old, new, day)
    before, after = (standing.priceable(book) for standing, book in zip(pair, books, strict=True))
    if not kind or (before and after and same(before, after)):
        return None
    known = after or before
    change = Change(
        name,
        kind,
        effective,
        None,
        note,
        known.model.currency if known else "",
        new.place or old.place,
        rate_changes(before, after),
        term_changes(terms_of(before), terms_of(after)) if before and after else (),
        compare_cells(name, books[0] if before else None, books[1] if after else None),
    )
    return change if kind != CHANGED or change.rates or change.terms or change.cells.affected else None


def _kind(old: Standing, new: Standing, day: date) -> tuple[str, date, str]:
    """What happened to a model, from which day, and a few words on it; nothing where neither side has a price."""
    if old.version and new.version:
        return CHANGED, max(old.version.effective, new.version.effective), ""
    if new.version:
        if old.retired:
            return ADDED, day, "was retired"
        first = old.model.versions[-1].effective if old.model else None
        later = first is not None and first > new.version.effective
        return ADDED, new.version.effective, f"had its first price from {first}" if later else ""
    if not old.version:
        return "", day, ""
    if new.model is None:
        return REMOVED, day, _NOT_IN_THE_TABLES
    if new.model.retired and new.retired:
        successor = f", use {new.model.retired.successor}" if new.model.retired.successor else ""
        return RETIRED, new.model.retired.on, f"retired on {new.model.retired.on}{successor}"
    return REMOVED, day, f"has its first price from {new.model.versions[-1].effective}"


def same(one: Priceable, other: Priceable) -> bool:
    """Whether two versions mean the same: the quick answer for most models of a large card."""
    return one.units == other.units and _meaning(one) == _meaning(other)


def _meaning(side: Priceable) -> str:
    return digest([side.model.model_copy(update={"versions": (side.version,), "retired": None})])
