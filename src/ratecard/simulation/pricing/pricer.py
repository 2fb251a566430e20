"""Prices shapes under several cards; what two cards have in common is priced once."""

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from copy import copy
from datetime import UTC, date
from typing import NamedTuple, Self

from ratecard.base.errors import QuoteError
from ratecard.base.money import places_of
from ratecard.changes.sides import Side
from ratecard.simulation.pricing.remap import NOWHERE, Elsewhere
from ratecard.simulation.pricing.shape_price import PricedShape, ShapePrices
from ratecard.simulation.usage.predicates import Deciding, Predicates, deciding
from ratecard.simulation.usage.roll_up import Counted, uncollected
from ratecard.simulation.usage.shape import UsageShape

# Finer amounts leave no digits for their sum.
_MOST_PLACES = 24
NO_TYPE = "type: missing, and no model of this name that would say it"
NO_INSTANT = "timestamp: missing, or not an instant"


# Why rows have no price: the card has no such model, value or rate in effect; they are wrong, or do not say enough; or
# they have one that cannot be added to the others.
NOT_OFFERED, WRONG, NOT_ADDED = "not offered", "wrong", "not added"


class Refused(NamedTuple):
    """Why the rows of a shape have no price, in words and by kind."""

    reason: str
    kind: str = WRONG

    @classmethod
    def of(cls, error: QuoteError) -> "Refused":
        """The refusal in one line: the fields if they say more than the sentence."""
        fields = "; ".join(f"{'.'.join(map(str, path)) or 'body'}: {words}" for path, words in error.problems)
        return cls(fields or error.error, NOT_OFFERED if error.not_offered else WRONG)


Outcome = PricedShape | Refused


class Pricer:
    """Prices shapes, each once for every version that decides about it, whatever cards that version is part of."""

    def __init__(self, predicates: Predicates, currency: str = "USD", elsewhere: Elsewhere = NOWHERE) -> None:
        self.predicates, self.currency, self.elsewhere = predicates, currency, elsewhere
        self._found: dict[Hashable, Outcome] = {}
        self._books: dict[tuple[int, date], ShapePrices] = {}
        self._deciding: dict[tuple[int, str | None], Deciding] = {}
        # Identities stand for models below, so that what they belong to must stay.
        self._sides: dict[int, Side] = {}

    def apart(self) -> Self:
        """A pricer that knows the same, and learns for itself."""
        other = copy(self)
        vars(other).update({name: dict(known) for name, known in vars(self).items() if isinstance(known, dict)})
        return other

    def outcomes(self, sides: Sequence[Side], shapes: Sequence[Counted]) -> list[list[Outcome]]:
        """What each side charges for each of these shapes."""
        with uncollected():
            first = [self.price(sides[0], shape) for shape, *_ in shapes]
            return [first, *(self.beside(side, sides[0], shapes, first) for side in sides[1:])]

    def beside(self, side: Side, base: Side, shapes: Sequence[Counted], known: Sequence[Outcome]) -> list[Outcome]:
        """The same of one side, beside `base`, which charges what is `known`: what is sure to be the same, is it."""
        alike: dict[tuple[bool, str | None], bool] = {}
        found = list(known)
        for number, (shape, *_) in enumerate(shapes):
            # Usage of RPC does not name what it is charged by.
            model = (shape.type == "rpc", shape.model)
            if (same := alike.get(model)) is None:
                same = alike[model] = self.alike(base, side, shape)
            if not (same or (isinstance(found[number], Refused) and shape.incomplete)):
                found[number] = self.price(side, shape)
        if self.elsewhere:
            for number, (shape, *_) in enumerate(shapes):
                if (other := self._other(side, shape, known[number], found[number])) is not None:
                    found[number] = self._priced_as(side, other)
        return found

    def _other(self, side: Side, shape: UsageShape, known: Outcome, found: Outcome) -> UsageShape | None:
        """What the rows of a shape are priced as beside the current prices, where that is not what they are."""
        if (named := self.elsewhere.named(shape)) is not None:
            return named
        lost = isinstance(known, PricedShape) and isinstance(found, Refused) and found.kind == NOT_OFFERED
        moment = _moment(side, shape)
        return self.elsewhere.successor(side.card.tables, shape, moment) if lost and moment else None

    def _priced_as(self, side: Side, shape: UsageShape) -> Outcome:
        """The price of other rows; what these would lack is not offered to those that are."""
        found = self.price(side, shape)
        if isinstance(found, PricedShape):
            return found._replace(shape=shape)
        return Refused(f"as {shape.model}: {found.reason}", NOT_ADDED if found.kind == NOT_ADDED else NOT_OFFERED)

    def alike(self, one: Side, other: Side, shape: UsageShape) -> bool:
        """Whether two sides are sure to charge the same for every shape of a model."""
        return one.at == other.at and self._decides(one, shape) == self._decides(other, shape)

    def price(self, side: Side, shape: UsageShape) -> Outcome:
        """What a side charges for each row of a shape, or why it has no price there."""
        if shape.type is None:
            return Refused(NO_TYPE)
        if (moment := _moment(side, shape)) is None:
            return Refused(NO_INSTANT)
        identity, steps = self._decides(side, shape)
        step = bisect_right(steps, moment)
        # Where there is no such model, nothing else of the shape matters.
        key = (shape[:3] if steps else shape[:2], identity, step)
        if (found := self._found.get(key)) is None:
            found = self._found[key] = self._price(side, shape, moment)
        return found

    def _price(self, side: Side, shape: UsageShape, moment: date) -> Outcome:
        place = (id(side.card), moment)
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

    def _decides(self, side: Side, shape: UsageShape) -> Deciding:
        """What decides about a shape's model on a side."""
        place = (id(side.card), shape.model if shape.type != "rpc" else None)
        if place not in self._deciding:
            self._sides[id(side.card)] = side
            self._deciding[place] = deciding(side.card.tables, place[1])
        return self._deciding[place]


def _moment(side: Side, shape: UsageShape) -> date | None:
    """The day at whose prices a side charges a shape."""
    return side.at.astimezone(UTC).date() if side.at else shape.moment
