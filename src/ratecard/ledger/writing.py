"""Ledger rows written as JSON pages or CSV."""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal

from ratecard.rating.ledger_entry import LedgerEntry
from ratecard.words.money import text

# The price of a row in US dollars or a balance, and that of a row in another currency: a row has one of them.
PRICES = ("pricePerUnitUsd", "pricePerUnit")
DETAILS = ("requestId", "inferenceExecutionTime", "promptTokens", "completionTokens")
COLUMNS = ("timestamp", "sku", "pricePerUnitUsd", "unit", "amount", "currency", "notes", *DETAILS)


def ledger_json(entries: Iterable[LedgerEntry], next_cursor: str | None = None) -> str:
    """One page, `{"data": [...], "nextCursor": ...}`; numbers with all their digits, never through a float."""
    page = {"data": [entry.to_dict() for entry in entries], "nextCursor": next_cursor}
    return _json(page)


def ledger_csv(entries: Iterable[LedgerEntry]) -> str:
    """A heading and one line a row; what a row does not have is empty.

    The price is in the column `pricePerUnitUsd`; rows that are not in US dollars have theirs in `pricePerUnit`.
    """
    rows = []
    for entry in entries:
        row = entry.to_dict()
        rows.append(row | (row.pop("inferenceDetails") or {}))
    prices = [name for name in PRICES if any(name in row for row in rows)] or PRICES[:1]
    columns = [each for name in COLUMNS for each in (prices if name in PRICES else (name,))]
    lines = [",".join(columns), *(",".join(_cell(row.get(name, "")) for name in columns) for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def _cell(value: Decimal | int | str) -> str:
    """As the standard library writes it, but for a carriage return: older Pythons leave it without quotes."""
    cell = text(value) if isinstance(value, Decimal) else str(value)
    return '"{}"'.format(cell.replace('"', '""')) if any(special in cell for special in ',"\r\n') else cell


def _json(value: object) -> str:
    """JSON whose decimals keep their digits, which the standard encoder would refuse."""
    if isinstance(value, Decimal):
        return text(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(key)}:{_json(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
