"""Each way in which bills of this kind are known to have been wrong, by its name."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import ROUND_UP, Context, Decimal, FloatOperation, Inexact, getcontext, localcontext
from typing import Any

import pytest
from metered_answers import amounts, refused, sentence, sound

from ratecard import PriceBook, Quote, QuoteError, RateCard


def text(prices: PriceBook, model: str, prompt: int, completion: int, **fields: Any) -> Quote:
    details = {name: fields.pop(name) for name in ("cached_tokens", "cache_creation_input_tokens") if name in fields}
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
    return sound(prices.rate({"type": "text", "model": model, "usage": tokens, **fields}))


def test_cached_tokens_are_not_counted_twice(prices: PriceBook) -> None:
    quote = text(prices, "claude-opus-4-6", 10_000, 0, cached_tokens=8_000, cache_creation_input_tokens=1_000)
    assert sum(line.quantity for line in quote.lines) == Decimal("0.01")
    assert quote.total == Decimal("0.0048") + Decimal("0.0075") + Decimal("0.006")
    all_cached = text(prices, "claude-opus-4-6", 10_000, 0, cached_tokens=10_000)
    assert amounts(all_cached) == {"llm-cache-input-mtoken": Decimal("0.006")}


def test_the_tier_is_chosen_for_the_whole_request_and_not_for_each_bucket(prices: PriceBook) -> None:
    # No bucket by itself is above the threshold of 200,000, but the prompt is, so every bucket is extended.
    quote = text(prices, "grok-4-3", 200_001, 1_000, cached_tokens=100_000, cache_creation_input_tokens=50_000)
    assert all("-llm-extended-" in line.sku for line in quote.lines)
    assert [line.unit_rate for line in quote.lines] == [Decimal(r) for r in ("2.83", "0.45", "2.83", "5.67")]
    # Completion tokens do not make a prompt longer, and the first 200,000 tokens of a long prompt are not cheaper.
    assert all("extended" not in line.sku for line in text(prices, "grok-4-3", 200_000, 900_000).lines)
    assert text(prices, "grok-4-3", 200_001, 0).total == 200_001 * Decimal("2.83") / 1_000_000


def test_a_search_fee_is_not_off_by_a_thousand(prices: PriceBook) -> None:
    assert text(prices, "grok-4-3", 0, 0, web_search_requests=1).total == Decimal("0.01")
    assert text(prices, "grok-4-3", 0, 0, web_search_requests=1000).total == 10
    assert text(prices, "grok-4-3", 0, 0, x_search_results=1).total == Decimal("0.01")
    assert text(prices, "grok-4-3", 0, 0, scraped_urls=1).total == Decimal("0.01")


@pytest.mark.parametrize("name", ["grok-5", "", "GROK-4-3", "grok-4-3 ", "e2ee-glm-4-7-p", "_errors", "\ud800"])
def test_an_unknown_or_retired_model_is_not_free(prices: PriceBook, name: str) -> None:
    tokens = {"prompt_tokens": 5, "completion_tokens": 5}
    assert sentence(prices, {"type": "text", "model": name, "usage": tokens}).startswith("Specified model not found: ")


@pytest.mark.parametrize("field", ["prompt_tokens", "completion_tokens"])
def test_negative_tokens_are_no_credit(prices: PriceBook, field: str) -> None:
    tokens = {"prompt_tokens": 5, "completion_tokens": 5} | {field: -1_000_000}
    said = {f"usage.{field}": ["Number must be greater than or equal to 0"]}
    assert refused(prices, {"type": "text", "model": "grok-4-3", "usage": tokens}) == said


def test_more_cached_than_prompt_tokens_make_no_negative_input(prices: PriceBook) -> None:
    tokens = {"prompt_tokens": 5, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 6}}
    assert refused(prices, {"type": "text", "model": "grok-4-3", "usage": tokens})


@contextmanager
def careless_host(precision: int) -> Iterator[None]:
    """A program that set the decimal context of its own thread."""
    with localcontext(Context(prec=precision, rounding=ROUND_UP, Emax=9, Emin=-9)):
        getcontext().traps[Inexact] = precision == 1
        getcontext().traps[FloatOperation] = True
        yield


@pytest.mark.parametrize("precision", [1, 3, 28])
def test_the_hosts_decimal_context_changes_nothing(card: RateCard, precision: int) -> None:
    usages: list[dict[str, Any]] = [
        {"type": "text", "model": "claude-opus-4-6", "web_search_requests": 123, "usage": {
            "prompt_tokens": 123_456_789_123, "completion_tokens": 987_654_321, "prompt_tokens_details": {
                "cached_tokens": 55_555_555_555, "cache_creation_input_tokens": 1_234_567}}},
        {"type": "speech", "model": "tts-kokoro", "characters": 123_456_789},
        {"type": "transcription", "model": "openai/whisper-large-v3", "seconds": 1234.5678901},
        {"type": "edit", "model": "flux-2-max-edit", "n": 1_234_567, "input_images": 89},
        {"type": "music", "model": "elevenlabs-tts-v3", "character_count": 123_456_789},
        {"type": "rpc", "network": "solana-mainnet", "calls": [{"method": "getSupply"}] * 99},
    ]  # fmt: skip
    prices = card.at(date(2026, 9, 29))
    expected = [(quote, quote.to_json(), quote.to_dict()) for quote in map(prices.rate, usages)]
    estimated = prices.estimate_text("grok-4-3", prompt_tokens=123_456_789, max_completion_tokens=987_654)
    with careless_host(precision):
        anew = card.at(date(2026, 9, 29))
        assert [(quote, quote.to_json(), quote.to_dict()) for quote in map(anew.rate, usages)] == expected
        again = anew.estimate_text("grok-4-3", prompt_tokens=123_456_789, max_completion_tokens=987_654)
        assert again == estimated


def test_no_float_noise(prices: PriceBook, card: RateCard) -> None:
    # The published list says 0.036000000000000004 at its source; and 3 x 0.1 is 0.30000000000000004 in floats.
    qwen = card.at(date(2026, 8, 8)).rate({"type": "image", "model": "qwen-image-3", "n": 3})
    assert qwen.to_json() == b'{"quote":0.108}'
    assert text(prices, "grok-4-3", 3, 1).to_json() == b'{"quote":0.00000709}'
    seconds = {"type": "transcription", "model": "openai/whisper-large-v3"}
    assert prices.rate({**seconds, "seconds": 0.1}) == prices.rate({**seconds, "seconds": Decimal("0.1")})
    for model in card.tables.models.values():
        for rate in (rate for version in model.versions for charge in version.charges for rate in charge.rates):
            assert rate.rate == round(rate.rate, 12)


def test_a_missing_cache_rate_is_not_zero(prices: PriceBook) -> None:
    for prompt, rate in ((272_000, "37.5"), (272_001, "75")):
        quote = text(prices, "openai-gpt-54-pro", prompt, 0, cached_tokens=1_000, cache_creation_input_tokens=1_000)
        assert [line.unit_rate for line in quote.lines] == [Decimal(rate)] * 3
        assert quote.total == prompt * Decimal(rate) / 1_000_000


@pytest.mark.parametrize(
    ("day", "rate", "since"),
    [
        (date(2026, 8, 7), "0.14", date(2026, 8, 3)),
        (date(2026, 8, 11), "0.14", date(2026, 8, 3)),
        (date(2026, 8, 12), "0.4", date(2026, 8, 12)),
        (date(2026, 11, 1), "0.4", date(2026, 8, 12)),
    ],
)
def test_history_is_not_priced_at_todays_rates(card: RateCard, day: date, rate: str, since: date) -> None:
    quote = text(card.at(day), "xiaomi-mimo-v2-5", 1_000_000, 0)
    assert (quote.total, quote.effective) == (Decimal(rate), since)
    [line] = quote.ledger_entries(timestamp=datetime(2030, 1, 1, tzinfo=UTC), request_id="r")
    assert line.price_per_unit_usd == Decimal(rate)


def test_a_price_before_the_first_one_is_not_the_first_one(card: RateCard) -> None:
    tokens = {"prompt_tokens": 1, "completion_tokens": 0}
    with pytest.raises(QuoteError, match=r"No price for grok-4-3 on 2026-08-02. Its first version takes effect on"):
        card.at(date(2026, 8, 2)).rate({"type": "text", "model": "grok-4-3", "usage": tokens})
