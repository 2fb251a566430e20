"""Counts of one thing: images, characters, seconds of audio, songs, searches; quantity x rate, exact."""

from collections.abc import Callable
from decimal import Decimal

from ratecard.rating.line_item import LineItem, LineRate
from ratecard.tables.charge import Charge
from ratecard.tables.rate import Rate
from ratecard.words.money import EXACT, multiply, plain

Count = int | Decimal
Counter = Callable[[Count, Rate, str], LineItem]


def per_unit(charge: Charge, per: int) -> Counter:
    """The function (count, rate, SKU) -> line. The quantity is the count in units, such as millions of characters."""
    of_unit = EXACT.divide(Decimal(1), Decimal(per))

    def line(count: Count, rate: Rate, sku: str) -> LineItem:
        unit_rate = plain(multiply(rate.rate, charge.markup))
        by = LineRate(sku, charge.unit, unit_rate, rate.source, of_unit=of_unit)
        return LineItem(by, count, multiply(multiply(count, of_unit), unit_rate))

    return line
