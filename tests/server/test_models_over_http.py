"""`GET /models`: every model that has a price, in the names of the specification, with rates that are the tables'."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from asking import asked

import ratecard
from ratecard.requests.video import FIELD_ORDER
from ratecard.server import LiveRateCard, application


def listed(card: ratecard.RateCard, year: int, month: int, day: int) -> dict[str, Any]:
    instant = datetime(year, month, day, tzinfo=UTC)
    clock = int(instant.timestamp()) * 10**9
    with asked(application(LiveRateCard(card, clock=lambda: clock))) as client:
        answer = client.get("/api/v1/models").json()
    assert set(answer) == {"data", "object"}
    assert answer["object"] == "list"
    return {model["id"]: model for model in answer["data"]}


@pytest.fixture(scope="module")
def models(card: ratecard.RateCard) -> Iterator[dict[str, Any]]:
    yield listed(card, 2026, 10, 1)


def test_every_model_that_has_a_price_is_listed_and_no_other(card: ratecard.RateCard, models: dict[str, Any]) -> None:
    book = card.at(datetime(2026, 10, 1, tzinfo=UTC))
    assert list(models) == [model.model for model, _ in book._in_effect_all()]
    assert "ltx-2-fast-text-to-video" not in models, "retired on 2026-09-28"


def test_a_model_was_created_when_its_first_prices_took_effect(card: ratecard.RateCard, models: dict[str, Any]) -> None:
    first = {name: card.tables.models[name].versions[-1].begins.timestamp() for name in models}
    assert {name: model["created"] for name, model in models.items()} == first
    assert any(len(card.tables.models[name].versions) > 1 for name in models)


def test_constraints_are_named_like_the_fields_of_a_request(models: dict[str, Any]) -> None:
    names = {name for model in models.values() if model["type"] == "video" for name in model["constraints"]}
    assert names <= {*FIELD_ORDER, "topaz", "defaults", "resolution_aliases"}
    kling = models["kling-v3-pro-text-to-video"]["constraints"]
    assert kling["duration"] == [f"{seconds}s" for seconds in range(3, 16)]
    assert kling["aspect_ratio"] == ["16:9", "9:16", "1:1"]


def test_enhancement_models_stand_under_topaz(models: dict[str, Any]) -> None:
    topaz = models["topaz-video-upscale"]["constraints"]
    assert "Gaia 2" in topaz["topaz"]["models"]
    assert "enhancement_model" not in topaz
    assert topaz["upscale_factor"] == [1, 2, 4]
    assert topaz["target_fps"] == {"min": 16, "max": 120}
    assert topaz["video_url"] == {"max_seconds": 300}


def test_what_a_model_lists_is_what_its_quotes_accept(card: ratecard.RateCard, models: dict[str, Any]) -> None:
    book = card.at(datetime(2026, 10, 1, tzinfo=UTC))
    body = {"model": "kling-v3-pro-text-to-video", "duration": "nothing", "aspect_ratio": "nothing"}
    with pytest.raises(ratecard.QuoteError) as refusal:
        book.quote_video(body)
    for name in ("duration", "aspect_ratio"):
        words = " | ".join(f"'{value}'" for value in models[body["model"]]["constraints"][name])
        assert f"Expected {words}, received" in str(refusal.value)


def test_a_rate_times_its_quantity_is_the_line_of_a_quote(card: ratecard.RateCard, models: dict[str, Any]) -> None:
    charges = models["grok-imagine-1-5-image-to-video-private"]["pricing"]["charges"]
    seconds, image = charges
    rate = next(rate for rate in seconds["rates"] if rate["resolution"] == ["720p"])
    assert (seconds["unit"], seconds["per"], image["rates"]) == ("video_second", 1, [{"rate": "0.0115"}])
    book = card.at(datetime(2026, 10, 1, tzinfo=UTC))
    quote = book.quote_video(
        {"model": "grok-imagine-1-5-image-to-video-private", "duration": "5s", "resolution": "720p"}
    )
    assert 5 * Decimal(rate["rate"]) + Decimal(image["rates"][0]["rate"]) == quote.exact


def test_a_markup_is_in_the_rate(models: dict[str, Any]) -> None:
    rates = models["topaz-video-upscale"]["pricing"]["charges"][0]["rates"]
    assert {rate["rate"] for rate in rates} >= {"0.0125", "0.025", "0.1"}


def test_tokens_are_priced_by_the_million(models: dict[str, Any]) -> None:
    charge = models["claude-opus-4-6"]["pricing"]["charges"][0]
    assert (charge["unit"], charge["counts"], charge["per"]) == ("mtoken", "token", 1_000_000)


def test_a_retiring_model_says_when_and_what_to_use(card: ratecard.RateCard, models: dict[str, Any]) -> None:
    before = listed(card, 2026, 9, 1)["ltx-2-fast-text-to-video"]["deprecation"]
    assert before["date"] == "2026-09-28"
    assert set(before) == {"date", "warning", "successor"}
    assert models["kling-v3-pro-text-to-video"]["deprecation"] is None
