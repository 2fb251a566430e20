"""A line item: one charge applied to one request."""

from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.words.money import plain, text


class LineItem(NamedTuple):
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
        numbers = {name: text(plain(getattr(self, name))) for name in ("quantity", "unit_rate", "amount")}
        return {key: numbers.get(key, value) for key, value in self._asdict().items() if key != "note" or value}
