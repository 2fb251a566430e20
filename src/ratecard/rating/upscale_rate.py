"""`upscale-rate`: seconds of source x rate of the output height's tier, multiplied from a frame rate on."""

from fractions import Fraction

from ratecard.rating.compiling import Calculator, Compiling, Shape
from ratecard.rating.line_item import LineItem, LineRate
from ratecard.rating.tiers import tier_of
from ratecard.tables.video_charges import UpscaleRate
from ratecard.words.money import from_fraction, multiply, plain


def upscale_rate(charge: Compiling, options: UpscaleRate) -> Calculator:
    """Output height = source height x `upscale_factor`; the frame rate is the one asked for, else the source's.

    What is unknown takes the dearest: the dearest tier, and the factor of the frame rate where that makes it dearer.
    """
    find, sku, unit, places = tier_of(charge), charge.sku, options.unit, charge.places
    threshold, factor = Fraction(options.frame_rate.from_), options.frame_rate.factor
    unknown = f"frame rate unknown: x{factor} as from {threshold} per second"

    def calculate(shape: Shape) -> LineItem:
        source = shape.get("source")
        height = source.height * shape["upscale_factor"] if source and source.height else None
        (rate, where, words), note = find(shape, height)
        fps = shape.get("target_fps") or (source and source.fps)
        if factor > 1 if fps is None else fps >= threshold:
            rate = plain(multiply(rate, factor))
            words += f"-{options.frame_rate.from_}fps"
            more = unknown if fps is None else f"x{factor} from {threshold} frames per second"
            note = "; ".join(filter(None, (note, more)))
        seconds = Fraction(shape["seconds"])
        amount = from_fraction(seconds * Fraction(rate), places)
        return LineItem(LineRate(f"{sku}{words}", unit, rate, where, note), from_fraction(seconds, places), amount)

    return calculate
