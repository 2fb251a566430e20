"""Exact, explained prices for an AI inference API, from YAML rate tables that finance can edit.

>>> from datetime import UTC, datetime
>>> prices = load_rate_card().at(datetime(2026, 10, 1, tzinfo=UTC))
>>> quote = prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})
>>> quote.total, quote.currency
(Decimal('0.77'), 'USD')
"""

from typing import TYPE_CHECKING, Any

from ratecard.account.keys import ApiKey, ApiKeyList, period_start, within_limits
from ratecard.account.limits import Limit, LimitError, Sunset
from ratecard.account.settle import BalanceError, daily_allowance, next_refresh, settle
from ratecard.account.shipped import limits_for, sunset
from ratecard.card import RateCard, load_rate_card
from ratecard.ledger import LedgerError, ledger_csv, ledger_json, read_ledger
from ratecard.price_book import PriceBook
from ratecard.pricing.text import Estimate
from ratecard.rating.ledger_entry import InferenceDetails, LedgerEntry
from ratecard.rating.line_item import LineItem
from ratecard.rating.quote import Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.usage import (
    EditUsage,
    EmbeddingUsage,
    ImageUsage,
    MusicUsage,
    RpcUsage,
    SpeechUsage,
    TextUsage,
    TokenUsage,
    TranscriptionUsage,
    UpscaleUsage,
    VideoUsage,
)
from ratecard.words.errors import CurrencyError, Fault, InstantError, QuoteError, RateCardError, TableError

if TYPE_CHECKING:
    from ratecard.simulation.simulate import simulate as simulate

__all__ = [
    "ApiKey",
    "ApiKeyList",
    "BalanceError",
    "CurrencyError",
    "EditUsage",
    "EmbeddingUsage",
    "Estimate",
    "Fault",
    "ImageUsage",
    "InferenceDetails",
    "InstantError",
    "LedgerEntry",
    "LedgerError",
    "Limit",
    "LimitError",
    "LineItem",
    "MusicUsage",
    "PriceBook",
    "Quote",
    "QuoteError",
    "RateCard",
    "RateCardError",
    "RpcUsage",
    "SourceVideo",
    "SpeechUsage",
    "Sunset",
    "TableError",
    "TextUsage",
    "TokenUsage",
    "TranscriptionUsage",
    "UpscaleUsage",
    "VideoUsage",
    "daily_allowance",
    "ledger_csv",
    "ledger_json",
    "limits_for",
    "load_rate_card",
    "next_refresh",
    "period_start",
    "read_ledger",
    "settle",
    "sunset",
    "within_limits",
]


def __getattr__(name: str) -> Any:
    """`simulate`, loaded with its engine when it is asked for: `pip install 'ratecard[simulate]'`."""
    if name != "simulate":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ratecard.simulation.failure import missing_extra

    try:
        from ratecard.simulation.simulate import simulate
    except ModuleNotFoundError as error:
        raise missing_extra("simulate", error) from None
    return simulate
