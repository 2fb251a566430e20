"""`duration-rate`, `resolution-rate`: seconds of output x rate."""

from ratecard.rating.compiling import Calculator, Compiling, Shape
from ratecard.rating.line_item import LineItem
from ratecard.words.money import multiply


def per_second(charge: Compiling) -> Calculator:
    """Exact: whole seconds times a rate of at most 12 places."""
    rate_of, sku, unit = charge.rate_of(), charge.sku, charge.charge.unit

    def calculate(shape: Shape) -> LineItem:
        rate, source, words = rate_of(shape)
        seconds = shape["seconds"]
        return LineItem(f"{sku}-{shape['duration']}{words}", seconds, unit, rate, multiply(seconds, rate), source, "")

    return calculate
