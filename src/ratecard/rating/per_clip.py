"""`fixed`, `duration-resolution-rate`: one price for the clip, or one flat fee a request."""

from decimal import Decimal

from ratecard.rating.compiling import Calculator, Compiling, Shape
from ratecard.rating.line_item import LineItem

_ONE = Decimal(1)


def per_clip(charge: Compiling) -> Calculator:
    """Exact: the amount is the rate."""
    (key, rates), sku, unit = charge.rates_by(), charge.sku, charge.charge.unit

    def calculate(shape: Shape) -> LineItem:
        rate, source, words = rates[key(shape)]
        return LineItem(f"{sku}{words}", _ONE, unit, rate, rate, source)

    return calculate
