"""Exact, explained prices for an AI inference API, from YAML rate tables that finance can edit.

>>> from datetime import UTC, datetime
>>> prices = load_rate_card().at(datetime(2026, 10, 1, tzinfo=UTC))
>>> quote = prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})
>>> quote.total, quote.currency
(Decimal('0.77'), 'USD')
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ratecard.accounts.keys import Amounts, ApiKey, ApiKeyList, ConsumptionLimits, KeyUsage, within_limits
from ratecard.accounts.limits import Block, Limit, LimitError, Sunset, VideoLimit, failed_request_block
from ratecard.accounts.periods import next_refresh, period_end, period_start
from ratecard.accounts.rate_limit_headers import rate_limit_headers
from ratecard.accounts.settlement import BalanceError, TopUpError, check_top_up, daily_allowance, settle
from ratecard.accounts.usage import current_period_usage, trailing_seven_days
from ratecard.base.errors import CurrencyError, Fault, InstantError, QuoteError, RateCardError, TableError
from ratecard.card import RateCard, limits_for, load_rate_card, sunset
from ratecard.ledger import LedgerError, ledger_csv, ledger_json, read_ledger
from ratecard.price_book import PriceBook
from ratecard.pricing.estimate import Estimate
from ratecard.rating.ledger_entry import InferenceDetails, LedgerEntry
from ratecard.rating.quote import LineItem, LineRate, PricedVersion, Quote
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
from ratecard.requests.usage_from import usage_from

if TYPE_CHECKING:
    from ratecard.changes.market import compare_models as compare_models
    from ratecard.simulation.rollup import rollup as rollup
    from ratecard.simulation.simulate import simulate as simulate

__all__ = [
    "Amounts",
    "ApiKey",
    "ApiKeyList",
    "BalanceError",
    "Block",
    "ConsumptionLimits",
    "CurrencyError",
    "EditUsage",
    "EmbeddingUsage",
    "Estimate",
    "Fault",
    "ImageUsage",
    "InferenceDetails",
    "InstantError",
    "KeyUsage",
    "LedgerEntry",
    "LedgerError",
    "Limit",
    "LimitError",
    "LineItem",
    "LineRate",
    "MusicUsage",
    "PriceBook",
    "PricedVersion",
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
    "TopUpError",
    "TranscriptionUsage",
    "UpscaleUsage",
    "VideoLimit",
    "VideoUsage",
    "check_top_up",
    "compare_models",
    "current_period_usage",
    "daily_allowance",
    "failed_request_block",
    "ledger_csv",
    "ledger_json",
    "limits_for",
    "load_rate_card",
    "next_refresh",
    "period_end",
    "period_start",
    "rate_limit_headers",
    "read_ledger",
    "rollup",
    "settle",
    "simulate",
    "sunset",
    "trailing_seven_days",
    "usage_from",
    "within_limits",
]
# `from ratecard import *` must work without the extra.
if not (find_spec("duckdb") and find_spec("pyarrow")):
    __all__ = [name for name in __all__ if name not in ("rollup", "simulate")]

# Packages that are loaded on first use: their extras may not be installed.
_PACKAGES = ("history", "probe", "server", "testing")


def __getattr__(name: str) -> Any:
    """Load on first use: `compare_models`, `rollup`, `simulate`, and packages of the extras, like `ratecard.server`.

    Raises `ImportError` that names the extra to install.
    """
    if name in _PACKAGES:
        return import_module(f"ratecard.{name}")
    if name == "compare_models":
        from ratecard.changes.market import compare_models

        return compare_models
    if name not in ("rollup", "simulate"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ratecard.simulation.errors import missing_extra

    try:
        return getattr(import_module(f"ratecard.simulation.{name}"), name)
    except ModuleNotFoundError as error:
        raise missing_extra("simulate", error) from None
