"""SKUs over all shipped tables and dates: of one model, at one rate a version, the same in every version."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ratecard import PriceBook, Quote, RateCard
from ratecard.methods.method import unit_usages
from ratecard.tables.metered import MeteredVersion

FACTS = Path(__file__).parent.parent / "facts"
# SKUs of real exports, with their meaning.
REAL: dict[str, tuple[str, str, dict[str, Any]]] = {
    "zai-org-glm-5-1-llm-output-mtoken": ("text", "zai-org-glm-5-1", {"completion_tokens": 1}),
    "zai-org-glm-5-1-llm-input-mtoken": ("text", "zai-org-glm-5-1", {"prompt_tokens": 1}),
    "text-embedding-bge-m3-llm-input-mtoken": ("embedding", "text-embedding-bge-m3", {"prompt_tokens": 1}),
    "flux-2-pro-image-unit": ("image", "flux-2-pro", {}),
    "qwen-image-3-fixed-1K-1img": ("image", "qwen-image-3", {"resolution": "1K"}),
    "nano-banana-2-lite-edit-fixed-1img": ("edit", "nano-banana-2-lite-edit", {}),
    "elevenlabs-music-duration-based-60s": ("music", "elevenlabs-music", {"duration_seconds": 60}),
    "minimax-music-v2-fixed": ("music", "minimax-music-v2", {}),
}


def metered_quotes(card: RateCard) -> Iterator[tuple[date, dict[str, Any], Quote]]:
    """(first day of the version, usage, quote) of every rate of every version."""
    for model in card.tables.models.values():
        for version in model.versions:
            if isinstance(version, MeteredVersion) and model.type != "surcharge":
                prices = card.at(version.effective)
                for usage in unit_usages(model, version, card.tables):
                    yield version.effective, usage, prices.rate(usage)


def video_quotes(card: RateCard) -> Iterator[tuple[date, dict[str, Any], Quote]]:
    prices = card.at(date(2026, 9, 29))
    with (FACTS / "video_quotes_2026-09-29.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            body: dict[str, Any] = {name: row[name] for name in ("model", "resolution", "duration") if row[name]}
            body |= {"aspect_ratio": row["aspect_ratio"]} if row["aspect_ratio"] else {}
            body |= {"audio": row["audio"] == "true"} if row["audio"] else {}
            yield date(2026, 9, 29), body, prices.quote_video(body)


@pytest.fixture(scope="module")
def quotes(card: RateCard) -> list[tuple[date, dict[str, Any], Quote]]:
    return [*metered_quotes(card), *video_quotes(card)]


def test_a_sku_belongs_to_one_model_and_one_unit(quotes: list[tuple[date, dict[str, Any], Quote]]) -> None:
    owners = defaultdict(set)
    for _, _, quote in quotes:
        for line in quote.lines:
            owners[line.sku].add((quote.model, line.unit))
            assert line.sku.startswith(f"{quote.model}-")
    assert {sku: owner for sku, owner in owners.items() if len(owner) > 1} == {}
    assert len(owners) > 1_000


def test_a_sku_has_one_rate_in_a_version(quotes: list[tuple[date, dict[str, Any], Quote]]) -> None:
    rates = defaultdict(set)
    for _, _, quote in quotes:
        for line in quote.lines:
            rates[quote.effective, line.sku].add(line.unit_rate)
    assert {key: found for key, found in rates.items() if len(found) > 1} == {}


def test_rates_under_other_attributes_have_other_skus(quotes: list[tuple[date, dict[str, Any], Quote]]) -> None:
    """Also where two of them cost the same today: a SKU depends on its meaning, not on its price."""
    meanings = defaultdict(set)
    for day, usage, quote in quotes:
        if quote.type in ("image", "edit", "upscale", "music", "rpc") and "input_images" not in usage:
            meanings[day, quote.model, tuple(line.sku for line in quote.lines)].add(str(usage))
    assert {key: found for key, found in meanings.items() if len(found) > 1} == {}


def test_a_change_of_price_changes_no_sku(card: RateCard) -> None:
    changed = 0
    for model in card.tables.models.values():
        newest, *older = model.versions
        if isinstance(newest, MeteredVersion) and older and model.type != "surcharge":
            for usage in unit_usages(model, newest, card.tables):
                days = [card.at(version.effective).rate(usage) for version in model.versions]
                # A version without extended prices has none of their SKUs; all other SKUs are the same.
                skus = {tuple(line.sku.replace("-extended-", "-") for line in quote.lines) for quote in days}
                assert len(skus) == 1
                changed += len({quote.total for quote in days}) > 1
    assert changed > 10


@pytest.mark.parametrize("sku", REAL)
def test_a_sku_is_that_of_real_exports(prices: PriceBook, sku: str) -> None:
    type_, model, fields = REAL[sku]
    if type_ in ("text", "embedding"):
        fields = {"usage": {"prompt_tokens": 0, "completion_tokens": 0} | fields}
    quote = prices.rate({"type": type_, "model": model, **fields})
    [row] = quote.ledger_entries(timestamp=datetime(2026, 9, 29, tzinfo=UTC), request_id="r")
    assert row.sku == sku
    assert row.amount < Decimal(0)


def test_the_two_cache_buckets_and_the_extended_tier_have_their_own_skus(prices: PriceBook) -> None:
    details = {"cached_tokens": 1, "cache_creation_input_tokens": 1}
    tokens = {"prompt_tokens": 300_000, "completion_tokens": 1, "prompt_tokens_details": details}
    quote = prices.rate({"type": "text", "model": "openai-gpt-56-sol-pro", "usage": tokens})
    assert [line.sku.removeprefix("openai-gpt-56-sol-pro-") for line in quote.lines] == [
        "llm-extended-input-mtoken",
        "llm-extended-cache-input-mtoken",
        "llm-extended-cache-write-5m-mtoken",
        "llm-extended-output-mtoken",
    ]
