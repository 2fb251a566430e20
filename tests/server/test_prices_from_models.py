"""`GET /models` is enough to compute every price: a client that knows nothing else agrees with the quotes."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from asking import asked

import ratecard
from prices_from_models import PricesFromModels
from ratecard.examples import price_example
from ratecard.methods import METHODS
from ratecard.requests.text_body import body_of_text, usage_of_text
from ratecard.server import LiveRateCard, application
from ratecard.tables.metered import UsageExample
from ratecard.tables.video import VideoExample

DAYS = [datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 8, 22, tzinfo=UTC), datetime(2026, 10, 1, tzinfo=UTC)]


def listed(card: ratecard.RateCard, day: datetime) -> PricesFromModels:
    with asked(application(LiveRateCard(card, clock=lambda: int(day.timestamp()) * 10**9))) as client:
        return PricesFromModels(client.get("/api/v1/models").json())


def worked(book: ratecard.PriceBook) -> Iterator[Any]:
    """(model, fields, source, quote) of every worked example in effect."""
    for model, version in book._in_effect_all():
        for example in version.examples:
            quote = price_example(book, model, example)
            if isinstance(example, VideoExample):
                yield model.model, body_of_text(example.request), example.source, quote
            elif isinstance(example, UsageExample):
                usage = usage_of_text(model.type, model.model, example.usage)
                yield model.model, usage, None, quote


@pytest.mark.parametrize("day", DAYS, ids=lambda day: f"{day:%Y-%m-%d}")
def test_every_worked_example_comes_to_its_quote(card: ratecard.RateCard, day: datetime) -> None:
    book, prices = card.at(day), listed(card, day)
    wrong = [
        (model, fields, quote.total)
        for model, fields, source, quote in worked(book)
        if prices.price(model, fields, source) != Fraction(quote.total)
    ]
    assert not wrong


def test_every_pricing_method_is_among_the_samples(card: ratecard.RateCard) -> None:
    book = card.at(DAYS[-1])
    sampled = {model for model, *_ in worked(book)}
    methods = {
        charge.method
        for model, version in book._in_effect_all()
        if model.model in sampled
        for charge in version.charges
    }
    # No shipped model has a charge by count: another test has one.
    assert methods == {*METHODS} - {"count"}


SAMPLES: list[dict[str, Any]] = [
    {"model": "claude-opus-4-6", "usage": {"prompt_tokens": 5500, "completion_tokens": 300,
     "prompt_tokens_details": {"cached_tokens": 5000, "cache_creation_input_tokens": 100}}},
    {"model": "grok-4-3", "usage": {"prompt_tokens": 5500, "completion_tokens": 300}, "web_search_requests": 2},
    {"model": "grok-4-3", "usage": {"prompt_tokens": 5, "completion_tokens": 3}, "x_search_results": 7},
    {"model": "crypto-rpc", "network": "base-mainnet",
     "calls": [{"method": "eth_call"}, {"method": "eth_call", "failed": True}, {"method": "trace_replayTransaction"}]},
    {"model": "flux-2-max-edit", "type": "edit", "n": 3, "input_images": 4},
    {"model": "qwen-image-2", "type": "upscale", "factor": "4x"},
    {"model": "openai/whisper-large-v3", "seconds": Fraction(123456789, 10**6)},
]  # fmt: skip


@pytest.mark.parametrize("usage", SAMPLES, ids=lambda usage: usage["model"])
def test_further_usages_come_to_their_quotes(card: ratecard.RateCard, usage: dict[str, Any]) -> None:
    prices, book = listed(card, DAYS[-1]), card.at(DAYS[-1])
    asked_for = {name: value for name, value in usage.items() if (name, value) != ("model", "crypto-rpc")}
    if "seconds" in asked_for:
        asked_for["seconds"] = 123.456789
    assert prices.price(usage["model"], usage) == Fraction(book.rate(asked_for).exact)


def test_odd_units_blocks_and_minimums_come_to_their_quotes(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "amounts.md").read_text(encoding="utf-8")
    for number, block in enumerate(re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)):
        (tmp_path / (f"{number}.yaml" if "family" in block else "units.yaml")).write_text(block)
    card = ratecard.load_rate_card(tmp_path)
    prices, book = listed(card, DAYS[-1]), card.at(DAYS[-1])
    for seconds in (0, 5, 6, 19, 20, 21, 64, 65, 66, 125, 126, 3605, 3606):
        found = prices.price("acme-transcribe", {"seconds": seconds})
        assert found == Fraction(book.rate({"model": "acme-transcribe", "seconds": seconds}).total)


def test_above_a_threshold_every_token_is_at_the_extended_rates(card: ratecard.RateCard) -> None:
    prices, book = listed(card, DAYS[-1]), card.at(DAYS[-1])
    found = 0
    for model, version in book._in_effect_all("text"):
        threshold = getattr(version.charges[0], "context_token_threshold", None)
        for prompt in (threshold, threshold + 1) if threshold else ():
            usage = {
                "prompt_tokens": prompt,
                "completion_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 9},
            }
            rated = book.rate({"model": model.model, "usage": usage})
            assert prices.price(model.model, {"usage": usage}) == Fraction(rated.exact)
            found += 1
    assert found >= 4


HEAD = """
    currency: USD
    name: Made up
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        rounding: none
        factors: [{service_tier: batch, factor: 0.5}]
        charges:"""
CONDITIONS = f"""family: made-up
models:
  - model: paint
    type: image{HEAD}
          - {{charge: images, method: per-image, unit: image, factors: [{{speed: fast, factor: 3}}],
             without_rate: {{flex: default}}, rates: [
              {{resolution: 1K, rate: 0.04}}, {{resolution: 2K, rate: 0.08}},
              {{resolution: 2K, service_tier: [batch, flex], rate: 0.05}}]}}
          - {{charge: requests, method: count, unit: request, without_rate: {{service_tier: default}}, rates: [
              {{rate: 0.01}}, {{speed: fast, rate: 0.02}}]}}
        examples: [{{usage: {{resolution: 2K}}, total: 0.09}}]
  - model: read
    type: text{HEAD}
          - {{charge: tokens, method: tokens, unit: mtoken, without_rate: {{speed: default}}, rates: [
              {{tokens: input, rate: 2}}, {{tokens: output, rate: 8}}, {{tokens: output, speed: fast, rate: 9}}]}}
          - {{charge: pages, method: count, unit: kpage, included: 10, rates: [{{rate: 3}}]}}
        examples: [{{usage: {{prompt_tokens: 1000, counts: {{page: 1010}}}}, total: 3.002}}]
"""


@pytest.mark.parametrize("speed", [{}, {"speed": "standard"}, {"speed": "fast"}])
@pytest.mark.parametrize(
    "tier", [{}, {"service_tier": "standard"}, {"service_tier": "batch"}, {"service_tier": "flex"}]
)
def test_counts_and_conditions_come_to_their_quotes(tmp_path: Path, speed: Any, tier: Any) -> None:
    (tmp_path / "made-up.yaml").write_text(CONDITIONS)
    card = ratecard.load_rate_card(tmp_path)
    prices, book = listed(card, DAYS[-1]), card.at(DAYS[-1])
    if tier.get("service_tier") != "flex":  # only images know this tier
        tokens = {"prompt_tokens": 500, "completion_tokens": 300}
        usage = {"type": "text", "model": "read", "usage": tokens, "counts": {"page": 27}, **speed, **tier}
        assert prices.price("read", usage) == Fraction(book.rate(usage).exact)
    for resolution in ("1K", "2K"):
        for counts in ({}, {"counts": {"request": 4}}):
            usage = {"type": "image", "model": "paint", "resolution": resolution, "n": 3, **counts, **speed, **tier}
            assert prices.price("paint", usage) == Fraction(book.rate(usage).exact)
