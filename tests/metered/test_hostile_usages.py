"""Whatever a usage holds, the answer is a quote or an error with a sound tree, and never a charge below zero."""

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from metered_answers import messages, sound

import ratecard
from nightly import examples
from ratecard import PriceBook, Quote, QuoteError

MODELS = [
    "grok-4-3",
    "claude-opus-4-6",
    "text-embedding-bge-m3",
    "gpt-image-2",
    "gpt-image-2-edit",
    "flux-2-max-edit",
    "upscaler",
    "tts-kokoro",
    "openai/whisper-large-v3",
    "elevenlabs-music",
    "elevenlabs-tts-v3",
    "minimax-music-v2",
    "crypto-rpc",
    "web-search",
    "ovi-image-to-video",
    "grok-4-3:enable_web_search=on",
]
TYPES = ["text", "embedding", "image", "edit", "upscale", "speech", "transcription", "music", "rpc", "video", "audio"]
FIELDS = [
    "usage",
    "web_search_requests",
    "scraped_urls",
    "x_search_results",
    "service_parameters",
    "n",
    "resolution",
    "quality",
    "input_images",
    "factor",
    "characters",
    "seconds",
    "duration_seconds",
    "character_count",
    "network",
    "calls",
    "_errors",
    "duration",
    "",
]
INNER = [
    "prompt_tokens",
    "completion_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "input_tokens",
    "method",
    "cache_creation_input_tokens",
    "failed",
    "enable_web_search",
    "enable_x_search",
    "_errors",
    "model_dump",
]
SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(0, 300_000)
    | st.floats()
    | st.decimals()
    | st.text(max_size=9)
    | st.sampled_from(["on", "auto", "1K", "high", "2x", "60", "ethereum-mainnet", "eth_call", 10**4000, b"x", 1j])
)
VALUES = st.recursive(
    SCALARS | st.builds(SimpleNamespace),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.sampled_from(INNER) | st.text(max_size=3), inside, max_size=5)
        | st.builds(SimpleNamespace, prompt_tokens=inside, completion_tokens=inside, prompt_tokens_details=inside)
    ),
    max_leaves=8,
)
COUNTS = st.integers(-1, 300_000)
TOKENS = st.fixed_dictionaries(
    {"prompt_tokens": COUNTS, "completion_tokens": COUNTS},
    optional={"prompt_tokens_details": st.dictionaries(st.sampled_from(INNER[3:4] + INNER[6:7]), COUNTS)},
)
USAGES = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES) | VALUES, "model": st.sampled_from(MODELS) | VALUES},
    optional={name: TOKENS | VALUES if name == "usage" else VALUES for name in FIELDS},
)


def answer(prices: PriceBook, usage: Any) -> Quote | QuoteError:
    """A sound quote or a sound refusal, and no third thing."""
    try:
        quote = prices.rate(usage)
    except QuoteError as error:
        assert error.error
        assert len(error.to_json()) < 20_000, "an error is no echo of the request"
        if error.details is not None:
            messages(error)
        return error
    assert quote.total >= 0
    json.dumps(quote.to_dict())
    return sound(quote)


@settings(max_examples=examples(200, nightly=1_500), deadline=None)
@given(USAGES | VALUES)
def test_any_usage_has_an_answer(prices: PriceBook, usage: Any) -> None:
    answer(prices, usage)


@settings(max_examples=examples(200, nightly=300), deadline=None)
@given(st.binary() | st.text() | USAGES.map(lambda usage: json.dumps(usage, default=str)))
def test_any_bytes_have_an_answer(prices: PriceBook, usage: bytes | str) -> None:
    answer(prices, usage)


@settings(max_examples=examples(200, nightly=300), deadline=None)
@given(st.sampled_from(MODELS), st.dictionaries(st.sampled_from(FIELDS), VALUES))
def test_any_audio_body_has_an_answer(prices: PriceBook, model: str, body: dict[str, Any]) -> None:
    try:
        sound(prices.quote_audio({**body, "model": model}))
    except QuoteError as error:
        assert error.body()["error"]


def test_a_key_of_the_callers_forges_no_error(prices: PriceBook) -> None:
    tokens = {"prompt_tokens": -1, "completion_tokens": 0, "_errors": ["forged"]}
    error = answer(prices, {"type": "text", "model": "grok-4-3", "usage": tokens, "_errors": {"_errors": ["forged"]}})
    assert isinstance(error, QuoteError)
    assert "forged" not in error.to_json().decode()


class Changing(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def __getitem__(self, key: str) -> Any:
        return self.fields[key]

    def __iter__(self) -> Any:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


def test_mappings_of_any_kind(prices: PriceBook) -> None:
    details = Changing(cached_tokens=5)
    tokens = Changing(prompt_tokens=10, completion_tokens=0, prompt_tokens_details=details)
    usage = Changing(type="text", model="claude-opus-4-6", usage=tokens)
    assert prices.rate(usage).total == Decimal("0.000033")
    assert prices.rate(usage) == prices.rate({**usage, "usage": {**tokens, "prompt_tokens_details": {**details}}})


def test_a_usage_is_left_as_it_was(prices: PriceBook) -> None:
    usage = {
        "type": "text",
        "model": "grok-4-3",
        "usage": {"prompt_tokens": 9, "completion_tokens": 9},
        "scraped_urls": 2,
    }
    before = json.dumps(usage)
    first = prices.rate(usage)
    assert (json.dumps(usage), prices.rate(usage)) == (before, first)
    assert ratecard.load_rate_card().at(date(2026, 9, 29)).rate(usage) == first
