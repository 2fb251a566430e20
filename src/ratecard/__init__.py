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

if TYPE_CHECKING:
    from ratecard.accounts.keys import Amounts as Amounts
    from ratecard.accounts.keys import ApiKey as ApiKey
    from ratecard.accounts.keys import ApiKeyList as ApiKeyList
    from ratecard.accounts.keys import ConsumptionLimits as ConsumptionLimits
    from ratecard.accounts.keys import KeyUsage as KeyUsage
    from ratecard.accounts.keys import within_limits as within_limits
    from ratecard.accounts.limits import Block as Block
    from ratecard.accounts.limits import Limit as Limit
    from ratecard.accounts.limits import LimitError as LimitError
    from ratecard.accounts.limits import Sunset as Sunset
    from ratecard.accounts.limits import VideoLimit as VideoLimit
    from ratecard.accounts.limits import failed_request_block as failed_request_block
    from ratecard.accounts.periods import next_refresh as next_refresh
    from ratecard.accounts.periods import period_end as period_end
    from ratecard.accounts.periods import period_start as period_start
    from ratecard.accounts.rate_limit_headers import rate_limit_headers as rate_limit_headers
    from ratecard.accounts.settlement import BalanceError as BalanceError
    from ratecard.accounts.settlement import TopUpError as TopUpError
    from ratecard.accounts.settlement import check_top_up as check_top_up
    from ratecard.accounts.settlement import daily_allowance as daily_allowance
    from ratecard.accounts.settlement import settle as settle
    from ratecard.accounts.usage import current_period_usage as current_period_usage
    from ratecard.accounts.usage import trailing_seven_days as trailing_seven_days
    from ratecard.base.errors import CurrencyError as CurrencyError
    from ratecard.base.errors import Fault as Fault
    from ratecard.base.errors import InstantError as InstantError
    from ratecard.base.errors import QuoteError as QuoteError
    from ratecard.base.errors import RateCardError as RateCardError
    from ratecard.base.errors import TableError as TableError
    from ratecard.card import RateCard as RateCard
    from ratecard.card import limits_for as limits_for
    from ratecard.card import load_rate_card as load_rate_card
    from ratecard.card import sunset as sunset
    from ratecard.changes.market import compare_models as compare_models
    from ratecard.ledger import LedgerError as LedgerError
    from ratecard.ledger import ledger_csv as ledger_csv
    from ratecard.ledger import ledger_json as ledger_json
    from ratecard.ledger import read_ledger as read_ledger
    from ratecard.price_book import PriceBook as PriceBook
    from ratecard.rating.ledger_entry import InferenceDetails as InferenceDetails
    from ratecard.rating.ledger_entry import LedgerEntry as LedgerEntry
    from ratecard.rating.quote import Estimate as Estimate
    from ratecard.rating.quote import LineItem as LineItem
    from ratecard.rating.quote import LineRate as LineRate
    from ratecard.rating.quote import PricedVersion as PricedVersion
    from ratecard.rating.quote import Quote as Quote
    from ratecard.rating.source_video import SourceVideo as SourceVideo
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

# The module of every public name. It is loaded when the name is first asked for, so that a program loads what it uses.
_HOME_OF = {
    "Amounts": "accounts.keys",
    "ApiKey": "accounts.keys",
    "ApiKeyList": "accounts.keys",
    "BalanceError": "accounts.settlement",
    "Block": "accounts.limits",
    "ConsumptionLimits": "accounts.keys",
    "CurrencyError": "base.errors",
    "EditUsage": "requests.usage",
    "EmbeddingUsage": "requests.usage",
    "Estimate": "rating.quote",
    "Fault": "base.errors",
    "ImageUsage": "requests.usage",
    "InferenceDetails": "rating.ledger_entry",
    "InstantError": "base.errors",
    "KeyUsage": "accounts.keys",
    "LedgerEntry": "rating.ledger_entry",
    "LedgerError": "ledger",
    "Limit": "accounts.limits",
    "LimitError": "accounts.limits",
    "LineItem": "rating.quote",
    "LineRate": "rating.quote",
    "MusicUsage": "requests.usage",
    "PriceBook": "price_book",
    "PricedVersion": "rating.quote",
    "Quote": "rating.quote",
    "QuoteError": "base.errors",
    "RateCard": "card",
    "RateCardError": "base.errors",
    "RpcUsage": "requests.usage",
    "SourceVideo": "rating.source_video",
    "SpeechUsage": "requests.usage",
    "Sunset": "accounts.limits",
    "TableError": "base.errors",
    "TextUsage": "requests.usage",
    "TokenUsage": "requests.usage",
    "TopUpError": "accounts.settlement",
    "TranscriptionUsage": "requests.usage",
    "UpscaleUsage": "requests.usage",
    "VideoLimit": "accounts.limits",
    "VideoUsage": "requests.usage",
    "check_top_up": "accounts.settlement",
    "compare_models": "changes.market",
    "current_period_usage": "accounts.usage",
    "daily_allowance": "accounts.settlement",
    "failed_request_block": "accounts.limits",
    "ledger_csv": "ledger",
    "ledger_json": "ledger",
    "limits_for": "card",
    "load_rate_card": "card",
    "next_refresh": "accounts.periods",
    "period_end": "accounts.periods",
    "period_start": "accounts.periods",
    "rate_limit_headers": "accounts.rate_limit_headers",
    "read_ledger": "ledger",
    "rollup": "simulation.rollup",
    "settle": "accounts.settlement",
    "simulate": "simulation.simulate",
    "sunset": "card",
    "trailing_seven_days": "accounts.usage",
    "usage_from": "requests.usage_from",
    "within_limits": "accounts.keys",
}
# `from ratecard import *` must work without the extra.
__all__ = sorted(_HOME_OF)
if not (find_spec("duckdb") and find_spec("pyarrow")):
    __all__ = [name for name in __all__ if name not in ("rollup", "simulate")]


def __getattr__(name: str) -> Any:
    """Load a name of `__all__`, or a package like `ratecard.server`, when it is first asked for.

    Raises `ImportError` that names the extra to install.
    """
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
        from ratecard.simulation.errors import missing_extra

        raise missing_extra("simulate", error) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
