"""The pixels of an output, by resolution and aspect ratio."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ratecard.line_items.compiling import Shape
from ratecard.tables.scalars import Size
from ratecard.tables.video import FrameSize

Place = tuple[str | None, str | None]
# Most sources have one of a few sizes.
_REMEMBERED = 1_000


class Framed(NamedTuple):
    """The size that is priced, its aspect ratio if the model offers a choice, and a note why it was taken."""

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
            ratio = Fraction(width, height)
            nearest = min(choices, key=lambda framed: _distance(_ratio(framed.ratio or ""), ratio))
            return nearest._replace(note=f"aspect ratio {nearest.ratio} is nearest to the source's")
        dearest = max(choices, key=lambda framed: framed.size.width * framed.size.height)
        return dearest._replace(note=f"source size unknown: priced as {dearest.ratio}, the dearest")

    return listed, find


def _ratio(words: str) -> Fraction:
    width, height = words.split(":")
    return Fraction(int(width), int(height))


def _distance(one: Fraction, other: Fraction) -> Fraction:
    """Return the distance of two ratios: rises with the difference of their logarithms, and is exact."""
    return max(one / other, other / one)
