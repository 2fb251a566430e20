"""A ledger entry as a row of the database, and back; and where two charges for one request differ."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row

from ratecard.ledger.walk import timestamp_of
from ratecard.ledger.writing import PRICES
from ratecard.rating.ledger_entry import InferenceDetails, LedgerEntry

# When it was and how long it took belong to the attempt, not to the charge: a retry may say otherwise.
_CHARGED = ("sku", "currency", *PRICES, "unit", "amount", "notes", "requestId", "promptTokens", "completionTokens")


def row_of(account: str, number: int, instant: int, entry: LedgerEntry) -> dict[str, Any]:
    """The columns of an entry that has details, as every entry of a quote."""
    details = entry.details or InferenceDetails("", None)
    return {
        "account": account,
        "number": number,
        "instant": instant,
        **{name: getattr(entry, name) for name in ("sku", "price_per_unit", "unit", "amount", "currency", "notes")},
        **asdict(details),
    }


def entry_of(row: Row[Any]) -> LedgerEntry:
    """The entry of a row, its timestamp in UTC."""
    details = InferenceDetails(row.request_id, row.execution_ms, row.prompt_tokens, row.completion_tokens)
    return LedgerEntry(
        timestamp_of(row.instant),
        row.sku,
        row.price_per_unit,
        row.unit,
        row.amount,
        row.currency,
        row.notes,
        details,
    )


def difference(kept: Sequence[LedgerEntry], given: Sequence[LedgerEntry]) -> str:
    """What two charges for one request do not agree on; empty where they are the same."""
    if len(kept) != len(given):
        return f"it has {len(kept)} rows, not {len(given)}"
    for place, pair in enumerate(zip(kept, given, strict=True), 1):
        before, now = (entry.to_dict() | (entry.details.to_dict() if entry.details else {}) for entry in pair)
        for name in _CHARGED:
            if before.get(name) != now.get(name):
                return f"{name} of row {place} is {before.get(name)}, not {now.get(name)}"
    return ""
