"""What a quote and a refusal say: to HTTP, to a record, to a log."""

import copyreg
import json
import pickle
from dataclasses import fields, replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from ratecard import PriceBook, Quote, QuoteError, RateCard
from ratecard.line_items import PricedVersion

BODY = {"model": "kling-v3-pro-text-to-video", "duration": "5s", "aspect_ratio": "16:9", "target_fps": 24}


def test_http_gets_the_total_with_all_its_digits(prices: PriceBook) -> None:
    quote = prices.quote_video(BODY)  # 5 x 0.1848 = 0.924
    assert quote.to_json() == b'{"quote":0.92}'
    assert json.loads(prices.quote_video({"model": "ovi-image-to-video"}).to_json()) == {"quote": 0.22}


@pytest.mark.parametrize("currency", ["EUR", "VND"])
def test_http_is_told_a_currency_that_is_not_the_usual_one(prices: PriceBook, currency: str) -> None:
    quote = prices.quote_video(BODY)
    other = replace(quote, version=replace(quote.version, currency=currency))
    assert other.to_json() == b'{"quote":0.92,"currency":"%s"}' % currency.encode()


def test_a_whole_amount_keeps_its_cents(prices: PriceBook) -> None:
    quote = prices.quote_video({"model": "topaz-video-upscale", "duration": "10s"})
    assert quote.to_json() == b'{"quote":2.00}'


def test_a_record_holds_everything_and_no_float(card: RateCard, prices: PriceBook) -> None:
    quote = prices.quote_video(BODY)
    record = quote.to_dict()
    expected = {
        "model": "kling-v3-pro-text-to-video",
        "total": "0.92",
        "exact": "0.924",
        "currency": "USD",
        "lines": [quote.lines[0].to_dict()],
        "effective": "2026-09-28",
        "digest": card.digest,
        "ignored": ["aspect_ratio", "target_fps"],
    }
    assert {key: record[key] for key in expected} == expected
    assert json.loads(quote.explain()) == json.loads(json.dumps(record))
    assert (quote.total, quote.exact, quote.effective) == (Decimal("0.92"), Decimal("0.924"), date(2026, 9, 28))


def test_a_quote_is_a_value_with_all_its_parts(prices: PriceBook) -> None:
    quote = prices.quote_video(BODY)
    assert Quote(**{part.name: getattr(quote, part.name) for part in fields(quote)}) == quote
    assert replace(quote.lines[0]) == quote.lines[0] != replace(quote.lines[0], amount=Decimal(1))
    assert pickle.loads(pickle.dumps(quote)) == quote  # noqa: S301
    assert pickle.loads(pickle.dumps(quote)).lines == quote.lines  # noqa: S301
    assert hash(quote) == hash(prices.quote_video(dict(BODY)))
    for value in (quote, quote.lines[0]):
        with pytest.raises(AttributeError):
            setattr(value, fields(value)[0].name, None)
    of_version = {part.name: getattr(quote, part.name) for part in fields(quote.version)}
    of_version["asked"] = ""  # no other name of the model was
    assert replace(quote, version=PricedVersion(**of_version)) == quote
    assert '"asked": "größer"' in replace(quote, version=PricedVersion(**of_version | {"asked": "größer"})).explain()
    assert prices.quote_video(dict(BODY)).version is quote.version


def test_a_quote_that_an_earlier_release_pickled_is_refused() -> None:
    """As any class with slots is pickled that does not say how: without its parts, which are set one by one."""
    with pytest.raises(TypeError):
        copyreg.__newobj__(Quote)  # type: ignore[attr-defined]


REFUSALS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"model": "kling-v3-pro-text-to-video", "duration": 5, "audio": "yes"},
        {
            "error": "Invalid request body",
            "details": {
                "_errors": [],
                "duration": {
                    "_errors": ["Expected " + " | ".join(f"'{n}s'" for n in range(3, 16)) + ", received number"]
                },
                "audio": {"_errors": ["Expected boolean, received string"]},
            },
        },
    ),
    ({"model": "zzz"}, {"error": "Specified model not found: zzz"}),
]


@pytest.mark.parametrize(("body", "answer"), REFUSALS)
def test_a_refusal_is_the_error_object_of_the_api(
    prices: PriceBook, body: dict[str, Any], answer: dict[str, Any]
) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.quote_video(body)
    refusal = caught.value
    assert refusal.body() == answer
    assert (refusal.error, refusal.details) == (answer["error"], answer.get("details"))
    assert json.loads(refusal.to_json()) == answer
    assert pickle.loads(pickle.dumps(refusal)).body() == answer  # noqa: S301
