"""Strategies: metered requests of every type, as `prices.rate` takes them."""

from collections.abc import Collection
from typing import Any

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ratecard.price_book import PriceBook
from ratecard.requests.usage import TYPES
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion, TextVersion
from ratecard.tables.version import Version
from ratecard.testing.arguments import check_prices, check_words, priced_models
from ratecard.testing.counted_usages import counted_usages
from ratecard.testing.offer import Offer
from ratecard.testing.request import Request
from ratecard.testing.token_usages import text_usages, token_usages
from ratecard.testing.video_requests import requests_of


def usages(
    prices: PriceBook, *, model: str | None = None, types: Collection[str] | None = None
) -> st.SearchStrategy[dict[str, Any]]:
    """Usages that `prices.rate` charges: of every model, of some types, or of the one model that is named.

    A model of images that makes them larger too has usages of type `upscale`. Surcharges are part of text usages.
    Shrinks to the shortest usage, with the smallest counts.

    >>> from datetime import date
    >>> from random import Random
    >>> from hypothesis import find, settings
    >>> from ratecard import load_rate_card
    >>> prices = load_rate_card().at(date(2026, 10, 1))
    >>> seeded = {"random": Random(0), "settings": settings(database=None)}
    >>> find(usages(prices, model="tts-kokoro"), lambda usage: prices.rate(usage).total >= 1, **seeded)
    {'type': 'speech', 'model': 'tts-kokoro', 'characters': 285715}
    """
    chosen = check_words("types", types, TYPES.words)
    models = priced_models(check_prices(prices), model, chosen)
    found = [each for each in models if _can_be_used(prices, *each)]
    ordered = sorted(found, key=lambda each: (TYPES.words.index(each[0].type), each[0].model))
    if not ordered:
        raise InvalidArgument(
            f"Got model={model!r}, types={types!r}: usages are of models that need no source video, and of the first "
            "table of RPC credits"
        )
    return st.sampled_from(ordered).flatmap(lambda each: _of_model(prices, *each))


def metered_requests(prices: PriceBook, model: AnyModel, version: Version) -> st.SearchStrategy[Request]:
    """The requests of one model of any type, those with a source video and surcharges by themselves included."""
    if not isinstance(version, MeteredVersion):
        return requests_of(_offer(prices, model, version))
    return _metered(prices, model, version).map(Request)


def _can_be_used(prices: PriceBook, model: AnyModel, version: Version) -> bool:
    """A usage knows no source video; and it does not name the model of RPC credits, which is the first one."""
    if model.type == "rpc":
        return next(prices.in_effect_all("rpc"))[0] is model
    return model.type != "video" or not _offer(prices, model, version).needs_source


def _of_model(prices: PriceBook, model: AnyModel, version: Version) -> st.SearchStrategy[dict[str, Any]]:
    if isinstance(version, MeteredVersion):
        return _metered(prices, model, version)
    bodies = requests_of(_offer(prices, model, version), sourced=False)
    return bodies.map(lambda request: {"type": "video", **request.body})


def _metered(prices: PriceBook, model: AnyModel, version: MeteredVersion) -> st.SearchStrategy[dict[str, Any]]:
    if isinstance(version, TextVersion):
        return text_usages(prices, model, version)
    return token_usages(model, version) if model.type == "embedding" else counted_usages(model, version)


def _offer(prices: PriceBook, model: AnyModel, version: Any) -> Offer:
    return Offer(prices, model, version)
