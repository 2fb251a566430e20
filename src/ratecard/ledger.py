"""Ledger rows written as JSON pages or CSV, and read back without losing a digit."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from ratecard.rating.ledger_entry import InferenceDetails, LedgerEntry
from ratecard.words.errors import RateCardError
from ratecard.words.money import READING, text

COLUMNS = (
    "timestamp",
    "sku",
    "pricePerUnitUsd",
    "unit",
    "amount",
    "currency",
    "notes",
    "requestId",
    "inferenceExecutionTime",
    "promptTokens",
    "completionTokens",
)
_DETAILS = COLUMNS[7:]
_NUMBERS = ("pricePerUnitUsd", "unit", "amount")


class LedgerError(RateCardError):
    """A ledger that cannot be read: which row, which field, and what is allowed."""


def ledger_json(entries: Iterable[LedgerEntry], next_cursor: str | None = None) -> str:
    """One page, `{"data": [...], "nextCursor": ...}`; numbers with all their digits, never through a float."""
    page = {"data": [entry.to_dict() for entry in entries], "nextCursor": next_cursor}
    return _json(page)


def ledger_csv(entries: Iterable[LedgerEntry]) -> str:
    """A heading and one line a row; what a row does not have is empty."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for entry in entries:
        row = entry.to_dict()
        flat = row | (row.pop("inferenceDetails") or {})
        writer.writerow({name: text(value) if isinstance(value, Decimal) else value for name, value in flat.items()})
    return out.getvalue()


def read_ledger(content: str | bytes) -> tuple[LedgerEntry, ...]:
    """The rows of a JSON page, a JSON list, or a CSV; the count may be called `unit` or `units`.

    Raises `LedgerError` with the row and the field.
    """
    given = content.decode("utf-8-sig") if isinstance(content, bytes) else content
    if given.lstrip()[:1] in ("{", "["):
        try:
            page = json.loads(given, parse_float=READING.create_decimal, parse_int=READING.create_decimal)
        except json.JSONDecodeError as error:
            raise LedgerError(f"line {error.lineno}: not JSON: {error.msg}") from None
        rows = page.get("data") if isinstance(page, dict) else page
        if not isinstance(rows, list):
            raise LedgerError('the page has no list "data"')
        return tuple(_entry(number, row, row.get("inferenceDetails")) for number, row in enumerate(map(_row, rows), 1))
    return tuple(
        _entry(number, row, {name: row[name] for name in _DETAILS if row.get(name)} or None)
        for number, row in enumerate(csv.DictReader(io.StringIO(given, newline="")), 1)
    )


def _row(row: object) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise LedgerError(f"a row is no object: {str(row)[:80]}")
    return row


def _entry(number: int, row: Mapping[str, Any], details: Mapping[str, Any] | None) -> LedgerEntry:
    given = dict(row)
    if "units" in given:
        given.setdefault("unit", given["units"])
    missing = [name for name in COLUMNS[:6] if given.get(name) in (None, "")]
    if missing:
        raise LedgerError(f"row {number}: {missing[0]} is missing")
    price, unit, amount = (_decimal(number, name, given[name]) for name in _NUMBERS)
    return LedgerEntry(
        str(given["timestamp"]),
        str(given["sku"]),
        price,
        unit,
        amount,
        str(given["currency"]),
        str(given.get("notes") or ""),
        _details(number, details) if details else None,
    )


def _details(number: int, details: Mapping[str, Any]) -> InferenceDetails:
    counts = (
        None if details.get(name) in (None, "") else int(_decimal(number, name, details[name])) for name in _DETAILS[1:]
    )
    return InferenceDetails(str(details.get("requestId") or ""), *counts)


def _decimal(number: int, name: str, given: object) -> Decimal:
    value = READING.create_decimal(given) if isinstance(given, (str, Decimal)) else READING.create_decimal("NaN")
    if not value.is_finite():
        raise LedgerError(f"row {number}: {name} {given!r} is not a number")
    return value


def _json(value: object) -> str:
    """JSON whose decimals keep their digits, which the standard encoder would refuse."""
    if isinstance(value, Decimal):
        return text(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(key)}:{_json(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
