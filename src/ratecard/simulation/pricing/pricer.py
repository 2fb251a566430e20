"""Prices shapes under several cards; what two cards have in common is priced once."""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from datetime import date, datetime

from ratecard.base.errors import QuoteError
from ratecard.base.instants import utc
from ratecard.base.money import places_of
from ratecard.card import RateCard
from ratecard.changes.sides import Side
from ratecard.simulation.pricing.outcome import NOT_ADDED, NOT_OFFERED, Outcome, Refused
from ratecard.simulation.pricing.remap import NO_REMAPPING, Remapping
from ratecard.simulation.pricing.shape_price import ShapePrices
from ratecard.simulation.usage.predicates import Predicates, price_basis
from ratecard.simulation.usage.roll_up import uncollected
from ratecard.simulation.usage.shape import UsageShape
from ratecard.simulation.usage.shapes import Counted
from ratecard.tables.windows import Window, open_at

# Finer amounts leave no digits for their sum.
_MOST_PLACES = 24
# Outcomes that are remembered: where there are more shapes, nearly each is of one request, and none comes again.
_MOST_FOUND = 100_000
NO_TYPE = "type: missing, and no model of this name that would say it"
NO_INSTANT = "timestamp: missing, or not an instant"


class Pricer:
    """Prices shapes, each once for all cards that share the tables which decide its price."""

    def __init__(self, predicates: Predicates, currency: str = "USD", remapping: Remapping = NO_REMAPPING) -> None:
        self.predicates, self.currency, self.remapping = predicates, currency, remapping
        # One side, and what is kept of its outcomes.
        self._kept: tuple[Side | None, Callable[[UsageShape], Outcome | None]] = (None, _nothing)
        self._found: dict[Hashable, Outcome] = {}
        self._books: dict[tuple[RateCard, date], ShapePrices] = {}
        self._bases: dict[tuple[RateCard, str | None], _Basis] = {}
        # One object for all bases of the same parts, so that they are compared and hashed as quickly as can be.
        self._same_bases: dict[tuple[Hashable, ...], _Basis] = {}

    def apart(self) -> "Pricer":
        """A pricer that knows the same; what it learns is forgotten with it."""
        other = Pricer(self.predicates, self.currency, self.remapping)
        other._found, other._books = dict(self._found), dict(self._books)
        other._bases, other._same_bases = dict(self._bases), dict(self._same_bases)
        return other

    def outcomes(self, sides: Sequence[Side], shapes: Sequence[Counted]) -> list[list[Outcome]]:
        """What each side charges for each of these shapes."""
        with uncollected():
            # What is kept is asked by shape alone, unless sides of other instants may have the same prices.
            alone = all(side.at == sides[0].at for side in sides)
            known = self._kept[1] if alone and self._kept[0] is sides[0] else _nothing
            first = [known(shape) or self.price(sides[0], shape) for shape, *_ in shapes]
            return [first, *(self.beside(side, sides[0], shapes, first) for side in sides[1:])]

    def beside(self, side: Side, base: Side, shapes: Sequence[Counted], known: Sequence[Outcome]) -> list[Outcome]:
        """Price shapes under one side; with the same tables as `base`, each outcome is that of `base` (`known`)."""
        alike: dict[tuple[bool, str | None], bool] = {}
        found = list(known)
        for number, (shape, *_) in enumerate(shapes):
            # Usage of RPC does not name what it is charged by.
            model = (shape.type == "rpc", shape.model)
            if (same := alike.get(model)) is None:
                same = alike[model] = self.alike(base, side, shape)
            if not (same or (found[number].refusal and shape.incomplete)):
                found[number] = self.price(side, shape)
        if self.remapping:
            for number, (shape, *_) in enumerate(shapes):
                if (other := self._other(side, shape, known[number], found[number])) is not None:
                    found[number] = self._priced_as(side, other)
        return found

    def _other(self, side: Side, shape: UsageShape, known: Outcome, found: Outcome) -> UsageShape | None:
        """What the rows of a shape are priced as beside the current prices, where that is not what they are."""
        if (named := self.remapping.named(shape)) is not None:
            return named
        lost = known.price and found.not_offered
        moment = _moment(side, shape)
        return self.remapping.successor(side.card.tables, shape, moment) if lost and moment else None

    def _priced_as(self, side: Side, shape: UsageShape) -> Outcome:
        """The price of other rows; what these would lack is not offered to those that are."""
        found = self.price(side, shape)
        if found.price:
            return found.price._replace(shape=shape)
        why = found.refusal
        return Refused(f"as {shape.model}: {why.reason}", NOT_ADDED if why.kind == NOT_ADDED else NOT_OFFERED)

    def alike(self, one: Side, other: Side, shape: UsageShape) -> bool:
        """Whether two sides are sure to charge the same for every shape of a model."""
        return one.at == other.at and self._basis(one, shape) is self._basis(other, shape)

    def price(self, side: Side, shape: UsageShape) -> Outcome:
        """What a side charges for each row of a shape, or why it has no price there."""
        if shape.type is None:
            return Refused(NO_TYPE)
        if (moment := _moment(side, shape)) is None:
            return Refused(NO_INSTANT)
        basis = self._basis(side, shape)
        period = basis.period(moment)
        # Where there is no such model, nothing else of the shape matters.
        key = (shape[:3] if basis.changes else shape[:2], basis, period)
        if (found := self._found.get(key)) is None:
            known = self._kept[1](shape) if self._kept[0] is side else None
            found = known or self._price(side, shape, moment)
            if len(self._found) < _MOST_FOUND:
                self._found[key] = found
        return found

    def keep(self, side: Side, known: Callable[[UsageShape], Outcome | None]) -> None:
        """Take what is known of the outcomes of a side for granted."""
        self._kept = (side, known)

    def priced_anew(self, side: Side, shape: UsageShape) -> Outcome:
        """What a side charges, with its lines, where only the amounts were kept."""
        moment = _moment(side, shape)
        return self._price(side, shape, moment) if moment else Refused(NO_INSTANT)

    def _price(self, side: Side, shape: UsageShape, moment: date) -> Outcome:
        place = (side.card, moment)
        if place not in self._books:
            self._books[place] = ShapePrices(side.card.at(moment), self.predicates)
        try:
            price = self._books[place].price(shape)
        except QuoteError as error:
            return Refused.of(error)
        if any(places_of(amount) > _MOST_PLACES for amount in price.amounts if amount):
            return Refused(f"charged to more than {_MOST_PLACES} decimals, which cannot be added", NOT_ADDED)
        if price.currency != self.currency:
            return Refused(f"charged in {price.currency}, and amounts are added in {self.currency}", NOT_ADDED)
        return price

    def dispute(self, shape: UsageShape) -> str:
        """What contradicts the prices under which rows were billed; empty of usage, which was not."""
        return ""

    def _basis(self, side: Side, shape: UsageShape) -> "_Basis":
        """What decides the price of a shape's model on a side: one object for the same parts."""
        place = (side.card, shape.model if shape.type != "rpc" else None)
        if (found := self._bases.get(place)) is None:
            parts, changes, windows = price_basis(side.card.tables, place[1])
            found = self._bases[place] = self._same_bases.setdefault(parts, _Basis(changes, windows))
        return found


def _nothing(_: UsageShape) -> None:
    """No outcome is kept."""


class _Basis:
    """What decides the price of a model: equal only to itself. `changes`: the instants of change, in order."""

    def __init__(self, changes: tuple[datetime, ...], windows: tuple[Window, ...]) -> None:
        self.changes, self.windows = changes, windows
        self._periods: dict[date, tuple[int, frozenset[Window]]] = {}

    def period(self, moment: date) -> tuple[int, frozenset[Window]]:
        """What is the same at all instants at which the model has the same prices."""
        if (found := self._periods.get(moment)) is None:
            instant = utc(moment)
            found = self._periods[moment] = bisect_right(self.changes, instant), open_at(self.windows, instant)
        return found


def _moment(side: Side, shape: UsageShape) -> date | None:
    """The day or instant at whose prices a side charges a shape."""
    return side.at or shape.moment
