"""A quote: what the rates say about one request."""

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.rating.ledger_entry import CURRENCIES, InferenceDetails, LedgerEntry
from ratecard.rating.line_item import LineItem
from ratecard.words.errors import InstantError
from ratecard.words.money import minus, plain, text


class Quote(NamedTuple):
    """The price of one request, with the lines that add up to it.

    `exact` is the exact sum of the lines' amounts; `total` is `exact` rounded once, as the table says. `effective` is
    the date of the version that priced it, `digest` names the tables, `ignored` the valid fields without effect;
    `tokens` are those of prompt and completion, for language models only.
    """

    model: str
    total: Decimal
    exact: Decimal
    currency: str
    lines: tuple[LineItem, ...]
    effective: date
    digest: str
    ignored: tuple[str, ...] = ()
    type: str = "video"
    tokens: tuple[int, int] | None = None

    def to_json(self) -> bytes:
        """What HTTP answers: `{"quote":0.95}`, exact digits, never through a float."""
        if self.type == "video":  # rounded: its digits are those of the table's precision
            return f'{{"quote":{self.total!s}}}'.encode()
        return f'{{"quote":{text(plain(self.total))}}}'.encode()

    def to_dict(self) -> dict[str, Any]:
        """Everything, amounts as text: for records and explanations."""
        return {
            "type": self.type,
            "model": self.model,
            "total": text(self.total if self.type == "video" else plain(self.total)),
            "exact": text(plain(self.exact)),
            "currency": self.currency,
            "lines": [line.to_dict() for line in self.lines],
            "effective": self.effective.isoformat(),
            "digest": self.digest,
            "ignored": list(self.ignored),
        }

    def ledger_entries(
        self, *, timestamp: datetime, request_id: str, execution_ms: int | None = None, currency: str = "USD"
    ) -> tuple[LedgerEntry, ...]:
        """The ledger rows of this charge: a video clip is one row at its rounded total, anything else a row a line.

        Amounts are negative and sum exactly to minus `total`. Raises `InstantError` for a naive timestamp.
        """
        if timestamp.utcoffset() is None:
            raise InstantError(f"{timestamp!r} has no time zone. Write an aware one, like datetime(..., tzinfo=UTC)")
        if currency not in CURRENCIES:
            raise ValueError(f"currency={currency!r}. Allowed: {', '.join(CURRENCIES)}")
        details = InferenceDetails(request_id, execution_ms, *(self.tokens or (None, None)))
        rows = [(line.sku, line.unit_rate, line.quantity, line.amount) for line in self.lines]
        if self.type == "video":
            rows = [(self.lines[0].sku, self.total, Decimal(1), self.total)]
        when = timestamp.isoformat()
        return tuple(
            LedgerEntry(when, sku, plain(rate), plain(unit), plain(minus(amount)), currency, self.model, details)
            for sku, rate, unit, amount in rows
        )

    def explain(self) -> str:
        """Everything as JSON text, for a log or a terminal."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
