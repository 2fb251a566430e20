"""One row of the billing ledger, in the shape of the API's usage history."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ratecard.words.currency import in_usd


@dataclass(frozen=True, slots=True)
class InferenceDetails:
    """Which request a row belongs to; tokens are those of language models only."""

    request_id: str
    execution_ms: int | None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The details as the API spells them."""
        found = {
            "requestId": self.request_id,
            "inferenceExecutionTime": self.execution_ms,
            "promptTokens": self.prompt_tokens,
            "completionTokens": self.completion_tokens,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A charge of one currency: `amount` is negative, and is what `unit` x `price_per_unit` comes to in `currency`.

    The price is in US dollars where `currency` is USD or a balance (DIEM, BUNDLED_CREDITS), else in `currency`. Of a
    charge that more than one balance pays, each part is a row of the same SKU and price: the first has all units, the
    others 0, and only all of them together come to `unit` x `price_per_unit`.
    """

    timestamp: str
    sku: str
    price_per_unit: Decimal
    unit: Decimal
    amount: Decimal
    currency: str
    notes: str
    details: InferenceDetails | None

    @property
    def price_per_unit_usd(self) -> Decimal | None:
        """The price in US dollars; None where the row is in another currency."""
        return self.price_per_unit if in_usd(self.currency) else None

    def to_dict(self) -> dict[str, Any]:
        """The row as the API spells it, `pricePerUnit` where it is not in US dollars; numbers stay exact decimals."""
        return {
            "timestamp": self.timestamp,
            "sku": self.sku,
            price_field(self.currency): self.price_per_unit,
            "unit": self.unit,
            "amount": self.amount,
            "currency": self.currency,
            "notes": self.notes,
            "inferenceDetails": self.details.to_dict() if self.details else None,
        }


def price_field(currency: str) -> str:
    """What the price of a row in a currency is called.

    >>> price_field("DIEM"), price_field("EUR")
    ('pricePerUnitUsd', 'pricePerUnit')
    """
    return "pricePerUnitUsd" if in_usd(currency) else "pricePerUnit"
