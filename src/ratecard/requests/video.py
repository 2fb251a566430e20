"""Bodies of `POST /video/quote` -> shapes of one version, or every error of the body at once."""

from collections.abc import Mapping
from typing import Any, NoReturn

from ratecard.rating.source_video import SourceVideo
from ratecard.requests.body import INVALID
from ratecard.requests.fields import Accept, Field
from ratecard.requests.source_rules import Problems, Shape, rule_of
from ratecard.requests.video_fields import FIELD_ORDER, fields_of
from ratecard.tables.video import VideoVersion
from ratecard.words.errors import QuoteError
from ratecard.words.wording import REQUIRED, wrong_type

# Fields that must be given where the price depends on them and the version offers more than one value.
_CHOICES = ("duration", "aspect_ratio", "resolution", "enhancement_model", "upscale_factor", "slowdown_factor")


class VideoReader:
    """Reads bodies for one version: compiled once, then one look-up a field."""

    def __init__(self, version: VideoVersion, api_wide: Mapping[str, Field]) -> None:
        self._fields = fields_of(version, dict(api_wide))
        self._settle = rule_of(version)
        effective = frozenset().union(*(charge.fields for charge in version.charges))
        if version.accepts.audio != "configurable":
            effective -= {"audio"}
        self._active: dict[str, Accept] = {n: f.accept for n, f in self._fields.items() if n in effective}
        self._inert: dict[str, Accept] = {n: f.accept for n, f in self._fields.items() if n not in effective}
        self._defaults: Shape = {"audio": "false" if version.accepts.audio == "none" else "true"}
        required = []
        for name in (name for name in _CHOICES if name in effective):
            values = tuple(getattr(version.accepts, name) or ())
            if name in version.defaults:
                self._defaults[name] = type(values[0])(version.defaults[name])
            elif len(values) == 1:
                self._defaults[name] = values[0]
            elif values and not (name == "duration" and "video_url" in effective):
                required.append(name)
        self._required = tuple(required)

    def read(self, body: dict[str, Any], source: SourceVideo | None) -> tuple[Shape, tuple[str, ...]]:
        """The shape of a body and the fields without effect. Raises `QuoteError` with every problem of the body."""
        shape = self._defaults.copy()
        ignored: list[str] = []
        active, inert = self._active, self._inert
        for name, given in body.items():
            accept = active.get(name)
            if accept is None:
                accept = inert.get(name)
                if accept is None:
                    continue
                ignored.append(name)
            try:
                value = accept(given)
            except TypeError:  # a list or an object is no key of a look-up
                value = None
            if value is None:
                self._refuse(body, source)
            shape[name] = value
        for name in self._required:
            if name not in shape:
                self._refuse(body, source)
        if self._settle(shape, source):
            self._refuse(body, source)
        if len(ignored) > 1:
            ignored.sort(key=FIELD_ORDER.index)
        return shape, tuple(ignored)

    def _refuse(self, body: Mapping[str, Any], source: SourceVideo | None) -> NoReturn:
        shape = self._defaults.copy()
        problems = field_problems(body, self._fields, shape)
        problems += [((name,), REQUIRED) for name in self._required if name not in body]
        refused = {path[0] for path, _ in problems}
        problems += [problem for problem in self._settle(shape, source) if problem[0][0] not in refused]
        refuse(problems)


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
