"""Video by the second or the clip: made at listed durations, upscaled, or interpolated to more frames."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ratecard.base.money import from_fraction, multiply, plain
from ratecard.methods.method import Method
from ratecard.rating.compiling import SECONDS, Calculator, CompiledRate, Compiling, Shape, slug
from ratecard.rating.quote import LineItem, LineRate
from ratecard.tables.rate import ANY, select, tiers
from ratecard.tables.scalars import Frozen, Positive
from ratecard.tables.video import Measures, VideoCharge

_ONE = Decimal(1)


class PerSecond(VideoCharge):
    """Seconds of output times the rate."""

    ATTRIBUTES: ClassVar = ("resolution", "audio")
    METERS: ClassVar = ("second of video",)
    method: Literal["duration-rate", "resolution-rate"]


class PerClip(VideoCharge):
    """One price for the whole clip, or one flat fee per request."""

    ATTRIBUTES: ClassVar = ("duration", "resolution", "audio")
    METERS: ClassVar = ("clip", "input image")
    READS: ClassVar = ()
    method: Literal["fixed", "duration-resolution-rate"]

    def units(self, of: Measures) -> Fraction:
        """One."""
        return Fraction(1, of.per)


class FrameRateStep(Frozen):
    """The frames per second from which the price is multiplied, and the factor."""

    from_: Annotated[Positive, Field(alias="from")]
    factor: Positive


class UpscaleRate(VideoCharge):
    """Seconds of source times the rate of the output height's tier."""

    ATTRIBUTES: ClassVar = ("enhancement_model", "up_to")
    METERS: ClassVar = ("second of video",)
    READS: ClassVar = ("duration", "upscale_factor", "target_fps", "video_url")
    TIERS_OF_OUTPUT: ClassVar = True
    method: Literal["upscale-rate"]
    frame_rate: FrameRateStep

    @property
    def frame_rates(self) -> Mapping[Decimal, Decimal]:
        """The one from which the price is multiplied."""
        return {self.frame_rate.from_: self.frame_rate.factor}


class InterpolationRate(VideoCharge):
    """Seconds of output times frames per second / `at_frame_rate`, at the rate of the source height's tier."""

    ATTRIBUTES: ClassVar = ("enhancement_model", "up_to")
    METERS: ClassVar = ("second of interpolated video",)
    READS: ClassVar = ("duration", "slowdown_factor", "target_fps", "video_url")
    NEEDS_FRAME_RATE: ClassVar = True
    method: Literal["interpolation-rate"]
    at_frame_rate: Positive

    @property
    def frame_rates(self) -> Mapping[Decimal, Decimal]:
        """The one at which the rate is that of a second."""
        return {self.at_frame_rate: _ONE}

    def units(self, of: Measures) -> Fraction:
        """Seconds of output, in proportion to the frame rate."""
        return of.seconds * of.slowdown * of.fps / Fraction(self.at_frame_rate) / of.per


def _looked_up(compiling: Compiling, *further: str) -> Calculator:
    """Look lines up, which are made once: of one, or of the seconds of the `further` attribute."""
    key, rates = compiling.rates_by(*further)
    cells = {}
    for values, rate in rates.items():
        count = SECONDS[values if isinstance(values, str) else values[0]] if further else _ONE
        line = compiling.line_rate(rate)
        cells[values] = line, count, line.price(count)

    def calculate(shape: Shape) -> LineItem:
        return LineItem(*cells[key(shape)])

    return calculate


class SecondsOfVideo(Method[PerSecond]):
    """Seconds of output, of which a table lists every duration."""

    charge = PerSecond
    types = ("video",)

    def calculator(self, charge: PerSecond, compiling: Compiling) -> Calculator:
        """One line for every duration and combination of attributes."""
        return _looked_up(compiling, "duration")


class WholeClips(Method[PerClip]):
    """Clips, or requests for a fee."""

    charge = PerClip
    types = ("video",)

    def calculator(self, charge: PerClip, compiling: Compiling) -> Calculator:
        """One line for every combination of attributes."""
        return _looked_up(compiling)


def tier_of(compiling: Compiling) -> Callable[[Shape, int | None], tuple[CompiledRate, str]]:
    """Compile the function (shape, height) -> rate of its tier: the first whose upper edge is not below the height.

    An unknown height takes the dearest tier, with a note.
    """
    selection = select(compiling.version, compiling.charge)
    rows_of: dict[str | None, list[tuple[int | None, CompiledRate]]] = {}
    edges = [edge for edge in tiers(compiling.charge.rates) if edge != ANY]
    for key, rate in selection.rates.items():
        named = dict(zip(selection.attributes, key, strict=True))
        model, edge = named.get("enhancement_model"), named["up_to"]
        tier = f"up-to-{edge}" if edge != ANY else f"above-{edges[-1]}" if edges else ""
        words = "".join(f"-{word}" for word in (slug(model or ""), tier) if word)
        compiled = compiling.compiled(rate, selection.attributes, key)._replace(words=words)
        rows_of.setdefault(model, []).append((None if edge == ANY else int(edge), compiled))
    for rows in rows_of.values():
        rows.sort(key=lambda row: (row[0] is None, row[0]))

    def find(shape: Shape, height: int | None) -> tuple[CompiledRate, str]:
        rows = rows_of.get(shape.get("enhancement_model")) or rows_of[None]
        if height is None:
            return max((rate for _, rate in rows), key=lambda rate: rate.unit_rate), "height unknown: dearest tier"
        return next(rate for edge, rate in rows if edge is None or height <= edge), ""

    return find


class UpscaledSeconds(Method[UpscaleRate]):
    """Seconds of source x rate of the tier of the output height: that of the source x `upscale_factor`.

    From a frame rate on (the requested one, else the source's) the rate is multiplied.
    """

    charge = UpscaleRate
    types = ("video",)

    def calculator(self, charge: UpscaleRate, compiling: Compiling) -> Calculator:
        """Multiply; what is unknown takes the dearest tier, and the factor if it is above 1."""
        find, sku, unit, places = tier_of(compiling), compiling.sku, charge.unit, compiling.places
        threshold, factor = Fraction(charge.frame_rate.from_), charge.frame_rate.factor
        unknown = f"frame rate unknown: x{factor} as from {threshold} per second"

        def calculate(shape: Shape) -> LineItem:
            source = shape.get("source")
            height = source.height * shape["upscale_factor"] if source and source.height else None
            (rate, where, words), note = find(shape, height)
            fps = shape.get("target_fps") or (source and source.fps)
            multiplied = factor > 1 if fps is None else fps >= threshold
            if multiplied:
                rate = plain(multiply(rate, factor))
                words += f"-{charge.frame_rate.from_}fps"
                more = unknown if fps is None else f"x{factor} from {threshold} frames per second"
                note = "; ".join(filter(None, (note, more)))
            seconds = Fraction(shape["seconds"]) / compiling.per
            amount = from_fraction(seconds * Fraction(rate), places)
            return LineItem(LineRate(f"{sku}{words}", unit, rate, where, note), from_fraction(seconds, places), amount)

        return calculate


class InterpolatedSeconds(Method[InterpolationRate]):
    """Seconds x `slowdown_factor` x frames per second / `at_frame_rate` x rate of the source height's tier."""

    charge = InterpolationRate
    types = ("video",)

    def calculator(self, charge: InterpolationRate, compiling: Compiling) -> Calculator:
        """Multiply, at the rate of the source height's tier."""
        find, sku, unit, places = tier_of(compiling), compiling.sku, charge.unit, compiling.places
        at_frame_rate = Fraction(charge.at_frame_rate)

        def calculate(shape: Shape) -> LineItem:
            source = shape["source"]
            (rate, where, words), note = find(shape, source.height if source else None)
            fps = Fraction(shape.get("target_fps") or source.fps)
            quantity = Fraction(shape["seconds"]) * shape["slowdown_factor"] * fps / at_frame_rate / compiling.per
            amount = from_fraction(quantity * Fraction(rate), places)
            return LineItem(LineRate(f"{sku}{words}", unit, rate, where, note), from_fraction(quantity, places), amount)

        return calculate
