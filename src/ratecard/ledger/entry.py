"""One row of the billing ledger, in the shape of the API's usage history."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.rating.quote import Quote
from ratecard.words.errors import InstantError
from ratecard.words.money import ROUNDING

CURRENCIES = ("USD", "DIEM", "BUNDLED_CREDITS")


class InferenceDetails(NamedTuple):
    """Which request a row belongs to; tokens are those of language models only."""

    request_id: str
    execution_ms: int | None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The details as the API spells them."""
        names = ("requestId", "inferenceExecutionTime", "promptTokens", "completionTokens")
        return {name: value for name, value in zip(names, self, strict=True) if value is not None}


class LedgerEntry(NamedTuple):
    """A charge: `amount` is negative, and is -(`unit` x `price_per_unit_usd`) up to the line places of its table."""

    timestamp: str
    sku: str
    price_per_unit_usd: Decimal
    unit: Decimal
    amount: Decimal
    currency: str
    notes: str
    details: InferenceDetails | None

    def to_dict(self) -> dict[str, Any]:
        """The row as the API spells it; numbers stay exact decimals."""
        return {
            "timestamp": self.timestamp,
            "sku": self.sku,
            "pricePerUnitUsd": self.price_per_unit_usd,
            "unit": self.unit,
            "amount": self.amount,
            "currency": self.currency,
            "notes": self.notes,
            "inferenceDetails": self.details.to_dict() if self.details else None,
        }


def ledger_entries(
    quote: Quote, *, timestamp: datetime, request_id: str, execution_ms: int | None = None, currency: str = "USD"
) -> tuple[LedgerEntry, ...]:
    """The rows of a charge: a video clip is one row at its rounded total, anything else one row a line, unrounded.

    The amounts sum exactly to minus the quote's total. Raises `InstantError` for a naive timestamp.
    """
    if timestamp.tzinfo is None:
        raise InstantError(f"{timestamp!r} has no time zone. Write an aware instant, like datetime(..., tzinfo=UTC)")
    if currency not in CURRENCIES:
        raise ValueError(f"currency={currency!r}. Allowed: {', '.join(CURRENCIES)}")
    details = InferenceDetails(request_id, execution_ms, *(quote.tokens or (None, None)))
    return tuple(
        LedgerEntry(timestamp.isoformat(), sku, rate, unit, ROUNDING.minus(amount), currency, quote.model, details)
        for sku, rate, unit, amount in _rows(quote)
    )


def _rows(quote: Quote) -> Iterator[tuple[str, Decimal, Decimal, Decimal]]:
    if quote.type == "video":
        yield quote.lines[0].sku, quote.total, Decimal(1), quote.total
    else:
        for line in quote.lines:
            yield line.sku, line.unit_rate, line.quantity, line.amount
