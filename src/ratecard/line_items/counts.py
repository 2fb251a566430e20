"""Charges of counted things: how much of a count is charged, times a rate."""

from collections.abc import Callable
from decimal import Decimal

from ratecard.base.money import LINE_PLACES, multiply, part_of
from ratecard.line_items.quote import LineItem, LineRate
from ratecard.tables.rate import Charge, Rate

_Count = int | Decimal
LineCounter = Callable[..., LineItem]


def per_unit(charge: Charge, per: int, line_places: int = LINE_PLACES) -> LineCounter:
    """Compile the function (count, rate, SKU, times=1, note="") -> line item; `per` is how many one unit holds.

    What the options of the charge make of a count is charged `times` times. Exact, but for an amount that no decimal
    holds, which is rounded to `line_places`.
    """
    of_unit = part_of(per)

    def line(count: _Count, rate: Rate, sku: str, times: int = 1, note: str = "") -> LineItem:
        count, why = charge.charged(count)
        if times != 1:
            count, why = multiply(count, times), why and f"{why}; times {times}"
        sku, factors, notes = rate.on_line(sku)
        note = "; ".join(filter(None, (*notes, note, why)))
        unit, unit_rate = charge.unit, charge.unit_rate(rate)
        by = LineRate(sku, unit, unit_rate, rate.source, note, of_unit, line_places, factors, rate.listed)
        return LineItem(by, count, by.price(count))

    return line
