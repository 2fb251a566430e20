"""A line item: one charge applied to one request."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ratecard.words.money import multiply, plain, text


# Neither class is `frozen`: that assigns each field by a call, which takes five times as long, and a quote makes a line
# for each charge. So Python does not refuse an assignment, and nothing in the library makes one.
@dataclass(slots=True, unsafe_hash=True)
class LineRate:
    """The rate of a line: SKU, unit, the price of one, its `file:line`, and what a reader should know about it.

    `of_unit` is how much of the unit one of what the line counts is: a millionth, of tokens by the `mtoken`.
    """

    sku: str
    unit: str
    unit_rate: Decimal
    source: str
    note: str = ""
    of_unit: Decimal = Decimal(1)


@dataclass(slots=True, unsafe_hash=True)
class LineItem:
    """What is charged by one rate: how many are counted, and the amount. Lines of one rate share its `LineRate`.

    `amount` is quantity x unit rate, rounded half-up to the line places that the table declares (12 by default).
    `quantity` counts units (`mtoken`: millions of tokens); one that no decimal holds is shown to the same places.

    >>> line = LineItem(LineRate("m-fixed", "clip", Decimal("0.22"), "video/ovi.yaml:26"), 2, Decimal("0.44"))
    >>> line.sku, line.quantity, line.unit_rate, line.amount
    ('m-fixed', Decimal('2'), Decimal('0.22'), Decimal('0.44'))
    """

    rate: LineRate
    count: int | Decimal
    amount: Decimal

    @property
    def sku(self) -> str:
        """What the ledger calls the charge."""
        return self.rate.sku

    @property
    def quantity(self) -> Decimal:
        """How many units are charged."""
        return multiply(self.count, self.rate.of_unit)

    @property
    def unit(self) -> str:
        """What is charged by."""
        return self.rate.unit

    @property
    def unit_rate(self) -> Decimal:
        """The price of one unit."""
        return self.rate.unit_rate

    @property
    def source(self) -> str:
        """The `file:line` of the rate."""
        return self.rate.source

    @property
    def note(self) -> str:
        """What a reader should know; empty where there is nothing."""
        return self.rate.note

    def to_dict(self) -> dict[str, Any]:
        """The line with its numbers as text, so that no reader makes floats of them."""
        record = {
            "sku": self.sku,
            "quantity": text(plain(self.quantity)),
            "unit": self.unit,
            "unit_rate": text(plain(self.unit_rate)),
            "amount": text(plain(self.amount)),
            "source": self.source,
        }
        return record | {"note": self.note} if self.note else record
