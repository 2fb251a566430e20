"""Rules between the parts of a video version: accepted values, defaults, charges, sizes and examples."""

import re
from collections.abc import Iterator

from ratecard.base.messages import Finding
from ratecard.base.suggestions import did_you_mean, meant_or_allowed
from ratecard.load.checks import check_line_places
from ratecard.methods.conditions import check_rates
from ratecard.methods.findings import below
from ratecard.tables.units import VideoFields
from ratecard.tables.version import Rounding
from ratecard.tables.video import (
    LISTED_NUMBERS,
    LISTED_WORDS,
    LONGEST,
    REQUEST_FIELDS,
    SOURCE_MATCHED_DURATIONS,
    VideoAccepts,
    VideoModel,
    VideoVersion,
)

_SOURCE_FIELDS = ("seconds", "width", "height", "fps")
_SECONDS = re.compile(r"[1-9]\d{0,2}s", re.ASCII)


def check_video(model: VideoModel, fields: VideoFields) -> Iterator[Finding]:
    """Check the rules for video models beyond those for all models."""
    for index, version in enumerate(model.versions):
        yield from below(("versions", index), _check_version(version, fields))


def _check_version(version: VideoVersion, fields: VideoFields) -> Iterator[Finding]:
    for check in (_check_vocabulary, _check_resolutions, _check_limits):
        yield from below(("accepts",), check(version.accepts, fields))
    yield from _check_rounding(version.rounding)
    yield from _check_defaults(version)
    yield from _check_examples(version)
    yield from _check_charges(version)


def _check_vocabulary(accepts: VideoAccepts, fields: VideoFields) -> Iterator[Finding]:
    """Check that the API knows every value: any other is a typing mistake, or is missing in vocabulary.yaml."""
    for name in ("duration", "aspect_ratio", "resolution", *LISTED_NUMBERS):
        known = getattr(fields, name)
        for value in getattr(accepts, name) or ():
            if value not in known and str(value).casefold() not in {str(word).casefold() for word in known}:
                near = meant_or_allowed(str(value), [*map(str, known)])
                yield (name,), f"{name} '{value}' is not in vocabulary.yaml.{near}"


def _check_resolutions(accepts: VideoAccepts, fields: VideoFields) -> Iterator[Finding]:
    """Check that no two resolutions differ only in case, because requests may write them in any case."""
    seen: dict[str, str] = {}
    known = {value.casefold() for value in fields.resolution}
    for value in accepts.resolution or ():
        if value.casefold() in seen:
            yield ("resolution",), f"resolution '{value}' is '{seen[value.casefold()]}' in other letters; keep one"
        seen[value.casefold()] = value
    for alias, value in accepts.resolution_aliases.items():
        path = ("resolution_aliases", alias)
        if alias.casefold() in seen:
            yield path, f"alias '{alias}' is accepted as '{seen[alias.casefold()]}' already; leave the alias out"
        elif alias.casefold() not in known:
            yield path, f"alias '{alias}' is not in vocabulary.yaml. Allowed: {', '.join(fields.resolution)}"
        elif value not in (accepts.resolution or ()):
            allowed = ", ".join(accepts.resolution or ("none",))
            yield path, f"'{value}' is not a resolution that this version accepts. Allowed: {allowed}"
        seen[alias.casefold()] = alias


def _check_limits(accepts: VideoAccepts, fields: VideoFields) -> Iterator[Finding]:
    if accepts.target_fps:
        lowest, highest, known = accepts.target_fps.min, accepts.target_fps.max, fields.target_fps
        if not known.min <= lowest <= highest <= known.max:
            words = f"target_fps {lowest} to {highest} must rise within {known.min} to {known.max}"
            yield ("target_fps",), words
    if accepts.reference_video_total_duration:
        cap, most = accepts.reference_video_total_duration.max, fields.reference_video_total_duration.max
        if cap > most:
            yield ("reference_video_total_duration", "max"), f"max {cap} is above what the API takes. Allowed: {most}"


def _check_rounding(rounding: Rounding) -> Iterator[Finding]:
    at, line_places = ("rounding",), rounding.line_places
    yield from below(at, check_line_places(line_places))
    if rounding.places > line_places:
        yield (*at, "places"), f"places {rounding.places} is more than line_places. Allowed: 0 to {line_places}"


def _check_defaults(version: VideoVersion) -> Iterator[Finding]:
    for name, value in version.defaults.items():
        path = ("defaults", name)
        if name not in LISTED_WORDS + LISTED_NUMBERS:
            allowed = ", ".join(LISTED_WORDS + LISTED_NUMBERS)
            yield path, f"'{name}' cannot have a default.{did_you_mean(name, LISTED_WORDS)} Allowed: {allowed}"
            continue
        accepted = [str(choice) for choice in getattr(version.accepts, name) or ()]
        if value not in accepted:
            yield path, f"default '{value}' of {name} is not accepted. Allowed: {', '.join(accepted) or 'none'}"


def _check_examples(version: VideoVersion) -> Iterator[Finding]:
    for index, example in enumerate(version.examples):
        for part, names, allowed in (
            ("request", example.request, REQUEST_FIELDS),
            ("source", example.source, _SOURCE_FIELDS),
        ):
            for name in names:
                if name not in allowed:
                    words = f"unknown key '{name}' in {part}.{did_you_mean(name, allowed)}"
                    yield ("examples", index, part, name), f"{words} Allowed here: {', '.join(allowed)}"
        for name in ("width", "height"):
            pixels = example.source.get(name)
            if pixels is not None and pixels % 1:
                yield ("examples", index, "source", name), f"{name} {pixels} is not a whole number of pixels"


def _check_charges(version: VideoVersion) -> Iterator[Finding]:
    for number, charge in enumerate(version.charges):
        yield from below(("charges", number), check_rates(version, charge))
        yield from below(("charges", number), charge.check_options(version))
    if version.of_source and version.accepts.reference_video_total_duration:
        words = "has no effect, as this version is priced by the video that is sent. Leave it out"
        yield ("accepts", "reference_video_total_duration"), f"reference_video_total_duration {words}"
    needed = {name: charge.method for charge in version.charges for name in charge.reads if name != "video_url"}
    for name, method in needed.items():
        if getattr(version.accepts, name) is None:
            yield ("accepts", name), f"{name} is missing in accepts: {method} depends on it"
    yield from _check_durations(version, needed.get("duration"))


def _check_durations(version: VideoVersion, billed_by: str | None) -> Iterator[Finding]:
    """Check that billed durations have seconds, and that source-matched durations have a clip to match."""
    path, listed = ("accepts", "duration"), version.accepts.duration or ()
    matched = [word for word in listed if word in SOURCE_MATCHED_DURATIONS]
    for word in listed:
        if billed_by and word not in matched and not _SECONDS.fullmatch(word):
            yield path, f"duration '{word}' has no seconds, but {billed_by} bills them. Write seconds, like 5s"
    if not matched or version.of_source:
        return
    reference = version.accepts.reference_video_total_duration
    if reference is None:
        if version.accepts.video_url is None or any("duration" in charge.fields for charge in version.charges):
            words = "but this version takes no video whose seconds are counted"
            yield path, f"duration '{matched[0]}' matches a source clip, {words}. Leave it out, or accept the clip"
        return
    first, last = reference.source_min, min(reference.longest_clip, LONGEST)
    stated = any(map(_SECONDS.fullmatch, listed))
    absent = [f"{seconds}s" for seconds in range(first, last + 1) if stated and f"{seconds}s" not in listed]
    if first > last or absent:
        words = f"but not accepted: {', '.join(absent)}" if absent else "which no clip has"
        yield path, f"duration '{matched[0]}' means a clip of {first} to {last} seconds, {words}"
