"""`token-formula`: (input + output seconds) x pixels x frames per second / pixels per token, per million tokens.

With reference video the seconds billed are at least ceil(output seconds x the table's minimum).
"""

from decimal import Decimal
from math import ceil
from operator import itemgetter
from typing import Any, NamedTuple

from ratecard.rating.compiling import SECONDS, Calculator, CompiledRate, Compiling, Shape, new, slug
from ratecard.rating.frame_size import Framed, frame_size_of
from ratecard.rating.line_item import LineItem
from ratecard.tables.video_charges import TokenFormula
from ratecard.words.money import EXACT, ROUNDING, add, multiply, places_of, plain, step


class _Cell(NamedTuple):
    """One rate at one size: units (millions of tokens) a second, and whether whole seconds need no rounding."""

    unit_rate: Decimal
    source: str
    words: str
    tokens: Decimal
    exact: bool
    note: str


def token_formula(charge: Compiling, options: TokenFormula) -> Calculator:
    """The input counts unrounded; tokens are not rounded; the amount is, to the table's line places."""
    sku, unit, places = charge.sku, options.unit, charge.places
    (rate_key, rates), (listed, frame_size) = charge.rates_by(), frame_size_of(options.sizes)
    # Units of one second of one pixel.
    of_pixel = EXACT.divide(Decimal(options.frames_per_second), Decimal(options.pixels_per_token * charge.per))
    seconds = {word: SECONDS[word] for word in charge.version.accepts.duration or () if word in SECONDS}
    floors = {word: Decimal(ceil(int(value) * options.reference_minimum)) for word, value in seconds.items()}
    finest = step(places)

    def cell_of(rate: CompiledRate, framed: Framed) -> _Cell:
        (width, height), ratio, note = framed
        tokens = plain(multiply(of_pixel, Decimal(width * height)))
        words = f"{rate.words}-{slug(ratio)}" if ratio else rate.words
        exact = places_of(multiply(tokens, rate.unit_rate)) <= places
        return _Cell(rate.unit_rate, rate.source, words, tokens, exact, note)

    def cell_by_size(shape: Shape) -> _Cell:
        return cell_of(rates[rate_key(shape)], frame_size(shape))

    cells: dict[Any, _Cell] = {}
    for resolution, ratio in listed:
        for video_input in ("false", "true"):
            shape = {"resolution": resolution, "aspect_ratio": ratio, "video_input": video_input}
            if rate_key(shape) in rates:
                cells[resolution, ratio, video_input] = cell_by_size(shape)
    key = itemgetter("resolution", "aspect_ratio", "video_input")

    def calculate(shape: Shape) -> LineItem:
        cell = cells.get(key(shape))
        rate, source, words, of_second, exact, note = cell if cell else cell_by_size(shape)
        duration = shape["duration"]
        billed = seconds[duration]
        reference = shape["reference_seconds"]
        if reference is not None:
            billed = add(billed, reference)
            if billed < floors[duration]:
                billed = floors[duration]
                least = f"the minimum of {billed} s with reference video applies"
                note = f"{note}; {least}" if note else least
        tokens = multiply(billed, of_second)
        amount = multiply(tokens, rate)
        if reference is not None or not exact:
            rounded = ROUNDING.quantize(amount, finest)
            amount = amount if rounded == amount else rounded
        return new(LineItem, (f"{sku}-{duration}{words}", tokens, unit, rate, amount, source, note))

    return calculate
