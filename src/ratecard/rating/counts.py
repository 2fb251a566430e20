"""Charges of counted things: how much of a count is charged, times a rate."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import ceil

from ratecard.base.money import EXACT, LINE_PLACES, multiply, part_of, plain_text
from ratecard.rating.conditions import NO_FACTORS, NotSoldError, StatedRate
from ratecard.rating.quote import LineItem, LineRate
from ratecard.tables.rate import Charge, CountedCharge, Rate

_Count = int | Decimal
LineCounter = Callable[..., LineItem]


def per_unit(charge: Charge, per: int, line_places: int = LINE_PLACES) -> LineCounter:
    """Compile the function (count, rate, SKU, times=1, note="") -> line item; `per` is how many one unit holds.

    What the options of the charge make of a count is charged `times` times. Exact, but for an amount that no decimal
    holds, which is rounded to `line_places`.
    """
    of_unit = part_of(per)
    options = charge if isinstance(charge, CountedCharge) and charge.options else None

    def line(count: _Count, rate: Rate, sku: str, times: int = 1, note: str = "") -> LineItem:
        unit_rate, factors = charge.unit_rate(rate), NO_FACTORS
        if options:
            count, why = charged(options, count)
            why = why and f"{why}; times {times}" if times != 1 else why
            note = "; ".join(filter(None, (note, why)))
        if times != 1:
            count = multiply(count, times)
        if isinstance(rate, StatedRate):
            if rate.factored.unmet:
                raise NotSoldError([(name, rate.refusal.message) for name in rate.factored.unmet])
            sku, factors = rate.sku(sku), rate.factored.factors
            note = "; ".join(filter(None, (*rate.factored.notes, note)))
        by = LineRate(sku, charge.unit, unit_rate, rate.source, note, of_unit, line_places, factors, rate.listed)
        return LineItem(by, count, by.price(count))

    return line


def charged(options: CountedCharge, count: _Count) -> tuple[_Count, str]:
    """How much of a count the options of a charge make of it, and a note that says why; empty if it is all of it.

    First what is included is taken away, then the least is charged, then whole blocks.

    >>> options = CountedCharge(charge="audio", method="count", unit="second", rates=(), included=10, started=60)
    >>> charged(options, Decimal("71.2"))
    (Decimal('120'), '71.2 counted; 10 included; charged in blocks of 60')
    """
    left, why = count, [f"{_words(count)} counted"]
    if options.included and left:
        left = EXACT.subtract(left, min(left, options.included))
        why.append(f"{_words(options.included)} included")
    if options.at_least and 0 < left < options.at_least:
        left = options.at_least
        why.append(f"at least {_words(options.at_least)} charged")
    if options.started:
        whole = multiply(ceil(Fraction(left) / Fraction(options.started)), options.started)
        if whole != left:
            left = whole
            why.append(f"charged in blocks of {_words(options.started)}")
    return left, "; ".join(why) if len(why) > 1 else ""


def _words(count: _Count) -> str:
    return plain_text(Decimal(count))
