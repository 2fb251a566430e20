"""Strategies: bodies of video quotes that must be refused, with the fields that the refusal must name."""

from collections.abc import Collection
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from ratecard.price_book import PriceBook
from ratecard.requests.video_fields import FIELD_ORDER
from ratecard.tables.video_charges import InterpolationRate
from ratecard.testing.arguments import check_range
from ratecard.testing.offer import REFERENCE, Offer
from ratecard.testing.video_requests import offers_by_body, requests_of

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
    """Pairs (body, fields): `prices.quote_video(body)` must refuse it, and name exactly these fields.

    A wrong field is missing, of no model's, or of another model's value. Shrinks to one wrong field of a short body.

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
    fields = [name for name in FIELD_ORDER[1:] if name not in _kept(offer, body)]
    # Without its model, only what no model takes is wrong with a body: so that is wrong by itself.
    with_model = [*fields, "model"] if least == 1 else fields
    broken = draw(st.lists(st.sampled_from(with_model), min_size=least, max_size=most, unique=True))
    if "model" in broken:
        broken = ["model"]
    changes = {name: draw(_wrong_values(offer, body, name, {*body, *broken})) for name in broken}
    return _changed(body, changes), tuple(name for name in FIELD_ORDER if name in broken)


def _changed(body: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    changed = {**body, **changes}
    return {name: changed[name] for name in FIELD_ORDER if changed.get(name, _MISSING) is not _MISSING}


def _kept(offer: Offer, body: dict[str, Any]) -> set[str]:
    """A ratio that falls back to the clip's would make the clip missing too."""
    falls_back = offer.matches_ratio({}) and REFERENCE not in body
    return {"aspect_ratio"} if falls_back else set()


def _wrong_values(offer: Offer, body: dict[str, Any], name: str, given: Collection[str]) -> st.SearchStrategy[Any]:
    """Wrong values of a field; a required one of the body may be missing, and so may a frame rate without a video."""
    values = (*BROKEN[name], *_of_others(offer, name))
    needed = name in ("model", *offer.required)
    if name == "target_fps" and offer.charges(InterpolationRate):
        needed = "video_url" not in given
    return st.sampled_from((_MISSING, *values) if needed and name in body else values)


def _of_others(offer: Offer, name: str) -> tuple[Any, ...]:
    """Values that the API knows and that this model does not take."""
    accepts = offer.accepts
    if name == "resolution":
        own = {word.casefold() for word in (*(accepts.resolution or ()), *accepts.resolution_aliases)}
        takes_any = not (accepts.resolution or accepts.upscale_factor)
        return () if takes_any else tuple(word for word in offer.wide.resolution if word.casefold() not in own)
    if name in ("duration", "aspect_ratio", "upscale_factor", "slowdown_factor"):
        own = set(getattr(accepts, name) or getattr(offer.wide, name))
        if name == "duration" and own & {"auto", "Auto"}:
            own |= {"auto", "Auto"}
        return tuple(word for word in getattr(offer.wide, name) if word not in own)
    if name == "enhancement_model":
        return ("no such model",) if accepts.enhancement_model else ()
    if name == "target_fps" and accepts.target_fps:
        limits = accepts.target_fps
        return (limits.min - 1, limits.max + 1)
    limits_of_clip = accepts.reference_video_total_duration
    return (limits_of_clip.max + 1,) if name == REFERENCE and limits_of_clip else ()
