"""Ledger rows written as JSON pages or CSV, and read back without losing a digit."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from ratecard.rating.ledger_entry import InferenceDetails, LedgerEntry
from ratecard.words.errors import RateCardError
from ratecard.words.money import READING, text
from ratecard.words.wording import type_word

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
_REQUIRED = COLUMNS[:6]
_DETAILS = COLUMNS[7:]
_NUMBERS = ("pricePerUnitUsd", "unit", "amount")
_TEXTS = ("timestamp", "sku", "currency", "notes")
# A number with an exponent beyond this is none, but a way to fill the memory when it is written out.
_DIGITS = 400
_ECHO = 80


class LedgerError(RateCardError):
    """A ledger that cannot be read: which row, which field, and what is allowed."""


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


def read_ledger(content: str | bytes) -> tuple[LedgerEntry, ...]:
    """The rows of a JSON page, a JSON list, or a CSV; the count may be called `unit` or `units`.

    Raises `LedgerError` with the row and the field.
    """
    try:
        given = content.decode("utf-8") if isinstance(content, bytes) else content
    except UnicodeDecodeError as error:
        raise LedgerError(f"byte {error.start} is not UTF-8") from None
    given = given.removeprefix("\ufeff")
    rows = _json_rows(given) if given.lstrip()[:1] in ("{", "[") else _csv_rows(given)
    return tuple(_entry(number, row) for number, row in enumerate(rows, 1))


def _json_rows(given: str) -> Iterator[Mapping[str, Any]]:
    try:
        page = json.loads(given, parse_float=READING.create_decimal, parse_int=READING.create_decimal)
    except json.JSONDecodeError as error:
        raise LedgerError(f"line {error.lineno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise LedgerError("not JSON: it is nested too deeply") from None
    rows = page.get("data") if isinstance(page, dict) else page
    if not isinstance(rows, list):
        raise LedgerError('the page has no list "data"')
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise LedgerError(f"row {number} must be an object, not {type_word(row)}")
        yield row


def _csv_rows(given: str) -> Iterator[Mapping[str, Any]]:
    reader = csv.DictReader(io.StringIO(given, newline=""))
    try:
        named = {"unit" if name == "units" else name for name in reader.fieldnames or ()}
        missing = [name for name in _REQUIRED if name not in named]
        if missing:
            raise LedgerError(f"the heading has no {', '.join(missing)}")
        for number, row in enumerate(reader, 1):
            if None in row:
                raise LedgerError(f"row {number} has more cells than the heading")
            yield row | {"inferenceDetails": {name: row[name] for name in _DETAILS if row.get(name)}}
    except csv.Error as error:
        raise LedgerError(f"after line {reader.line_num}: not CSV: {error}") from None


def _entry(number: int, row: Mapping[str, Any]) -> LedgerEntry:
    given = dict(row)
    if given.get("unit") in (None, ""):
        given["unit"] = given.get("units")
    missing = [name for name in _REQUIRED if given.get(name) in (None, "")]
    if missing:
        raise LedgerError(f"row {number}: {missing[0]} is missing")
    price, unit, amount = (_decimal(number, name, given[name]) for name in _NUMBERS)
    timestamp, sku, currency, notes = (_text(number, name, given.get(name)) for name in _TEXTS)
    details = given.get("inferenceDetails")
    return LedgerEntry(
        timestamp, sku, price, unit, amount, currency, notes, _details(number, details) if details else None
    )


def _details(number: int, details: object) -> InferenceDetails:
    if not isinstance(details, dict):
        raise LedgerError(f"row {number}: inferenceDetails is no object")
    request_id = _text(number, "requestId", details.get("requestId"))
    return InferenceDetails(request_id, *(_count(number, name, details.get(name)) for name in _DETAILS[1:]))


def _text(number: int, name: str, given: object) -> str:
    if given is not None and not isinstance(given, str):
        raise LedgerError(f"row {number}: {name} {str(given)[:_ECHO]} is not text")
    return given or ""


def _count(number: int, name: str, given: object) -> int | None:
    if given in (None, ""):
        return None
    value = _decimal(number, name, given)
    if value < 0 or value != value.to_integral_value():
        raise LedgerError(f"row {number}: {name} {str(given)[:_ECHO]} is not a whole number, zero or more")
    return int(value)


def _decimal(number: int, name: str, given: object) -> Decimal:
    value = READING.create_decimal(given) if isinstance(given, (str, Decimal)) else READING.create_decimal("NaN")
    if not value.is_finite() or not -_DIGITS <= value.adjusted() <= _DIGITS:
        raise LedgerError(f"row {number}: {name} {str(given)[:_ECHO]!r} is not a number")
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
