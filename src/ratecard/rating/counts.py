"""Charges of counted things: quantity x rate. Exact."""

from collections.abc import Callable
from decimal import Decimal

from ratecard.base.money import EXACT, multiply, plain
from ratecard.rating.quote import LineItem, LineRate
from ratecard.tables.rate import Charge, Rate

_Count = int | Decimal
LineCounter = Callable[[_Count, Rate, str], LineItem]


def per_unit(charge: Charge, per: int) -> LineCounter:
    """Compile the function (count, rate, SKU) -> line item. `per` is how many one unit holds. Exact."""
    of_unit = EXACT.divide(Decimal(1), Decimal(per))

    def line(count: _Count, rate: Rate, sku: str) -> LineItem:
        unit_rate = plain(multiply(rate.rate, charge.markup))
        by = LineRate(sku, charge.unit, unit_rate, rate.source, of_unit=of_unit)
        return LineItem(by, count, multiply(multiply(count, of_unit), unit_rate))

    return line
