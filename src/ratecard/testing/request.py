"""A request of any type, and its price."""

from typing import Any, NamedTuple

from ratecard.base.json_text import compact_json, spaced
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.price_book import PriceBook


class Request(NamedTuple):
    """The body of a video quote, with its source video if known; or a metered usage."""

    body: dict[str, Any]
    source: SourceVideo | None = None

    def with_fields(self, **changed: Any) -> "Request":
        """Return the same request with other values of some fields."""
        return self._replace(body={**self.body, **changed})

    def without(self, name: str) -> "Request":
        """Return the same request with one field left out."""
        return self._replace(body={key: value for key, value in self.body.items() if key != name})

    def price(self, prices: PriceBook, form: Any = None) -> Quote:
        """Quote it; `form` is another way to write its body. Raises `QuoteError`."""
        body = self.body if form is None else form
        return prices.rate(body) if "type" in self.body else prices.quote_video(body, source=self.source)

    def __str__(self) -> str:
        return json_text(self.body) + (f"\n  of {self.source}" if self.source else "")


def json_text(value: Any) -> str:
    """Write a request as JSON, with every digit of its decimals.

    >>> from decimal import Decimal
    >>> json_text({"seconds": Decimal("4.10"), "audio": True})
    '{"seconds": 4.10, "audio": true}'
    """
    return spaced(compact_json(value).decode(), 0)
