"""`token-formula`: (input + output seconds) x pixels x frames per second / pixels per token, per million tokens.

With reference video the seconds billed are at least ceil(output seconds x the table's minimum).
"""

from decimal import Decimal
from math import ceil

from ratecard.rating.compiling import Calculator, Compiling, Shape, slug
from ratecard.rating.frame_size import frame_size_of
from ratecard.rating.line_item import LineItem
from ratecard.tables.video_charges import TokenFormula
from ratecard.words.money import EXACT, add, at_most, multiply


def token_formula(charge: Compiling, options: TokenFormula) -> Calculator:
    """The input counts unrounded; tokens are not rounded; the amount is, to the table's line places."""
    rate_of, sku, unit, places = charge.rate_of(), charge.sku, options.unit, charge.places
    frame_size = frame_size_of(options.sizes)
    minimum = options.reference_minimum
    # Units (millions of tokens) of one second of one pixel.
    of_pixel = EXACT.divide(Decimal(options.frames_per_second), Decimal(options.pixels_per_token * charge.per))

    def calculate(shape: Shape) -> LineItem:
        rate, source, words = rate_of(shape)
        (width, height), ratio, note = frame_size(shape)
        seconds = shape["seconds"]
        reference = shape.get("reference_seconds")
        if reference is not None:
            floor = ceil(int(seconds) * minimum)
            seconds = add(seconds, reference)
            if seconds < floor:
                seconds = Decimal(floor)
                note = "; ".join(filter(None, (note, f"the minimum of {floor} s with reference video applies")))
        tokens = multiply(multiply(seconds, of_pixel), width * height)
        ending = f"{words}-{slug(ratio)}" if ratio else words
        return LineItem(
            f"{sku}-{shape['duration']}{ending}", tokens, unit, rate, at_most(multiply(tokens, rate), places), source, note
        )

    return calculate
