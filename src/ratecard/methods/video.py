"""Video by the second or the clip: made at listed durations, upscaled, or interpolated to more frames."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ratecard.base.money import exact_decimal, multiply, plain
from ratecard.line_items.compiling import SECONDS, Calculator, CompiledRate, Compiling, Shape, slug
from ratecard.line_items.quote import LineItem
from ratecard.methods.method import Method
from ratecard.tables.rate import ANY, select, tiers
from ratecard.tables.scalars import Frozen, Positive
from ratecard.tables.video import Measures, VideoCharge

_ONE = Decimal(1)


class PerSecond(VideoCharge, Method):
    """Seconds of output times the rate."""

    ATTRIBUTES: ClassVar = ("resolution", "audio")
    METERS: ClassVar = ("second of video",)
    method: Literal["duration-rate", "resolution-rate"]

    def calculator(self, compiling: Compiling) -> Calculator:
        """Compile the look-up of a line by duration and attributes."""
        return _looked_up(self, compiling, "duration")


class PerClip(VideoCharge, Method):
    """One price for the whole clip, or one flat fee per request."""

    ATTRIBUTES: ClassVar = ("duration", "resolution", "audio")
    METERS: ClassVar = ("clip", "input image")
    READS: ClassVar = ()
    method: Literal["fixed", "duration-resolution-rate"]

    def units(self, of: Measures) -> Fraction:
        """Return one clip or request in units of the charge."""
        return Fraction(1, of.per)

    def calculator(self, compiling: Compiling) -> Calculator:
        """Compile the look-up of a line by attributes."""
        return _looked_up(self, compiling)


def _looked_up(charge: VideoCharge, compiling: Compiling, *further: str) -> Calculator:
    """Compile the look-up of lines, each made at first use: of clips, or by the seconds of a `further` attribute."""
    key, rates = compiling.rates_by(*further)

    @cache
    def line_of(values: Any) -> LineItem:
        seconds = SECONDS[values if isinstance(values, str) else values[0]] if further else 0
        line, units = compiling.line_rate(rates[values]), charge.units(Measures(Fraction(seconds), per=1))
        count = exact_decimal(units)
        return LineItem(line, count, line.price(count))

    return lambda shape: line_of(key(shape))


def tier_of(compiling: Compiling) -> Callable[[Shape, int | None], tuple[CompiledRate, str]]:
    """Compile the function (shape, height) -> rate of its tier: the first whose upper edge is not below the height.

    An unknown height takes the dearest tier, with a note; of those that cost the same, the dearest of the list.
    """
    attributes, rates = select(compiling.version, compiling.charge)
    rows_of: dict[str | None, list[tuple[int | None, CompiledRate]]] = {}
    edges = [edge for edge in tiers(compiling.charge.rates) if edge != ANY]
    for key, rate in rates.items():
        named = dict(zip(attributes, key, strict=True))
        model, edge = named.get("enhancement_model"), named["up_to"]
        tier = f"up-to-{edge}" if edge != ANY else f"above-{edges[-1]}" if edges else ""
        words = "".join(f"-{word}" for word in (slug(model or ""), tier) if word)
        compiled = compiling.compiled(rate, attributes, key)._replace(words=words)
        rows_of.setdefault(model, []).append((None if edge == ANY else int(edge), compiled))
    for rows in rows_of.values():
        rows.sort(key=lambda row: (row[0] is None, row[0]))

    def find(shape: Shape, height: int | None) -> tuple[CompiledRate, str]:
        rows = rows_of.get(shape.get("enhancement_model")) or rows_of[None]
        if height is None:
            prices = [(rate.unit_rate, rate.listed.rate if rate.listed else rate.unit_rate) for _, rate in rows]
            return rows[prices.index(max(prices))][1], "height unknown: dearest tier"
        return next(rate for edge, rate in rows if edge is None or height <= edge), ""

    return find


class FrameRateStep(Frozen):
    """The frames per second from which the price is multiplied, and the factor."""

    from_: Annotated[Positive, Field(alias="from")]
    factor: Positive


class UpscaleRate(VideoCharge, Method):
    """Seconds of source times the rate of the output height's tier."""

    ATTRIBUTES: ClassVar = ("enhancement_model", "up_to")
    METERS: ClassVar = ("second of video",)
    READS: ClassVar = ("duration", "upscale_factor", "target_fps", "video_url")
    TIERS_OF_OUTPUT: ClassVar = True
    method: Literal["upscale-rate"]
    frame_rate: FrameRateStep

    @property
    def frame_rates(self) -> Mapping[Decimal, Decimal]:
        """Return the frame rate from which the price is multiplied, with its factor."""
        return {self.frame_rate.from_: self.frame_rate.factor}

    def calculator(self, compiling: Compiling) -> Calculator:
        """Compile the price of the seconds; an unknown height or frame rate takes the dearest tier or factor.

        The output is `upscale_factor` times as high as the source. The rate is multiplied if the frame rate (the
        requested one, else the source's) is at least that of `frame_rate`.
        """
        find, line, per = tier_of(compiling), compiling.line_of_part(), compiling.per
        threshold, factor = Fraction(self.frame_rate.from_), self.frame_rate.factor
        unknown = f"frame rate unknown: x{factor} as from {threshold} per second"

        def calculate(shape: Shape) -> LineItem:
            source = shape.get("source")
            rate, note = find(shape, source.height * shape["upscale_factor"] if source and source.height else None)
            fps = shape.get("target_fps") or (source and source.fps)
            multiplied = factor > 1 if fps is None else fps >= threshold
            if multiplied:
                dearer, words = plain(multiply(rate.unit_rate, factor)), f"{rate.words}-{self.frame_rate.from_}fps"
                listed = rate.listed and rate.listed._replace(rate=plain(multiply(rate.listed.rate, factor)))
                rate = CompiledRate(dearer, rate.source, words, listed)
                more = unknown if fps is None else f"x{factor} from {threshold} frames per second"
                note = "; ".join(filter(None, (note, more)))
            return line(rate, self.units(Measures(Fraction(shape["seconds"]), per)), note)

        return calculate


class InterpolationRate(VideoCharge, Method):
    """Seconds of output times frames per second / `at_frame_rate`, at the rate of the source height's tier."""

    ATTRIBUTES: ClassVar = ("enhancement_model", "up_to")
    METERS: ClassVar = ("second of interpolated video",)
    READS: ClassVar = ("duration", "slowdown_factor", "target_fps", "video_url")
    NEEDS_FRAME_RATE: ClassVar = True
    method: Literal["interpolation-rate"]
    at_frame_rate: Positive

    @property
    def frame_rates(self) -> Mapping[Decimal, Decimal]:
        """Return the frame rate at which the rate is the price of a second."""
        return {self.at_frame_rate: _ONE}

    def units(self, of: Measures) -> Fraction:
        """Return the seconds of output, in proportion to the frame rate."""
        return of.seconds * of.slowdown * of.fps / (Fraction(self.at_frame_rate) * of.per)

    def calculator(self, compiling: Compiling) -> Calculator:
        """Compile the price of the seconds of output, at the rate of the source height's tier."""
        find, line, per = tier_of(compiling), compiling.line_of_part(), compiling.per

        def calculate(shape: Shape) -> LineItem:
            source = shape["source"]
            rate, note = find(shape, source.height if source else None)
            seconds, fps = Fraction(shape["seconds"]), Fraction(shape.get("target_fps") or source.fps)
            return line(rate, self.units(Measures(seconds, per, fps, shape["slowdown_factor"])), note)

        return calculate
