"""A line item: one charge applied to one request."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ratecard.words.money import plain, text


# Not `frozen`: that assigns each field by a call, which takes five times as long; a quote makes one of these a charge.
# So Python does not refuse an assignment, and nothing in the library makes one.
@dataclass(slots=True, unsafe_hash=True)
class LineItem:
    """SKU, quantity, unit, unit rate, amount, the `file:line` of the rate, and what a reader should know about it.

    `amount` is quantity x unit rate, rounded half-up to the line places that the table declares (12 by default).
    `quantity` counts units (`mtoken`: millions of tokens); one that no decimal holds is shown to the same places.

    >>> line = LineItem("m-fixed", Decimal(1), "clip", Decimal("0.22"), Decimal("0.22"), "video/ovi.yaml:26")
    >>> line.amount
    Decimal('0.22')
    """

    sku: str
    quantity: Decimal
    unit: str
    unit_rate: Decimal
    amount: Decimal
    source: str
    note: str = ""

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
