"""`fixed`, `duration-resolution-rate`: one price for the clip, or one flat fee a request."""

from decimal import Decimal

from ratecard.rating.compiling import Calculator, Compiling, Shape
from ratecard.rating.line_item import LineItem

_ONE = Decimal(1)


def per_clip(charge: Compiling) -> Calculator:
    """Exact: the amount is the rate."""
    rate_of, sku, unit = charge.rate_of(), charge.sku, charge.charge.unit
    names_duration = any("duration" in rate.attributes for rate in charge.charge.rates)

    def calculate(shape: Shape) -> LineItem:
        rate, source, words = rate_of(shape)
        duration = f"-{shape['duration']}" if names_duration else ""
        return LineItem(f"{sku}{duration}{words}", _ONE, unit, rate, rate, source)

    return calculate
