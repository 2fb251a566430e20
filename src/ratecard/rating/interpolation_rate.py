"""`interpolation-rate`: seconds of output x frames per second / 60 x rate of the source height's tier."""

from fractions import Fraction

from ratecard.rating.compiling import Calculator, Compiling, Shape
from ratecard.rating.line_item import LineItem, LineRate
from ratecard.rating.tiers import tier_of
from ratecard.tables.video_charges import InterpolationRate
from ratecard.words.money import from_fraction


def interpolation_rate(charge: Compiling, options: InterpolationRate) -> Calculator:
    """Linear in the frame rate; `slowdown_factor` multiplies the seconds that are billed."""
    find, sku, unit, places = tier_of(charge), charge.sku, options.unit, charge.places
    at_frame_rate = Fraction(options.at_frame_rate)

    def calculate(shape: Shape) -> LineItem:
        source = shape["source"]
        (rate, where, words), note = find(shape, source.height if source else None)
        fps = Fraction(shape.get("target_fps") or source.fps)
        quantity = Fraction(shape["seconds"]) * shape["slowdown_factor"] * fps / at_frame_rate
        amount = from_fraction(quantity * Fraction(rate), places)
        return LineItem(LineRate(f"{sku}{words}", unit, rate, where, note), from_fraction(quantity, places), amount)

    return calculate
