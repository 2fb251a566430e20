"""Requests and tokens a minute of every type, and endpoints that have ended: from the dated table of limits."""

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import ratecard
from ratecard import Limit, LimitError, PriceBook, RateCard, RateCardError, Sunset, limits_for, sunset

TEXT = {
    ("XS", False): (500, 1_000_000),
    ("S", False): (75, 750_000),
    ("M", False): (50, 750_000),
    ("L", False): (20, 500_000),
    ("XS", True): (500, 2_000_000),
    ("S", True): (150, 1_500_000),
    ("M", True): (100, 1_500_000),
    ("L", True): (60, 1_000_000),
}
OTHERS = {
    ("image", False): 20,
    ("audio", False): 60,
    ("embedding", False): 500,
    ("video-queue", False): 40,
    ("video-retrieve", False): 120,
    ("image", True): 60,
    ("audio", True): 120,
    ("embedding", True): 500,
}
ENDPOINT = "GET /billing/usage"


@pytest.mark.parametrize(("tier", "partner"), TEXT)
def test_text_has_requests_and_tokens_by_tier(prices: PriceBook, tier: str, partner: bool) -> None:
    for found in (limits_for, prices.limits_for):
        assert found("text", tier=tier, partner=partner) == Limit(*TEXT[tier, partner])
    if not partner:
        assert limits_for("text", tier=tier) == Limit(*TEXT[tier, partner])


@pytest.mark.parametrize(("type_", "partner"), OTHERS)
def test_other_types_have_requests(prices: PriceBook, type_: str, partner: bool) -> None:
    for found in (limits_for, prices.limits_for):
        assert found(type_, partner=partner) == Limit(OTHERS[type_, partner], None)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"type_": "text"}, "tier=None of text has no limit for everybody. Tiers: XS, S, M, L"),
        ({"type_": "text", "tier": "XL"}, "tier='XL' of text has no limit for everybody. Tiers: XS, S, M, L"),
        (
            {"type_": "text", "tier": "s", "partner": True},
            "tier='s' of text has no limit for partners. Tiers: XS, S, M, L",
        ),
        ({"type_": "image", "tier": "S"}, "tier='S': only text models have tiers; leave it out for image"),
        (
            {"type_": "images"},
            "type 'images' has no limit for everybody. Did you mean 'image'? "
            "Types: text, image, audio, embedding, video-queue, video-retrieve",
        ),
        (
            {"type_": "video-queue", "partner": True},
            "type 'video-queue' has no limit for partners. Types: text, image, audio, embedding",
        ),
    ],
)
def test_what_has_no_published_limit(prices: PriceBook, asked: dict[str, Any], said: str) -> None:
    for found in (limits_for, prices.limits_for):
        with pytest.raises(LimitError) as caught:
            found(**asked)
        assert str(caught.value) == said
        assert isinstance(caught.value, (RateCardError, ValueError))


def test_the_sunset_of_the_usage_endpoint(card: RateCard) -> None:
    found = sunset(ENDPOINT)
    assert found is not None
    assert found.status == 410
    assert found.headers == {
        "Deprecation": "@1783555200",
        "Link": '</api/v1/billing/usage-history>; rel="successor-version"',
        "Sunset": "Wed, 16 Sep 2026 00:00:00 GMT",
    }
    assert found.body.keys() == {"error"}
    for word in ("/billing/usage-history", "page", "limit", "pageSize", "nextCursor", "startDate", "startTimestamp",
                 "endDate", "endTimestamp", "2026-09-16"):  # fmt: skip
        assert word in found.body["error"]
    assert card.at(date(2026, 9, 16)).sunset(ENDPOINT) == found
    assert card.at(date(2030, 1, 1)).sunset(ENDPOINT) == found
    assert card.at(date(2026, 9, 15)).sunset(ENDPOINT) is None


@pytest.mark.parametrize("endpoint", ["GET /billing/usage-history", "POST /video/quote", "", "get /billing/usage"])
def test_an_endpoint_that_answers(prices: PriceBook, endpoint: str) -> None:
    for found in (sunset, prices.sunset):
        assert found(endpoint) is None


@pytest.fixture
def dated(tmp_path: Path) -> Callable[[date], PriceBook]:
    """Shipped prices under limits that change in 2027."""
    tables = Path(ratecard.__file__).parent.parent.parent / "pricing_tables"
    head, first = (tables / "limits.yaml").read_text(encoding="utf-8").split("limits:\n")
    later = first.replace("2026-08-03", "2027-01-01").replace("requests: 75", "requests: 80")
    later = later.replace("scraped_urls: 5", "scraped_urls: 9")
    (tmp_path / "limits.yaml").write_text(f"{head}limits:\n{later}{first}", encoding="utf-8")
    for name in ("text/grok.yaml", "surcharges.yaml"):
        shutil.copy(tables / name, tmp_path)
    return ratecard.load_rate_card(tmp_path).at


def test_limits_are_those_of_the_day(dated: Callable[[date], PriceBook]) -> None:
    before, after = dated(date(2026, 12, 31)), dated(date(2027, 1, 1))
    assert (before.limits_for("text", tier="S").requests, after.limits_for("text", tier="S").requests) == (75, 80)
    usage = {
        "type": "text",
        "model": "grok-4-3",
        "usage": {"prompt_tokens": 0, "completion_tokens": 0},
        "scraped_urls": 9,
    }
    assert after.rate(usage).total * 100 == 9
    with pytest.raises(ratecard.QuoteError, match="Number must be less than or equal to 5"):
        before.rate(usage)
    assert dated(date(2020, 1, 1)).limits_for("text", tier="S").requests == 75, "the first ones before their day"


def test_a_sunset_is_a_plain_record() -> None:
    assert Sunset._fields == ("status", "headers", "body")
