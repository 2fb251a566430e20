"""`duration-rate`, `resolution-rate`: seconds of output x rate."""

from ratecard.rating.compiling import SECONDS, Calculator, Compiling, Shape
from ratecard.rating.line_item import LineItem, LineRate
from ratecard.words.money import multiply


def per_second(charge: Compiling) -> Calculator:
    """Exact: whole seconds times a rate of at most 12 places. SKUs are put together once, for every duration."""
    key, rates = charge.rates_by("duration")
    unit = charge.charge.unit
    cells = {
        values: (
            LineRate(f"{charge.sku}{rate.words}", unit, rate.unit_rate, rate.source),
            SECONDS[_duration(values)],
            rate.unit_rate,
        )
        for values, rate in rates.items()
    }

    def calculate(shape: Shape) -> LineItem:
        rate, seconds, unit_rate = cells[key(shape)]
        return LineItem(rate, seconds, multiply(seconds, unit_rate))

    return calculate


def _duration(values: tuple[str, ...] | str) -> str:
    """The duration among the values that a rate is found by: the first, or the only one."""
    return values if isinstance(values, str) else values[0]
