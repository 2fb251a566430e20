"""Rules between the parts of a video version: values the API knows, defaults, sizes, and what a method needs."""

from collections.abc import Iterator
from itertools import product

from ratecard.load.checks import Finding
from ratecard.tables.video import VideoModel, VideoVersion
from ratecard.tables.video_charges import (
    FrameSize,
    InterpolationRate,
    MegapixelRate,
    PerClip,
    TokenFormula,
    UpscaleRate,
)
from ratecard.tables.vocabulary import VideoFields
from ratecard.words.suggest import did_you_mean
from ratecard.words.tree import Path

_TEXT_FIELDS = ("duration", "aspect_ratio", "resolution", "enhancement_model")
_NUMBER_FIELDS = ("upscale_factor", "slowdown_factor")
_NEEDS_SOURCE = (UpscaleRate, InterpolationRate)


def check_video(model: VideoModel, fields: VideoFields) -> Iterator[Finding]:
    """Every rule that a video model obeys beyond those of all models."""
    for index, version in enumerate(model.versions):
        for path, words in _check_version(version, fields):
            yield ("versions", index, *path), words


def _check_version(version: VideoVersion, fields: VideoFields) -> Iterator[Finding]:
    yield from _check_vocabulary(version, fields)
    yield from _check_defaults(version)
    for number, charge in enumerate(version.charges):
        at: Path = ("charges", number)
        if isinstance(charge, (TokenFormula, MegapixelRate)) and charge.sizes:
            yield from ((at + path, words) for path, words in _check_sizes(version, charge.sizes))
        if isinstance(charge, MegapixelRate) and bool(charge.sizes) != bool(charge.frames):
            yield (*at, "sizes"), "write both sizes and frames, or neither (then the source video has them)"
        if isinstance(charge, TokenFormula) and not charge.sizes:
            yield (*at, "sizes"), "sizes is empty. The token formula needs the pixels of every output"
        if not isinstance(charge, PerClip) and version.accepts.duration is None:
            yield ("accepts", "duration"), f"duration is missing in accepts: {charge.method} bills seconds"
        if isinstance(charge, _NEEDS_SOURCE) and version.accepts.target_fps is None:
            yield ("accepts", "target_fps"), f"target_fps is missing in accepts: {charge.method} depends on it"


def _check_vocabulary(version: VideoVersion, fields: VideoFields) -> Iterator[Finding]:
    """A value that the API does not know is a typing mistake, or belongs into vocabulary.yaml first."""
    for name in ("duration", "aspect_ratio", "resolution"):
        known = getattr(fields, name)
        folded = {value.casefold() for value in known}
        for value in getattr(version.accepts, name) or ():
            if value.casefold() not in folded:
                near = did_you_mean(value, known)
                yield (
                    ("accepts", name),
                    f"{name} '{value}' is not in vocabulary.yaml.{near} Allowed: {', '.join(known)}",
                )
    for alias, value in version.accepts.resolution_aliases.items():
        if value not in (version.accepts.resolution or ()):
            yield ("accepts", "resolution_aliases", alias), f"'{value}' is not a resolution that this version accepts"


def _check_defaults(version: VideoVersion) -> Iterator[Finding]:
    for name, value in version.defaults.items():
        path = ("defaults", name)
        if name not in _TEXT_FIELDS + _NUMBER_FIELDS:
            allowed = ", ".join(_TEXT_FIELDS + _NUMBER_FIELDS)
            yield path, f"'{name}' cannot have a default.{did_you_mean(name, _TEXT_FIELDS)} Allowed: {allowed}"
            continue
        accepted = [str(one) for one in getattr(version.accepts, name) or ()]
        if value not in accepted:
            yield path, f"default '{value}' of {name} is not accepted. Allowed: {', '.join(accepted) or 'none'}"


def _check_sizes(version: VideoVersion, sizes: tuple[FrameSize, ...]) -> Iterator[Finding]:
    """Every accepted resolution and aspect ratio has one size."""
    resolutions = version.values_of("resolution") or (None,)
    ratios = version.values_of("aspect_ratio") or (None,)
    seen: dict[tuple[str | None, str | None], int] = {}
    for index, entry in enumerate(sizes):
        key = (entry.resolution, entry.aspect_ratio)
        words = f"resolution {entry.resolution}, aspect ratio {entry.aspect_ratio}"
        if key in seen:
            yield ("sizes", index), f"two sizes for {words}; keep one"
        elif entry.resolution not in resolutions or entry.aspect_ratio not in ratios:
            yield ("sizes", index), f"{words} is not accepted by this version"
        seen[key] = index
    for key in product(resolutions, ratios):
        if key not in seen:
            yield ("sizes",), f"no size for resolution {key[0]}, aspect ratio {key[1]}, which this version accepts"
