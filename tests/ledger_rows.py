"""Usages of every type, the rows of their quotes, and a strategy for any rows."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from ratecard import PriceBook, Quote
from ratecard.line_items import InferenceDetails, LedgerEntry

WHEN = datetime(2026, 9, 29, 12, 30, 1, 250_000, tzinfo=UTC)
TOKENS = {"prompt_tokens": 5_500, "completion_tokens": 700, "prompt_tokens_details": {"cached_tokens": 5_000}}
USAGES: tuple[dict[str, Any], ...] = (
    {"type": "text", "model": "claude-opus-4-6", "usage": TOKENS, "web_search_requests": 2},
    {"type": "text", "model": "grok-4-3", "usage": TOKENS | {"prompt_tokens": 250_000}},
    {"type": "embedding", "model": "text-embedding-bge-m3", "usage": {"prompt_tokens": 77}},
    {"type": "image", "model": "gpt-image-2", "n": 3},
    {"type": "edit", "model": "flux-2-max-edit", "input_images": 3},
    {"type": "upscale", "model": "upscaler", "factor": "4x"},
    {"type": "speech", "model": "tts-kokoro", "characters": 1},
    {"type": "transcription", "model": "openai/whisper-large-v3", "seconds": 0.125},
    {"type": "music", "model": "elevenlabs-music", "duration_seconds": 61},
    {
        "type": "rpc",
        "network": "base-mainnet",
        "calls": [{"method": "eth_call"}, {"method": "eth_call", "failed": True}],
    },
    {"type": "video", "model": "grok-imagine-1-5-image-to-video-private", "duration": "5s", "resolution": "720p"},
    {
        "type": "video",
        "model": "seedance-2-5-reference-to-video-basic",
        "duration": "5s",
        "resolution": "1080p",
        "aspect_ratio": "16:9",
        "reference_video_total_duration": 7.5,
    },
)


def rows_of(quote: Quote, **more: Any) -> tuple[LedgerEntry, ...]:
    return quote.ledger_entries(timestamp=WHEN, request_id="chatcmpl-1", **more)


def all_rows(prices: PriceBook) -> list[LedgerEntry]:
    return [row for usage in USAGES for row in rows_of(prices.rate(usage), execution_ms=5)]


_TEXTS = st.text(min_size=1)
_NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20)
_COUNTS = st.none() | st.integers(0, 10**18)
_DETAILS = st.builds(InferenceDetails, _TEXTS, _COUNTS, _COUNTS, _COUNTS)
_CURRENCIES = st.sampled_from(["USD", "DIEM", "BUNDLED_CREDITS", "EUR", "JPY"])
_TIMESTAMPS = st.datetimes(timezones=st.sampled_from((None, UTC))).map(datetime.isoformat)
ROWS = st.builds(
    LedgerEntry, _TIMESTAMPS, _TEXTS, _NUMBERS, _NUMBERS, _NUMBERS, _CURRENCIES, st.text(), st.none() | _DETAILS
)
