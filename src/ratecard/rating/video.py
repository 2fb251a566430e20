"""The pricing methods of video: each compiles a charge into a function from a request shape to a line item.

| method | quantity |
|---|---|
| `fixed`, `duration-resolution-rate` | 1 clip, or 1 request |
| `duration-rate`, `resolution-rate` | seconds of output |
| `megapixel-rate` | width x height x frames / 1,000,000 |
| `token-formula` | (input + output seconds) x pixels x frames per second / pixels per token / 1,000,000 |
| `upscale-rate` | seconds of source, at the rate of the output height's tier |
| `interpolation-rate` | seconds of output x frames per second / 60, at the rate of the source height's tier |
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import ceil
from operator import itemgetter
from typing import Any, NamedTuple

from ratecard.base.money import EXACT, ROUNDING, add, from_fraction, multiply, plain, step
from ratecard.rating.compiling import SECONDS, Calculator, CompiledRate, Compiling, Shape, slug
from ratecard.rating.frame_size import Framed, frame_size_of
from ratecard.rating.quote import LineItem, LineRate
from ratecard.tables.rate import ANY, select
from ratecard.tables.rate import tiers as tier_edges
from ratecard.tables.scalars import Size
from ratecard.tables.video import InterpolationRate, MegapixelRate, PerClip, PerSecond, TokenFormula, UpscaleRate

_ONE = Decimal(1)
quantize = ROUNDING.quantize


def calculator(charge: Compiling) -> Calculator:
    """Compile a charge into the function from a shape to its line item."""
    match charge.charge:
        case PerSecond():
            return per_second(charge)
        case PerClip():
            return per_clip(charge)
        case TokenFormula() as options:
            return token_formula(charge, options)
        case MegapixelRate() as options:
            return megapixel_rate(charge, options)
        case UpscaleRate() as options:
            return upscale_rate(charge, options)
        case InterpolationRate() as options:
            return interpolation_rate(charge, options)
        case other:
            raise NotImplementedError(f"no calculator for {other.method}")


def per_clip(charge: Compiling) -> Calculator:
    """Compile `fixed` and `duration-resolution-rate`: the amount is the rate of one."""
    key, rates = charge.rates_by()
    lines = {values: charge.line_rate(rate) for values, rate in rates.items()}
    amounts = {values: line.price(_ONE) for values, line in lines.items()}

    def calculate(shape: Shape) -> LineItem:
        values = key(shape)
        return LineItem(lines[values], _ONE, amounts[values])

    return calculate


def per_second(charge: Compiling) -> Calculator:
    """Compile `duration-rate` and `resolution-rate`: whole seconds times the rate.

    Rates and amounts of lines are made once for every duration and combination of attributes.
    """
    key, rates = charge.rates_by("duration")
    cells = {}
    for values, rate in rates.items():
        line, seconds = charge.line_rate(rate), SECONDS[_duration(values)]
        cells[values] = line, seconds, line.price(seconds)

    def calculate(shape: Shape) -> LineItem:
        return LineItem(*cells[key(shape)])

    return calculate


def _duration(values: tuple[str, ...] | str) -> str:
    """The duration in a key of `rates_by("duration")`: the first value, or the only one."""
    return values if isinstance(values, str) else values[0]


class Tiered(NamedTuple):
    """The rate of a height's tier, and a note if the height is unknown."""

    rate: CompiledRate
    note: str


def tier_of(charge: Compiling) -> Callable[[Shape, int | None], Tiered]:
    """Compile the function (shape, height) -> rate of its tier: the first whose upper edge is not below the height.

    An unknown height takes the dearest tier.
    """
    selection = select(charge.version, charge.charge)
    tiers: dict[str | None, list[tuple[int | None, CompiledRate]]] = {}
    edges = [edge for edge in tier_edges(charge.charge.rates) if edge != ANY]
    for key, rate in selection.rates.items():
        named = dict(zip(selection.attributes, key, strict=True))
        model, edge = named.get("enhancement_model"), named["up_to"]
        tier = f"up-to-{edge}" if edge != ANY else f"above-{edges[-1]}" if edges else ""
        words = "".join(f"-{word}" for word in (slug(model or ""), tier) if word)
        compiled = charge.compiled(rate, selection.attributes, key)._replace(words=words)
        tiers.setdefault(model, []).append((None if edge == ANY else int(edge), compiled))
    for rows in tiers.values():
        rows.sort(key=lambda row: (row[0] is None, row[0]))

    def find(shape: Shape, height: int | None) -> Tiered:
        rows = tiers.get(shape.get("enhancement_model")) or tiers[None]
        if height is None:
            return Tiered(
                max((rate for _, rate in rows), key=lambda rate: rate.unit_rate), "height unknown: dearest tier"
            )
        return Tiered(next(rate for edge, rate in rows if edge is None or height <= edge), "")

    return find


def upscale_rate(charge: Compiling, options: UpscaleRate) -> Calculator:
    """Compile `upscale-rate`: seconds of source x rate of the tier of the output height.

    Output height = source height x `upscale_factor`. From a frame rate on (the requested one, else the source's) the
    rate is multiplied. What is unknown is charged at the dearest: the dearest tier, and the factor if it is above 1.
    """
    find, sku, unit, places = tier_of(charge), charge.sku, options.unit, charge.places
    threshold, factor = Fraction(options.frame_rate.from_), options.frame_rate.factor
    unknown = f"frame rate unknown: x{factor} as from {threshold} per second"

    def calculate(shape: Shape) -> LineItem:
        source = shape.get("source")
        height = source.height * shape["upscale_factor"] if source and source.height else None
        (rate, where, words), note = find(shape, height)
        fps = shape.get("target_fps") or (source and source.fps)
        multiplied = factor > 1 if fps is None else fps >= threshold
        if multiplied:
            rate = plain(multiply(rate, factor))
            words += f"-{options.frame_rate.from_}fps"
            more = unknown if fps is None else f"x{factor} from {threshold} frames per second"
            note = "; ".join(filter(None, (note, more)))
        seconds = Fraction(shape["seconds"]) / charge.per
        amount = from_fraction(seconds * Fraction(rate), places)
        return LineItem(LineRate(f"{sku}{words}", unit, rate, where, note), from_fraction(seconds, places), amount)

    return calculate


def interpolation_rate(charge: Compiling, options: InterpolationRate) -> Calculator:
    """Compile `interpolation-rate`: seconds x `slowdown_factor` x frames per second / `at_frame_rate` x rate.

    The rate is that of the source height's tier; `at_frame_rate` is 60 unless the table says otherwise.
    """
    find, sku, unit, places = tier_of(charge), charge.sku, options.unit, charge.places
    at_frame_rate = Fraction(options.at_frame_rate)

    def calculate(shape: Shape) -> LineItem:
        source = shape["source"]
        (rate, where, words), note = find(shape, source.height if source else None)
        fps = Fraction(shape.get("target_fps") or source.fps)
        quantity = Fraction(shape["seconds"]) * shape["slowdown_factor"] * fps / at_frame_rate / charge.per
        amount = from_fraction(quantity * Fraction(rate), places)
        return LineItem(LineRate(f"{sku}{words}", unit, rate, where, note), from_fraction(quantity, places), amount)

    return calculate


def megapixel_rate(charge: Compiling, options: MegapixelRate) -> Calculator:
    """Compile `megapixel-rate`: width x height x frames / 1,000,000 x rate.

    Megapixels are exact, or rounded up if the table says so; the amount is rounded to the line places. Without sizes
    in the table, size and frames are those of the source video, enlarged by `upscale_factor`.
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


# The rate, the units and the amount of a line.
_Charged = tuple[LineRate, Decimal, Decimal]


class TokenCell(NamedTuple):
    """The part of a token formula that depends on rate, size and duration only."""

    rate: LineRate
    seconds: Decimal
    # Units (millions of tokens) of one second.
    tokens: Decimal
    finest: Decimal
    alone: _Charged
    # With reference video, at least as many seconds are charged, and no less than this.
    least_seconds: Decimal
    least: _Charged

    def charged(self, reference: Decimal) -> _Charged:
        """What is charged with so many seconds of reference video."""
        billed = add(self.seconds, reference)
        return self.least if billed < self.least_seconds else _charged(self.rate, billed, self.tokens, self.finest)


def _charged(rate: LineRate, seconds: Decimal, tokens: Decimal, finest: Decimal) -> _Charged:
    units = multiply(seconds, tokens)
    amount = multiply(units, rate.unit_rate)
    rounded = quantize(amount, finest)
    return rate, units, amount if rounded == amount else rounded


def token_cells(charge: Compiling, options: TokenFormula) -> Callable[[Shape], TokenCell]:
    """Compile the function from a shape to its part of `token-formula`; each is made when it is first asked for."""
    unit, finest = options.unit, step(charge.places)
    (rate_key, rates), (listed, frame_size) = charge.rates_by(), frame_size_of(options.sizes)
    # Units of one second of one pixel.
    of_pixel = EXACT.divide(Decimal(options.frames_per_second), Decimal(options.pixels_per_token * charge.per))
    key = itemgetter("duration", "resolution", "aspect_ratio", "video_input")
    cells: dict[Any, TokenCell] = {}

    def cell_of(shape: Shape, framed: Framed) -> TokenCell:
        rate, (size, ratio, note), duration = rates[rate_key(shape)], framed, shape["duration"]
        seconds = SECONDS[duration]
        least = Decimal(ceil(int(seconds) * options.reference_minimum))
        tokens = plain(multiply(of_pixel, Decimal(size.width * size.height)))
        words = f"{rate.words}-{slug(ratio)}" if ratio else rate.words
        sku, applies = f"{charge.sku}-{duration}{words}", f"the minimum of {least} s with reference video applies"
        line = LineRate(sku, unit, rate.unit_rate, rate.source, note)
        of_least = LineRate(sku, unit, rate.unit_rate, rate.source, f"{note}; {applies}" if note else applies)
        alone, at_least = _charged(line, seconds, tokens, finest), _charged(of_least, least, tokens, finest)
        return TokenCell(line, seconds, tokens, finest, alone, least, at_least)

    def find(shape: Shape) -> TokenCell:
        values: Any = key(shape)
        if (cell := cells.get(values)) is None:
            framed = frame_size(shape)
            # The size of a source-matched ratio, one of those listed, depends on the source.
            values = values if values[1:3] in listed else (*values, framed)
            if (cell := cells.get(values)) is None:
                cell = cells[values] = cell_of(shape, framed)
        return cell

    return find


def token_formula(charge: Compiling, options: TokenFormula) -> Calculator:
    """Compile `token-formula`: (input + output seconds) x pixels x frames per second / pixels per token x rate.

    With reference video at least ceil(output seconds x `reference_minimum`) seconds are billed. Seconds and tokens are
    not rounded; the amount is, to the table's line places.
    """
    find = token_cells(charge, options)

    def calculate(shape: Shape) -> LineItem:
        cell, reference = find(shape), shape["reference_seconds"]
        return LineItem(*(cell.alone if reference is None else cell.charged(reference)))

    return calculate


# The amount of a charge with so many seconds of reference video, or without any.
AmountOf = Callable[[Decimal | None], Decimal]


def amounts_by_reference(charge: Compiling) -> Callable[[Shape], AmountOf]:
    """Compile a charge into the function from a shape to its amounts: only tokens of video go by reference video."""
    if isinstance(charge.charge, TokenFormula):
        find = token_cells(charge, charge.charge)

        def by_seconds(shape: Shape) -> AmountOf:
            cell = find(shape)
            return lambda reference: (cell.alone if reference is None else cell.charged(reference))[2]

        return by_seconds
    calculate = calculator(charge)

    def always(shape: Shape) -> AmountOf:
        amount = calculate(shape).amount
        return lambda reference: amount

    return always
