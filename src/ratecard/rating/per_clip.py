"""`fixed`, `duration-resolution-rate`: one price for the clip, or one flat fee a request."""

from decimal import Decimal

from ratecard.rating.compiling import Calculator, Compiling, Shape
from ratecard.rating.line_item import LineItem, LineRate

_ONE = Decimal(1)


def per_clip(charge: Compiling) -> Calculator:
    """Exact: the amount is the rate."""
    key, rates = charge.rates_by()
    lines = {
        values: LineRate(f"{charge.sku}{rate.words}", charge.charge.unit, rate.unit_rate, rate.source)
        for values, rate in rates.items()
    }

    def calculate(shape: Shape) -> LineItem:
        rate = lines[key(shape)]
        return LineItem(rate, _ONE, rate.unit_rate)

    return calculate
