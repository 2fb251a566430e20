"""`token-formula`: (input + output seconds) x pixels x frames per second / pixels per token, per million tokens.

With reference video the seconds billed are at least ceil(output seconds x the table's minimum).
"""

from dataclasses import replace
from decimal import Decimal
from itertools import product
from math import ceil
from operator import itemgetter
from typing import Any, NamedTuple

from ratecard.rating.compiling import SECONDS, Calculator, Compiling, Shape, slug
from ratecard.rating.frame_size import frame_size_of
from ratecard.rating.line_item import LineItem, LineRate
from ratecard.tables.video_charges import TokenFormula
from ratecard.words.money import EXACT, ROUNDING, add, multiply, places_of, plain, step


class _Cell(NamedTuple):
    """One rate at one size and duration: all that no further part of a request decides."""

    rate: LineRate
    seconds: Decimal
    least_seconds: Decimal
    # Units (millions of tokens) of one second.
    tokens: Decimal
    # Whether the amount of whole seconds needs no rounding.
    exact: bool


def token_formula(charge: Compiling, options: TokenFormula) -> Calculator:
    """The input counts unrounded; tokens are not rounded; the amount is, to the table's line places."""
    unit, places = options.unit, charge.places
    (rate_key, rates), (listed, frame_size) = charge.rates_by(), frame_size_of(options.sizes)
    # Units of one second of one pixel.
    of_pixel = EXACT.divide(Decimal(options.frames_per_second), Decimal(options.pixels_per_token * charge.per))
    finest = step(places)

    def cell_of(shape: Shape) -> _Cell:
        rate, (size, ratio, note), duration = rates[rate_key(shape)], frame_size(shape), shape["duration"]
        seconds = SECONDS[duration]
        least = Decimal(ceil(int(seconds) * options.reference_minimum))
        tokens = plain(multiply(of_pixel, Decimal(size.width * size.height)))
        words = f"{rate.words}-{slug(ratio)}" if ratio else rate.words
        exact = places_of(multiply(tokens, rate.unit_rate)) <= places
        sku = f"{charge.sku}-{duration}{words}"
        return _Cell(LineRate(sku, unit, rate.unit_rate, rate.source, note), seconds, least, tokens, exact)

    cells: dict[Any, _Cell] = {}
    names = ("duration", "resolution", "aspect_ratio", "video_input")
    durations = [word for word in charge.version.accepts.duration or () if word in SECONDS]
    for duration, place, video_input in product(durations, listed, ("false", "true")):
        values = (duration, *place, video_input)
        shape = dict(zip(names, values, strict=True))
        if rate_key(shape) in rates:
            cells[values] = cell_of(shape)
    key = itemgetter(*names)

    def calculate(shape: Shape) -> LineItem:
        cell = cells.get(key(shape))
        rate, billed, least, of_second, exact = cell if cell else cell_of(shape)
        reference = shape["reference_seconds"]
        if reference is not None:
            exact = False
            billed = add(billed, reference)
            if billed < least:
                billed = least
                words = f"the minimum of {least} s with reference video applies"
                rate = replace(rate, note=f"{rate.note}; {words}" if rate.note else words)
        tokens = multiply(billed, of_second)
        amount = multiply(tokens, rate.unit_rate)
        if not exact:
            rounded = ROUNDING.quantize(amount, finest)
            amount = amount if rounded == amount else rounded
        return LineItem(rate, tokens, amount)

    return calculate
