"""The ledger in a database, SQLite or PostgreSQL: quotes are appended once, and read in the order of time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from decimal import Decimal
from types import TracebackType
from typing import Any, Self

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Row,
    and_,
    create_engine,
    func,
    insert,
    make_url,
    select,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.pool import QueuePool

from ratecard.base.errors import InstantError
from ratecard.base.messages import echo
from ratecard.ledger.errors import LedgerConflictError, LedgerError, LedgerUnavailableError
from ratecard.ledger.files import PRICES
from ratecard.ledger.schema import ACCOUNTS, ENTRIES, REQUESTS, prepare
from ratecard.ledger.walk import AFTER_ALL, BEFORE_ALL, Page, Walk, instant_of, timestamp_of
from ratecard.rating.ledger_entry import InferenceDetails, LedgerEntry
from ratecard.rating.quote import Quote

_EXAMPLES = "Write sqlite:///ledger.db, or postgresql://user@host/name"
# Seconds that a writer of an SQLite file waits for another one.
_PATIENCE = 30
# Processes that open a new database at the same time may collide while they create its tables.
_ATTEMPTS = 10


def connect(url: str) -> Engine:
    """An engine for a URL, whose tables are created or migrated if needed."""
    try:
        given = make_url(url)
    except ArgumentError:  # the URL is not shown: it may contain a password
        raise LedgerError(f"the URL of the database cannot be read. {_EXAMPLES}") from None
    engine = _sqlite(given) if given.get_backend_name() == "sqlite" else _postgresql(given)
    try:
        with connected(engine):  # a database that does not answer is an error now, and not at the first append
            pass
        _prepare(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _prepare(engine: Engine) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            prepare(engine)
            return
        except DBAPIError as error:
            if attempt == _ATTEMPTS:
                raise LedgerUnavailableError(f"the ledger's tables cannot be made: {error.orig}") from error


@contextmanager
def connected(engine: Engine) -> Iterator[Connection]:
    """A connection, rolled back unless it was committed. Raises `LedgerUnavailableError` without a database."""
    try:
        with engine.connect() as connection:
            yield connection
    except (OperationalError, InterfaceError) as error:
        raise LedgerUnavailableError(f"the ledger's database does not answer: {error.orig}") from error
    except NoConnectionError as error:
        raise LedgerUnavailableError("the ledger's database does not answer: every connection is busy") from error


def _sqlite(url: URL) -> Engine:
    if url.database in (None, "", ":memory:") or "memory" in url.query.get("mode", ""):
        raise LedgerError(f"a ledger in memory would be lost, and differ between threads. {_EXAMPLES}")
    return create_engine(url, connect_args={"timeout": _PATIENCE})


def _postgresql(url: URL) -> Engine:
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise LedgerError(f"a ledger cannot be kept in {url.drivername}. {_EXAMPLES}")
    query = {"connect_timeout": "10", **url.query}
    given = url.set(drivername="postgresql+psycopg", query=query)
    try:
        # Set here, not by the server's default: a retry must see what the attempt before it committed.
        return create_engine(given, pool_pre_ping=True, isolation_level="READ COMMITTED")
    except (ModuleNotFoundError, NoSuchModuleError):
        raise LedgerError("a ledger in PostgreSQL needs psycopg: pip install 'psycopg[binary]'") from None


_LONGEST = 200


def check_name(field: str, given: str) -> None:
    """Check an account or a request id: short and printable, so that every database takes it as a key."""
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST or not given.isprintable():
        raise LedgerError(f"{field}={echo(repr(given))}. Allowed: 1 to {_LONGEST} printable characters")


def check_moment(given: datetime) -> None:
    """Check that a datetime has a date in UTC: the first and last hours of the calendar may have none."""
    try:
        given.astimezone(UTC)
    except OverflowError:
        raise InstantError(f"{given!r} has no date in UTC") from None


def check_count(field: str, given: int | None) -> None:
    """Check a whole number, zero or more, that fits 64 bits."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= AFTER_ALL):
        raise LedgerError(f"{field}={echo(repr(given))}. Allowed: a whole number, zero or more, of 64 bits")


# Timestamp and execution time belong to the attempt and not to the charge: those of a retry may differ.
_CHARGED = ("sku", "currency", *PRICES, "unit", "amount", "notes", "requestId", "promptTokens", "completionTokens")


def row_of(account: str, number: int, instant: int, entry: LedgerEntry) -> dict[str, Any]:
    """The columns of an entry."""
    details = entry.details or InferenceDetails("", None)
    return {
        "account": account,
        "number": number,
        "instant": instant,
        **{name: getattr(entry, name) for name in ("sku", "price_per_unit", "unit", "amount", "currency", "notes")},
        **asdict(details),
    }


def _entry_of(row: Row[Any]) -> LedgerEntry:
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
    """The first difference of two charges for one request; empty if they are the same."""
    if len(kept) != len(given):
        return f"it has {len(kept)} rows, not {len(given)}"
    for place, pair in enumerate(zip(kept, given, strict=True), 1):
        before, now = (entry.to_dict() | (entry.details.to_dict() if entry.details else {}) for entry in pair)
        for name in _CHARGED:
            if before.get(name) != now.get(name):
                return f"{name} of row {place} is {before.get(name)}, not {now.get(name)}"
    return ""


class Ledger:
    """The ledger of any number of accounts. Threads may share one; each process opens its own."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        # Both dialects have ON CONFLICT, but SQLAlchemy has no common statement for it.
        self._insert = sqlite.insert if self._engine.dialect.name == "sqlite" else postgresql.insert

    def append(
        self,
        quote: Quote,
        *,
        account: str,
        request_id: str,
        timestamp: datetime,
        execution_ms: int | None = None,
        currency: str | None = None,
        paid: Mapping[str, Decimal] | None = None,
    ) -> bool:
        """Charge an account for a request: all rows of the quote or none, and once, however often it is tried.

        The rows are in the currency of the quote; `currency` is a balance that pays all of it, and `paid` is what each
        of several balances pays, as `settle` splits it. Returns True if the request was new; False if it was charged
        already, and then the first timestamp and execution time stay. Raises `LedgerConflictError` if the request was
        charged with other rows, `CurrencyError` for a currency that cannot pay it, `InstantError` for a naive
        timestamp, `LedgerError` for an invalid name or count, and `LedgerUnavailableError` without a database.
        """
        check_name("account", account)
        check_name("request_id", request_id)
        check_count("execution_ms", execution_ms)
        for count in quote.tokens or ():
            check_count("tokens", count)
        entries = quote.ledger_entries(
            timestamp=timestamp, request_id=request_id, execution_ms=execution_ms, currency=currency, paid=paid
        )
        check_moment(timestamp)
        with connected(self._engine) as connection:
            last = self._count(connection, account, len(entries))
            if not self._claim(connection, account, request_id, last, len(entries)):
                connection.rollback()
                self._compare(connection, account, request_id, entries)
                return False
            if entries:
                first, instant = last - len(entries) + 1, instant_of(timestamp)
                rows = [row_of(account, first + place, instant, entry) for place, entry in enumerate(entries)]
                connection.execute(insert(ENTRIES), rows)
            connection.commit()
        return True

    def walk(
        self,
        account: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        currency: str | None = None,
        size: int = 1000,
    ) -> Walk:
        """Begin to read an account's rows from `start` on and before `end`, in pages of `size` rows.

        `currency` selects the rows of one currency. Rows that are appended later are not part of the walk, whatever
        their timestamp. Raises `ValueError` for a size below 1, `InstantError` for a naive datetime, and
        `LedgerUnavailableError` without a database.
        """
        if size < 1:
            raise ValueError(f"size={size}. Allowed: 1 or more")
        instant = BEFORE_ALL if start is None else instant_of(start)
        before = AFTER_ALL if end is None else instant_of(end)
        with connected(self._engine) as connection:
            rows = connection.scalar(select(ACCOUNTS.c.rows).where(ACCOUNTS.c.account == account)) or 0
            # Numbers begin at 1: the place (start, 0) is before every row of that instant.
            walk = Walk(size, before, currency, rows, 0, 1, instant, 0)
            total = connection.scalar(select(func.count()).select_from(ENTRIES).where(_ahead(account, walk)))
        return replace(walk, total=total or 0)

    def page(self, account: str, walk: Walk) -> Page:
        """The next rows of a walk, ordered by time, and then by the order of the appends.

        Raises `LedgerUnavailableError` without a database.
        """
        query = select(ENTRIES).where(_ahead(account, walk)).order_by(ENTRIES.c.instant, ENTRIES.c.number)
        with connected(self._engine) as connection:
            rows = connection.execute(query.limit(walk.size + 1)).all()
        shown = rows[: walk.size]
        more = len(rows) > len(shown)
        after = replace(walk, page=walk.page + 1, instant=shown[-1].instant, number=shown[-1].number) if more else None
        return Page(tuple(map(_entry_of, shown)), after)

    def connections(self) -> tuple[int, int]:
        """How many connections to the database are in use now, and how many wait for use."""
        pool = self._engine.pool
        return (pool.checkedout(), pool.checkedin()) if isinstance(pool, QueuePool) else (0, 0)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _count(self, connection: Connection, account: str, rows: int) -> int:
        """Add to the account's count of rows and return it; other appends to the account wait for this transaction."""
        new = self._insert(ACCOUNTS).values(account=account, rows=rows)
        added = new.on_conflict_do_update(
            index_elements=[ACCOUNTS.c.account], set_={"rows": ACCOUNTS.c.rows + new.excluded.rows}
        )
        count: int = connection.execute(added.returning(ACCOUNTS.c.rows)).scalar_one()
        return count

    def _claim(self, connection: Connection, account: str, request_id: str, last: int, rows: int) -> bool:
        """Insert the request; False if it is there already."""
        new = self._insert(REQUESTS).values(account=account, request_id=request_id, last=last, rows=rows)
        claimed = new.on_conflict_do_nothing().returning(REQUESTS.c.last)
        return connection.execute(claimed).first() is not None

    def _compare(self, connection: Connection, account: str, request_id: str, entries: Sequence[LedgerEntry]) -> None:
        ours = and_(REQUESTS.c.account == account, REQUESTS.c.request_id == request_id)
        request = connection.execute(select(REQUESTS).where(ours)).one()
        rows = and_(
            ENTRIES.c.account == account,
            ENTRIES.c.number.between(request.last - request.rows + 1, request.last),
        )
        kept = connection.execute(select(ENTRIES).where(rows).order_by(ENTRIES.c.number)).all()
        if differs := difference(tuple(map(_entry_of, kept)), entries):
            raise LedgerConflictError(f"request {request_id!r} is in the ledger already, and not the same: {differs}")


def _ahead(account: str, walk: Walk) -> ColumnElement[bool]:
    """The condition of the rows that a walk has not read yet."""
    ahead = [
        ENTRIES.c.account == account,
        ENTRIES.c.number <= walk.rows,
        tuple_(ENTRIES.c.instant, ENTRIES.c.number) > tuple_(walk.instant, walk.number),
        ENTRIES.c.instant < walk.end,
    ]
    return and_(*ahead) if walk.currency is None else and_(*ahead, ENTRIES.c.currency == walk.currency)
