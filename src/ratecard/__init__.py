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
from warnings import warn

if TYPE_CHECKING:
    from ratecard.base.errors import InstantError as InstantError
    from ratecard.base.errors import QuoteError as QuoteError
    from ratecard.base.errors import RateCardError as RateCardError
    from ratecard.base.errors import TableError as TableError
    from ratecard.card import RateCard as RateCard
    from ratecard.card import load_rate_card as load_rate_card
    from ratecard.line_items.quote import Estimate as Estimate
    from ratecard.line_items.quote import LineItem as LineItem
    from ratecard.line_items.quote import Quote as Quote
    from ratecard.line_items.source_video import SourceVideo as SourceVideo
    from ratecard.price_book import PriceBook as PriceBook
    from ratecard.requests.usage import EditUsage as EditUsage
    from ratecard.requests.usage import EmbeddingUsage as EmbeddingUsage
    from ratecard.requests.usage import ImageUsage as ImageUsage
    from ratecard.requests.usage import MusicUsage as MusicUsage
    from ratecard.requests.usage import RpcUsage as RpcUsage
    from ratecard.requests.usage import SpeechUsage as SpeechUsage
    from ratecard.requests.usage import TextUsage as TextUsage
    from ratecard.requests.usage import TokenUsage as TokenUsage
    from ratecard.requests.usage import TranscriptionUsage as TranscriptionUsage
    from ratecard.requests.usage import UpscaleUsage as UpscaleUsage
    from ratecard.requests.usage import VideoUsage as VideoUsage
    from ratecard.requests.usage_from import usage_from as usage_from
    from ratecard.simulation.rollup import rollup as rollup
    from ratecard.simulation.simulate import simulate as simulate

# The public names by their module. It is loaded at the first use of a name, so that a program loads only what it uses.
_NAMES_OF = {
    "base.errors": ("InstantError", "QuoteError", "RateCardError", "TableError"),
    "card": ("RateCard", "load_rate_card"),
    "line_items.quote": ("Estimate", "LineItem", "Quote"),
    "line_items.source_video": ("SourceVideo",),
    "price_book": ("PriceBook",),
    "requests.usage": (
        *("EditUsage", "EmbeddingUsage", "ImageUsage", "MusicUsage", "RpcUsage", "SpeechUsage"),
        *("TextUsage", "TokenUsage", "TranscriptionUsage", "UpscaleUsage", "VideoUsage"),
    ),
    "requests.usage_from": ("usage_from",),
    "simulation.rollup": ("rollup",),
    "simulation.simulate": ("simulate",),
}
# The new places of names that were here before, and still work here for one release.
_MOVED = {
    "accounts": (
        *("Amounts", "ApiKey", "ApiKeyList", "BalanceError", "ConsumptionLimits", "CurrencyError", "KeyUsage"),
        *("TopUpError", "check_top_up", "current_period_usage", "daily_allowance", "next_refresh", "period_end"),
        *("period_start", "settle", "trailing_seven_days", "within_limits"),
    ),
    "ledger": ("LedgerError", "ledger_csv", "ledger_json", "read_ledger"),
    "limits": (
        *("Block", "Limit", "LimitError", "Sunset", "VideoLimit"),
        *("failed_request_block", "limits_for", "rate_limit_headers", "sunset"),
    ),
    "line_items": ("InferenceDetails", "LedgerEntry", "LineRate", "PricedVersion"),
    "load": ("Fault",),
    "review.market": ("compare_models",),
}
_HOME_OF = {name: home for home, names in _NAMES_OF.items() for name in names}
_PLACE_OF = {name: place for place, names in _MOVED.items() for name in names}
# `from ratecard import *` must work without the extra.
__all__ = sorted(_HOME_OF)
if not (find_spec("duckdb") and find_spec("pyarrow")):
    __all__ = [name for name in __all__ if name not in ("rollup", "simulate")]


def __getattr__(name: str) -> Any:
    """Load a name of `__all__`, or a package like `ratecard.server`, at its first use.

    Raises an `ImportError` that names the extra to install. Warns of a name that has another place now.
    """
    if name in _PLACE_OF:
        place = f"ratecard.{_PLACE_OF[name]}"
        words = f"ratecard.{name} is now {place}.{name}; the next release does not know it as ratecard.{name}"
        warn(words, DeprecationWarning, stacklevel=2)
        return getattr(import_module(place), name)
    module = _HOME_OF.get(name)
    if module is None:
        if name.startswith("_") or not name.isidentifier() or find_spec(f"ratecard.{name}") is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"ratecard.{name}")
    try:
        value = getattr(import_module(f"ratecard.{module}"), name)
    except ModuleNotFoundError as error:
        if module.partition(".")[0] != "simulation":
            raise
        from ratecard.base.errors import missing_extra

        raise missing_extra("simulate", error) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
