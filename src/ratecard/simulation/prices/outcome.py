"""What a side makes of a shape: its price, as amounts and lines, or why it has none.

There may be a million outcomes with several lines each: they are tuples, as a frozen data class takes three times as
long to make (0.8 us against 0.3 us).
"""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.simulation.groups.shape import UsageShape

# (amount per request, amount per unit of each quantity); those that are left out at the end are zero.
Vector = tuple[Decimal, ...]
NOTHING: Vector = (Decimal(0),)
# The part of a total that no rate says: what rounding to the cent adds or takes.
ROUNDING_PART = "rounding"
# Why rows have no price: the card has no such model, value or rate in effect; the rows are wrong, or do not say enough;
# or they have a price that cannot be added to the others.
NOT_OFFERED, WRONG, NOT_ADDED = "not offered", "wrong", "not added"


class PricedLine(NamedTuple):
    """What one rate adds to each row of a shape: its SKU, its `file:line`, the unit rate, and the amount.

    `number` is 0 for an amount per request, else the number of the quantity that it is per unit of. `quantity` counts
    the units that are charged, per request or per unit in the same way, unless `counted` is the number that it goes by.
    `factors` are those in the unit rate, each in words and with its `file:line`.
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

    @property
    def amounts(self) -> Vector:
        """The amount in its place."""
        return (*NOTHING * self.number, self.amount)


class LinesLater:
    """Lines that are made when they are asked for: those of a shape, or of each shape of a price, once one is meant."""

    __slots__ = ("_make", "_shape")

    def __init__(self, make: Callable[[UsageShape], tuple[PricedLine, ...]], shape: UsageShape | None = None) -> None:
        self._make, self._shape = make, shape

    @property
    def shared(self) -> bool:
        """Whether several shapes have this price, so that none is meant yet."""
        return self._shape is None

    def of(self, shape: UsageShape) -> "LinesLater":
        """The lines of a shape."""
        return LinesLater(self._make, shape)

    def made(self) -> tuple[PricedLine, ...]:
        """Make the lines."""
        if self._shape is None:
            raise TypeError("a price of several shapes has no lines of its own")
        return self._make(self._shape)


class PricedShape(NamedTuple):
    """What each row of a shape is charged: an amount per request and per unit of each quantity, and the lines of it.

    `charged` has the lines, or makes them when they are asked for: those of a million shapes would fill the memory. It
    is shared where many shapes have one price (`Outcomes` gives that of each).
    `shape` is the shape that the rows are priced as, where that is another one. `unit_price` and `unit` are the rate of
    a row of a billing export.
    """

    amounts: Vector
    charged: tuple[PricedLine, ...] | LinesLater
    currency: str
    shape: UsageShape | None = None
    unit_price: Decimal | None = None
    unit: str = ""

    @property
    def lines(self) -> tuple[PricedLine, ...]:
        """The lines of the charge."""
        return self.charged if isinstance(self.charged, tuple) else self.charged.made()

    @property
    def price(self) -> "PricedShape":
        """This price."""
        return self

    def of_shape(self, shape: UsageShape) -> "PricedShape":
        """This price, whose lines are those of a shape where several have it."""
        if isinstance(self.charged, LinesLater) and self.charged.shared:
            return self._replace(charged=self.charged.of(self.shape or shape))
        return self

    @property
    def refusal(self) -> None:
        """There is none."""
        return None

    @property
    def not_offered(self) -> bool:
        """Whether the side has no price because it does not offer what the rows ask for."""
        return False

    def charges_like(self, other: "Outcome") -> bool:
        """Whether rows are charged the same by both."""
        return other.price is not None and (other is self or other.amounts == self.amounts)


class Refused(NamedTuple):
    """Why the rows of a shape have no price, in words and by kind."""

    reason: str
    kind: str = WRONG

    @classmethod
    def of(cls, error: QuoteError) -> "Refused":
        """The refusal in one line: the fields if they say more than the sentence."""
        fields = "; ".join(f"{'.'.join(map(str, path)) or 'body'}: {words}" for path, words in error.problems)
        return cls(fields or error.error, NOT_OFFERED if error.not_offered else WRONG)

    @property
    def price(self) -> None:
        """There is none."""
        return None

    @property
    def refusal(self) -> "Refused":
        """This refusal."""
        return self

    @property
    def amounts(self) -> Vector:
        """Rows without a price are charged nothing."""
        return NOTHING

    @property
    def not_offered(self) -> bool:
        """Whether the side has no price because it does not offer what the rows ask for."""
        return self.kind == NOT_OFFERED

    def charges_like(self, other: "Outcome") -> bool:
        """Whether neither has a price."""
        return other.price is None


Outcome = PricedShape | Refused
