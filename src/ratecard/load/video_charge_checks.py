"""What the charges of a video version need: rates for all that it accepts, sizes, seconds, and fields to read."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from ratecard.load.checks import Finding, check_rates
from ratecard.tables.charge import Charge
from ratecard.tables.video import SOURCE_MATCHED_DURATIONS, VideoVersion
from ratecard.tables.video_charges import (
    FrameSize,
    InterpolationRate,
    MegapixelRate,
    PerClip,
    TokenFormula,
    UpscaleRate,
)

# No clip is longer, whatever a table says.
_LONGEST = 999
_SECONDS = re.compile(r"[1-9]\d{0,2}s", re.ASCII)


def check_charges(version: VideoVersion) -> Iterator[Finding]:
    """Every rule between what a version accepts and its charges."""
    for number, charge in enumerate(version.charges):
        found = (*check_rates(version, charge), *_check_formula(version, charge))
        yield from ((("charges", number, *path), words) for path, words in found)
    needed = {name: charge.method for charge in version.charges for name in _needs(charge)}
    for name, method in needed.items():
        if getattr(version.accepts, name) is None:
            yield ("accepts", name), f"{name} is missing in accepts: {method} depends on it"
    yield from _check_durations(version, needed.get("duration"))


def _of_source(charge: Charge) -> bool:
    """Whether the seconds and the size are those of the video that a request sends."""
    return isinstance(charge, (UpscaleRate, InterpolationRate)) or (
        isinstance(charge, MegapixelRate) and not charge.sizes and charge.frames is None
    )


def _needs(charge: Charge) -> tuple[str, ...]:
    """The request fields without which a charge cannot be worked out."""
    if isinstance(charge, UpscaleRate):
        return ("duration", "upscale_factor", "target_fps")
    if isinstance(charge, InterpolationRate):
        return ("duration", "slowdown_factor", "target_fps")
    if isinstance(charge, PerClip):
        return ()
    return ("duration", "upscale_factor") if _of_source(charge) else ("duration",)


def _check_formula(version: VideoVersion, charge: Charge) -> Iterator[Finding]:
    if isinstance(charge, TokenFormula):
        per_pixel = Fraction(charge.frames_per_second, charge.pixels_per_token)
        if 10 ** per_pixel.denominator.bit_length() % per_pixel.denominator:
            words = f"pixels_per_token {charge.pixels_per_token}: {per_pixel} tokens a pixel and second is no decimal"
            yield ("pixels_per_token",), f"{words}. Write a number that divides without remainder, like 1024"
        if not charge.sizes:
            yield ("sizes",), "sizes is empty. The token formula needs the pixels of every output"
    if isinstance(charge, MegapixelRate) and bool(charge.sizes) != bool(charge.frames):
        yield ("sizes",), "write both sizes and frames, or neither (then the source video has them)"
    elif isinstance(charge, (TokenFormula, MegapixelRate)) and charge.sizes:
        yield from _check_sizes(version, charge.sizes)


def _check_sizes(version: VideoVersion, sizes: tuple[FrameSize, ...]) -> Iterator[Finding]:
    """Every accepted resolution and aspect ratio has one size."""
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


def _check_durations(version: VideoVersion, billed_by: str | None) -> Iterator[Finding]:
    """What is billed by the second has seconds, and a source-matched duration has a source to match."""
    path, listed = ("accepts", "duration"), version.accepts.duration or ()
    matched = [word for word in listed if word in SOURCE_MATCHED_DURATIONS]
    for word in listed:
        if billed_by and word not in matched and not _SECONDS.fullmatch(word):
            yield path, f"duration '{word}' has no seconds, but {billed_by} bills them. Write seconds, like 5s"
    if not matched or any(map(_of_source, version.charges)):
        return
    reference = version.accepts.reference_video_total_duration
    if reference is None:
        if version.accepts.video_url is None or any("duration" in charge.fields for charge in version.charges):
            words = "but this version takes no video whose seconds are counted"
            yield path, f"duration '{matched[0]}' matches a source clip, {words}. Leave it out, or accept the clip"
        return
    first, last = reference.source_min, min(reference.max, reference.source_max, _LONGEST)
    absent = [f"{seconds}s" for seconds in range(first, last + 1) if f"{seconds}s" not in listed]
    if first > last or absent:
        words = f"but not accepted: {', '.join(absent)}" if absent else "which no clip has"
        yield path, f"duration '{matched[0]}' means a clip of {first} to {last} seconds, {words}"
