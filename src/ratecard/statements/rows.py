"""The rows of one account in a usage, as a simulation reads them, in order of time; booked ones are not rated again."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from ratecard.base.errors import LedgerError, QuoteError
from ratecard.base.instants import next_month, utc
from ratecard.base.layouts import Identity
from ratecard.base.money import is_balance, minus, multiply, plain_text
from ratecard.ledger.files import DETAIL_NAMES, PRICES, REQUEST, entry_in
from ratecard.line_items.ledger_entry import ONE, LedgerEntry, price_field, worths
from ratecard.line_items.quote import MINIMUM
from ratecard.price_book import PriceBook
from ratecard.requests.counters import UsageDialect
from ratecard.simulation.billing import AGAIN, ModelInEffect, model_of, sold_by_sku
from ratecard.simulation.groups.grouped_usage import near_columns, not_read
from ratecard.simulation.groups.plan import NO_ACCOUNT, RAW_QUANTITIES, Usage
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.simulation.rows.billing_export import DISPUTED, EXPORT_NAMES, near_columns_of
from ratecard.simulation.rows.duckdb_responses import requests_only
from ratecard.simulation.rows.files import Source
from ratecard.simulation.rows.where import Columns, read_condition
from ratecard.simulation.sql import DuckDbSql
from ratecard.simulation.workspace import Workspace, readable
from ratecard.statements.lines import NOWHERE, REFUND_LINE, USAGE_LINE, Line, Rated, RatePlace, StatementError
from ratecard.tables.limits import Limits, Rates

# The first and the last month of Python's calendar have no month before or after them.
FIRST_MONTH, LAST_MONTH = date(1, 2, 1), date(9999, 11, 1)
# The columns of an export that are read.
BOOKED_NAMES = tuple(dict.fromkeys((*EXPORT_NAMES, *DETAIL_NAMES)))
_COUNT = ("unit", "units")
_VIDEO = "video"
# The mark of a row that other rows contradict, and the reason for each mark; and the instant of a refund's charge.
_MARK, _CHARGED = "mark", "charged"
_LEAVE_OUT = "Leave the row out, as where pages of an export overlap"
_REASONS = {
    "charge": f"{AGAIN}. {_LEAVE_OUT}",
    "refund": f"requestId: this refund is in the usage already. {_LEAVE_OUT}",
    "beyond": "amount: the refunds of this request by this SKU are more than was charged in this currency. "
    "Refund at most that, in the currency that paid",
}


def booked_entry(row: Mapping[str, str], limits: Sequence[Limits]) -> LedgerEntry:
    """Read the ledger entry of a row of an export. Raises `ValueError` that says what is wrong with it."""
    cells = {**row, "notes": row.get("model") or row.get("notes")}
    try:
        entry = entry_in(cells, [version.rates for version in limits])
    except LedgerError as error:
        raise ValueError(str(error)) from None
    for name, number in (("unit", entry.unit), (price_field(entry.currency), entry.price_per_unit)):
        if number < 0 and entry.amount <= 0:
            words = f"{name} {plain_text(number)} is below zero, and amount {plain_text(entry.amount)} is not a refund"
            raise ValueError(f"{words}. A charge has units and a price from zero on, a refund an amount above zero")
    if mark := row.get(_MARK):
        raise ValueError(_REASONS[mark])
    return entry


def charged_at(row: Mapping[str, str]) -> datetime | None:
    """Return the instant of the charge of a refund; None if the usage does not have it."""
    return _EPOCH + int(row[_CHARGED]) * _MICROSECOND if _CHARGED in row else None


class Bookings:
    """The maker of lines from the rows of a ledger; it looks up once what a SKU counts."""

    def __init__(self, places: Mapping[str, RatePlace], families: Mapping[str, str], currency: str) -> None:
        self._places, self._families, self._currency = places, families, currency
        # Keyed by the version as it is at an hour, because SKUs do not name hours.
        self._sold: dict[Identity, dict[str, tuple[str, RatePlace]]] = {}

    def line(self, entry: LedgerEntry, instant: datetime, prices: PriceBook, rates: Rates | None) -> Line:
        """Return the line of an entry: the booked amount in the currency of the statement, and its quantity unchanged.

        What a minimum adds has another price for each request, so it is counted in money. `rates` say what balances
        were worth when they paid. Raises `ValueError` for a currency without a worth in that of the statement.
        """
        payers = worths(self._currency, rates)
        worth = entry.worth if entry.worth is not None else payers.get(entry.currency)
        if worth is None:
            words = f"currency: {entry.currency} has no worth in {self._currency}"
            raise ValueError(f"{words}, in which the statement is. Allowed: {', '.join(payers)}")
        amount = multiply(minus(entry.amount), worth)
        kind = REFUND_LINE if entry.amount > 0 else USAGE_LINE
        rated = self._rated(entry, kind, prices)
        if is_balance(entry.currency):
            rated = rated._replace(paid_in=entry.currency, worth=worth)
        quantity = entry.unit
        if rated.unit == MINIMUM and rated.is_usage:
            rated, quantity = rated._replace(unit_rate=ONE), amount
        return Line(instant, rated, quantity, amount, request=entry.details.request_id if entry.details else "")

    def _rated(self, entry: LedgerEntry, kind: str, prices: PriceBook) -> Rated:
        name = model_of(prices, entry.notes, entry.sku)
        model = prices.tables.models.get(name)
        unit, place = self._unit(name, entry.sku, prices) if model and model.type != _VIDEO else (None, NOWHERE)
        type_, family = model.type if model else "", self._families.get(name, "")
        contract = entry.contract or ""
        rated = Rated(entry.sku, unit, entry.price_per_unit, "", None, "", contract, name, type_, family)
        return rated._replace(charge=place.charge, attributes=place.attributes, kind=kind)

    def _unit(self, name: str, sku: str, prices: PriceBook) -> tuple[str | None, RatePlace]:
        """Return the unit that a SKU of a model counts, and the place of its rate."""
        if sku == f"{name}-{MINIMUM}":
            return MINIMUM, NOWHERE
        try:
            now: Any = ModelInEffect.of(prices, name)
        except QuoteError:
            return None, NOWHERE
        key = Identity(now.version)
        if key not in self._sold:
            lines = {sold_sku: sold[0].line for sold_sku, sold in sold_by_sku(now).items()}
            places = {sold_sku: self._places.get(line.source, NOWHERE) for sold_sku, line in lines.items()}
            self._sold[key] = {sold_sku: (line.unit, places[sold_sku]) for sold_sku, line in lines.items()}
        return self._sold[key].get(sku, (None, NOWHERE))


_BATCH = 10_000
_MOST_NAMES = 1_000
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SQL = DuckDbSql()


class RowCounts(NamedTuple):
    """The number of all rows of a usage, of those of an account in a month, and of those without an account."""

    all: int
    of_account: int
    of_nobody: int


class AccountRows:
    """The rows of an account in a usage that an engine has opened; of responses in a dialect, the rows of requests."""

    def __init__(self, workspace: Workspace, opened: Any, account: str, dialect: UsageDialect | None = None) -> None:
        self.account, self._workspace, self._known = account, workspace, opened.known
        self._is_reading = False
        self.source: Source = opened.source
        known: Usage = self._known
        if known.is_counted:
            raise StatementError("a roll-up has no instants of its rows; give the usage that it was made of")
        if not known.has("timestamp"):
            raise StatementError("the usage has no column 'timestamp'. Name it: --map timestamp=COLUMN")
        self.is_ledger = known.is_ledger
        named = known.account
        if not named and not self.is_ledger:
            raise StatementError(NO_ACCOUNT)
        if self.is_ledger and (unread := not_read(near_columns_of(known.columns))):
            raise StatementError(unread[0])
        self._table = known.booked if self.is_ledger else known.table
        columns = [column.name for layout in known.layouts.values() for column in layout.columns]
        self._names = BOOKED_NAMES if self.is_ledger else tuple(dict.fromkeys(("type", "model", *columns)))
        self._account = self._text(named) if named else None
        self._own = f"{self._account} = {_SQL.literal(account)}" if named else "TRUE"
        self._of_nobody = f"coalesce(trim({self._account}), '') = ''" if named else "FALSE"
        if dialect and (requests := requests_only(dialect, known.types, None)):
            named_in_sql = Columns(_SQL, lambda name: (_SQL.quoted(name), known.types[name]), "NULL")
            self._own += f" AND {read_condition(requests).sql(named_in_sql)}"
        type_ = known.types[known.columns["timestamp"]]
        column = _SQL.quoted(known.columns["timestamp"])
        micros = f"epoch_us(TRY_CAST({column} AS TIMESTAMPTZ))" if type_ == "text" else f"epoch_us({column})"
        of_a_month = f"{micros} >= {_micros(FIRST_MONTH)} AND {micros} < {_micros(next_month(LAST_MONTH))}"
        self._instant = f"CASE WHEN {_SQL.day(column, type_)} IS NOT NULL AND {of_a_month} THEN {micros} END"

    def months(self, requests: Collection[str] | None = None) -> set[date]:
        """Return the first day of each month with rows of any account, or with charges of these requests."""
        month, only = f"date_trunc('month', make_timestamp({self._instant}))", ""
        if requests is not None:
            named = ", ".join(map(_SQL.literal, sorted(requests)))
            only = f" WHERE {self._own} AND NOT {self._is_refund} AND {self._text(REQUEST)} IN ({named})"
        return {row[0].date() for row in self._rows(f"SELECT DISTINCT {month} FROM {self._table}{only}") if row[0]}

    def accounts(self) -> list[str]:
        """Return names of accounts in the usage, at most a thousand, to suggest the one that was meant."""
        if self._account is None:
            return []
        return self._texts(f"{self._account} FROM {self._table} LIMIT {_MOST_NAMES}")

    def alike(self) -> list[str]:
        """Return the names of accounts in the usage that are the account's but for capitals and spaces around."""
        if self._account is None:
            return []
        name = _SQL.literal(self.account.strip().lower())
        return self._texts(f"{self._account} FROM {self._table} WHERE lower(trim({self._account})) = {name}")

    def has_any(self) -> bool:
        """Return True if the account has a row in any month."""
        return bool(list(self._rows(f"SELECT 1 FROM {self._table} WHERE {self._own} LIMIT 1")))

    def count(self, month: date) -> RowCounts:
        """Count all rows of the usage, those of the account in a month, and those without an account."""
        where = (self._within(month), self._of_nobody)
        counts = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in where)
        return RowCounts(*next(self._rows(f"SELECT count(*), {counts} FROM {self._table}")))

    def distinct(self, name: str, month: date) -> list[str]:
        """Return the texts that a column has in the rows of the account in a month."""
        if name not in self._present:
            return []
        return self._texts(f"{self._text(name)} FROM {self._table} WHERE {self._within(month)}")

    def near_columns(self, month: date, conditions: Iterable[str]) -> dict[str, str]:
        """Return unread columns, each with the missing column of the account's rows in a month that it looks like.

        `conditions` are those that a row may state.
        """
        if self.is_ledger:
            return {}
        known, types = self._known, self.distinct("type", month) or self._known.layouts
        names = [column.name for type_ in types if type_ in known.layouts for column in known.layouts[type_].columns]
        names += conditions
        read = {known.columns[name] for name in (*self._names, "timestamp", known.account) if known.has(name)}
        return near_columns(
            (name for name in known.types if name not in read), (name for name in names if not known.has(name))
        )

    @cached_property
    def refunded(self) -> frozenset[str]:
        """Return the ids of the requests that were refunded, in full or in part."""
        if not self.is_ledger or REQUEST not in self._present:
            return frozenset()
        where = f"{self._own} AND {self._is_refund}"
        return frozenset(self._texts(f"{self._text(REQUEST)} FROM {self._table} WHERE {where}"))

    def count_odd(self) -> int:
        """Count the rows of the account whose timestamp is missing or not an instant of a month that can be stated."""
        query = f"SELECT count(*) FROM {self._table} WHERE {self._own} AND ({self._instant}) IS NULL"
        return int(next(self._rows(query))[0])

    def count_disputed(self, month: date) -> int:
        """Count the booked rows of the account in a month whose amount is not units x price, as a simulation does."""
        if not self.is_ledger:
            return 0
        where = f"{self._within(month)} AND ledger_entry = '{DISPUTED}'"
        return int(next(self._rows(f"SELECT count(*) FROM {self._known.table} WHERE {where}"))[0])

    def of(self, month: date) -> Iterator[tuple[datetime, dict[str, str]]]:
        """Yield each row of the account in a month: its instant, and its columns as text.

        Rows of one instant are in the order of their values, so that their order in the file does not matter.
        `charged_at` of a row finds the charge of a refund, whatever its month is.
        """
        names = self._present
        texts = ", ".join(self._text(name) for name in names)
        order = ", ".join(str(number + 2) for number in range(len(names)))
        mark, charge = self._mark, (self._charge if self.refunded else "")
        # The month is chosen after windows are computed: a charge and its refund may be of different months.
        where = f"{self._own} {'QUALIFY' if mark or charge else 'AND'} {self._within(month)}"
        added = f"{mark or 'NULL'}, {charge or 'NULL'}"
        chosen = f"SELECT {self._instant}, {texts}, {added} FROM {self._table} WHERE {where}"
        for micros, *values in self._rows(f"{chosen} ORDER BY 1, {order}"):
            cells = zip((*names, _MARK, _CHARGED), values, strict=True)
            row = {name: value for name, value in cells if value is not None}
            yield _EPOCH + micros * _MICROSECOND, row

    def usage_of(self, row: Mapping[str, str]) -> UsageShape:
        """Return the row as a shape of its own, so that nothing is summed."""
        type_ = row.get("type") or None
        layout = self._known.layouts.get(type_ or "")
        attributes = {column.name for column in layout.attributes} if layout else set()
        quantity_names = {column.name for column in (*layout.quantities, *layout.counts)} if layout else set()
        values = {name: value for name, value in row.items() if name in attributes}
        values[RAW_QUANTITIES] = json.dumps({name: value for name, value in row.items() if name in quantity_names})
        return UsageShape(type_, row.get("model"), json.dumps(values), None)

    @cached_property
    def _present(self) -> list[str]:
        """Return the columns to read that the usage has; an export may lack some that the view of a ledger has."""
        present = {name for name, *_ in self._rows(f"DESCRIBE {self._table}")}
        return [name for name in self._names if self._known.columns.get(name) in present]

    @cached_property
    def _mark(self) -> str:
        """Return the expression that marks booked rows that others contradict; empty if there are none."""
        if not self.is_ledger or REQUEST not in self._present:
            return ""
        marks = ", ".join(filter(None, (self._repeated_mark, self._beyond_mark)))
        return f"CASE WHEN {self._request} IS NOT NULL THEN coalesce({marks}) END" if marks else ""

    @property
    def _repeated_mark(self) -> str:
        """Return the expression that marks all but the first row of a charge or refund; empty if nothing is repeated.

        A charge is known by its request, SKU and price. A further part of it, which has no units, is known by the
        balance that paid it too, and a refund by its instant, amount, currency and notes.
        """
        units, prices = ([self._number(name) for name in names if name in self._present] for names in (_COUNT, PRICES))
        keys = [self._instant, *(self._text(name) for name in ("amount", "currency", "notes") if name in self._present)]
        part = f"CASE WHEN coalesce({', '.join(units)}) = 0 THEN {self._text('currency')} ELSE '' END"
        kind = f"CASE WHEN {self._is_refund} THEN concat_ws(' ', {', '.join(keys)}) ELSE {part} END"
        booking = ", ".join((self._request, self._text("sku"), *prices, self._is_refund, kind))
        if not self._is_any(booking, "count(*) > 1"):
            return ""
        number = f"row_number() OVER (PARTITION BY {booking} ORDER BY {self._instant})"
        return f"CASE WHEN {number} > 1 THEN CASE WHEN {self._is_refund} THEN 'refund' ELSE 'charge' END END"

    @property
    def _beyond_mark(self) -> str:
        """Return the expression that marks refunds beyond what was charged in their currency; empty without any.

        Refunds whose charge is not in the usage, in any currency, are not marked.
        """
        charge, booking = f"{self._request}, {self._text('sku')}", self._booking
        # An amount that is too long for the engine counts as a refund less, or a charge more, than any that is not.
        too_long = f"CASE WHEN {self._is_refund} THEN {10**17}::DECIMAL(38, 18) ELSE -{10**18}::DECIMAL(38, 18) END"
        # The engine holds 18 decimals. The next 18 are added by themselves, in units of the last one of these.
        amount, zero = self._text("amount"), "0::DECIMAL(38, 18)"
        held = f"TRY_CAST(regexp_replace({amount}, '([.][0-9]{{18}})[0-9]+', '\\1') AS DECIMAL(38, 18))"
        further = f"coalesce(TRY_CAST('0.' || substr(split_part({amount}, '.', 2), 19, 18) AS DECIMAL(38, 18)), {zero})"
        charged, refunded = (f"sum(greatest({sign}coalesce({held}, {too_long}), 0))" for sign in ("-", ""))
        of_refunds = f"sum(CASE WHEN {self._is_refund} THEN {further} ELSE {zero} END)"
        of_charges = f"sum(CASE WHEN {self._is_refund} THEN {zero} ELSE {further} END)"

        def beyond(of_all: str = "", until_now: str = "") -> str:
            carried = f"floor({of_charges}{of_all} - {of_refunds}{until_now})::DECIMAL(19, 0)"
            return f"{refunded}{until_now} - {charged}{of_all} > {carried} * 0.000000000000000001::DECIMAL(19, 18)"

        if not self._is_any(booking, beyond()):
            return ""
        in_any = f"{charged} OVER (PARTITION BY {charge})"
        of_all = f" OVER (PARTITION BY {booking})"
        until_now = f" OVER (PARTITION BY {booking} ORDER BY {self._instant})"
        return f"CASE WHEN {self._is_refund} AND 0 < {in_any} AND {beyond(of_all, until_now)} THEN 'beyond' END"

    @property
    def _booking(self) -> str:
        """Return the expressions by which a refund finds its charge."""
        return f"{self._request}, {self._text('sku')}, {self._text('currency')}"

    @property
    def _charge(self) -> str:
        """Return the expression for the instant of a row's charge, for usage with refunds."""
        first = f"min({self._instant}) FILTER (NOT {self._is_refund}) OVER (PARTITION BY {self._booking})"
        return f"CASE WHEN {self._request} IS NOT NULL THEN {first} END::VARCHAR"

    def _is_any(self, booking: str, condition: str) -> bool:
        """Return True if the account's rows of any booking, grouped by these expressions, meet a condition."""
        query = f"SELECT 1 FROM {self._table} WHERE {self._own} AND {self._request} IS NOT NULL"
        return bool(list(self._rows(f"{query} GROUP BY {booking} HAVING {condition} LIMIT 1")))

    @property
    def _request(self) -> str:
        return f"nullif({self._text(REQUEST)}, '')"

    def _number(self, name: str) -> str:
        return f"TRY_CAST({self._text(name)} AS DECIMAL(38, 18))"

    @property
    def _is_refund(self) -> str:
        # As text, because an amount may be too long for a number of the engine. A charge of nothing is none.
        return f"regexp_matches(trim({self._text('amount')}), '^[+]?[0-9.]*[1-9]')"

    def _within(self, month: date) -> str:
        first, end = _micros(month), _micros(next_month(month))
        return f"{self._own} AND ({self._instant}) >= {first} AND ({self._instant}) < {end}"

    def _text(self, name: str) -> str:
        return _SQL.text(_SQL.quoted(self._known.columns[name]))

    def _texts(self, query: str) -> list[str]:
        return [text for (text,) in self._rows(f"SELECT DISTINCT {query}") if text]

    def _rows(self, query: str) -> Iterator[Any]:
        # Another connection would not see a frame, and a second query on this connection would end the first one.
        if self._is_reading:
            raise RuntimeError("the rows of one query must be read to their end before the next query")
        self._is_reading = True
        try:
            with readable():
                result = self._workspace.connection.execute(query)
                while batch := result.fetchmany(_BATCH):
                    yield from batch
        finally:
            self._is_reading = False


def _micros(day: date) -> int:
    return (utc(day) - _EPOCH) // _MICROSECOND
