"""What is found once for the words of a layout is what each request would be charged by itself."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from itertools import islice, permutations, product
from types import MappingProxyType
from typing import Any

import pytest

from ratecard import PriceBook, QuoteError, RateCard, SourceVideo
from ratecard.methods import method_of
from shipped import CARD

CLIP = {"model": "kling-o3-pro-text-to-video", "duration": "5s", "audio": True}


def answer(prices: PriceBook, request: Mapping[str, Any], **more: Any) -> Any:
    """The quote of a request, or its refusal."""
    try:
        return prices.rate(request) if "type" in request else prices.quote_video(request, **more)
    except QuoteError as refusal:
        return refusal.body()


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("value", [1, 0, 1.0, 0.0, Decimal(1), Decimal(0)])
def test_a_number_that_equals_a_boolean_is_refused_after_that_boolean_was_priced(
    prices: PriceBook, first: bool, value: Any
) -> None:
    for name in ("kling-o3-pro-text-to-video", "ovi-image-to-video"):  # with and without effect
        body = {**CLIP, "model": name}
        prices.quote_video({**body, "audio": first})
        assert answer(prices, {**body, "audio": value})["details"]["audio"] == {
            "_errors": ["Expected boolean, received number"]
        }


@pytest.mark.parametrize("value", [[], {}, ["5s"], set()])
@pytest.mark.parametrize("name", ["duration", "audio", "aspect_ratio", "resolution"])
def test_a_value_that_is_no_key_of_a_dict_is_refused(prices: PriceBook, name: str, value: Any) -> None:
    for _ in range(2):
        assert name in answer(prices, {**CLIP, name: value})["details"]


@pytest.mark.parametrize("value", [[], {}, ["batch"], set(), 5, "zzz"])
def test_a_condition_that_is_none_is_refused(prices: PriceBook, value: Any) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 5}
    body = {"type": "text", "model": "claude-opus-4-6", "usage": usage, "service_tier": value}
    for _ in range(2):
        assert "service_tier" in answer(prices, body)["details"]
    assert answer(prices, {**body, "service_tier": None}).total > 0


def test_every_order_and_spelling_of_a_body_has_one_price(prices: PriceBook) -> None:
    body = {"model": "kling-v3-pro-text-to-video", "duration": "5s", "aspect_ratio": "16:9", "audio": False, "x": 1}
    quotes = [prices.quote_video(dict(items)) for items in permutations(body.items()) for _ in range(2)]
    assert all(quote == quotes[0] for quote in quotes)


def test_quotes_of_the_same_words_are_one_quote_that_cannot_be_changed(prices: PriceBook) -> None:
    quote = prices.quote_video(CLIP)
    assert prices.quote_video(dict(CLIP)) is quote
    for record in (quote, quote.version, quote.lines[0], quote.lines[0].rate):
        with pytest.raises(AttributeError):
            setattr(record, fields(record)[0].name, None)


def bodies() -> Iterator[dict[str, Any]]:
    """Bodies of words, of every shipped video model, as its tables list them."""
    for model, version in prices_of(CARD)._in_effect_all("video"):
        names = ("duration", "resolution", "aspect_ratio")
        for index in range(4):
            body: dict[str, Any] = {"model": model.model, "audio": index % 2 == 0, "seed": index}
            listed = {name: getattr(version.accepts, name) for name in names}  # type: ignore[attr-defined]
            yield body | {name: words[index % len(words)] for name, words in listed.items() if words}


def prices_of(card: RateCard) -> PriceBook:
    return card.at(max(card.boundaries()))


def test_words_are_priced_as_beside_a_source_video_of_which_nothing_is_known() -> None:
    """With one, everything is worked out for each body."""
    prices, unknown, priced = prices_of(CARD), SourceVideo(), 0
    for body in bodies():
        once, again, worked_out = answer(prices, body), answer(prices, body), answer(prices, body, source=unknown)
        assert once == again
        if isinstance(once, dict):  # it may say that a source is needed, or could not be read
            assert isinstance(worked_out, dict)
        else:
            assert once == worked_out
            priced += 1
    assert priced > 100


def test_seconds_of_reference_video_are_priced_as_beside_a_source_video_of_which_nothing_is_known() -> None:
    """Words beside them are looked up; with a source video, everything is worked out for each body."""
    prices, unknown, priced = prices_of(CARD), SourceVideo(), set[Decimal]()
    numbers = [0, 1, 4, Decimal("2.5"), Decimal("4.999"), 7.25, 10**6, -1, "5", None, True, [], Decimal("NaN"), 5]
    bodies_with_reference = (body for body in bodies() if "reference" in body["model"])
    for body, number in product(bodies_with_reference, numbers):
        body = {**body, "reference_video_total_duration": number}
        once, worked_out = answer(prices, body), answer(prices, body, source=unknown)
        assert once == answer(prices, body) == worked_out
        priced |= set() if isinstance(once, dict) else {once.exact}
    assert len(priced) > 20


def usages() -> Iterator[dict[str, Any]]:
    """Usages of tokens of every shipped model, at each rate and under each condition."""
    for model, version in prices_of(CARD)._in_effect_all():
        for charge in version.charges if model.type in ("text", "embedding") else ():
            of = method_of(charge)
            for found in (of.samples, of.edges):
                for usage in islice(found(version, model.type, CARD.tables), 40):  # type: ignore[arg-type]
                    yield {"type": model.type, "model": model.model, **usage}


def test_usages_are_priced_as_those_that_are_read_with_care() -> None:
    prices, priced = prices_of(CARD), 0
    for usage in usages():
        quick, again = answer(prices, usage), answer(prices, usage)
        careful = answer(prices, {**usage, "metadata": MappingProxyType({})})
        assert quick == again == careful
        priced += not isinstance(quick, dict)
    assert priced > 300
