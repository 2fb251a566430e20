"""A request; the offer of a video model (fields, valid values, required fields); and checks of strategy arguments."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ratecard.base.errors import QuoteError
from ratecard.base.json_text import compact_json, spaced
from ratecard.base.money import EXACT
from ratecard.base.suggestions import meant_or_allowed
from ratecard.line_items.compiling import SECONDS
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.price_book import PriceBook
from ratecard.requests.video import FIELD_ORDER, VideoRequests
from ratecard.tables.card import AnyModel
from ratecard.tables.rate import ANY, tiers
from ratecard.tables.version import Model, Version
from ratecard.tables.video import SOURCE_MATCHED_DURATIONS, SOURCE_MATCHED_RATIOS, VideoVersion

Word = TypeVar("Word", bound=str)


def check_prices(prices: object) -> PriceBook:
    """Return an argument after checking that it is a price book, not a card."""
    if not isinstance(prices, PriceBook):
        raise InvalidArgument(f"Expected a PriceBook, like card.at(instant), but got prices={prices!r}")
    return prices


def check_range(low_name: str, low: object, high_name: str, high: object) -> None:
    """Check that two arguments are whole numbers of at least 1, the second not below the first."""
    for name, value in ((low_name, low), (high_name, high)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InvalidArgument(f"Expected a whole number of at least 1 but got {name}={value!r}")
    if int(str(high)) < int(str(low)):
        raise InvalidArgument(f"Cannot have {high_name}={high!r} < {low_name}={low!r}")


def check_words(name: str, given: object, known: Sequence[Word]) -> tuple[Word, ...]:
    """Check that words are known, and return them in the order of `known`; for None, return all known words."""
    if given is None:
        return tuple(known)
    if not isinstance(given, Collection) or isinstance(given, (str, bytes)) or not given:
        raise InvalidArgument(f"Expected some of {', '.join(known)} but got {name}={given!r}")
    for word in given:
        if word not in known:
            choices = meant_or_allowed(str(word), known)
            raise InvalidArgument(f"Got {name}={given!r}: {word!r} is not known.{choices}")
    return tuple(word for word in known if word in given)


def priced_models(prices: PriceBook, model: object, types: Collection[str]) -> list[tuple[AnyModel, Version]]:
    """Return the models of these types that have a price in the book; only the one named by `model`, if given."""
    if model is None:
        models = [pair for pair in prices._in_effect_all() if pair[0].type in types]
        if not models:
            raise InvalidArgument(f"No model of type {' or '.join(types)} has a price on {prices.day}")
        return models
    if not isinstance(model, str):
        raise InvalidArgument(f"Expected the name of a model but got model={model!r}")
    try:
        named = prices.in_effect(model)
    except QuoteError as error:
        raise InvalidArgument(f"Got model={model!r}: {error}") from error
    if named[0].type not in types:
        raise InvalidArgument(f"Got model={model!r}, which is of type {named[0].type}. Allowed: {', '.join(types)}")
    return [named]


REFERENCE = "reference_video_total_duration"
_LONGEST_SOURCE = 300
_FRAME_RATES = (24, 25, "29.97", 30, "48000/1001", 48, 60, 120)
_HEIGHTS = (180, 270, 360, 361, 480, 540, 541, 720, 721, 1080, 1081, 2160)
# The default alphabet of Hypothesis is the same, but takes two seconds in each new folder.
SHORT_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


class Offer:
    """The fields of one version of a video model, and their valid values, as clients see them."""

    def __init__(self, prices: PriceBook, model: Model[Any], version: Any) -> None:
        self.version: VideoVersion = version
        self.model, self.accepts = model.model, self.version.accepts
        self.wide = prices.tables.vocabulary.video
        schema = VideoRequests(version, prices._compiler.api_wide)
        # The fields that the price depends on; `inert` are the others.
        self.active = tuple(name for name in FIELD_ORDER if name in schema.active)
        refused = {"resolution"} if self.accepts.upscale_factor and not self.accepts.resolution else set()
        self.inert = tuple(name for name in FIELD_ORDER if name in schema.inert and name not in refused)
        self.required = schema.required
        # True if the seconds and the size are those of the video that a request sends.
        self.of_source: bool = version.of_source
        # True if the price depends on the frame rate of the source or of the request, which must then be known.
        self.interpolates = "slowdown_factor" in self.active

    @cached_property
    def longest_source(self) -> int:
        """Return the greatest number of seconds of a source video."""
        return self.accepts.video_url.max_seconds if self.accepts.video_url else _LONGEST_SOURCE

    @cached_property
    def stated_durations(self) -> tuple[str, ...]:
        """Return the durations that are seconds, not source-matched; for a source video, those that it may have."""
        stated = tuple(word for word in self.accepts.duration or () if word in SECONDS)
        return tuple(word for word in stated if not self.of_source or SECONDS[word] <= self.longest_source)

    @cached_property
    def needs_source(self) -> bool:
        """Return True if a body alone cannot be priced."""
        sizes_of_source = any(charge.NEEDS_SIZE and charge.of_source for charge in self.version.charges)
        return sizes_of_source or (self.of_source and not self.stated_durations)

    @cached_property
    def frame_rate_steps(self) -> list[int]:
        """Return the frames per second from which the price is multiplied."""
        steps = (step for charge in self.version.charges for step in charge.frame_rates.items())
        return [ceil(frame_rate) for frame_rate, factor in steps if factor != 1]

    @cached_property
    def tier_edges(self) -> list[int]:
        """Return the greatest height of every tier but the last."""
        rates = [rate for charge in self.version.charges for rate in charge.rates]
        return [int(edge) for edge in tiers(rates) if edge != ANY]

    def settled(self, body: dict[str, Any], name: str) -> Any:
        """Return the value of a field; if it is left out, its default or its only choice."""
        values = getattr(self.accepts, name)
        only = values[0] if isinstance(values, tuple) and len(values) == 1 else None
        return body.get(name, self.version.default_values.get(name, only))

    def attribute(self, body: dict[str, Any], name: str) -> str:
        """Return the value of a rate's attribute for a body, in the table's own spelling."""
        accepts = self.accepts
        if name == "audio":
            return {"none": "false", "always": "true"}.get(accepts.audio, str(body.get("audio", True)).lower())
        if name == "video_input":
            return "true" if body.get(REFERENCE) else "false"
        value, words = str(self.settled(body, name)), tuple(getattr(accepts, name))
        if name == "resolution":
            value = next(word for word in (*words, *accepts.resolution_aliases) if word.casefold() == value.casefold())
            return str(accepts.resolution_aliases.get(value, value))
        return value

    def matches_clip(self, body: dict[str, Any]) -> bool:
        """Return True if the duration is that of the reference clip."""
        return "duration" in self.active and self.settled(body, "duration") in SOURCE_MATCHED_DURATIONS

    def matches_ratio(self, body: dict[str, Any]) -> bool:
        """Return True if the aspect ratio is that of the reference clip."""
        return "aspect_ratio" in self.active and self.settled(body, "aspect_ratio") in SOURCE_MATCHED_RATIOS

    @cached_property
    def values(self) -> dict[str, st.SearchStrategy[Any]]:
        """Return the strategy of the valid values of each field, made once: each new one is validated at length."""
        return {name: self._values_of(name) for name in (*self.active, *self.inert)}

    @cached_property
    def without_effect(self) -> st.SearchStrategy[list[str]]:
        """Return the strategy of the names of a few fields that change nothing, made once like `values`."""
        return st.lists(st.sampled_from(self.inert), max_size=2, unique=True) if self.inert else st.just([])

    @cached_property
    def sources(self) -> st.SearchStrategy[SourceVideo]:
        """Return the strategy of source videos, many at and just above the edges of the tiers, for every factor."""
        factors = self.accepts.upscale_factor or (1,)
        near = {edge // factor + more for edge in self.tier_edges for factor in factors for more in (0, 1)}
        return source_videos(max_seconds=self.longest_source, heights=tuple(sorted(near)) or _HEIGHTS)

    def _values_of(self, name: str) -> st.SearchStrategy[Any]:
        """Draw the valid values of a field, the simplest first."""
        accepts, wide = self.accepts, self.wide
        if name == "resolution":
            words = (*(accepts.resolution or wide.resolution), *accepts.resolution_aliases)
            return st.sampled_from(tuple(dict.fromkeys((*words, *(word.swapcase() for word in words)))))
        if name == "enhancement_model":
            return st.sampled_from(accepts.enhancement_model) if accepts.enhancement_model else SHORT_TEXTS
        if name == "audio":
            return st.booleans()
        if name == "video_url":
            return st.sampled_from(("https://example.com/clip.mp4", "data:video/mp4;base64,AA"))
        if name == "target_fps":
            limits = accepts.target_fps
            least, most = (limits.min, limits.max) if limits else (int(wide.target_fps.min), int(wide.target_fps.max))
            edges = [fps for step in self.frame_rate_steps for fps in (step - 1, step) if least <= fps <= most]
            return st.integers(least, most) | st.sampled_from(edges) if edges else st.integers(least, most)
        if name == REFERENCE:
            cap = accepts.reference_video_total_duration
            limits_of_all = wide.reference_video_total_duration
            return seconds(limits_of_all.min, cap.max if cap else limits_of_all.max)
        return st.sampled_from(getattr(accepts, name) or getattr(wide, name))

    def clip_seconds(self, body: dict[str, Any]) -> st.SearchStrategy[Any]:
        """Draw the seconds of reference video that a body may name."""
        limits = self.accepts.reference_video_total_duration
        if limits and self.matches_clip(body):
            return seconds(limits.source_min, limits.longest_clip)
        return seconds(1, limits.max) if limits and self.matches_ratio(body) else self.values[REFERENCE]


def source_videos(*, max_seconds: int = 300, heights: tuple[int, ...] = _HEIGHTS) -> st.SearchStrategy[SourceVideo]:
    """Draw source videos with all values known; `heights`, such as the edges of tiers, are drawn more often."""
    check_range("min_seconds", 1, "max_seconds", max_seconds)
    return st.builds(
        SourceVideo,
        seconds=seconds(1, max_seconds),
        width=st.integers(16, 8_000),
        height=st.integers(16, 4_400) | st.sampled_from(heights) if heights else st.integers(16, 4_400),
        fps=st.sampled_from(_FRAME_RATES),
    )


def seconds(least: int | Decimal, most: int | Decimal) -> st.SearchStrategy[int | Decimal]:
    """Draw seconds between two whole numbers: whole ones first, then with a fraction."""
    of_thousandths = st.integers(int(least) * 1_000, int(most) * 1_000)
    return st.integers(int(least), int(most)) | of_thousandths.map(lambda number: EXACT.scaleb(Decimal(number), -3))


class Request(NamedTuple):
    """The body of a video quote, with its source video if known; or a metered usage."""

    body: dict[str, Any]
    source: SourceVideo | None = None

    def with_fields(self, **changed: Any) -> "Request":
        """Return the same request with other values of some fields."""
        return self._replace(body={**self.body, **changed})

    def without(self, name: str) -> "Request":
        """Return the same request with one field left out."""
        return self._replace(body={key: value for key, value in self.body.items() if key != name})

    def price(self, prices: PriceBook, form: Any = None) -> Quote:
        """Quote it; `form` is another way to write its body. Raises `QuoteError`."""
        body = self.body if form is None else form
        return prices.rate(body) if "type" in self.body else prices.quote_video(body, source=self.source)

    def __str__(self) -> str:
        return json_text(self.body) + (f"\n  of {self.source}" if self.source else "")


def json_text(value: Any) -> str:
    """Write a request as JSON, with every digit of its decimals.

    >>> from decimal import Decimal
    >>> json_text({"seconds": Decimal("4.10"), "audio": True})
    '{"seconds": 4.10, "audio": true}'
    """
    return spaced(compact_json(value).decode(), 0)
