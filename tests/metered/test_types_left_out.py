"""A usage without its type: the model has one, and what it is charged is the same."""

from decimal import Decimal
from typing import Any

import pytest
from metered_answers import refused, sentence

from ratecard import PriceBook, QuoteError, RateCard
from ratecard.methods.method import unit_usages
from ratecard.tables.metered import MeteredVersion


def test_every_rate_is_charged_the_same_without_the_type(card: RateCard) -> None:
    for model in card.tables.models.values():
        for version in model.versions:
            if not isinstance(version, MeteredVersion) or model.type == "surcharge":
                continue
            prices = card.at(version.effective)
            for usage in unit_usages(model, version, card.tables):
                left_out = {name: value for name, value in usage.items() if name != "type"}
                assert prices.rate(left_out) == prices.rate(usage), left_out


TOKENS = {"prompt_tokens": 9, "completion_tokens": 1}


@pytest.mark.parametrize(
    ("usage", "type_"),
    [
        ({"model": "kling-o3-pro-text-to-video", "duration": "5s"}, "video"),
        ({"model": "qwen-image-2", "factor": "2x"}, "upscale"),
        ({"model": "upscaler", "factor": "4x"}, "upscale"),
        ({"model": "grok-4-3:enable_web_search=on", "usage": TOKENS}, "text"),
        ({"model": "grok-4-3", "usage": TOKENS, "web_search_requests": 3}, "text"),
        ({"model": "tts-kokoro", "characters": 5}, "speech"),
    ],
)
def test_the_type_is_that_of_the_model(prices: PriceBook, usage: dict[str, Any], type_: str) -> None:
    quote = prices.rate(usage)
    assert quote.type == type_
    assert quote == prices.rate({"type": type_, **usage})


def test_a_search_beside_plain_tokens_is_charged_whether_or_not_the_type_is_said(prices: PriceBook) -> None:
    """Three fields, as a usage of nothing but tokens has with its type."""
    plain, searched = {"model": "grok-4-3", "usage": TOKENS}, {"model": "grok-4-3", "usage": TOKENS, "scraped_urls": 2}
    prices.rate({"type": "text", **plain})
    assert prices.rate(searched).total - prices.rate(plain).total == Decimal("0.02")


@pytest.mark.parametrize("type_", ["image", "video", "speech", "surcharge"])
def test_another_type_is_refused(prices: PriceBook, type_: str) -> None:
    usage: dict[str, Any] = {"type": type_, "model": "grok-4-3", "usage": TOKENS}
    if type_ == "surcharge":
        usage |= {"count": 1}
        del usage["usage"]
    assert sentence(prices, usage) == (
        f"Specified model not found: grok-4-3 is of type text, and has no price for {type_}"
    )


def test_a_type_that_is_null_is_not_left_out(prices: PriceBook) -> None:
    assert "received null" in refused(prices, {"type": None, "model": "grok-4-3", "usage": TOKENS})["type"][0]


@pytest.mark.parametrize(
    ("usage", "error"),
    [
        ({"usage": TOKENS}, {"model": ["Required"]}),
        ({"model": 5, "usage": TOKENS}, {"model": ["Expected string, received number"]}),
        ({"network": "no-such", "calls": [{"method": "eth_call"}]}, None),
        ({"model": "web-search"}, {"count": ["Required"]}),
        ({"type": "surcharge"}, {"model": ["Required"], "count": ["Required"]}),
        ({"model": "web-search", "count": -1}, {"count": ["Number must be greater than or equal to 0"]}),
        (
            {"model": "web-search", "count": 1, "n": 2, 3: 4},
            {"": ["Unrecognized key(s) in object: 'n', '3'. Did you mean one of 'count', 'metadata'?"]},
        ),
        (
            {"model": "grok-4-3", "usage": TOKENS, "web_search": 1, "metadata": "m"},
            {
                "": ["Unrecognized key(s) in object: 'web_search'. Did you mean 'web_search_requests'?"],
                "metadata": ["Expected object, received string"],
            },
        ),
        (
            {"model": "grok-4-3", "usage": TOKENS, "metadata": "m"},
            {"metadata": ["Expected object, received string"]},
        ),
        (
            {"model": "tts-kokoro", "characters": 1, "tokens": {"input": 0}},
            {"": ["Unrecognized key(s) in object: 'tokens'. Did you mean one of 'characters', 'metadata'?"]},
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_field(prices: PriceBook, usage: dict[Any, Any], error: Any) -> None:
    found = refused(prices, usage)
    assert (found.keys() == {"network"}) if error is None else (found == error)


def test_an_unknown_model_has_no_type(prices: PriceBook) -> None:
    assert sentence(prices, {"model": "grok-4-33", "usage": TOKENS}).startswith(
        "Specified model not found: grok-4-33. Did you mean: grok-4-3"
    )
    with pytest.raises(QuoteError, match="No price for kling-v4-text-to-video on 2026-09-29"):
        prices.rate({"model": "kling-v4-text-to-video", "duration": "5s"})


@pytest.mark.parametrize("name", ["web-search", "web-scraping", "x-search"])
def test_searches_by_themselves(prices: PriceBook, name: str) -> None:
    assert prices.rate({"model": name, "count": 3}) == prices.surcharge(name, 3)
    assert prices.rate({"type": "surcharge", "model": name, "count": 3}) == prices.surcharge(name, 3)
