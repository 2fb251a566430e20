"""Prices shapes under several cards; what two cards have in common is priced once."""

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from copy import copy
from datetime import UTC, date
from typing import NamedTuple, Self

from ratecard.diff.side import Side
from ratecard.simulation.allocation import uncollected
from ratecard.simulation.deciding import Deciding, deciding
from ratecard.simulation.predicates import Predicates
from ratecard.simulation.priced_shape import PricedShape, ShapePrices
from ratecard.simulation.roll_up import Counted
from ratecard.simulation.shape import Shape
from ratecard.words.errors import QuoteError
from ratecard.words.money import places_of

# Finer amounts leave no digits for their sum.
_MOST_PLACES = 24
NO_INSTANT = "timestamp: missing, or not an instant"


class Refused(NamedTuple):
    """Why the rows of a shape have no price."""

    reason: str


Outcome = PricedShape | Refused


class Pricer:
    """Prices shapes, each once for every version that decides about it, whatever cards that version is part of."""

    def __init__(self, predicates: Predicates, currency: str = "USD") -> None:
        self.predicates, self.currency = predicates, currency
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
        return found

    def alike(self, one: Side, other: Side, shape: Shape) -> bool:
        """Whether two sides are sure to charge the same for every shape of a model."""
        return one.at == other.at and self._decides(one, shape) == self._decides(other, shape)

    def price(self, side: Side, shape: Shape) -> Outcome:
        """What a side charges for each row of a shape, or why it has no price there."""
        moment = side.at.astimezone(UTC).date() if side.at else shape.moment
        if moment is None:
            return Refused(NO_INSTANT)
        identity, steps = self._decides(side, shape)
        step = bisect_right(steps, moment)
        # Where there is no such model, nothing else of the shape matters.
        key = (shape[:3] if steps else shape[:2], identity, step)
        if (found := self._found.get(key)) is None:
            found = self._found[key] = self._price(side, shape, moment)
        return found

    def _price(self, side: Side, shape: Shape, moment: date) -> Outcome:
        place = (id(side.card), moment)
        if place not in self._books:
            self._books[place] = ShapePrices(side.card.at(moment), self.predicates)
        try:
            price = self._books[place].price(shape)
        except QuoteError as error:
            return Refused(reason_of(error))
        if any(places_of(amount) > _MOST_PLACES for amount in price.amounts if amount):
            return Refused(f"charged to more than {_MOST_PLACES} decimals, which cannot be added")
        if price.currency != self.currency:
            return Refused(f"charged in {price.currency}, and amounts are added in {self.currency}")
        return price

    def _decides(self, side: Side, shape: Shape) -> Deciding:
        """What decides about a shape's model on a side."""
        place = (id(side.card), shape.model if shape.type != "rpc" else None)
        if place not in self._deciding:
            self._sides[id(side.card)] = side
            self._deciding[place] = deciding(side.card.tables, place[1])
        return self._deciding[place]


def reason_of(error: QuoteError) -> str:
    """The refusal in one line: the fields if they say more than the sentence."""
    fields = "; ".join(f"{'.'.join(map(str, path)) or 'body'}: {words}" for path, words in error.problems)
    return fields or error.error
