"""The outcome of a shape under a side: its price, as amounts and lines, or why it has none; and those of all shapes.

There may be a million outcomes with several lines each: they are tuples, because a frozen data class takes three times
as long to make (0.8 us against 0.3 us). Each distinct one is kept once.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy

from ratecard.base.errors import QuoteError
from ratecard.base.messages import NoPriceYet
from ratecard.simulation.groups.shapes import Shapes, UsageShape

# (amount per request, amount per unit of each quantity); amounts that are left out at the end are zero.
Vector = tuple[Decimal, ...]
NOTHING: Vector = (Decimal(0),)
# The part of a total that rounding to the cent adds or takes, and that comes from no rate.
ROUNDING_PART = "rounding"
# Why rows have no price: the card has no such model, value or rate in effect; the rows are wrong, or do not say enough;
# or they have a price that cannot be added to the others.
NOT_OFFERED, WRONG, NOT_ADDED = "not offered", "wrong", "not added"


class PricedLine(NamedTuple):
    """The charge by one rate for each row of a shape: SKU, `file:line`, unit rate and amount.

    `number` is 0 for an amount per request, else the number of the quantity whose unit has this amount. `quantity` is
    the number of charged units, likewise per request or per unit of a quantity, whose number is `counted` if that is
    set. `factors` are those in the unit rate, each in words and with its `file:line`; `list_source` is the line of the
    list from which a contract makes its rate.
    """

    sku: str
    source: str
    unit: str
    unit_rate: Decimal
    number: int
    amount: Decimal
    quantity: Decimal = Decimal(0)
    counted: int | None = None
    factors: tuple[tuple[str, str], ...] = ()
    list_source: str = ""

    @property
    def amounts(self) -> Vector:
        """Return the amount as a vector, at the place `number`."""
        return (*NOTHING * self.number, self.amount)


class PricedShape(NamedTuple):
    """The charge of each row of a shape: an amount per request and per unit of each quantity, and its lines.

    `charged` has the lines, or is a function that makes them from a shape when needed: those of a million shapes would
    fill the memory. `shape` is the shape that the rows are priced as, if it is not their own. `unit_price` and `unit`
    are the rate of a row of a billing export.
    """

    amounts: Vector
    charged: tuple[PricedLine, ...] | Callable[..., tuple[PricedLine, ...]]
    currency: str
    shape: UsageShape | None = None
    unit_price: Decimal | None = None
    unit: str = ""

    @property
    def refusal(self) -> None:
        """Return None: there is a price."""

    @property
    def not_offered(self) -> bool:
        """Return False: the side offers what the rows ask for."""
        return False

    @property
    def lines(self) -> tuple[PricedLine, ...]:
        """Return the lines of the charge."""
        return self.charged if isinstance(self.charged, tuple) else self.charged()

    @property
    def price(self) -> "PricedShape":
        """Return this price."""
        return self

    def of_shape(self, shape: UsageShape) -> "PricedShape":
        """Return this price with the lines of one of the shapes that have it."""
        if isinstance(self.charged, (tuple, partial)):
            return self
        return self._replace(charged=partial(self.charged, self.shape or shape))


class Refused(NamedTuple):
    """The reason why the rows of a shape have no price, in words and by kind."""

    reason: str
    kind: str = WRONG

    @property
    def price(self) -> None:
        """Return None: there is no price."""

    @property
    def amounts(self) -> Vector:
        """Return a zero amount, as rows without a price are charged nothing."""
        return NOTHING

    @classmethod
    def of(cls, error: QuoteError) -> "Refused":
        """Return the refusal in one line: the fields if they say more than the sentence.

        The day on which a model has no price yet is left out, as rows of other days have the same reason.
        """
        fields = "; ".join(f"{'.'.join(map(str, path)) or 'body'}: {words}" for path, words in error.problems)
        words = error.error.on_any_day if isinstance(error.error, NoPriceYet) else error.error
        return cls(fields or words, NOT_OFFERED if error.not_offered else WRONG)

    @property
    def refusal(self) -> "Refused":
        """Return this refusal."""
        return self

    @property
    def not_offered(self) -> bool:
        """Return True if the side has no price because it does not offer what the rows ask for."""
        return self.kind == NOT_OFFERED


Outcome = PricedShape | Refused


class Outcomes:
    """The outcome of each shape under one side.

    `of` has for each shape the number of its outcome in `distinct`. The outcomes of a candidate begin as a copy of the
    current ones, so that shapes with another outcome are found by comparing numbers.
    """

    def __init__(self, shapes: Shapes, distinct: Sequence[Outcome], of: Any) -> None:
        self.shapes, self.distinct, self.of = shapes, list(distinct), of
        self._numbers = {id(outcome): number for number, outcome in enumerate(self.distinct)}
        self._known: dict[Hashable, dict[Hashable, int]] = {}
        # For each template by number: True if every card refuses its shapes, so that they are not priced again.
        self._refused: dict[int, bool] = {}

    @classmethod
    def listed(cls, shapes: Shapes, outcomes: Iterable[Outcome]) -> "Outcomes":
        """Return outcomes made from the outcome of each shape, in order."""
        made = cls(shapes, [], None)
        made.of = numpy.fromiter(map(made.number, outcomes), numpy.int32, len(shapes))
        return made

    @classmethod
    def joined(cls, shapes: Shapes, chunks: Sequence[Sequence["Outcomes"]], sides: int) -> "list[Outcomes]":
        """Return the outcomes under each side, joined from chunks of shapes that were priced one after another."""
        distinct = list[Outcome]()
        columns: list[list[Any]] = [[numpy.empty(0, numpy.int32)] for _ in range(sides)]
        for chunk in chunks:
            start, common = len(distinct), len(chunk[0].distinct)
            distinct += chunk[0].distinct
            for column, outcomes in zip(columns, chunk, strict=True):
                offset = len(distinct) - common
                numbers = numpy.where(outcomes.of < common, outcomes.of + start, outcomes.of + offset)
                column.append(numbers.astype(numpy.int32))
                distinct += outcomes.distinct[common:]
        return [cls(shapes, distinct, numpy.concatenate(column)) for column in columns]

    def number(self, outcome: Outcome) -> int:
        """Return the number of an outcome, a new number for a new object."""
        number = self._numbers.setdefault(id(outcome), len(self.distinct))
        if number == len(self.distinct):
            self.distinct.append(outcome)
        return number

    def numbers(self, place: Hashable, values: Iterable[Hashable], outcome_of: Callable[[Any], Outcome]) -> list[int]:
        """Return the numbers of the outcomes of values; in one `place`, equal values have the same outcome."""
        known, numbers = self._known.setdefault(place, {}), list[int]()
        for value in values:
            number = known.get(value)
            if number is None:
                number = known[value] = self.number(outcome_of(value))
            numbers.append(number)
        return numbers

    def __len__(self) -> int:
        return len(self.of)

    def __getitem__(self, number: int) -> Outcome:
        outcome: Outcome = self.distinct[self.of[number]]
        return outcome.of_shape(self.shapes[number].shape) if outcome.price else outcome

    def __iter__(self) -> Iterator[Outcome]:
        return (self[number] for number in range(len(self)))

    def changed(self, base: "Outcomes") -> Any:
        """Return the numbers of the shapes whose outcome differs from that of the base."""
        return numpy.flatnonzero(self.of != base.of)

    def charge_like(self, base: "Outcomes") -> bool:
        """Return True if all rows are charged the same by both, or have no price under either."""
        numbers = self.changed(base)
        pairs = set(zip(base.of[numbers].tolist(), self.of[numbers].tolist(), strict=True))
        both = ((base.distinct[one], self.distinct[other]) for one, other in pairs)
        return all(bool(one.price) == bool(other.price) and one.amounts == other.amounts for one, other in both)

    def complete(self, numbers: Any) -> Any:
        """Return the numbers of shapes that some card may price; the others lack a quantity, or have a wrong one."""
        templates, of = numpy.unique(self.shapes.template[numbers], return_inverse=True)
        for at in (at for at in templates.tolist() if at not in self._refused):
            self._refused[at] = self.shapes.templates[at].shape(None, None).refused
        lacking = numpy.array([self._refused[at] for at in templates.tolist()], bool)
        return numbers[~lacking[of]]

    @cached_property
    def priced(self) -> Any:
        """Mark each shape that has a price."""
        return numpy.array([bool(outcome.price) for outcome in self.distinct] or [False])[self.of]

    @cached_property
    def not_offered(self) -> Any:
        """Mark each shape that the side does not offer."""
        return numpy.array([outcome.not_offered for outcome in self.distinct] or [False])[self.of]
