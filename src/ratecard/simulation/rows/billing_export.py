"""A billing export as a usage table.

An export is recognised by its columns. All of them can be keys; the columns of the type `ledger` are added. JSON pages
are written to Parquet first, row by row.
"""

import gzip
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import duckdb
import pyarrow
from pyarrow import parquet

from ratecard.base.errors import LedgerError, SimulationError
from ratecard.base.messages import echo
from ratecard.base.money import (
    BALANCE_NAME,
    EXACT,
    ISO_4217,
    LINE_PLACES,
    USD,
    add,
    multiply,
    places_of,
    plain,
    read_decimal,
    text,
    total,
)
from ratecard.ledger.files import COLUMNS, CONTRACT, PRICES, REQUEST, REQUEST_DETAILS, json_rows, nearly_named
from ratecard.line_items.ledger_entry import changing_balances, worths
from ratecard.simulation.rows.columns import ACCOUNT_COLUMNS, LEDGER
from ratecard.simulation.sql import DuckDbSql
from ratecard.simulation.workspace import readable
from ratecard.tables.limits import NO_LIMITS, Limits, Rates

_NEEDED = ("timestamp", "sku", "amount", "currency")
_COUNT = ("unit", "units")
# The names of an export that a simulation reads.
EXPORT_NAMES = (*_NEEDED, *PRICES, *_COUNT, "notes", "model", REQUEST, CONTRACT)
# The form of a number of an export that can be summed; a row with any other number is priced by itself.
_PLACES = 18
_NUMBER = rf"-?[0-9]{{1,9}}(\.[0-9]{{1,{_PLACES}}})?"
# The kinds of a ledger's rows.
CHARGE, DISPUTED, CREDIT = "charge", "disputed", "credit"
_NOTHING = "CAST(NULL AS VARCHAR)"
# The tables of charges that several balances paid, each with the sums of all of its rows: those that the engine adds,
# and those with a row that the engine cannot add.
_PARTS, _ODD_PARTS = "ledger_parts", "ledger_odd_parts"
# The requests that were charged more than once by one SKU at one price.
_REPEATED = "ledger_repeated"
# The days on which balances paid for what is now refunded, if their worth has changed since then.
_CHARGED = "ledger_charged"
# The text in place of the day of a charge that is not in the export.
NO_CHARGE = "no charge"
# Columns of the view that distinguish rows, as text.
ROW_COLUMNS = ("ledger_when", "ledger_request", "ledger_unit", "ledger_paid")
# Digits before and after the point of a number that can be priced.
_MOST_DIGITS, _MOST_PLACES = 15, 18


class Export(NamedTuple):
    """The columns of a billing export: all of them, and the known ones by what they hold."""

    named: Mapping[str, str]
    columns: Sequence[str]

    @classmethod
    def of(cls, columns: Sequence[str], names: Mapping[str, str]) -> "Export | None":
        """Return a table as an export, by its columns or mapped names; None for usage, which has a `type`."""
        wanted = {name: names.get(name, name) for name in (*EXPORT_NAMES, *ACCOUNT_COLUMNS)}
        named = {name: column for name, column in wanted.items() if column in columns}
        is_export = all(name in named for name in _NEEDED)
        is_export &= all(any(name in named for name in alternatives) for alternatives in (PRICES, _COUNT))
        return cls(named, columns) if is_export and "type" not in (*columns, *names) else None

    def text(self, name: str) -> str:
        """Return a column as text; null if the export does not have it, and where a cell is empty."""
        return f"nullif({_text(self.named[name])}, '')" if name in self.named else _NOTHING

    @property
    def model(self) -> str:
        """Return the expression of the model: from the notes where the export has no column for it."""
        column = next((self.named[name] for name in ("model", "notes") if name in self.named), None)
        return _text(column) if column else _NOTHING

    @property
    def booking(self) -> str:
        """Return the expression of the request of an account: two accounts may have requests of one name."""
        account = next((name for name in ACCOUNT_COLUMNS if name in self.named), "")
        return f"{self.text('requestId')} || chr(31) || coalesce({self.text(account)}, '')"

    def numbers(self) -> dict[str, str]:
        """Return units, both prices and the amount, as text. Units have two names; two numbers of them are none."""
        unit, units = map(self.text, _COUNT)
        differ = " IS DISTINCT FROM ".join(f"TRY_CAST({name} AS DECIMAL(38,{_PLACES}))" for name in (unit, units))
        two = f"CASE WHEN {unit} <> {units} AND {differ} THEN concat({unit}, ' (units ', {units}, ')') END"
        return {"unit": f"coalesce({two}, {unit}, {units})", **{name: self.text(name) for name in (*PRICES, "amount")}}


def near_columns_of(columns: Collection[str]) -> Mapping[str, str]:
    """Return unread columns of an export, each with the name that it nearly has: of requests, contracts or accounts."""
    accounts = () if any(name in columns for name in ACCOUNT_COLUMNS) else ACCOUNT_COLUMNS
    return nearly_named(tuple(columns), (REQUEST, CONTRACT, *accounts))


class _Numbers(NamedTuple):
    """The decimals of the integers in a ledger's rows: of units and charges, and of the price."""

    places: int
    price_places: int

    @property
    def most(self) -> int:
        """Return the most by which an amount may differ from units x price: half of a line's last decimal."""
        return int(10 ** max(0, self.places + self.price_places - LINE_PLACES)) // 2

    def difference(self, units: str, charged: str) -> str:
        """Return the difference of an amount from units x price; NULL if it is too long."""
        return f"TRY(abs({units} * whole_rate + {charged} * {10**self.price_places}::HUGEINT))"


# Each view reads the one before, so that the engine evaluates each expression once: first the text of a row, then
# whether the engine can add its numbers, and these numbers as integers.
_WORDS, _ROWS = "ledger_words", "ledger_rows"
_REGULAR = " AND ".join(
    f"coalesce(regexp_full_match({column}, '{_NUMBER}'), FALSE)"
    for column in ("ledger_unit", "ledger_price", "ledger_paid")
)
# The condition that the signs of a row are those of a refund or a credit.
_IS_CREDIT = "whole_charged > 0 OR whole_units < 0 OR whole_rate < 0"


def ledger_view(
    connection: duckdb.DuckDBPyConnection, export: Export, table: str, day: str, limits: Sequence[Limits]
) -> str:
    """Return the query that reads a table as a ledger; `limits` say what balances are worth on a `day`.

    Raises `SimulationError` where the table cannot be read.
    """
    numbers, currency = export.numbers(), _text(export.named["currency"])
    unit, dollars, other, amount = numbers.values()
    # A row has a price in its own currency, and must not have the other price.
    codes = ", ".join(map(repr, sorted(ISO_4217)))
    is_balance = f"regexp_full_match({currency}, '{BALANCE_NAME}') AND {currency} NOT IN ({codes})"
    # The stated currencies come first, as nearly all rows have one of these.
    in_dollars = f"({currency} IN ({', '.join(map(repr, (USD, *_balances(limits))))}) OR ({is_balance}))"
    price = (
        f"CASE WHEN {in_dollars} THEN CASE WHEN {other} IS NULL THEN {dollars} END"
        f" ELSE CASE WHEN {dollars} IS NULL THEN {other} END END"
    )
    worth, worth_places = _worth(currency, day, limits)
    changing = changing_balances(period_limits.rates for period_limits in limits)
    # Columns of the export are numbered until the end, because an export may have a column with one of these names.
    export_columns = "".join(f", {DuckDbSql.quoted(name)} AS own{number}" for number, name in enumerate(export.columns))
    words = {
        "when": _text(export.named["timestamp"]),
        "request": export.text("requestId"),
        "booking": export.booking,
        "sku": _text(export.named["sku"]),
        "model": export.model,
        "currency": currency,
        "unit": unit,
        "dollars": dollars,
        "other": other,
        "price": price,
        "contract": export.text(CONTRACT),
        "paid": amount,
        "worth": worth,
        "day": day if changing else _NOTHING,
    }
    word_columns = ", ".join(f"{expression} AS ledger_{name}" for name, expression in words.items())
    _keep_view(connection, _WORDS, f"SELECT {word_columns}{export_columns} FROM {table}")
    places, price_places, odd = _most_places(connection)
    _keep_view(
        connection,
        _ROWS,
        f"""
        SELECT *,
            CASE WHEN is_regular THEN {_whole("ledger_unit", places)} * {10**worth_places}::HUGEINT END AS whole_units,
            CASE WHEN is_regular THEN {_whole("ledger_price", price_places)} END AS whole_rate,
            CASE WHEN is_regular THEN {_whole("ledger_paid", places)} * ledger_worth END AS whole_charged
        FROM (SELECT *, {_REGULAR} AND ledger_worth IS NOT NULL AS is_regular FROM {_WORDS})""",
    )
    decimals = _Numbers(places + worth_places, price_places)
    joined, has_odd_parts = _keep_parts(connection, decimals, worth_places, odd=bool(odd))
    repeated, repeat_mark = _keep_repeated(connection)
    charged, charged_on = _keep_charged(connection, changing)
    raw_columns = dict(zip(numbers, ("ledger_unit", "ledger_dollars", "ledger_other", "ledger_paid"), strict=True))
    raw_columns |= {"part_unit": "odd_units", "part_amount": "odd_charged"} if has_odd_parts else {}
    raw = ", ".join(f"'{name}': {column}" for name, column in raw_columns.items())
    kept_columns = [f"own{number} AS {_kept(name)}" for number, name in enumerate(export.columns)]
    entry = _entry(decimals, parts=bool(joined), but="odd_request IS NULL" if has_odd_parts else "TRUE")
    return f"""
        SELECT '{LEDGER}' AS type, ledger_model AS model, {", ".join(kept_columns)},
            {", ".join(ROW_COLUMNS)}, ledger_sku, ledger_currency, ledger_price,
            ledger_contract, entry AS ledger_entry, {repeat_mark} AS ledger_again, {charged_on} AS ledger_charged_on,
            CASE WHEN entry IS NULL THEN to_json({{{raw}}}) END AS ledger_odd,
            CASE WHEN entry IS NOT NULL THEN CAST(ledger_unit AS DECIMAL(38,{places})) END AS ledger_units,
            CASE WHEN entry IS NOT NULL THEN CAST(ledger_paid AS DECIMAL(38,{places})) END AS ledger_amount
        FROM (SELECT *, {entry} AS entry FROM {_ROWS}{joined}){repeated}{charged}"""


def _keep_repeated(connection: duckdb.DuckDBPyConnection) -> tuple[str, str]:
    """Make the table of requests that one SKU charges more than once at one price.

    Return the join with this table, and the expression that marks all but the first charge of a request. Refunds, and
    further parts of a charge, which have no units, do not count as charges.
    """
    charged = (
        "ledger_booking IS NOT NULL AND ledger_paid LIKE '-%' AND coalesce(TRY_CAST(ledger_unit AS DOUBLE), 0) > 0"
    )
    with readable():
        connection.execute(f"""
            CREATE OR REPLACE TABLE {_REPEATED} AS
            SELECT ledger_booking AS repeated_request, ledger_sku AS repeated_sku, ledger_price AS repeated_price
            FROM {_WORDS} WHERE {charged} GROUP BY ALL HAVING count(*) > 1""")
    if not connection.execute(f"SELECT 1 FROM {_REPEATED} LIMIT 1").fetchall():
        return "", _NOTHING
    same = "repeated_request = ledger_booking AND repeated_sku = ledger_sku AND repeated_price = ledger_price"
    joined = f" LEFT JOIN {_REPEATED} ON {same} AND {charged}"
    order = f"PARTITION BY repeated_request, repeated_sku, repeated_price ORDER BY {', '.join(ROW_COLUMNS)}"
    return joined, f"CASE WHEN repeated_sku IS NOT NULL AND row_number() OVER ({order}) > 1 THEN 'true' END"


def _keep_charged(connection: duckdb.DuckDBPyConnection, changing: Collection[str]) -> tuple[str, str]:
    """Make the table of the days on which balances whose worth changes paid what is refunded.

    Return the join with this table, and the expression of the day of a refund's charge, NO_CHARGE if it has none.
    """
    refunded = f"ledger_currency IN ({', '.join(map(repr, changing))}) AND TRY_CAST(ledger_paid AS DOUBLE) > 0"
    if not changing or not connection.execute(f"SELECT 1 FROM {_WORDS} WHERE {refunded} LIMIT 1").fetchall():
        return "", _NOTHING
    charge = "ledger_booking, ledger_sku, ledger_currency"
    with readable():
        connection.execute(f"""
            CREATE OR REPLACE TABLE {_CHARGED} AS
            SELECT ledger_booking AS charged_request, ledger_sku AS charged_sku, ledger_currency AS charged_currency,
                strftime(min(ledger_day), '%Y-%m-%d') AS charged_day
            FROM {_WORDS} WHERE ledger_paid LIKE '-%'
            AND ({charge}) IN (SELECT ({charge}) FROM {_WORDS} WHERE {refunded}) GROUP BY ALL""")
    same = "charged_request = ledger_booking AND charged_sku = ledger_sku AND charged_currency = ledger_currency"
    joined = f" LEFT JOIN {_CHARGED} ON {same} AND {refunded}"
    return joined, f"CASE WHEN {refunded} THEN coalesce(charged_day, '{NO_CHARGE}') END"


def _keep_view(connection: duckdb.DuckDBPyConnection, name: str, query: str) -> None:
    with readable():
        connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")


def number_of(name: str, given: str | None) -> Decimal:
    """Read a number of a row that is priced by itself. Raises `ValueError` with the name of its field."""
    if not given:
        raise ValueError(f"{name}: missing")
    number = read_decimal(given)
    if not number.is_finite():
        raise ValueError(f"{name}: {echo(given)} is not a number")
    if number.adjusted() >= _MOST_DIGITS or places_of(plain(number)) > _MOST_PLACES:
        raise ValueError(f"{name}: {echo(given)} has more than {_MOST_DIGITS} digits or {_MOST_PLACES} decimals")
    return number


def entry_of(
    units: Decimal, price: Decimal, amount: Decimal, worth: Decimal, parts: tuple[Decimal, Decimal] | None = None
) -> str:
    """Return the kind of a row that is priced by itself, by its numbers: the same as the query gives.

    `parts`: the sums of all rows of its charge, if several balances paid it: units, and the amount at its worth.
    """
    if amount > 0 or units < 0 or price < 0:
        return CREDIT
    units, charged = parts or (units, multiply(amount, worth))
    # Exports round a line: an amount may differ from units x price by half of the last place.
    difference = EXACT.abs(add(multiply(units, price), charged))
    return CHARGE if multiply(difference, Decimal(2 * 10**LINE_PLACES)) <= 1 else DISPUTED


def _entry(numbers: _Numbers, *, parts: bool = False, but: str = "TRUE") -> str:
    """Return the kind of a row, by its integers: an amount is minus units x price, up to the rounding of a line.

    It is NULL if a number is invalid or too long, or if the row does not meet the condition `but`.
    """
    units, charged = "whole_units", "whole_charged"
    if parts:
        units, charged = f"coalesce(part_units, {units})", f"coalesce(part_charged, {charged})"
    difference = numbers.difference(units, charged)
    return (
        f"CASE WHEN NOT (is_regular AND {but}) THEN NULL"
        f" WHEN {_IS_CREDIT} THEN '{CREDIT}'"
        f" WHEN {difference} <= {numbers.most}::HUGEINT THEN '{CHARGE}'"
        f" WHEN {difference} IS NOT NULL THEN '{DISPUTED}' END"
    )


def _balances(limits: Iterable[Limits]) -> Iterable[str]:
    return dict.fromkeys(name for period_limits in limits for name in period_limits.rates.stated)


def _worth(currency: str, day: str, limits: Sequence[Limits]) -> tuple[str, int]:
    """Return the worth of one unit of a row's currency in that of its price, and its decimals.

    The worth is an integer of 10^-decimals, or NULL if it is not stated.
    """
    stated = [period_limits.rates for period_limits in limits or (NO_LIMITS,)]
    places = max(places_of(worth) for rates in stated for worth in worths(USD, rates).values())
    one = f"{10**places}::HUGEINT"

    def by_balance(rates: Rates) -> str:
        known = {name: worth for name, worth in worths(USD, rates).items() if name != USD}
        units = {name: int(EXACT.scaleb(worth, places)) for name, worth in known.items()}
        whens = "".join(f" WHEN '{name}' THEN {worth}::HUGEINT" for name, worth in units.items())
        unknown = "".join(f" WHEN '{name}' THEN NULL" for name in _balances(limits) if name not in known)
        return f"CASE {currency}{whens}{unknown} ELSE {one} END" if whens or unknown else one

    if len(set(stated)) == 1:
        return by_balance(stated[0]), places
    # As in a price book, limits hold from their day on, and the first limits before it too.
    dated = "".join(
        f" WHEN {day} >= DATE '{period_limits.effective}' THEN {by_balance(period_limits.rates)}"
        for period_limits in limits[:-1]
    )
    return f"CASE{dated} WHEN {day} IS NOT NULL THEN {by_balance(stated[-1])} END", places


def _keep_parts(
    connection: duckdb.DuckDBPyConnection, whole: _Numbers, worth_places: int, *, odd: bool
) -> tuple[str, bool]:
    """Make the tables of the charges that several balances paid, with the sums of their rows.

    Return the join with these tables, empty if there is no such charge, and True if the engine cannot add some of them.
    A further part of a charge has an amount, but no units; all rows of its request, SKU and price, except refunds, are
    one charge. `odd`: True if the engine cannot add the numbers of some row.
    """
    is_further = "ledger_booking IS NOT NULL AND TRY_CAST(ledger_unit AS DOUBLE) = 0 AND ledger_paid LIKE '-%'"
    if not connection.execute(f"SELECT 1 FROM {_WORDS} WHERE {is_further} LIMIT 1").fetchall():
        return "", False
    inner = f"FROM {_ROWS} WHERE is_regular AND ledger_booking IS NOT NULL AND NOT ({_IS_CREDIT})"
    same = "ledger_booking, ledger_sku, whole_rate"
    connection.execute(f"""
        CREATE OR REPLACE TABLE {_PARTS} AS
        SELECT ledger_booking AS part_request, ledger_sku AS part_sku, whole_rate AS part_rate,
            sum(whole_units) AS part_units, sum(whole_charged) AS part_charged {inner}
        AND ({same}) IN (SELECT ({same}) {inner} AND whole_units = 0 AND whole_charged < 0)
        GROUP BY ALL""")
    joined = (
        f" LEFT JOIN {_PARTS} ON part_request = ledger_booking AND part_sku = ledger_sku AND part_rate = whole_rate"
    )
    # The engine adds no row of a charge if it cannot add one of them; most exports have no such charge.
    difference = whole.difference("part_units", "part_charged")
    query = f"SELECT 1 FROM (SELECT *, part_rate AS whole_rate FROM {_PARTS}) WHERE {difference} IS NULL"
    odd = odd or bool(connection.execute(query).fetchone())
    query = f"""
        SELECT ledger_booking, ledger_sku, ledger_price, ledger_unit, ledger_paid, ledger_worth FROM {_WORDS}
        WHERE (ledger_booking, ledger_sku) IN (SELECT (ledger_booking, ledger_sku) FROM {_WORDS} WHERE {is_further})
        AND (ledger_booking, ledger_sku) IN (
            SELECT (ledger_booking, ledger_sku) FROM {_ROWS}{joined} WHERE {_entry(whole, parts=True)} IS NULL)"""
    odd_rows = connection.execute(query).fetchall() if odd else []
    if not odd_rows:
        return joined, False
    names = ("odd_request", "odd_sku", "odd_price", "odd_units", "odd_charged")
    sums_of_charges = [dict(zip(names, sums, strict=True)) for sums in _added(odd_rows, worth_places)]
    texts = pyarrow.schema([(name, pyarrow.string()) for name in names])
    connection.register("given_parts", pyarrow.Table.from_pylist(sums_of_charges, texts))
    connection.execute(f"CREATE OR REPLACE TABLE {_ODD_PARTS} AS FROM given_parts")
    connection.unregister("given_parts")
    joined += (
        f" LEFT JOIN {_ODD_PARTS} ON odd_request = ledger_booking AND odd_sku = ledger_sku AND odd_price = ledger_price"
    )
    return joined, True


def _added(rows: Iterable[Sequence[Any]], places: int) -> Iterator[list[str]]:
    """Yield the sums of the rows of each request, SKU and price: units, and the amount in the currency of the price.

    `rows` have the request, the SKU, the price, units, the amount and the worth of its currency times 10^`places`.
    Credits, and rows that are refused by themselves, are not added.
    """
    charges: dict[tuple[str, str, Decimal], list[tuple[str, Decimal, Decimal]]] = {}
    for request, sku, written, unit, amount, worth_text in rows:
        try:
            price, units, paid = (number_of("", number) for number in (written, unit, amount))
        except ValueError:
            continue
        if worth_text is not None:
            worth = EXACT.scaleb(Decimal(worth_text), -places)
            charge = charges.setdefault((request, sku, price), [])
            part = entry_of(units, price, paid, worth) != CREDIT
            charge.append((written, units, multiply(paid, worth)) if part else (written, Decimal(0), Decimal(0)))
    for (request, sku, _), parts in charges.items():
        if not any(amount < 0 and not units for _, units, amount in parts):
            continue  # no balance was used up, so each row is a charge of its own
        prices, units_of_parts, amounts = zip(*parts, strict=True)
        sums = [text(total(list(numbers))) for numbers in (units_of_parts, amounts)]
        yield from ([request, sku, price, *sums] for price in dict.fromkeys(prices))


def _most_places(connection: duckdb.DuckDBPyConnection) -> list[int]:
    """Return the most decimals of units and amounts, the most of prices, and how many rows the engine cannot add.

    No more decimals than these are kept, so that sums stay short.
    """
    unit, price, paid = (
        f"coalesce(max(length(rtrim(split_part({column}, '.', 2), '0')))"
        f" FILTER (regexp_full_match({column}, '{_NUMBER}')), 0)"
        for column in ("ledger_unit", "ledger_price", "ledger_paid")
    )
    with readable():
        places: Any = connection.execute(
            f"SELECT greatest({unit}, {paid}), {price}, count_if(NOT ({_REGULAR})) FROM {_WORDS}"
        ).fetchone()
    return list(places)


def _whole(number: str, places: int) -> str:
    """Return a number as an integer of 10^-places; its further digits are zeros."""
    digits = f"split_part({number}, '.', 1) || rpad(split_part({number}, '.', 2), {places}, '0')"
    return f"CAST({digits} AS HUGEINT)"


def _kept(name: str) -> str:
    """Return the name of a column of the export, with a prefix if the ledger has a column of that name."""
    is_reserved = name.lower() in ("type", "model") or name.lower().startswith("ledger_")
    return DuckDbSql.quoted(f"export_{name.lower()}" if is_reserved else name)


def _text(name: str) -> str:
    return DuckDbSql().text(DuckDbSql.quoted(name))


_BATCH = 50_000
# A number that would be longer than this keeps its exponent: pricing refuses it, and it does not fill the memory.
_LONGEST = 60


def are_pages(file: str) -> bool:
    """Return True if a JSON file holds pages or lists of ledger rows, and not one usage per line."""
    try:
        with _opened(file) as stream:
            row = next(json_rows(stream), None)
            return stream.tell() > 0 if row is None else "sku" in row and any(name in row for name in PRICES)
    except (LedgerError, UnicodeDecodeError, OSError):
        return False  # the reader of usage says what is wrong with it


def pages_to_parquet(files: Iterable[str], folder: Path) -> list[str]:
    """Write the rows of these pages to Parquet files, every value as its text, and return the files.

    Raises `SimulationError` with the file and the line.
    """
    paths = [_write(_table([]), folder, "pages")]
    for number, file in enumerate(files):
        try:
            with _opened(file) as stream:
                rows = map(_flat, json_rows(stream))
                while batch := list(islice(rows, _BATCH)):
                    paths.append(_write(_table(batch), folder, f"pages-{number}-{len(paths)}"))
        except (LedgerError, OSError, EOFError) as error:
            raise SimulationError(f"{file}: {error}") from None
        except UnicodeDecodeError:
            raise SimulationError(f"{file}: is not UTF-8") from None
    return paths


def _opened(file: str) -> TextIO:
    path, encoding = Path(file), "utf-8-sig"
    return gzip.open(path, "rt", encoding=encoding) if path.suffix == ".gz" else path.open(encoding=encoding)


def _flat(row: Mapping[str, Any]) -> dict[str, str | None]:
    """Return a row with its `inferenceDetails` as further columns."""
    details = row.get(REQUEST_DETAILS)
    flat = {name: value for name, value in row.items() if name != REQUEST_DETAILS}
    return {name: _text_of(value) for name, value in (flat | (details if isinstance(details, dict) else {})).items()}


def _text_of(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return text(value) if value.is_finite() and abs(value.adjusted()) < _LONGEST else str(value)
    return json.dumps(value, default=str)


def _table(rows: list[dict[str, str | None]]) -> pyarrow.Table:
    names = dict.fromkeys((*COLUMNS, *PRICES, *(name for row in rows for name in row)))
    return pyarrow.table({name: pyarrow.array([row.get(name) for row in rows], pyarrow.string()) for name in names})


def _write(table: pyarrow.Table, folder: Path, name: str) -> str:
    file = folder / f"{name}.parquet"
    parquet.write_table(table, file)
    return str(file)
