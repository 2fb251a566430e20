"""Requests and tokens a minute of every type, and endpoints that have ended: from the dated table of limits."""

import shutil
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import ratecard
from ratecard import PriceBook, RateCard, RateCardError
from ratecard.limits import Limit, LimitError, Sunset, VideoLimit, limits_for, sunset
from ratecard.load.folder import shipped_folder

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
            {"type_": "musik", "partner": True},
            "type 'musik' has no limit for partners. Did you mean 'music'? "
            "Types: text, image, audio, embedding, video-queue, video-retrieve",
        ),
        (
            {"type_": "rpc"},
            "type 'rpc' has no published limit of requests; a batch of calls is limited by its own table",
        ),
        (
            {"model": "crypto-rpc"},
            "type 'rpc' has no published limit of requests; a batch of calls is limited by its own table",
        ),
        ({"type_": "surcharge"}, "type 'surcharge' has no limit of its own: a search is part of a text request"),
        ({"type_": "video", "tier": "S"}, "tier='S': only text models have tiers; leave it out for video"),
        ({}, "no type and no model. Give one, like limits_for('image') or limits_for(model='...')"),
        (
            {"model": "grok-4-3"},
            "the tables do not say the tier of grok-4-3. Give one, like tier='S': XS, S, M, L",
        ),
        ({"model": "grok-4-3", "tier": "XXS"}, "tier='XXS' of text has no limit for everybody. Tiers: XS, S, M, L"),
        ({"model": "flux-2-pro", "tier": "S"}, "tier='S': only text models have tiers; leave it out for image"),
        (
            {"type_": "text", "model": "flux-2-pro"},
            "type 'text': flux-2-pro is of type image; leave the type out",
        ),
    ],
)
def test_types_and_tiers_without_a_published_limit(prices: PriceBook, asked: dict[str, Any], said: str) -> None:
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
    assert sunset(ENDPOINT, at=date(2026, 9, 16)) == found


def test_an_endpoint_that_ends_is_announced(card: RateCard) -> None:
    gone = sunset(ENDPOINT, at=datetime(2026, 9, 16, tzinfo=UTC))
    assert gone is not None
    for found in (card.at(date(2026, 9, 15)).sunset(ENDPOINT), sunset(ENDPOINT, at=date(2026, 9, 15))):
        assert found is not None
        assert (found.status, found.headers) == (404, gone.headers)
        assert found.body["error"].startswith(
            "GET /billing/usage has no data here; it is deprecated from 2026-07-09 and ends on 2026-09-16. "
            "Use /billing/usage-history instead: `page` is now pageSize"
        )


ONE_OF_TYPE = {"speech": "audio", "transcription": "audio", "music": "audio", "edit": "image", "upscale": "image"}


@pytest.mark.parametrize("partner", [False, True])
@pytest.mark.parametrize(("type_", "shared"), ONE_OF_TYPE.items())
def test_types_that_share_a_limit(prices: PriceBook, type_: str, shared: str, partner: bool) -> None:
    for found in (limits_for, prices.limits_for):
        assert found(type_, partner=partner) == Limit(OTHERS[shared, partner])


def test_video_has_two_limits_and_partners_have_the_general_ones(prices: PriceBook) -> None:
    for found in (limits_for("video"), prices.limits_for("video"), limits_for(model="ovi-image-to-video")):
        assert found == VideoLimit(Limit(40), Limit(120))
    as_partner = Limit(40, from_default=True), Limit(120, from_default=True)
    assert prices.limits_for("video", partner=True) == VideoLimit(*as_partner)
    assert (limits_for("video-queue", partner=True), limits_for("video-retrieve", partner=True)) == as_partner
    assert not prices.limits_for("image", partner=True).from_default


def test_every_model_has_a_limit_or_says_why_not(prices: PriceBook) -> None:
    for model, _ in prices._in_effect_all():
        tier = "M" if model.type == "text" else None
        if model.type in ("rpc", "surcharge"):
            with pytest.raises(LimitError, match=model.type):
                prices.limits_for(model=model.model)
            continue
        expected = Limit(50, 750_000) if tier else prices.limits_for(model.type)
        assert prices.limits_for(model=model.model, tier=tier) == expected
        assert prices.limits_for(model.type, model=model.model, tier=tier) == expected


def test_a_model_is_named_as_in_a_request(prices: PriceBook) -> None:
    assert limits_for(model="grok-4-3:enable_web_search=on", tier="S") == Limit(75, 750_000)
    with pytest.raises(ratecard.QuoteError, match=r"Specified model not found: grok-44\. Did you mean"):
        prices.limits_for(model="grok-44", tier="S")


def test_a_tier_that_the_table_of_a_model_says(tmp_path: Path) -> None:
    tables = shipped_folder()
    text = (tables / "text/grok.yaml").read_text(encoding="utf-8")
    (tmp_path / "grok.yaml").write_text(
        text.replace("    type: text\n", "    type: text\n    tier: L\n"), encoding="utf-8"
    )
    shutil.copy(tables / "surcharges.yaml", tmp_path)
    shutil.copy(tables / "limits.yaml", tmp_path)
    book = ratecard.load_rate_card(tmp_path).at(date(2026, 10, 1))
    assert book.limits_for(model="grok-4-3") == book.limits_for(model="grok-4-3", tier="L") == Limit(20, 500_000)
    assert book.limits_for(model="grok-4-3", partner=True) == Limit(60, 1_000_000)
    with pytest.raises(LimitError, match=r"tier='S': grok-4-3 is in tier L; leave the tier out"):
        book.limits_for(model="grok-4-3", tier="S")
    (tmp_path / "grok.yaml").write_text(
        text.replace("    type: text\n", "    type: text\n    tier: XL\n"), encoding="utf-8"
    )
    with pytest.raises(ratecard.TableError, match=r"grok.yaml:\d+: tier 'XL' is not known. Did you mean .*XS, S, M, L"):
        ratecard.load_rate_card(tmp_path)


def test_a_limit_names_its_headers() -> None:
    requests = [f"x-ratelimit-{each}-requests" for each in ("limit", "remaining", "reset")]
    tokens = [f"x-ratelimit-{each}-tokens" for each in ("limit", "remaining", "reset")]
    assert limits_for("text", tier="S").header_names == (*requests, *tokens, "x-ratelimit-type")
    assert limits_for("image").header_names == (*requests, "x-ratelimit-type")


@pytest.mark.parametrize(
    ("size", "left", "fits"),
    [
        (10_000, {}, 75),  # 75 x 10,000 = 750,000, the whole limit
        (10_001, {}, 74),
        (750_000, {}, 1),
        (750_001, {}, 0),
        (1, {}, 75),
        (0, {}, 75),
        (100, {"requests_left": 3}, 3),
        (100, {"tokens_left": 299}, 2),
        (100, {"tokens_left": 300, "requests_left": 2}, 2),
        (100, {"requests_left": 0}, 0),
        (100, {"requests_left": 200}, 200),  # a customer's own limit is higher than the published one
    ],
)
def test_how_many_more_requests_fit(size: int, left: dict[str, int], fits: int) -> None:
    assert limits_for("text", tier="S").fits(size, **left) == fits


def test_requests_without_tokens_fit_by_their_number() -> None:
    assert (Limit(20).fits(), Limit(20).fits(requests_left=7)) == (20, 7)


@pytest.mark.parametrize(
    ("limit", "asked", "said"),
    [
        (Limit(20), {"tokens": 5}, "tokens=5: this limit counts no tokens; leave it out"),
        (Limit(20), {"tokens_left": 5}, "tokens_left=5: this limit counts no tokens; leave it out"),
        (Limit(75, 750_000), {}, "tokens=None: this limit counts tokens too; give the tokens of one request"),
        (Limit(75, 750_000), {"tokens": -1}, "tokens=-1 must be a whole number, zero or more"),
        (Limit(75, 750_000), {"tokens": 1.5}, "tokens=1.5 must be a whole number, zero or more"),
        (Limit(75, 750_000), {"tokens": True}, "tokens=True must be a whole number, zero or more"),
        (Limit(75, 750_000), {"tokens": 1, "tokens_left": "9"}, "tokens_left='9' must be a whole number, zero or more"),
        (Limit(20), {"requests_left": -1}, "requests_left=-1 must be a whole number, zero or more"),
    ],
)
def test_invalid_sizes(limit: Limit, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(LimitError) as caught:
        limit.fits(**asked)
    assert str(caught.value) == said


@pytest.mark.parametrize("endpoint", ["GET /billing/usage-history", "POST /video/quote", "", "get /billing/usage"])
def test_an_endpoint_that_answers(prices: PriceBook, endpoint: str) -> None:
    for found in (sunset, prices.sunset):
        assert found(endpoint) is None


@pytest.mark.parametrize("day", [date(2026, 9, 15), date(2026, 9, 16)])
def test_head_ends_with_its_get(card: RateCard, day: date) -> None:
    head = ENDPOINT.replace("GET", "HEAD")
    assert sunset(head, at=day) == card.at(day).sunset(head) == card.at(day).sunset(ENDPOINT)
    assert sunset(head, at=day) is not None
    assert sunset(ENDPOINT.replace("GET", "POST"), at=day) is None


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
    assert [part.name for part in fields(Sunset)] == ["status", "headers", "body"]
