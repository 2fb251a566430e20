"""Ledger rows written as JSON pages or CSV."""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal

from ratecard.rating.ledger_entry import LedgerEntry
from ratecard.words.money import text

DETAILS = ("requestId", "inferenceExecutionTime", "promptTokens", "completionTokens")
COLUMNS = ("timestamp", "sku", "pricePerUnitUsd", "unit", "amount", "currency", "notes", *DETAILS)


def ledger_json(entries: Iterable[LedgerEntry], next_cursor: str | None = None) -> str:
    """One page, `{"data": [...], "nextCursor": ...}`; numbers with all their digits, never through a float."""
    page = {"data": [entry.to_dict() for entry in entries], "nextCursor": next_cursor}
    return _json(page)


def ledger_csv(entries: Iterable[LedgerEntry]) -> str:
    """A heading and one line a row; what a row does not have is empty."""
    lines = [",".join(COLUMNS)]
    for entry in entries:
        row = entry.to_dict()
        flat = row | (row.pop("inferenceDetails") or {})
        lines.append(",".join(_cell(flat.get(name, "")) for name in COLUMNS))
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
