"""What each method of a video counts, by the plain formulas in fractions: short, slow, and independent."""

from fractions import Fraction
from math import ceil, log
from typing import Any

from ratecard.tables.scalars import Size
from ratecard.tables.video_charges import InterpolationRate, MegapixelRate, PerClip, TokenFormula
from ratecard.testing.case import Case
from ratecard.testing.offer import REFERENCE
from ratecard.testing.request import Request


def quantity_of(case: Case, charge: Any, request: Request) -> Fraction:
    """The units that a request uses of a charge."""
    body, source, offer = request.body, request.source, case.offer
    if isinstance(charge, PerClip):
        return Fraction(1)
    seconds = seconds_of(case, request)
    if isinstance(charge, TokenFormula):
        billed, clip = seconds, clip_of(case, request)
        if clip:
            billed = max(seconds + clip, Fraction(ceil(seconds * charge.reference_minimum)))
        frames = billed * charge.frames_per_second
        return frames * pixels_of(case, charge, request) / charge.pixels_per_token / case.per(charge.unit)
    if isinstance(charge, InterpolationRate):
        fps = Fraction(body["target_fps"] if "target_fps" in body or source is None else source.fps or 0)
        return seconds * int(offer.settled(body, "slowdown_factor")) * fps / Fraction(charge.at_frame_rate)
    if isinstance(charge, MegapixelRate):
        if charge.frames:
            frames = seconds * charge.frames.per_second + charge.frames.plus
        else:
            frames = seconds * (source.fps or 0 if source else 0)
        megapixels = frames * pixels_of(case, charge, request) / case.per(charge.unit)
        return Fraction(ceil(megapixels)) if charge.megapixels == "rounded-up" else megapixels
    return seconds


def seconds_of(case: Case, request: Request) -> Fraction:
    """The seconds of the output, or of the source where the version bills those."""
    if case.offer.of_source and request.source and request.source.seconds:
        return request.source.seconds
    if case.offer.matches_clip(request.body):
        return Fraction(ceil(clip_of(case, request)))
    return Fraction(str(case.offer.settled(request.body, "duration")).removesuffix("s"))


def clip_of(case: Case, request: Request) -> Fraction:
    """The seconds of the reference clip; 0 without one."""
    return Fraction(request.body.get(REFERENCE, 0)) if REFERENCE in case.offer.active else Fraction(0)


def pixels_of(case: Case, charge: TokenFormula | MegapixelRate, request: Request) -> int:
    """The pixels of a frame: of the listed size, or of the source enlarged."""
    body, source = request.body, request.source
    if not charge.sizes:
        factor = int(case.offer.settled(body, "upscale_factor"))
        return (source.width or 0) * (source.height or 0) * factor**2 if source else 0
    sizes: dict[str, Size] = {}
    for entry in charge.sizes:
        if entry.resolution is None or entry.resolution == case.offer.attribute(body, "resolution"):
            sizes[entry.aspect_ratio or ""] = entry.size
    ratio = "" if "" in sizes else str(case.offer.settled(body, "aspect_ratio"))
    if ratio not in sizes and source and source.width and source.height:
        wide = log(source.width / source.height)
        ratio = min(sizes, key=lambda words: abs(_log(words) - wide))
    chosen = [sizes[ratio]] if ratio in sizes else sizes.values()
    return max(size.width * size.height for size in chosen)


def _log(ratio: str) -> Any:
    width, height = ratio.split(":")
    return log(int(width) / int(height))
