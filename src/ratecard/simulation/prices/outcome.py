"""The outcome of a shape under a side: its price, as amounts and lines, or why it has none.

There may be a million outcomes with several lines each: they are tuples, because a frozen data class takes three times
as long to make (0.8 us against 0.3 us).
"""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.simulation.groups.shapes import UsageShape

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
        """Return the refusal in one line: the fields if they say more than the sentence."""
        fields = "; ".join(f"{'.'.join(map(str, path)) or 'body'}: {words}" for path, words in error.problems)
        return cls(fields or error.error, NOT_OFFERED if error.not_offered else WRONG)

    @property
    def refusal(self) -> "Refused":
        """Return this refusal."""
        return self

    @property
    def not_offered(self) -> bool:
        """Return True if the side has no price because it does not offer what the rows ask for."""
        return self.kind == NOT_OFFERED


Outcome = PricedShape | Refused
