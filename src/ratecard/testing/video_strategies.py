"""Strategies: bodies of video quotes, valid and invalid, with and without a source video."""

from collections.abc import Collection
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ratecard.price_book import PriceBook
from ratecard.requests.video import FIELD_ORDER
from ratecard.tables.video import VideoVersion
from ratecard.testing.offer import REFERENCE, Offer, Request, check_prices, check_range, priced_models


def video_requests(
    prices: PriceBook, *, model: str | None = None, without_effect: bool = True
) -> st.SearchStrategy[dict[str, Any]]:
    """Draw bodies that `prices.quote_video` quotes, of models that need no source video, or of the model that is named.

    With `without_effect`, a body may also have valid fields that change nothing. Shrinks to the model with the fewest
    required fields, and to the first value of each.

    >>> from datetime import date
    >>> from random import Random
    >>> from hypothesis import find, settings
    >>> from ratecard import load_rate_card
    >>> prices = load_rate_card().at(date(2026, 10, 1))
    >>> seeded = {"random": Random(0), "settings": settings(database=None)}
    >>> found = video_requests(prices, model="kling-o3-pro-text-to-video")
    >>> find(found, lambda body: body.get("audio") is False, **seeded)
    {'model': 'kling-o3-pro-text-to-video', 'duration': '3s', 'audio': False}
    """
    offers = offers_by_body(prices, model)
    return _of_any(offers, sourced=False, further=without_effect).map(lambda request: request.body)


def sourced_video_requests(
    prices: PriceBook, *, model: str | None = None, without_effect: bool = True
) -> st.SearchStrategy[Request]:
    """Draw like `video_requests`, for every video model: pairs of a body and its source video, which may be None."""
    return _of_any(offers_of(prices, model), sourced=True, further=without_effect)


def offers_of(prices: PriceBook, model: str | None) -> list[Offer]:
    """Return the offer of each video model, those with the fewest required fields first."""
    models = priced_models(check_prices(prices), model, ("video",))
    offers = [
        Offer(prices, video_model, version) for video_model, version in models if isinstance(version, VideoVersion)
    ]
    return sorted(offers, key=lambda offer: (len(offer.required) + 2 * offer.of_source, offer.model))


def offers_by_body(prices: PriceBook, model: str | None) -> list[Offer]:
    """Return the offers of models that need no source video."""
    offers = [offer for offer in offers_of(prices, model) if not offer.needs_source]
    if not offers:
        which = f"model={model!r} needs" if model else f"Every video model on {prices.day} needs"
        raise InvalidArgument(f"{which} a source video. Use sourced_video_requests")
    return offers


def _of_any(offers: list[Offer], *, sourced: bool, further: bool) -> st.SearchStrategy[Request]:
    return st.sampled_from(offers).flatmap(lambda offer: requests_of(offer, sourced=sourced, further=further))


@st.composite
def requests_of(draw: st.DrawFn, offer: Offer, *, sourced: bool = True, further: bool = True) -> Request:
    """Draw the requests of one offer."""
    body, source = {"model": offer.model}, None
    if offer.of_source and (offer.needs_source or (sourced and draw(st.booleans()))):
        source = draw(offer.sources)
    for name in offer.active:
        if name == "duration" and offer.of_source and source is None:
            body[name] = draw(st.sampled_from(offer.stated_durations))
        elif (name == "target_fps" and offer.interpolates and source is None) or (
            name != REFERENCE and (name in offer.required or draw(st.booleans()))
        ):
            body[name] = draw(offer.values[name])
    if REFERENCE in offer.active:
        if offer.matches_clip(body) or offer.matches_ratio(body) or draw(st.booleans()):
            body[REFERENCE] = draw(offer.clip_seconds(body))
        source = draw(st.none() | offer.sources) if sourced and REFERENCE in body else source
    if further:
        for name in draw(offer.without_effect):
            body[name] = draw(offer.values[name])
    return Request({name: body[name] for name in FIELD_ORDER if name in body}, source)


_MISSING = object()
NOTHING_TAKES: tuple[Any, ...] = (None, [], {}, ["5s"], {"_errors": ["x"]}, (), Decimal("NaN"), Decimal("sNaN"))
# Values that no model takes, by field.
BROKEN: dict[str, tuple[Any, ...]] = {
    "model": (None, 5, True, [], {}),
    "duration": ("0s", "5", "5 s", "05s", "31s", "-1s", "AUTO", "", 5, True, *NOTHING_TAKES),
    "aspect_ratio": ("99:1", "16x9", "9:16 ", "", 2, True, *NOTHING_TAKES),
    "resolution": ("8k", "720", "720p ", "", 720, True, *NOTHING_TAKES),
    "upscale_factor": (3, 0, 8, -1, Decimal("1.5"), "2", True, *NOTHING_TAKES),
    "enhancement_model": (5, 0, True, *NOTHING_TAKES),
    "target_fps": (121, 15, 0, Decimal("23.976"), "24", True, Decimal("Infinity"), 10**500, *NOTHING_TAKES),
    "slowdown_factor": (3, 0, 5, 16, "2", True, *NOTHING_TAKES),
    "audio": ("true", 1, 0, "", *NOTHING_TAKES),
    "video_url": ("", "a b", "https://", "data:video", 5, True, *NOTHING_TAKES),
    REFERENCE: (-1, Decimal("150.001"), 10**500, "5", True, Decimal("-Infinity"), *NOTHING_TAKES),
}


def invalid_video_requests(
    prices: PriceBook, *, model: str | None = None, min_fields: int = 1, max_fields: int = 3
) -> st.SearchStrategy[tuple[dict[str, Any], tuple[str, ...]]]:
    """Draw pairs (body, fields): `prices.quote_video(body)` must refuse it, and name exactly these fields.

    A wrong field is missing, or has a value that no model or only another model takes. Shrinks to one wrong field of a
    short body.

    >>> from datetime import date
    >>> from random import Random
    >>> from hypothesis import find, settings
    >>> from ratecard import load_rate_card
    >>> prices = load_rate_card().at(date(2026, 10, 1))
    >>> seeded = {"random": Random(0), "settings": settings(database=None)}
    >>> found = invalid_video_requests(prices, model="kling-o3-pro-text-to-video")
    >>> find(found, lambda drawn: "audio" in drawn[1], **seeded)
    ({'model': 'kling-o3-pro-text-to-video', 'duration': '3s', 'audio': 'true'}, ('audio',))
    """
    check_range("min_fields", min_fields, "max_fields", max_fields)
    offers = offers_by_body(prices, model)
    return st.sampled_from(offers).flatmap(lambda offer: _invalid(offer, min_fields, max_fields))


@st.composite
def _invalid(draw: st.DrawFn, offer: Offer, least: int, most: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    body = draw(requests_of(offer, sourced=False)).body
    # If the default ratio is that of the clip, a body without a ratio would lack the clip too.
    ratio_of_clip = offer.matches_ratio({}) and REFERENCE not in body
    fields = [name for name in FIELD_ORDER[1:] if not (ratio_of_clip and name == "aspect_ratio")]
    # Without a model only API-wide errors are reported, so a wrong model is the only wrong field.
    with_model = [*fields, "model"] if least == 1 else fields
    broken = draw(st.lists(st.sampled_from(with_model), min_size=least, max_size=most, unique=True))
    if "model" in broken:
        broken = ["model"]
    changed = {**body, **{name: draw(_wrong_values(offer, body, name, {*body, *broken})) for name in broken}}
    left = {name: changed[name] for name in FIELD_ORDER if changed.get(name, _MISSING) is not _MISSING}
    return left, tuple(name for name in FIELD_ORDER if name in broken)


def _wrong_values(offer: Offer, body: dict[str, Any], name: str, given: Collection[str]) -> st.SearchStrategy[Any]:
    """Draw wrong values of a field; a required field, or a frame rate that is needed, may also be missing."""
    values = (*BROKEN[name], *_of_others(offer, name))
    needed = name in ("model", *offer.required)
    if name == "target_fps" and offer.interpolates:
        needed = "video_url" not in given
    return st.sampled_from((_MISSING, *values) if needed and name in body else values)


def _of_others(offer: Offer, name: str) -> tuple[Any, ...]:
    """Return values of a field that the API knows but this model does not accept."""
    accepts = offer.accepts
    if name == "resolution":
        accepted = {word.casefold() for word in (*(accepts.resolution or ()), *accepts.resolution_aliases)}
        takes_any = not (accepts.resolution or accepts.upscale_factor)
        return () if takes_any else tuple(word for word in offer.wide.resolution if word.casefold() not in accepted)
    if name in ("duration", "aspect_ratio", "upscale_factor", "slowdown_factor"):
        accepted = set(getattr(accepts, name) or getattr(offer.wide, name))
        if name == "duration" and accepted & {"auto", "Auto"}:
            accepted |= {"auto", "Auto"}
        return tuple(word for word in getattr(offer.wide, name) if word not in accepted)
    if name == "enhancement_model":
        return ("no such model",) if accepts.enhancement_model else ()
    if name == "target_fps" and accepts.target_fps:
        limits = accepts.target_fps
        return (limits.min - 1, limits.max + 1)
    limits_of_clip = accepts.reference_video_total_duration
    return (limits_of_clip.max + 1,) if name == REFERENCE and limits_of_clip else ()
