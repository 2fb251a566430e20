"""Video by the pixels of its frames: video tokens, and megapixels."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil
from operator import itemgetter
from typing import Any, ClassVar, Literal, NamedTuple

from ratecard.base.messages import Finding
from ratecard.base.money import ROUNDING, add, as_decimal, exact_decimal, from_fraction, multiply, plain, step
from ratecard.line_items.compiling import SECONDS, Calculator, Compiling, LineBySeconds, Shape, slug
from ratecard.line_items.quote import LineItem, LineRate
from ratecard.methods.method import Method, Steps
from ratecard.tables.scalars import Count, Frozen, Integer, Ratio, Size
from ratecard.tables.video import FrameSize, Measures, VideoCharge, VideoVersion, fields_of_sizes

Place = tuple[str | None, str | None]
# Most sources have one of a few sizes.
_REMEMBERED = 1_000


class Framed(NamedTuple):
    """The size that is priced, its aspect ratio if the model offers a choice, and a note why it was chosen."""

    size: Size
    ratio: str | None
    note: str


def frame_size_of(sizes: tuple[FrameSize, ...]) -> tuple[dict[Place, Framed], Callable[[Shape], Framed]]:
    """Return the listed sizes by (resolution, aspect ratio), and the function that finds a shape's output size.

    A source-matched ratio (`adaptive`, `auto`) takes the listed ratio nearest to the source's, by the logarithm of
    width / height. If the source's size is unknown, it takes the dearest size of the resolution: never too low.
    """
    listed: dict[Place, Framed] = {
        (entry.resolution, entry.aspect_ratio): Framed(entry.size, entry.aspect_ratio, "") for entry in sizes
    }
    with_resolution = any(entry.resolution for entry in sizes)
    with_ratio = any(entry.aspect_ratio for entry in sizes)

    def find(shape: Shape) -> Framed:
        resolution = shape["resolution"] if with_resolution else None
        size = listed.get((resolution, shape["aspect_ratio"] if with_ratio else None))
        if size:
            return size
        source = shape.get("source")
        return matched(resolution, *((source.width, source.height) if source is not None else (None, None)))

    @lru_cache(_REMEMBERED)
    def matched(resolution: str | None, width: int | None, height: int | None) -> Framed:
        choices = [framed for (named, _), framed in listed.items() if named == resolution]
        if width and height:
            nearest = min(choices, key=lambda framed: _distance(framed.ratio or "", Fraction(width, height)))
            return nearest._replace(note=f"aspect ratio {nearest.ratio} is nearest to the source's")
        dearest = max(choices, key=lambda framed: framed.size.width * framed.size.height)
        return dearest._replace(note=f"source size unknown: priced as {dearest.ratio}, the dearest")

    return listed, find


def _distance(words: str, other: Fraction) -> Fraction:
    """Return an exact distance of two ratios, which rises with the difference of their logarithms."""
    one = Fraction(*map(int, words.split(":")))
    return max(one / other, other / one)


_quantize = ROUNDING.quantize
# Decimal places of the seconds that a working shows.
_PLACES = 12
_NO_RATE = Fraction(0)


class TokenFormula(VideoCharge, Method):
    """Video tokens: (input + output seconds) x pixels x frames per second / pixels per token."""

    ATTRIBUTES: ClassVar = ("resolution", "video_input")
    METERS: ClassVar = ("token",)
    OF_DECIMALS: ClassVar = True
    FORMULA: ClassVar = "tokens: seconds x width x height x frames_per_second / pixels_per_token"
    method: Literal["token-formula"]
    frames_per_second: Count
    pixels_per_token: Count
    # With reference video, at least ceil(output seconds x this) seconds are billed; 0 means no minimum. It is absent if
    # the version takes no reference video.
    reference_minimum: Ratio | None = None
    sizes: tuple[FrameSize, ...]

    @property
    def fields(self) -> frozenset[str]:
        """Return the request fields that it reads, and those of its sizes."""
        return super().fields | fields_of_sizes(self.sizes)

    def check_options(self, version: VideoVersion) -> Iterator[Finding]:
        """Find tokens per pixel that are not a decimal, outputs without a size, reference video without a minimum."""
        per_pixel = Fraction(self.frames_per_second, self.pixels_per_token)
        if isinstance(as_decimal(per_pixel), Fraction):
            words = f"pixels_per_token {self.pixels_per_token}: {per_pixel} tokens a pixel and second is not a decimal"
            yield ("pixels_per_token",), f"{words}. Write a number that divides without remainder, like 1024"
        if version.accepts.reference_video_total_duration and self.reference_minimum is None:
            words = "reference_minimum is missing: this version takes reference video"
            yield ("reference_minimum",), f"{words}. Write the minimum of seconds, like 5/3, or 0 for none"
        if self.sizes:
            yield from _check_sizes(version, self.sizes)
        else:
            yield ("sizes",), "sizes is empty. The token formula needs the pixels of every output"

    def least_seconds(self, seconds: Fraction | int) -> int:
        """Return the fewest seconds that are billed with reference video, for the seconds of the output."""
        return ceil(seconds * (self.reference_minimum or 0))

    def units(self, of: Measures) -> Fraction:
        """Return the video tokens, in units: the pixels of all frames in the billed seconds / pixels per token."""
        least = self.least_seconds(of.seconds) if of.reference else 0
        frames = max(of.seconds + of.reference, Fraction(least)) * self.frames_per_second
        return Fraction(frames * of.pixels, self.pixels_per_token * of.per)

    def calculator(self, compiling: Compiling) -> Calculator:
        """Compile the function from a shape to its line, by cells made once; only the amount is rounded."""
        find = _cells(self, compiling)
        return lambda shape: find(shape).line(shape["reference_seconds"])

    def by_seconds(self, compiling: Compiling) -> Callable[[Shape], LineBySeconds]:
        """Compile the same as `Method.by_seconds`, but look up the cell of a shape once for all seconds."""
        find = _cells(self, compiling)
        return lambda shape: find(shape).line

    def working(self, shape: Shape, counted: Decimal) -> Steps:
        """Return the steps: seconds x width x height x frames per second / pixels per token = tokens."""
        (width, height), fps = frame_size_of(self.sizes)[1](shape).size, self.frames_per_second
        seconds = Fraction(counted) / self.units(Measures(Fraction(1), per=1, pixels=width * height))
        words = f"s x {width} x {height} x {fps} fps / {self.pixels_per_token} ="
        return plain(from_fraction(seconds, _PLACES)), words, plain(counted), "tokens"


class _Cell(NamedTuple):
    """The part of a token formula that depends on rate, size and duration only."""

    rate: LineRate
    seconds: Decimal
    # Units (millions of tokens) of one second.
    tokens: Decimal
    finest: Decimal
    alone: LineItem
    # The fewest seconds that are charged with reference video, and their line.
    least_seconds: Decimal
    least: LineItem

    def line(self, reference: Decimal | None) -> LineItem:
        """Return the line for the seconds of reference video, or for None without reference video."""
        if reference is None:
            return self.alone
        seconds = add(self.seconds, reference)
        return self.least if seconds < self.least_seconds else _line(self.rate, seconds, self.tokens, self.finest)


def _line(rate: LineRate, seconds: Decimal, tokens: Decimal, finest: Decimal) -> LineItem:
    units = multiply(seconds, tokens)
    amount = multiply(units, rate.unit_rate)
    rounded = _quantize(amount, finest)
    return LineItem(rate, units, amount if rounded == amount else rounded)


def _cells(charge: TokenFormula, compiling: Compiling) -> Callable[[Shape], _Cell]:
    """Compile the function from a shape to its cell; each cell is made at its first use."""
    unit, finest = charge.unit, step(compiling.places)
    (rate_key, rates), (listed, frame_size) = compiling.rates_by(), frame_size_of(charge.sizes)
    key = itemgetter("duration", "resolution", "aspect_ratio", "video_input")
    cells: dict[Any, _Cell] = {}

    def cell_of(shape: Shape, framed: Framed) -> _Cell:
        rate, (size, ratio, note), duration = rates[rate_key(shape)], framed, shape["duration"]
        seconds = SECONDS[duration]
        least = Decimal(charge.least_seconds(int(seconds)))
        of_second = Measures(Fraction(1), compiling.per, pixels=size.width * size.height)
        tokens = plain(exact_decimal(charge.units(of_second)))
        words = f"{rate.words}-{slug(ratio)}" if ratio else rate.words
        sku, applies = f"{compiling.sku}-{duration}{words}", f"the minimum of {least} s with reference video applies"
        line = LineRate(sku, unit, rate.unit_rate, rate.source, note, listed=rate.listed)
        of_least = replace(line, note=f"{note}; {applies}" if note else applies)
        alone, at_least = _line(line, seconds, tokens, finest), _line(of_least, least, tokens, finest)
        return _Cell(line, seconds, tokens, finest, alone, least, at_least)

    def find(shape: Shape) -> _Cell:
        values: Any = key(shape)
        if (cell := cells.get(values)) is None:
            framed = frame_size(shape)
            # The listed size of a source-matched ratio depends on the source, so the key needs it.
            values = values if values[1:3] in listed else (*values, framed)
            if (cell := cells.get(values)) is None:
                cell = cells[values] = cell_of(shape, framed)
        return cell

    return find


class Frames(Frozen):
    """The number of frames of a clip: seconds x `per_second` + `plus`."""

    per_second: Count
    plus: Integer = 0


class MegapixelRate(VideoCharge, Method):
    """Width x height x frames / 1,000,000 times the rate; without `sizes`, those of the source video, upscaled."""

    ATTRIBUTES: ClassVar = ("resolution",)
    METERS: ClassVar = ("pixel of video",)
    NEEDS_SIZE: ClassVar = True
    method: Literal["megapixel-rate"]
    frames: Frames | None = None
    megapixels: Literal["exact", "rounded-up"] = "exact"
    sizes: tuple[FrameSize, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the duration; without sizes in the table, the source video too."""
        return self.READS if self.sizes or self.frames else ("duration", "upscale_factor", "video_url")

    @property
    def fields(self) -> frozenset[str]:
        """Return the request fields that it reads, and those of its sizes."""
        return super().fields | fields_of_sizes(self.sizes)

    def check_options(self, version: VideoVersion) -> Iterator[Finding]:
        """Find sizes without frames, frames without sizes, and outputs without a size."""
        if bool(self.sizes) != bool(self.frames):
            yield ("sizes",), "write both sizes and frames, or neither (then the source video has them)"
        elif self.sizes:
            yield from _check_sizes(version, self.sizes)

    def units(self, of: Measures) -> Fraction:
        """Return the pixels of all frames, rounded up if the table says so."""
        frames = of.seconds * self.frames.per_second + self.frames.plus if self.frames else of.seconds * of.fps
        megapixels = Fraction(frames * of.pixels, of.per)
        return Fraction(ceil(megapixels)) if self.megapixels == "rounded-up" else megapixels

    def calculator(self, compiling: Compiling) -> Calculator:
        """Compile the function from a shape to its line; the amount is rounded to the line places."""
        (key, rates), line, per = compiling.rates_by(), compiling.line_of_part(), compiling.per
        listed, find = frame_size_of(self.sizes)

        def measure(shape: Shape) -> tuple[Framed, Fraction | int, Fraction]:
            if listed:
                return find(shape), int(SECONDS[shape["duration"]]), _NO_RATE
            source, factor = shape["source"], shape["upscale_factor"]
            size = Size(source.width * factor, source.height * factor)
            return Framed(size, None, f"{size} out"), Fraction(shape["seconds"]), source.fps

        def calculate(shape: Shape) -> LineItem:
            rate, (framed, seconds, fps) = rates[key(shape)], measure(shape)
            duration = f"-{shape['duration']}" if "duration" in shape else ""
            words = f"{duration}{rate.words}" + (f"-{slug(framed.ratio)}" if framed.ratio else "")
            units = self.units(Measures(seconds, per, fps, pixels=framed.size.width * framed.size.height))
            return line(rate._replace(words=words), units, framed.note)

        return calculate


def _check_sizes(version: VideoVersion, sizes: tuple[FrameSize, ...]) -> Iterator[Finding]:
    """Check that every accepted resolution and aspect ratio has one size."""
    resolutions = version.values_of("resolution") or (None,)
    ratios = version.values_of("aspect_ratio") or (None,)
    seen: set[tuple[str | None, str | None]] = set()
    for index, entry in enumerate(sizes):
        key = (entry.resolution, entry.aspect_ratio)
        if key in seen:
            yield ("sizes", index), f"two sizes for {_words(*key)}; keep one"
        elif entry.resolution not in resolutions or entry.aspect_ratio not in ratios:
            allowed = "; ".join(_words(*pair) for pair in product(resolutions, ratios))
            yield ("sizes", index), f"{_words(*key)} is not accepted by this version. Allowed: {allowed}"
        seen.add(key)
    for pair in product(resolutions, ratios):
        if pair not in seen:
            yield ("sizes",), f"no size for {_words(*pair)}, which this version accepts"


def _words(resolution: str | None, ratio: str | None) -> str:
    named = ([f"resolution {resolution}"] if resolution else []) + ([f"aspect ratio {ratio}"] if ratio else [])
    return ", ".join(named) or "an output without resolution and aspect ratio"
