"""Rules between the parts of a video version: values that the API knows, limits, defaults and examples."""

from collections.abc import Iterator

from ratecard.load.checks import Finding
from ratecard.load.video_charge_checks import check_charges
from ratecard.tables.version import Rounding
from ratecard.tables.video import VideoAccepts, VideoModel, VideoVersion
from ratecard.tables.vocabulary import VideoFields
from ratecard.words.suggest import did_you_mean

_TEXT_FIELDS = ("duration", "aspect_ratio", "resolution", "enhancement_model")
_NUMBER_FIELDS = ("upscale_factor", "slowdown_factor")
_REQUEST_FIELDS = tuple(name for name in VideoAccepts.model_fields if name != "resolution_aliases")
_SOURCE_FIELDS = ("seconds", "width", "height", "fps")
# More decimal places than any amount needs, and few enough to stay cheap.
_LINE_PLACES = 100


def check_video(model: VideoModel, fields: VideoFields) -> Iterator[Finding]:
    """Every rule that a video model obeys beyond those of all models."""
    for index, version in enumerate(model.versions):
        for path, words in _check_version(version, fields):
            yield ("versions", index, *path), words


def _check_version(version: VideoVersion, fields: VideoFields) -> Iterator[Finding]:
    for path, words in (
        *_check_vocabulary(version.accepts, fields),
        *_check_resolutions(version.accepts, fields),
        *_check_limits(version.accepts, fields),
    ):
        yield ("accepts", *path), words
    yield from _check_rounding(version.rounding)
    yield from _check_defaults(version)
    yield from _check_examples(version)
    yield from check_charges(version)


def _check_vocabulary(accepts: VideoAccepts, fields: VideoFields) -> Iterator[Finding]:
    """A value that the API does not know is a typing mistake, or belongs into vocabulary.yaml first."""
    for name in ("duration", "aspect_ratio", "resolution", *_NUMBER_FIELDS):
        known = [str(value) for value in getattr(fields, name)]
        folded = {value.casefold() for value in known}
        for value in map(str, getattr(accepts, name) or ()):
            if value.casefold() not in folded:
                near = did_you_mean(value, known)
                yield (name,), f"{name} '{value}' is not in vocabulary.yaml.{near} Allowed: {', '.join(known)}"


def _check_resolutions(accepts: VideoAccepts, fields: VideoFields) -> Iterator[Finding]:
    """Resolutions match without regard to case, so no two spellings may differ by it alone."""
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
        lowest, highest, wide = accepts.target_fps.min, accepts.target_fps.max, fields.target_fps
        if not wide.min <= lowest <= highest <= wide.max:
            words = f"target_fps {lowest} to {highest} must rise within {wide.min} to {wide.max}"
            yield ("target_fps",), words
    if accepts.reference_video_total_duration:
        cap, most = accepts.reference_video_total_duration.max, fields.reference_video_total_duration.max
        if cap > most:
            yield ("reference_video_total_duration", "max"), f"max {cap} is above what the API takes. Allowed: {most}"


def _check_rounding(rounding: Rounding) -> Iterator[Finding]:
    at, line_places = ("rounding",), rounding.line_places
    if line_places > _LINE_PLACES:
        yield (*at, "line_places"), f"line_places {line_places} is too many. Allowed: 0 to {_LINE_PLACES}"
    elif rounding.places > line_places:
        yield (*at, "places"), f"places {rounding.places} is more than line_places. Allowed: 0 to {line_places}"


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


def _check_examples(version: VideoVersion) -> Iterator[Finding]:
    for index, example in enumerate(version.examples):
        for part, given, allowed in (
            ("request", example.request, _REQUEST_FIELDS),
            ("source", example.source, _SOURCE_FIELDS),
        ):
            for name in given:
                if name not in allowed:
                    words = f"unknown key '{name}' in {part}.{did_you_mean(name, allowed)}"
                    yield ("examples", index, part, name), f"{words} Allowed here: {', '.join(allowed)}"
        for name in ("width", "height"):
            pixels = example.source.get(name)
            if pixels is not None and pixels % 1:
                yield ("examples", index, "source", name), f"{name} {pixels} is not a whole number of pixels"
