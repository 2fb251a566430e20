"""Exact, explained prices for an AI inference API, from YAML rate tables that finance can edit.

>>> from datetime import UTC, datetime
>>> prices = load_rate_card().at(datetime(2026, 10, 1, tzinfo=UTC))
>>> quote = prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})
>>> quote.total, quote.currency
(Decimal('0.77'), 'USD')
"""

from ratecard.card import RateCard, load_rate_card
from ratecard.price_book import PriceBook
from ratecard.rating.line_item import LineItem
from ratecard.rating.quote import Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.words.errors import Fault, InstantError, QuoteError, RateCardError, TableError

__all__ = [
    "Fault",
    "InstantError",
    "LineItem",
    "PriceBook",
    "Quote",
    "QuoteError",
    "RateCard",
    "RateCardError",
    "SourceVideo",
    "TableError",
    "load_rate_card",
]
