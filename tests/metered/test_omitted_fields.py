"""A typed usage that leaves a field out costs what the mapping that leaves it out costs, and what a hand works out."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from ratecard import (
    EditUsage,
    EmbeddingUsage,
    ImageUsage,
    MusicUsage,
    PriceBook,
    QuoteError,
    RpcUsage,
    SpeechUsage,
    TextUsage,
    TokenUsage,
    TranscriptionUsage,
    UpscaleUsage,
    VideoUsage,
)
from ratecard.requests.usage import AnyUsage
from ratecard.testing.card_strategies import card_of

# Every rate is another power of ten, so that each digit of a total shows what was counted, and how often.
TABLES = """\
family: made-up
models:
  - model: brush
    name: Brush
    type: edit
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a test
        rounding: none
        defaults: {resolution: 1K}
        examples: [{usage: {resolution: 1K}, total: 11}]
        charges:
          - charge: images
            method: per-image
            unit: image
            rates:
              - {resolution: 1K, rate: 10}
              - {resolution: 2K, rate: 100}
          - {charge: inputs, method: per-input-image, unit: input_image, included: 0, rates: [{rate: 1}]}
  - model: pencil
    name: Pencil
    type: image
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a test
        rounding: none
        defaults: {resolution: 1K, quality: high}
        examples: [{usage: {}, total: 10}]
        charges:
          - charge: images
            method: per-image
            unit: image
            rates:
              - {resolution: 1K, quality: low, rate: 1}
              - {resolution: 1K, quality: high, rate: 10}
              - {resolution: 2K, quality: [low, high], rate: 100}
"""
TEXT = {"prompt_tokens": 100, "completion_tokens": 10}


@pytest.fixture(scope="module")
def drawn() -> PriceBook:
    return card_of({"tables.yaml": TABLES.encode()}).at(date(2026, 10, 1))


@pytest.mark.parametrize(
    ("typed", "left_out", "total"),
    [
        # One image, at the resolution of the table, from one input.
        (EditUsage(model="brush"), {}, "11"),
        (EditUsage(model="brush", n=3), {"n": 3}, "33"),
        (EditUsage(model="brush", input_images=4), {"input_images": 4}, "14"),
        (EditUsage(model="brush", resolution="2K"), {"resolution": "2K"}, "101"),
        (EditUsage(model="brush", n=2, input_images=3, resolution="2K"),
         {"n": 2, "input_images": 3, "resolution": "2K"}, "206"),
        # The table decides.
        (ImageUsage(model="pencil"), {}, "10"),
        (ImageUsage(model="pencil", n=2), {"n": 2}, "20"),
        (ImageUsage(model="pencil", quality="low"), {"quality": "low"}, "1"),
        (ImageUsage(model="pencil", resolution="2K"), {"resolution": "2K"}, "100"),
    ],
)  # fmt: skip
def test_images(drawn: PriceBook, typed: ImageUsage | EditUsage, left_out: dict[str, Any], total: str) -> None:
    mapping = {"type": typed.type, "model": typed.model, **left_out}
    assert drawn.rate(typed) == drawn.rate(mapping)
    assert drawn.rate(typed).total == Decimal(total)


@pytest.mark.parametrize(
    ("typed", "mapping", "total"),
    [
        (TextUsage(model="claude-opus-4-6", usage=TokenUsage(prompt_tokens=100, completion_tokens=10)),
         {"type": "text", "model": "claude-opus-4-6", "usage": TEXT}, "0.0009"),  # 100 x 6/M + 10 x 30/M
        (EmbeddingUsage(model="text-embedding-bge-m3", usage=TokenUsage(prompt_tokens=1_000_000)),
         {"type": "embedding", "model": "text-embedding-bge-m3", "usage": {"prompt_tokens": 1_000_000}}, "0.15"),
        (UpscaleUsage(model="upscaler", factor="2x"), {"type": "upscale", "model": "upscaler", "factor": "2x"}, "0.02"),
        (SpeechUsage(model="tts-kokoro", characters=1_000_000),
         {"type": "speech", "model": "tts-kokoro", "characters": 1_000_000}, "3.5"),
        (TranscriptionUsage(model="openai/whisper-large-v3", seconds=Decimal(10)),
         {"type": "transcription", "model": "openai/whisper-large-v3", "seconds": 10}, "0.001"),
        (MusicUsage(model="elevenlabs-music"), {"type": "music", "model": "elevenlabs-music"}, "0.69"),
        (RpcUsage.model_validate({"network": "ethereum-mainnet", "calls": [{"method": "eth_call"}]}),
         {"type": "rpc", "network": "ethereum-mainnet", "calls": [{"method": "eth_call"}]}, "0.0000125"),
        (VideoUsage(model="kling-o3-pro-text-to-video", duration="5s"),
         {"type": "video", "model": "kling-o3-pro-text-to-video", "duration": "5s"}, "0.77"),
    ],
    ids=lambda part: type(part).__name__,
)  # fmt: skip
def test_every_other_type(prices: PriceBook, typed: AnyUsage, mapping: dict[str, Any], total: str) -> None:
    assert prices.rate(typed) == prices.rate(mapping)
    assert prices.rate(typed).total == Decimal(total)


@pytest.mark.parametrize("wrong", [2.5, "x", "5", True, None, [5], {}, Decimal("0.5"), float("nan"), float("inf"), -1])
def test_four_counts_of_one_wrong_class(prices: PriceBook, wrong: Any) -> None:
    """A quick look at the classes must not take counts that are all of the same wrong one."""
    details = {"cached_tokens": wrong, "cache_creation_input_tokens": wrong}
    usage = {"prompt_tokens": wrong, "completion_tokens": wrong, "prompt_tokens_details": details}
    with pytest.raises(QuoteError) as caught:
        prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": usage})
    assert caught.value.error == "Invalid request body"
    assert {path[:2] for path, _ in caught.value.problems} >= {
        ("usage", "prompt_tokens"),
        ("usage", "completion_tokens"),
    }


@pytest.mark.parametrize("wrong", [2.0, Decimal(2)])
def test_four_whole_numbers_of_another_class_are_the_numbers(prices: PriceBook, wrong: Any) -> None:
    details = {"cached_tokens": wrong / 2, "cache_creation_input_tokens": wrong / 2}
    usage = {"prompt_tokens": wrong * 5, "completion_tokens": wrong, "prompt_tokens_details": details}
    quote = prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": usage})
    # 8 x 6/M + 1 x 0.6/M + 1 x 7.5/M + 2 x 30/M
    assert quote.total == Decimal("0.0001161")
    assert quote.tokens == (10, 2)
    assert all(type(count) is int for count in quote.tokens)
