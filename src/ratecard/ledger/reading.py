"""Ledger rows read back from JSON pages or CSV, to the digit."""

import io
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from ratecard.ledger.csv_rows import REQUIRED, csv_rows
from ratecard.ledger.errors import LedgerError
from ratecard.ledger.json_rows import json_rows
from ratecard.ledger.writing import DETAILS, PRICES
from ratecard.rating.ledger_entry import InferenceDetails, LedgerEntry, price_field
from ratecard.tables.limits import Rates
from ratecard.words.currency import unknown_currency
from ratecard.words.money import READING
from ratecard.words.wording import echo

_TEXTS = ("timestamp", "sku", "currency", "notes")
# A number with an exponent beyond this is none, but a way to fill the memory when it is written out.
_DIGITS = 400
_ECHO = 80


def read_ledger(content: str | bytes, *, rates: Rates | None = None) -> tuple[LedgerEntry, ...]:
    """The rows of JSON pages, a JSON list, or a CSV; the count may be called `unit` or `units`.

    The price of a row in USD or paid from a balance is `pricePerUnitUsd`; of any other currency (ISO 4217) it is
    `pricePerUnit`. Rows in VCU are read where `rates`, those of a price book's limits, say what one is worth. Raises
    `LedgerError` with the row and the field, for a row with the price of another currency too.
    """
    if isinstance(content, bytes):
        return tuple(_decoded(io.BytesIO(content), rates))
    return tuple(_entries(io.StringIO(content.removeprefix("\ufeff"), newline=""), rates))


def iter_ledger(path: str | Path, *, rates: Rates | None = None) -> Iterator[LedgerEntry]:
    """The rows of a file as `read_ledger` takes it, one at a time: a file of any size.

    Raises `LedgerError` with the file, the row and the field; the rows before it were sound.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "export.csv")
    ...     lines = ["timestamp,sku,pricePerUnitUsd,unit,amount,currency", "2026-10-01T00:00:00Z,s,0.10,2,-0.20,USD"]
    ...     _ = file.write_text("\\n".join(lines))
    ...     [row.amount for row in iter_ledger(file)]
    [Decimal('-0.20')]
    """
    try:
        with Path(path).open("rb") as file:
            yield from _decoded(file, rates)
    except LedgerError as error:
        raise LedgerError(f"{path}: {error}") from None
    except OSError as error:
        raise LedgerError(f"{path}: {error.strerror or error}") from None


def _decoded(file: BinaryIO, rates: Rates | None) -> Iterator[LedgerEntry]:
    with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        try:
            yield from _entries(text, rates)
        except UnicodeDecodeError as error:
            raise LedgerError(f"byte {file.tell() - len(error.object) + error.start} is not UTF-8") from None


def _entries(file: TextIO, rates: Rates | None) -> Iterator[LedgerEntry]:
    first = file.read(1)
    while first.isspace():
        first = file.read(1)
    file.seek(0)
    rows = json_rows(file) if first in ("{", "[") else csv_rows(file)
    vcu = rates is not None and rates.VCU is not None
    for number, row in enumerate(rows, 1):
        yield _entry(number, row, vcu)


def _entry(number: int, row: Mapping[str, Any], vcu: bool) -> LedgerEntry:
    given = dict(row)
    if given.get("unit") in (None, ""):
        given["unit"] = given.get("units")
    currency = _text(number, "currency", given.get("currency"))
    own = price_field(currency) if currency else PRICES[0]
    missing = [name for name in (*REQUIRED[:2], own, *REQUIRED[3:]) if given.get(name) in (None, "")]
    other = next((name for name in PRICES if name != own and given.get(name) not in (None, "")), None)
    if currency and (reason := unknown_currency(currency, vcu=vcu)):
        raise LedgerError(f"row {number}: currency '{echo(currency[:_ECHO])}' {reason}")
    if other and currency:
        raise LedgerError(f"row {number}: {other} of a row in {currency}. Its price is {own}, and no other")
    if missing:
        raise LedgerError(f"row {number}: {missing[0]} is missing")
    price, unit, amount = (_decimal(number, name, given[name]) for name in (own, "unit", "amount"))
    if given.get("units") not in (None, "") and _decimal(number, "units", given["units"]) != unit:
        raise LedgerError(f"row {number}: units {str(given['units'])[:_ECHO]} is not what unit says. Keep one")
    timestamp, sku, _, notes = (_text(number, name, given.get(name)) for name in _TEXTS)
    details = given.get("inferenceDetails")
    return LedgerEntry(
        timestamp, sku, price, unit, amount, currency, notes, _details(number, details) if details else None
    )


def _details(number: int, details: object) -> InferenceDetails:
    if not isinstance(details, dict):
        raise LedgerError(f"row {number}: inferenceDetails is no object")
    request_id = _text(number, "requestId", details.get("requestId"))
    return InferenceDetails(request_id, *(_count(number, name, details.get(name)) for name in DETAILS[1:]))


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
