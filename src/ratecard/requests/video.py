"""Bodies of `POST /video/quote` become request shapes of one version, or every error of the body at once.

The file has the checks of single fields, API-wide and of one version; then the rules across fields that a version may
have, for a reference clip or a source video; then the schema that joins both.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from operator import itemgetter
from typing import Any, NoReturn

from ratecard.base.errors import QuoteError
from ratecard.base.messages import (
    MOST_NAMES,
    REQUIRED,
    NotOffered,
    Path,
    Problems,
    field_names,
    too_big,
    too_small,
    wrong_type,
)
from ratecard.line_items.compiling import SECONDS
from ratecard.line_items.source_video import SourceVideo
from ratecard.requests.body import INVALID
from ratecard.requests.fields import (
    Accept,
    Boolean,
    Choice,
    Field,
    Literals,
    NumberField,
    RequestShape,
    TextField,
    Unwanted,
    Url,
    WholeNumber,
    field_problems,
)
from ratecard.tables.meters import VideoFields
from ratecard.tables.video import (
    LISTED_NUMBERS,
    LISTED_WORDS,
    REQUEST_FIELDS,
    SOURCE_MATCHED_DURATIONS,
    SOURCE_MATCHED_RATIOS,
    ReferenceVideo,
    VideoVersion,
)

# Errors and ignored fields are listed in the order of the specification.
FIELD_ORDER = ("model", *REQUEST_FIELDS)
NO_RESOLUTION = "Use upscale_factor instead of resolution"
REFERENCE_SECONDS = "reference_video_total_duration"
_EITHER_AUTO = {"auto": "Auto", "Auto": "auto"}


def api_wide_fields(fields: VideoFields) -> dict[str, Field]:
    """Return the checks of fields for an unknown model, and for fields that a model does not limit."""
    reference = fields.reference_video_total_duration
    return {
        "duration": Choice(fields.duration),
        "aspect_ratio": Choice(fields.aspect_ratio),
        "resolution": Choice(fields.resolution, fold=True),
        "upscale_factor": Literals(fields.upscale_factor),
        "enhancement_model": TextField(),
        "target_fps": WholeNumber(int(fields.target_fps.min), int(fields.target_fps.max)),
        "slowdown_factor": Literals(fields.slowdown_factor),
        "audio": Boolean(),
        "video_url": Url(),
        "reference_video_total_duration": NumberField(reference.min, reference.max),
    }


def fields_of(version: VideoVersion, api_wide: Mapping[str, Field]) -> dict[str, Field]:
    """Return the checks of fields for one version: its own values where it lists any, else the API-wide ones."""
    accepts, fields = version.accepts, dict(api_wide)
    if words := accepts.duration:
        also = {other: word for word, other in _EITHER_AUTO.items() if word in words and other not in words}
        fields["duration"] = Choice(words, also)
    if accepts.resolution:
        fields["resolution"] = Choice(accepts.resolution, accepts.resolution_aliases, fold=True)
    elif accepts.upscale_factor:
        fields["resolution"] = Unwanted(NO_RESOLUTION)
    fields |= {key: Choice(words) for key in ("aspect_ratio", "enhancement_model") if (words := getattr(accepts, key))}
    fields |= {name: Literals(numbers) for name in LISTED_NUMBERS if (numbers := getattr(accepts, name))}
    if accepts.target_fps:
        fields["target_fps"] = WholeNumber(accepts.target_fps.min, accepts.target_fps.max)
    if accepts.reference_video_total_duration:
        cap = Decimal(accepts.reference_video_total_duration.max)
        wide = fields[REFERENCE_SECONDS]
        least = wide.least if isinstance(wide, NumberField) else Decimal(0)
        fields[REFERENCE_SECONDS] = NumberField(least, cap)
    return fields


# A rule across fields. It completes the shape in place, and returns the problems that it finds.
Rule = Callable[[RequestShape, SourceVideo | None], Problems]

NO_DURATION = "Could not read the duration of the video"
NO_SIZE = "Could not read the size of the video"
NO_FRAME_RATE = "Could not read the frame rate of the video"


def _reference_rule(limits: ReferenceVideo) -> Rule:
    """Return the rule of reference video: it selects the rate with video input, and the seconds of `-1` and `auto`."""
    field: Path = (REFERENCE_SECONDS,)

    def settle(shape: RequestShape, source: SourceVideo | None) -> Problems:
        problems: Problems = []
        reference = shape.pop(REFERENCE_SECONDS, None) or None
        duration, ratio = shape.get("duration", ""), shape.get("aspect_ratio")
        if duration in SOURCE_MATCHED_DURATIONS and reference is not None:
            if reference < limits.source_min:
                problems.append((field, NotOffered(too_small(limits.source_min))))
            if reference > limits.source_max:
                problems.append((field, NotOffered(too_big(limits.source_max))))
            shape["duration"] = f"{ceil(reference)}s"
        elif reference is None and (duration in SOURCE_MATCHED_DURATIONS or ratio in SOURCE_MATCHED_RATIOS):
            problems.append((field, REQUIRED))
        shape["video_input"] = "false" if reference is None else "true"
        shape["reference_seconds"], shape["source"] = reference, source
        return problems

    return settle


def _source_rule(version: VideoVersion) -> Rule:
    """Return the rule that takes seconds, size and frame rate of the source video; the stated seconds if unknown.

    An unknown height is priced at the dearest tier. An unknown size or frame rate is an error for megapixels, and an
    unknown frame rate for an interpolation.
    """
    longest = version.accepts.video_url.max_seconds if version.accepts.video_url else None
    needs_size = any(charge.NEEDS_SIZE for charge in version.charges)
    needs_rate = any(charge.NEEDS_FRAME_RATE for charge in version.charges)
    url: Path = ("video_url",)

    def settle(shape: RequestShape, source: SourceVideo | None) -> Problems:
        problems: Problems = []
        sent = shape.pop("video_url", None)
        stated = SECONDS.get(shape.pop("duration", ""))
        seconds = source.seconds if source and source.seconds else stated
        video = sent or source
        no_rate = not (source and source.fps) and (needs_size or (needs_rate and not shape.get("target_fps")))
        if seconds is None:
            problems.append((url, NO_DURATION if sent else REQUIRED))
        elif longest is not None and seconds > longest:
            problems.append((url, NotOffered(f"The video may have at most {longest} seconds")))
        elif needs_size and not (source and source.width and source.height):
            problems.append((url, NO_SIZE if video else REQUIRED))
        elif no_rate and video:
            problems.append((url, NO_FRAME_RATE))
        if no_rate and needs_rate and not video:
            problems.append((("target_fps",), REQUIRED))
        shape["seconds"], shape["source"] = seconds, source
        return problems

    return settle


# Fields that must be given if the price depends on them and the version offers more than one value.
_CHOICES = (*LISTED_WORDS, *LISTED_NUMBERS)
# A valid value of each field that a rule across fields reads.
_SOME = {"duration": "1s", "target_fps": 1, "video_url": "https://example.com"}


@dataclass(frozen=True, slots=True, eq=False)
class BodyLayout:
    """The plan to read bodies with the same names: fields with and without effect on the price, with their `accept`.

    `ignored` are the names without effect, as quotes list them. A layout that is not `complete` lacks a required field.
    `words` returns the values of all fields, if each is one of a few words or of `booleans`; else it is None. `seconds`
    is the check of the seconds of reference video, if a body has them beside these words.
    """

    active: tuple[tuple[str, Accept], ...]
    inert: tuple[tuple[str, Accept], ...]
    ignored: tuple[str, ...]
    complete: bool
    words: Callable[[Mapping[str, Any]], Any] | None
    booleans: tuple[str, ...]
    seconds: Accept | None


def ignored_names(names: Collection[object]) -> tuple[str, ...]:
    """Return names without effect as quotes list them: first the fields of the API, in its order, then all others."""
    known = [name for name in REQUEST_FIELDS if name in names]
    return (*known, *field_names((name for name in names if name not in REQUEST_FIELDS), MOST_NAMES - len(known)))


class VideoRequests:
    """The request schema of one version: the checks of its fields, the required ones, and the defaults.

    The price depends on the `active` fields and not on the `inert` ones; both map a name to its `accept`. `settle` is
    the rule across fields, or None.
    """

    def __init__(self, version: VideoVersion, api_wide: Mapping[str, Field]) -> None:
        self.fields = fields_of(version, api_wide)
        accepts, reference = version.accepts, version.accepts.reference_video_total_duration
        self.settle: Rule | None = _reference_rule(reference) if reference else None
        if version.of_source:
            self.settle = _source_rule(version)
        self.of_source = version.of_source
        # The fields that the price depends on: audio only if it can be chosen, seconds of reference video also
        # if they decide a source-matched duration or ratio.
        effective = frozenset[str]().union(*(charge.fields for charge in version.charges))
        if accepts.audio != "configurable":
            effective -= {"audio"}
        matched = {"duration"} if set(SOURCE_MATCHED_DURATIONS) & set(accepts.duration or ()) else set()
        matched |= {"aspect_ratio"} if set(SOURCE_MATCHED_RATIOS) & set(accepts.aspect_ratio or ()) else set()
        if reference is None:
            effective -= {REFERENCE_SECONDS}
        elif effective & matched:
            effective |= {REFERENCE_SECONDS}
        self.active = {name: field.accept for name, field in self.fields.items() if name in effective}
        self.inert = {name: field.accept for name, field in self.fields.items() if name not in effective}
        self.defaults: RequestShape = {name: None for name in ("resolution", "aspect_ratio") if name not in effective}
        self.defaults |= {"video_input": "false", "reference_seconds": None}
        self.defaults["audio"] = "false" if accepts.audio == "none" else "true"
        required, stated = [], version.default_values
        for name in (name for name in _CHOICES if name in effective):
            values = tuple(getattr(accepts, name) or ())
            if name in stated:
                self.defaults[name] = stated[name]
            elif len(values) == 1:
                self.defaults[name] = values[0]
            elif values and not (name == "duration" and "video_url" in effective):
                required.append(name)
        self.defaults = {name: None for name in self.active if name not in required} | self.defaults
        self.required = tuple(required)

    def layout(self, names: Sequence[object]) -> BodyLayout:
        """Return the layout of bodies with these names."""
        active, inert = (
            tuple((name, accept) for name, accept in fields.items() if name in names)
            for fields in (self.active, self.inert)
        )
        ignored = ignored_names({name: None for name in names if name not in self.active and name != "model"})
        kinds = {name: type(self.fields[name]) for name, _ in (*active, *inert)}
        seconds = None if self.of_source else dict(active).get(REFERENCE_SECONDS)
        if seconds:
            del kinds[REFERENCE_SECONDS]
        words = itemgetter(*kinds or ("model",)) if set(kinds.values()) <= {Choice, Boolean} else None
        booleans = tuple(name for name, kind in kinds.items() if kind is Boolean)
        return BodyLayout(active, inert, ignored, set(self.required).issubset(names), words, booleans, seconds)

    def replaced(self, body: Mapping[str, Any], source: SourceVideo | None) -> tuple[str, ...]:
        """Return the field that the source video replaces: the stated duration, if the video's seconds are known."""
        known = self.of_source and source is not None and source.seconds
        return ("duration",) if known and body.get("duration") in SECONDS else ()

    def refuse(self, body: Mapping[str, Any], source: SourceVideo | None) -> NoReturn:
        """Raise `QuoteError` with every problem of a body that has at least one."""
        shape = self.defaults.copy()
        problems = field_problems(body, {name: self.fields[name] for name in self.active}, shape, self.required)
        problems += field_problems(body, {name: self.fields[name] for name in self.inert}, {})
        if self.settle is not None:
            refused = {path[0] for path, _ in problems}
            # A wrong field counts as given, so that the rule does not report it or another field as missing.
            shape |= {name: value for name, value in _SOME.items() if name in refused}
            problems += [problem for problem in self.settle(shape, source) if problem[0][0] not in refused]
        raise refusal(problems)


def refuse_without_model(body: Mapping[str, Any], api_wide: Mapping[str, Field]) -> NoReturn:
    """Raise `QuoteError` for a body whose model is missing or not a string; fields are checked API-wide."""
    message = wrong_type("string", body["model"]) if "model" in body else REQUIRED
    raise refusal([(("model",), message), *field_problems(body, api_wide, {})])


def refusal(problems: Problems) -> QuoteError:
    """Return the error of a body with its problems in the order of the specification's fields."""
    return QuoteError(INVALID, sorted(problems, key=lambda problem: FIELD_ORDER.index(str(problem[0][0]))))
