"""Ledger rows as JSON pages or CSV: written, and read again one at a time, with every digit.

JSON is read piece by piece by `JsonText`, so that a file of any size needs little memory. The streaming readers on PyPI
lose the line of an error, the second of two equal keys, or digits.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

from ratecard.base.csv_text import unfit_row
from ratecard.base.errors import InstantError, LedgerError
from ratecard.base.instants import instant_of_row
from ratecard.base.json_text import JsonError, compact_json, digits, distinct
from ratecard.base.messages import echo, field_name, type_word
from ratecard.base.money import READING, read_decimal, text
from ratecard.line_items.ledger_entry import InferenceDetails, LedgerEntry, price_field, unknown_currency
from ratecard.load.folder import shipped_limits
from ratecard.tables.limits import Rates

# The price field of rows in US dollars or paid from a balance, and of rows in another currency. A row has one of them.
PRICES = ("pricePerUnitUsd", "pricePerUnit")
# The object of a row of JSON that has its request, and its fields.
REQUEST_DETAILS = "inferenceDetails"
REQUEST = "requestId"
DETAIL_NAMES = (REQUEST, "inferenceExecutionTime", "promptTokens", "completionTokens")
COLUMNS = ("timestamp", "sku", "pricePerUnitUsd", "unit", "amount", "currency", "notes", *DETAIL_NAMES)
# The column of the contract, in files where some row has one.
CONTRACT = "contract"
_NO_LETTER = re.compile(r"[^a-z]")


@lru_cache(64)
def nearly_named(columns: tuple[str, ...], names: tuple[str, ...] = (REQUEST, CONTRACT)) -> Mapping[str, str]:
    """Return unread columns of an export, each with the name, of those that it lacks, that it nearly has.

    >>> nearly_named(("sku", "request_id", "customerId"), ("requestId", "customer"))
    {'request_id': 'requestId', 'customerId': 'customer'}
    >>> nearly_named(("sku", "inferenceDetails_requestId"))
    {'inferenceDetails_requestId': 'requestId'}
    """
    lacking = [name for name in names if name not in columns]
    details = REQUEST_DETAILS.lower()
    letters = {column: _NO_LETTER.sub("", column.lower()).removeprefix(details) for column in columns}
    return {column: name for column, word in letters.items() for name in lacking if word in (name.lower(), f"{name}id")}


def ledger_json(entries: Iterable[LedgerEntry], next_cursor: str | None = None) -> str:
    """Write rows as one page, `{"object": "list", "data": [...], "nextCursor": ...}`; numbers have all their digits."""
    rows = [
        {name: digits(part) if isinstance(part, Decimal) else part for name, part in entry.to_dict().items()}
        for entry in entries
    ]
    return compact_json({"object": "list", "data": rows, "nextCursor": next_cursor}).decode()


def ledger_csv(entries: Iterable[LedgerEntry]) -> str:
    """Write rows as CSV: a heading and one line for each row; a missing value is an empty cell.

    The price is in the column `pricePerUnitUsd`, or in `pricePerUnit` for rows in another currency than US dollars. The
    last column is `contract`, where some row has one.
    """
    rows = []
    for entry in entries:
        row = entry.to_dict()
        rows.append(row | (row.pop(REQUEST_DETAILS) or {}))
    prices = [name for name in PRICES if any(name in row for row in rows)] or PRICES[:1]
    columns = [column for name in COLUMNS for column in (prices if name in PRICES else (name,))]
    columns += [CONTRACT] if any(CONTRACT in row for row in rows) else []
    lines = [",".join(columns), *(",".join(_cell(row.get(name, "")) for name in columns) for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def _cell(value: Decimal | int | str) -> str:
    """Write a cell as the standard library does, except that older Pythons do not quote a carriage return."""
    cell = text(value) if isinstance(value, Decimal) else str(value)
    return '"{}"'.format(cell.replace('"', '""')) if any(special in cell for special in ',"\r\n') else cell


_SPACE = " \t\n\r"
_CHUNK = 1 << 16
_ECHO = 80


_DECODER = json.JSONDecoder(
    parse_float=READING.create_decimal, parse_int=READING.create_decimal, object_pairs_hook=distinct
)


class JsonText:
    """A position in a JSON text; reads one value or one character at a time. Raises `LedgerError` with the line."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text, self._at, self._lines_before = "", 0, 0

    def peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def take(self, sign: str) -> bool:
        """Skip `sign` if it comes next; return whether it did."""
        comes_next = self.peek() == sign
        self._at += comes_next
        return comes_next

    def parts(self, opening: str, closing: str) -> Iterator[None]:
        """Yield before each part of a list or an object, which the caller reads."""
        self.take(opening)
        ended = self.take(closing)
        while not ended:
            yield
            ended = self.take(closing)
            if not ended and not self.take(","):
                self.refuse("Expecting ',' delimiter")

    def value(self) -> Any:
        """Read the next value; its numbers are decimals with every digit."""
        while True:
            self.peek()
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more():
                    self._at = error.pos
                    self.refuse(error.msg)
            except JsonError as error:
                raise LedgerError(f"an object {error}") from None
            except RecursionError:
                raise LedgerError("not JSON: it is nested too deeply") from None
            else:
                # A number at the end of the buffer may continue: 12 of 123, and 12 with e+ after it of 12e+3.
                if end + len("e+") < len(self._text) or not self._more():
                    self._at = end
                    return value

    def refuse(self, reason: str) -> NoReturn:
        """Raise `LedgerError` with the line of this position."""
        line = self._lines_before + self._text.count("\n", 0, self._at) + 1
        raise LedgerError(f"line {line}: not JSON: {reason}")

    def _more(self) -> bool:
        """Drop the part that was read and fill the buffer; it doubles, so that a long value is not parsed too often."""
        chunk = self._file.read(max(_CHUNK, len(self._text) - self._at))
        if chunk:
            self._lines_before += self._text.count("\n", 0, self._at)
            self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)


def json_rows(file: TextIO) -> Iterator[Mapping[str, Any]]:
    """Return the rows of a file: pages (`{"data": [...]}`) and lists, one after another."""
    for number, row in enumerate(chain.from_iterable(_pages(JsonText(file))), 1):
        if not isinstance(row, dict):
            raise LedgerError(f"row {number} must be an object, not {type_word(row)}")
        yield row


def _pages(text: JsonText) -> Iterator[Iterator[Any]]:
    while sign := text.peek():
        if sign not in "[{":
            text.refuse("something follows that is not a page")
        yield _list(text) if sign == "[" else _page(text)


def _list(text: JsonText) -> Iterator[Any]:
    for _ in text.parts("[", "]"):
        yield text.value()


def _page(text: JsonText) -> Iterator[Any]:
    """Return the rows of `data`; other keys of a page are ignored."""
    names = set[str]()
    for _ in text.parts("{", "}"):
        if text.peek() != '"':
            text.refuse("Expecting property name enclosed in double quotes")
        name = text.value()
        if name in names:
            raise LedgerError(f"the page has the key '{field_name(name)}' twice; keep one")
        names.add(name)
        if not text.take(":"):
            text.refuse("Expecting ':' delimiter")
        if name == "data" and text.peek() == "[":
            yield from _list(text)
        elif name == "data":
            raise LedgerError('the page has no list "data"')
        else:
            text.value()
    if "data" not in names:
        raise LedgerError('the page has no list "data"')


_REQUIRED = COLUMNS[:6]


def csv_rows(file: TextIO) -> Iterator[Mapping[str, Any]]:
    """Return the lines of a CSV in the form of JSON rows; the column of the count may be `unit` or `units`."""
    reader = csv.DictReader(file, strict=True)
    try:
        heading = reader.fieldnames or ()
        if repeated := [name for name, times in Counter(heading).items() if times > 1]:
            raise LedgerError(f"the heading has {', '.join(repeated)} twice")
        # Either price column will do: the currency of each row decides which one it must have.
        aliases = {"units": "unit", PRICES[1]: PRICES[0]}
        columns = {aliases.get(name, name) for name in heading}
        missing = [name for name in _REQUIRED if name not in columns]
        if missing:
            raise LedgerError(f"the heading has no {', '.join(missing)}")
        for number, row in enumerate(reader, 1):
            if words := unfit_row(row):
                raise LedgerError(f"row {number} {words}")
            yield row
    except csv.Error as error:
        raise LedgerError(f"after line {reader.line_num}: not CSV: {error}") from None


_TEXTS = ("timestamp", "sku", "currency", "notes")
# Numbers with a greater exponent or more digits are refused: written out, they would fill the memory, and exact
# products of them would be too long.
_DIGITS = 400
_LONGEST = len("-0.") + _DIGITS


def read_ledger(content: str | bytes, *, rates: Rates | Sequence[Rates] | None = None) -> tuple[LedgerEntry, ...]:
    """Read the rows of JSON pages, a JSON list, or a CSV; the count may be called `unit` or `units`.

    The price of a row in USD or paid from a balance is `pricePerUnitUsd`; of any other currency (ISO 4217) it is
    `pricePerUnit`. Rows may be paid from the balances that have a worth in `rates`: the rates in the limits
    of a price book, or of several if balances have changed; by default those of the shipped limits. Raises
    `LedgerError` with the row and the field, also for a row with the price field of another currency.
    """
    if isinstance(content, bytes):
        return tuple(_decoded(io.BytesIO(content), rates))
    return tuple(_entries(io.StringIO(content.removeprefix("\ufeff"), newline=""), rates))


def iter_ledger(path: str | Path, *, rates: Rates | Sequence[Rates] | None = None) -> Iterator[LedgerEntry]:
    """Read the rows of a file of any size one at a time; formats and `rates` are those of `read_ledger`.

    Raises `LedgerError` with the file, the row and the field; the rows before it were valid.

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


def _decoded(file: BinaryIO, rates: Rates | Sequence[Rates] | None) -> Iterator[LedgerEntry]:
    with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        try:
            yield from _entries(text, rates)
        except UnicodeDecodeError as error:
            raise LedgerError(f"byte {file.tell() - len(error.object) + error.start} is not UTF-8") from None


def _entries(file: TextIO, rates: Rates | Sequence[Rates] | None) -> Iterator[LedgerEntry]:
    first_character = file.read(1)
    while first_character.isspace():
        first_character = file.read(1)
    file.seek(0)
    rows = json_rows(file) if first_character in ("{", "[") else csv_rows(file)
    rates = shipped_limits().rates if rates is None else rates
    known_rates = (rates,) if isinstance(rates, Rates) else tuple(rates)
    for number, row in enumerate(rows, 1):
        try:
            details = row.get(REQUEST_DETAILS)
            for name, near in nearly_named((*row, *(details if isinstance(details, dict) else ()))).items():
                raise LedgerError(f"'{echo(name)}' is not read. Did you mean '{near}'? Write it so")
            entry = entry_in(row, known_rates)
            instant_of_row(entry.timestamp)
        except InstantError as error:
            raise LedgerError(f"row {number}: timestamp {error}") from None
        except LedgerError as error:
            raise LedgerError(f"row {number}: {error}") from None
        yield entry


def entry_in(row: Mapping[str, Any], rates: Sequence[Rates]) -> LedgerEntry:
    """Return the entry of a row of a page or CSV, whose details may be columns. Raises `LedgerError` with the field."""
    cells = dict(row)
    if cells.get("unit") in (None, ""):
        cells["unit"] = cells.get("units")
    currency = _text("currency", cells.get("currency"))
    price_name = price_field(currency) if currency else PRICES[0]
    missing = [name for name in (*_REQUIRED[:2], price_name, *_REQUIRED[3:]) if cells.get(name) in (None, "")]
    other_price = next((name for name in PRICES if name != price_name and cells.get(name) not in (None, "")), None)
    if currency and (reason := unknown_currency(currency, *rates)):
        raise LedgerError(f"currency '{echo(currency[:_ECHO])}' {reason}")
    if other_price and currency:
        raise LedgerError(f"{other_price} of a row in {currency}. Its price is {price_name}, and no other")
    if missing:
        raise LedgerError(f"{missing[0]} is missing")
    price, unit, amount = (_decimal(name, cells[name]) for name in (price_name, "unit", "amount"))
    if cells.get("units") not in (None, "") and _decimal("units", cells["units"]) != unit:
        raise LedgerError(f"units {str(cells['units'])[:_ECHO]} is not what unit says. Keep one")
    timestamp, sku, _, notes = (_text(name, cells.get(name)) for name in _TEXTS)
    given = cells.get(REQUEST_DETAILS)
    if given in (None, {}):
        given = {name: cells[name] for name in DETAIL_NAMES if cells.get(name) not in (None, "")}
    details = None if given == {} else _details(given)
    contract = _text(CONTRACT, cells.get(CONTRACT)) or None
    return LedgerEntry(timestamp, sku, price, unit, amount, currency, notes, details, contract=contract)


def _details(details: object) -> InferenceDetails:
    if not isinstance(details, dict):
        raise LedgerError(f"{REQUEST_DETAILS} is not an object")
    request_id = _text("requestId", details.get("requestId"))
    return InferenceDetails(request_id, *(_count(name, details.get(name)) for name in DETAIL_NAMES[1:]))


def _text(name: str, value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise LedgerError(f"{name} {str(value)[:_ECHO]} is not text")
    return value or ""


def _count(name: str, given: object) -> int | None:
    if given in (None, ""):
        return None
    value = _decimal(name, given)
    if value < 0 or value != value.to_integral_value():
        raise LedgerError(f"{name} {str(given)[:_ECHO]} is not a whole number, zero or more")
    return int(value)


def _decimal(name: str, given: object) -> Decimal:
    value = given if isinstance(given, Decimal) else read_decimal(given if isinstance(given, str) else "NaN")
    if not value.is_finite() or not -_DIGITS <= value.adjusted() <= _DIGITS or len(str(given)) > _LONGEST:
        raise LedgerError(f"{name} {str(given)[:_ECHO]!r} is not a number")
    return value


Parts = tuple[LedgerEntry, ...]


def join_parts(entries: Iterable[LedgerEntry]) -> tuple[Parts, ...]:
    """Group rows by charge, in the order of the ledger: one row, or one for each balance that paid.

    A further part has no units; it belongs to the row with the same request, SKU and price. Raises `LedgerError` if the
    first part is not among the rows, for example at the edge of a time window.

    >>> from decimal import Decimal
    >>> from ratecard.ledger import read_ledger
    >>> lines = ["timestamp,sku,pricePerUnitUsd,unit,amount,currency,requestId"]
    >>> lines += ["2026-10-01T00:00:00Z,s,0.10,2,-0.15,DIEM,r", "2026-10-01T00:00:00Z,s,0.10,0,-0.05,USD,r"]
    >>> [charge] = join_parts(read_ledger("\\n".join(lines)))
    >>> charge[0].unit * charge[0].price_per_unit, [(row.amount, row.currency) for row in charge]
    (Decimal('0.20'), [(Decimal('-0.15'), 'DIEM'), (Decimal('-0.05'), 'USD')])
    """
    charges: list[list[LedgerEntry]] = []
    further_parts: list[tuple[int, tuple[object, ...], LedgerEntry]] = []
    first_parts: dict[tuple[object, ...], list[LedgerEntry]] = {}
    for number, entry in enumerate(entries, 1):
        key = (entry.details.request_id, entry.sku, entry.price_per_unit) if entry.details else None
        if key and not entry.unit and entry.amount < 0:
            further_parts.append((number, key, entry))
            continue
        charges.append([entry])
        if key and entry.unit > 0:
            first_parts.setdefault(key, charges[-1])
    for number, first_key, entry in further_parts:
        if first_key not in first_parts:
            words = f"is a further part of request {first_key[0]!r}"
            raise LedgerError(f"row {number}: {entry.sku} {words}, whose first part is not among the rows")
        first_parts[first_key].append(entry)
    return tuple(map(tuple, charges))
