"""Bodies of `POST /video/quote` -> shapes of one version, or every error of the body at once."""

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from ratecard.rating.source_video import SourceVideo
from ratecard.requests.body import INVALID
from ratecard.requests.fields import Accept, Field
from ratecard.requests.source_rules import Problems, Shape, rule_of
from ratecard.requests.video_fields import FIELD_ORDER, fields_of
from ratecard.tables.video import SOURCE_MATCHED_DURATIONS, SOURCE_MATCHED_RATIOS, VideoVersion
from ratecard.words.errors import QuoteError
from ratecard.words.wording import REQUIRED, wrong_type

# Fields that must be given where the price depends on them and the version offers more than one value.
_CHOICES = ("duration", "aspect_ratio", "resolution", "enhancement_model", "upscale_factor", "slowdown_factor")
# A value of each field that a rule across fields asks for.
_SOME = {"duration": "1s", "target_fps": 1, "video_url": "https://example.com"}


class VideoRequests:
    """What one version asks of a request: how each field is checked, what is required, what has a default.

    `settle` is the rule across fields, if the version has one. Its price depends on the `active` fields, not on the
    `inert` ones.
    """

    def __init__(self, version: VideoVersion, api_wide: Mapping[str, Field]) -> None:
        self.fields = fields_of(version, dict(api_wide))
        self.settle = rule_of(version)
        # What the price depends on; the shape keeps nothing else of a body.
        effective = frozenset[str]().union(*(charge.fields for charge in version.charges))
        if version.accepts.audio != "configurable":
            effective -= {"audio"}
        matched = {"duration"} if set(SOURCE_MATCHED_DURATIONS) & set(version.accepts.duration or ()) else set()
        matched |= {"aspect_ratio"} if set(SOURCE_MATCHED_RATIOS) & set(version.accepts.aspect_ratio or ()) else set()
        if version.accepts.reference_video_total_duration is None:
            effective -= {"reference_video_total_duration"}
        elif effective & matched:
            effective |= {"reference_video_total_duration"}
        accepts: dict[str, Accept] = {name: field.accept for name, field in self.fields.items()}
        self.active = {name: accept for name, accept in accepts.items() if name in effective}
        self.inert = {name: accept for name, accept in accepts.items() if name not in effective}
        self.defaults: Shape = {name: None for name in ("resolution", "aspect_ratio") if name not in effective}
        self.defaults |= {"video_input": "false", "reference_seconds": None}
        self.defaults["audio"] = "false" if version.accepts.audio == "none" else "true"
        required = []
        for name in (name for name in _CHOICES if name in effective):
            values = tuple(getattr(version.accepts, name) or ())
            if name in version.defaults:
                self.defaults[name] = type(values[0])(version.defaults[name])
            elif len(values) == 1:
                self.defaults[name] = values[0]
            elif values and not (name == "duration" and "video_url" in effective):
                required.append(name)
        # With a place for every other field, a shape that is smaller than this lacks a required one.
        self.defaults = {name: None for name in self.active if name not in required} | self.defaults
        self.complete = len(self.defaults) + len(required)
        self.required = tuple(required)

    def refuse(self, body: Mapping[str, Any], source: SourceVideo | None) -> NoReturn:
        """Raise `QuoteError` with every problem of a body that was found wanting."""
        shape = self.defaults.copy()
        problems = field_problems(body, self.fields, shape)
        for name in self.inert:
            shape.pop(name, None)
        problems += [((name,), REQUIRED) for name in self.required if name not in body]
        if self.settle is not None:
            refused = {path[0] for path, _ in problems}
            # What is refused stands for some value, so that nothing else is missed because of it.
            shape |= {name: value for name, value in _SOME.items() if name in refused}
            problems += [problem for problem in self.settle(shape, source) if problem[0][0] not in refused]
        refuse(problems)


def in_order(names: Collection[str]) -> tuple[str, ...]:
    """Field names in the order of the specification."""
    return tuple(sorted(names, key=FIELD_ORDER.index))


def field_problems(body: Mapping[str, Any], fields: Mapping[str, Field], shape: Shape) -> Problems:
    """What is wrong with each field by itself; the sound ones are put into `shape`."""
    problems: Problems = []
    for name, field in fields.items():
        if name in body:
            try:
                value = field.accept(body[name])
            except TypeError:
                value = None
            if value is None:
                problems += [((name,), message) for message in field.messages(body[name])]
            else:
                shape[name] = value
    return problems


def refuse_without_model(body: Mapping[str, Any], api_wide: Mapping[str, Field]) -> NoReturn:
    """A body whose model is missing or no string: its fields are checked against the API-wide values only."""
    message = wrong_type("string", body["model"]) if "model" in body else REQUIRED
    refuse([(("model",), message), *field_problems(body, api_wide, {})])


def refuse(problems: Problems) -> NoReturn:
    """Every problem of a body, in the order of the specification's fields."""
    raise QuoteError(INVALID, sorted(problems, key=lambda problem: FIELD_ORDER.index(str(problem[0][0]))))
