"""One row of the billing ledger, in the shape of the API's usage history."""

from decimal import Decimal
from typing import Any, NamedTuple

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
