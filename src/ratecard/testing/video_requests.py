"""Strategies: valid bodies of video quotes, with and without what is known of a source video."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ratecard.price_book import PriceBook
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.video_fields import FIELD_ORDER
from ratecard.tables.video import VideoVersion
from ratecard.tables.video_charges import InterpolationRate
from ratecard.testing.arguments import check_prices, check_range, priced_models
from ratecard.testing.offer import REFERENCE, Offer, seconds
from ratecard.testing.request import Request

_FRAME_RATES = (24, 25, "29.97", 30, "48000/1001", 48, 60, 120)
_HEIGHTS = (180, 270, 360, 361, 480, 540, 541, 720, 721, 1080, 1081, 2160)


def video_requests(
    prices: PriceBook, *, model: str | None = None, without_effect: bool = True
) -> st.SearchStrategy[dict[str, Any]]:
    """Bodies that `prices.quote_video` quotes, of any model that needs no source video, or of the one named.

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
    """As `video_requests`, of every video model: pairs of a body and its source video, which may be None."""
    return _of_any(offers_of(prices, model), sourced=True, further=without_effect)


def source_videos(*, max_seconds: int = 300, heights: tuple[int, ...] = _HEIGHTS) -> st.SearchStrategy[SourceVideo]:
    """Source videos of which everything is known. `heights` are those that matter, such as the edges of tiers."""
    check_range("min_seconds", 1, "max_seconds", max_seconds)
    return st.builds(
        SourceVideo,
        seconds=seconds(1, max_seconds),
        width=st.integers(16, 8_000),
        height=st.integers(16, 4_400) | st.sampled_from(heights) if heights else st.integers(16, 4_400),
        fps=st.sampled_from(_FRAME_RATES),
    )


def offers_of(prices: PriceBook, model: str | None) -> list[Offer]:
    """What each video model offers, the ones with the fewest required fields first."""
    models = priced_models(check_prices(prices), model, ("video",))
    offers = [Offer(prices, found, version) for found, version in models if isinstance(version, VideoVersion)]
    return sorted(offers, key=lambda offer: (len(offer.required) + 2 * offer.of_source, offer.model))


def offers_by_body(prices: PriceBook, model: str | None) -> list[Offer]:
    """The offers of models whose price follows from the body alone."""
    offers = [offer for offer in offers_of(prices, model) if not offer.needs_source]
    if not offers:
        which = f"model={model!r} needs" if model else f"Every video model on {prices.day} needs"
        raise InvalidArgument(f"{which} a source video. Use sourced_video_requests")
    return offers


def requests_of(offer: Offer, *, sourced: bool = True, further: bool = True) -> st.SearchStrategy[Request]:
    """The requests of one offer."""
    return _requests(offer, sourced, further)


def sources_of(offer: Offer) -> st.SearchStrategy[SourceVideo]:
    """The source videos of one offer, many of them just at and just above the edges of its tiers, for every factor."""
    factors = offer.accepts.upscale_factor or (1,)
    near = {edge // factor + more for edge in offer.tier_edges for factor in factors for more in (0, 1)}
    return source_videos(max_seconds=offer.longest_source, heights=tuple(sorted(near)) or _HEIGHTS)


def _of_any(offers: list[Offer], *, sourced: bool, further: bool) -> st.SearchStrategy[Request]:
    return st.sampled_from(offers).flatmap(lambda offer: _requests(offer, sourced, further))


@st.composite
def _requests(draw: st.DrawFn, offer: Offer, sourced: bool, further: bool) -> Request:
    body, source = {"model": offer.model}, None
    sources = sources_of(offer)
    if offer.of_source and (offer.needs_source or (sourced and draw(st.booleans()))):
        source = draw(sources)
    for name in offer.active:
        if name == "duration" and offer.of_source and source is None:
            body[name] = draw(st.sampled_from(offer.stated_durations))
        elif (name == "target_fps" and offer.charges(InterpolationRate) and source is None) or (
            name != REFERENCE and (name in offer.required or draw(st.booleans()))
        ):
            body[name] = draw(offer.values(name))
    if REFERENCE in offer.active:
        if offer.matches_clip(body) or offer.matches_ratio(body) or draw(st.booleans()):
            body[REFERENCE] = draw(offer.clip_seconds(body))
        source = draw(st.none() | sources) if sourced and REFERENCE in body else source
    if further and offer.inert:
        for name in draw(st.lists(st.sampled_from(offer.inert), max_size=2, unique=True)):
            body[name] = draw(offer.values(name))
    return Request({name: body[name] for name in FIELD_ORDER if name in body}, source)
