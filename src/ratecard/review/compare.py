"""Compare two sides on every day on which one of them changes: models, rates, conditions, cells of the price sheet.

A price cell is a request that decides a price on either side; it is priced on both. A difference that lasts over
several date ranges is reported once, from its first day.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from ratecard.base.instants import day_or_instant, utc
from ratecard.base.money import plain
from ratecard.line_items.quote import Quote
from ratecard.load.folder import LIMITS, METERS, MONTHLY, UNITS, VOCABULARY
from ratecard.price_book import PriceBook
from ratecard.review.contracts import contract_changes
from ratecard.review.difference import (
    ADDED,
    CHANGED,
    OF_CONTRACT,
    REMOVED,
    RETIRED,
    CellChange,
    Cells,
    Difference,
    extremes,
    factor,
)
from ratecard.review.rates import Terms, described, rate_changes, term_changes, terms_of
from ratecard.review.sides import Priceable, Side, Standing
from ratecard.tables.card import meaning
from ratecard.tables.monthly import described_terms
from ratecard.tables.scalars import value_text
from ratecard.views.sheet import Cell, price_cells


def compare_cells(model: str, old: PriceBook | None, new: PriceBook | None) -> Cells:
    """Compare the price cells of a model; None is a side on which it has no price."""
    differing, steepest, steepest_factor = [], None, None
    added = removed = count = 0
    for cell, was, now in _pairs(model, old, new):
        count += 1
        # A price in another currency is a new one: amounts in two currencies are not compared.
        if was is None or now is None or was.currency != now.currency:
            added, removed = added + (now is not None), removed + (now is None)
            continue
        if was.total != now.total:
            differing.append(CellChange(model, cell, plain(was.total), plain(now.total)))
        times = factor(was.exact, now.exact)
        if steepest is None or times is None or (steepest_factor is not None and times > steepest_factor):
            steepest, steepest_factor = CellChange(model, cell, plain(was.exact), plain(now.exact)), times
    return Cells(tuple(differing), added, removed, count, steepest)


def _pairs(
    model: str, old: PriceBook | None, new: PriceBook | None
) -> Iterator[tuple[str, Quote | None, Quote | None]]:
    defaults = [dict(_defaults(book, model)) for book in (old, new)]
    moved = {name for name in {**defaults[0], **defaults[1]} if defaults[0].get(name) != defaults[1].get(name)}
    unstated = moved if old and new else set[str]()
    seen: set[str] = set()
    for book, other in ((old, new), (new, old)):
        for words, cell in _asked(book, model, unstated) if book else ():
            if cell.key not in seen:
                seen.add(cell.key)
                quotes = cell.quote, cell.priced(other) if other else None
                yield (words, *quotes) if book is old else (words, *quotes[::-1])


def _defaults(prices: PriceBook | None, model: str) -> Mapping[str, Any]:
    return (getattr(prices.in_effect(model)[1], "defaults", None) or {}) if prices else {}


def _asked(prices: PriceBook, model: str, unstated: Collection[str]) -> Iterator[tuple[str, Cell]]:
    """Yield the price cells of a model with their descriptions, and again without the fields in `unstated`."""
    for cell in price_cells(prices, model):
        yield describe(cell), cell
        left_out = [name for name in unstated if name in (cell.body if cell.usage is None else cell.usage)]
        if left_out:
            shorter = _without(cell, left_out)
            if (quote := shorter.priced(prices)) is not None:
                words = (describe(shorter), *(f"{name} left out" for name in sorted(left_out)))
                yield ", ".join(filter(None, words)), shorter._replace(quote=quote)


def _without(cell: Cell, names: Collection[str]) -> Cell:
    body = {name: value for name, value in cell.body.items() if name not in names}
    if cell.usage is None:
        return cell._replace(body=body)
    usage = {name: value for name, value in cell.usage.items() if name not in names}
    counts = {name: value for name, value in usage.items() if name not in ("type", "model")}
    return cell._replace(body=body | {"usage": json.dumps(counts)}, usage=usage)


def describe(cell: Cell) -> str:
    """Return the request of a cell, without the model, like `duration 5s, audio true`."""
    fields = {name: value for name, value in cell.body.items() if name not in ("model", "usage")}
    fields |= json.loads(cell.body.get("usage", "{}"))
    if cell.video:
        fields["source video"] = f"{cell.video.width}x{cell.video.height}, {cell.video.fps} fps"
    return ", ".join(_flat(fields))


def _flat(asked: dict[str, Any]) -> Iterator[str]:
    for name, value in asked.items():
        if isinstance(value, dict):
            yield from _flat(value)
        elif isinstance(value, list):
            yield from (word for item in value for word in _flat(item))
        else:
            yield f"{name} {str(value).lower() if isinstance(value, bool) else value}"


def stretches(name: str, old: Side, new: Side, days: Sequence[date]) -> Iterator[Difference]:
    """Yield the differences of a model, one for each date range in which neither side changes."""
    begun: list[tuple[date, tuple[PriceBook, PriceBook], tuple[Standing, Standing]]] = []
    for day in days:
        books = old.book(day), new.book(day)
        pair = Standing.of(books[0], name), Standing.of(books[1], name)
        if not begun or begun[-1][2] != pair:
            begun.append((day, books, pair))
    ends: list[date | None] = [day for day, *_ in begun[1:]]
    for (day, books, pair), until in zip(begun, [*ends, None], strict=True):
        change = _compare(name, books, pair, day)
        if change:
            yield change._replace(until=until)


def _compare(
    name: str, books: tuple[PriceBook, PriceBook], pair: tuple[Standing, Standing], day: date
) -> Difference | None:
    old, new = pair
    kind, effective, note = _kind(old, new, day)
    before, after = (standing.priceable(book) for standing, book in zip(pair, books, strict=True))
    if not kind or (before and after and same(before, after)):
        return None
    known = after or before
    change = Difference(
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
    """Return the kind of a difference, its first day and a note; an empty kind if neither side has a price."""
    if old.version and new.version:
        return CHANGED, max(old.version.effective, new.version.effective, key=utc), ""
    if new.version:
        if old.retired:
            return ADDED, day, "was retired"
        first = old.model.versions[-1] if old.model else None
        later = first is not None and first.begins > new.version.begins
        note = f"had its first price from {first.effective}" if first and later else ""
        return ADDED, new.version.effective, note
    if not old.version:
        return "", day, ""
    if new.model is None:
        return REMOVED, day, "not in the tables any more"
    if new.model.retired and new.retired:
        successor = f", use {new.model.retired.successor}" if new.model.retired.successor else ""
        return RETIRED, new.model.retired.on, f"retired on {new.model.retired.on}{successor}"
    return REMOVED, day, f"has its first price from {new.model.versions[-1].effective}"


def same(one: Priceable, other: Priceable) -> bool:
    """Return True if two versions mean the same: a quick check that is enough for most models of a large card."""
    return one.units == other.units and _meaning(one) == _meaning(other)


def _meaning(side: Priceable) -> str:
    return meaning(side.model.model_copy(update={"versions": (side.version,), "retired": None}))


def shared_changes(old: Side, new: Side, days: Sequence[date]) -> Iterator[Difference]:
    """Yield, for each day, what differs in the parts that models share: units, meters, vocabulary, limits, terms."""
    shared = [(_shared(old.book(day)), _shared(new.book(day))) for day in days]
    for name in (UNITS, METERS, VOCABULARY, LIMITS, MONTHLY):
        for day, until, (before, after) in zip(days, [*days[1:], None], shared, strict=True):
            if changed := term_changes(before[name], after[name]):
                yield Difference(name, CHANGED, day, until, "", "", name, terms=changed)


def _shared(book: PriceBook) -> dict[str, Terms]:
    tables = book.tables
    return {
        UNITS: {unit.unit: f"{unit.per} x {unit.counts}" for unit in tables.units.values()},
        METERS: described(tables.meters),
        VOCABULARY: {
            **described(tables.vocabulary.video),
            "service_parameters": value_text(tables.vocabulary.service_parameters),
        },
        LIMITS: described(book.limits) if tables.limits else {},
        MONTHLY: {**described_terms(tables.listed.monthly)},
    }


class Diff(NamedTuple):
    """The differences between two sides, by model and day."""

    old: str
    new: str
    changes: tuple[Difference, ...]

    @property
    def worst(self) -> tuple[CellChange | None, CellChange | None]:
        """Return the worst rise and the worst fall of any price cell."""
        return extremes(tuple(cell for change in self.changes for cell in change.cells.differing))

    def counts(self) -> dict[str, int]:
        """Return how many rates, conditions, models, contracts and price cells differ, by kind of change."""
        rates = [rate.kind for change in self.changes if change.kind == CHANGED for rate in change.rates]
        changed = {(change.kind, change.model) for change in self.changes}
        contracts = Counter(kind for kind, name in changed if name.startswith(OF_CONTRACT))
        models = Counter(kind for kind, name in changed if not name.startswith(OF_CONTRACT))
        return {
            "rates changed": rates.count(CHANGED),
            "rates added": rates.count(ADDED),
            "rates removed": rates.count(REMOVED),
            "conditions changed": sum(len(change.terms) for change in self.changes),
            **{f"models {kind}": models[kind] for kind in (ADDED, RETIRED, REMOVED)},
            **{f"contracts {kind}": contracts[kind] for kind in (ADDED, REMOVED)},
            "price cells affected": sum(change.cells.affected for change in self.changes),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as text and counts, in a stable order."""
        rise, fall = self.worst
        return {
            "old": self.old,
            "new": self.new,
            "counts": {name.replace(" ", "_"): count for name, count in self.counts().items()},
            "worst_rise": rise and rise.to_dict(),
            "worst_fall": fall and fall.to_dict(),
            "changes": [change.to_dict() for change in self.changes],
        }


def compare_sides(old: Side, new: Side, at: datetime | None = None) -> Diff:
    """Compare two sides: on every day on which either changes, or at one instant.

    A side that is a date keeps its prices: it is compared with the other side from that day on.
    """
    days = days_of(old, new, at)
    # The order in which balances pay does not affect a price, and is not in the digest.
    alike = old.at is None and new.at is None and old.card.digest == new.card.digest
    names = [] if alike else sorted({*old.card.tables.models, *new.card.tables.models})
    of_models = [change for name in names for change in _told_once(stretches(name, old, new, days))]
    terms = contract_changes(old.card, new.card, at) if old.card is not new.card else ()
    return Diff(old.label, new.label, (*_told_once(shared_changes(old, new, days)), *of_models, *terms))


def days_of(old: Side, new: Side, at: datetime | None = None) -> list[date]:
    """Return the days and instants at which two sides are compared, in order."""
    if at is not None:
        return [day_or_instant(at)]
    still = [day for side in (old, new) if side.at for day in side.days()]
    if len(still) > 1:
        return still[1:]  # This is the instant of the new side, from which its prices hold.
    days = old.days() | new.days()
    return sorted((day for day in days if not still or utc(day) >= utc(still[0])), key=utc)


def _told_once(changes: Iterable[Difference]) -> Iterator[Difference]:
    """Yield the differences of one model in order of their days, with equal neighbours joined."""
    going_on: Difference | None = None
    for change in changes:
        if going_on is not None and going_on.until == change.effective and _alike(going_on, change):
            change = change._replace(effective=going_on.effective)
        elif going_on is not None:
            yield going_on
        going_on = change
    if going_on is not None:
        yield going_on


def _alike(one: Difference, other: Difference) -> bool:
    if (one.model, one.kind, one.note) != (other.model, other.kind, other.note):
        return False
    return one.kind in (REMOVED, RETIRED) or _said(one) == _said(other)


def _said(change: Difference) -> tuple[Any, ...]:
    """Return the content of a difference, without the lines of files."""
    rates = (
        (rate.charge, rate.attributes, rate.old and rate.old[:3], rate.new and rate.new[:3]) for rate in change.rates
    )
    return (*rates, change.terms, change.cells.affected)
