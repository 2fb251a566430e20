"""`megapixel-rate`: width x height x frames / 1,000,000 x rate."""

from fractions import Fraction
from math import ceil

from ratecard.rating.compiling import SECONDS, Calculator, Compiling, Shape, slug
from ratecard.rating.frame_size import Framed, frame_size_of
from ratecard.rating.line_item import LineItem, LineRate
from ratecard.tables.scalars import Size
from ratecard.tables.video_charges import MegapixelRate
from ratecard.words.money import from_fraction


def megapixel_rate(charge: Compiling, options: MegapixelRate) -> Calculator:
    """Megapixels stay exact, or are rounded up where the table says so; the amount is rounded to the line places.

    Without sizes in the table, size and frames are those of the source video, enlarged by `upscale_factor`.
    """
    (key, rates), sku, unit, places = charge.rates_by(), charge.sku, options.unit, charge.places
    _, find = frame_size_of(options.sizes)
    per_second, plus = (options.frames.per_second, options.frames.plus) if options.frames else (0, 0)
    round_up = options.megapixels == "rounded-up"

    def of_table(shape: Shape) -> tuple[Framed, Fraction]:
        return find(shape), Fraction(int(SECONDS[shape["duration"]]) * per_second + plus)

    def of_source(shape: Shape) -> tuple[Framed, Fraction]:
        source, factor = shape["source"], shape["upscale_factor"]
        size = Size(source.width * factor, source.height * factor)
        return Framed(size, None, f"{size.width}x{size.height} out"), Fraction(shape["seconds"]) * source.fps

    measure = of_table if options.sizes else of_source

    def calculate(shape: Shape) -> LineItem:
        rate, source, words = rates[key(shape)]
        ((width, height), ratio, note), frames = measure(shape)
        pixels = width * height * frames / charge.per
        quantity = Fraction(ceil(pixels)) if round_up else pixels
        ending = f"{words}-{slug(ratio)}" if ratio else words
        duration = f"-{shape['duration']}" if "duration" in shape else ""
        amount = from_fraction(quantity * Fraction(rate), places)
        shown = from_fraction(quantity, places)
        return LineItem(LineRate(f"{sku}{duration}{ending}", unit, rate, source, note), shown, amount)

    return calculate
