"""The ledger in a database, SQLite or PostgreSQL: quotes are appended once, and read in the order of time."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Self, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from sqlalchemy import ColumnElement, Connection, Engine, and_, func, select, tuple_
from sqlalchemy.pool import QueuePool

from ratecard.base.errors import LedgerError, LedgerUnavailableError
from ratecard.base.money import is_balance, no_currency
from ratecard.base.threads import Threads
from ratecard.ledger.booking import write_charges
from ratecard.ledger.clock import AFTER_ALL, BEFORE_ALL, Clock, instant_of
from ratecard.ledger.database import (
    Need,
    Outage,
    Turns,
    Waiting,
    check_transaction,
    connected,
    engine_of,
    make_tables,
    try_to_write,
    unavailable,
)
from ratecard.ledger.rows import NewCharge, charge_rows, entry_of_row
from ratecard.ledger.schema import ACCOUNTS, ENTRIES
from ratecard.line_items.ledger_entry import LedgerEntry
from ratecard.line_items.quote import Quote

_Result = TypeVar("_Result")
# Seconds that `close` waits for calls in threads; one that hangs is left behind.
_AT_THE_END = 5


@dataclass(frozen=True, slots=True)
class Walk:
    """A place in a walk: numbers and text only, so that a cursor can carry it.

    The walk includes the account's rows up to the number `rows`, which existed when it began. The remaining rows come
    after the place (`instant`, `number`), in this order, and before the instant `end`; instants are microseconds since
    1970. `total` is the number of rows at the beginning.
    """

    size: int
    end: int
    currency: str | None
    rows: int
    total: int
    page: int
    instant: int
    number: int


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of the ledger, and the walk that continues after them; None after the last page."""

    entries: tuple[LedgerEntry, ...]
    next: Walk | None


class Ledger:
    """The ledger of any number of accounts, made by `open_ledger`. Threads may share one; each process opens its own.

    `waiting` is its pool size and its timeouts; `clock` limits how far ahead of it a new charge may be; with `lazy` the
    tables are checked at the first use.
    """

    def __init__(
        self, database: str | Engine, waiting: Waiting, *, clock: Clock | None = None, lazy: bool = False
    ) -> None:
        self.waiting, self.clock = waiting, clock or Clock()
        self._engine, self._own = engine_of(database, waiting), isinstance(database, str)
        self.outage, self._turns, self._lazy, self._ready = Outage(), Turns(), lazy, False
        # As many threads as connections are enough: a call that waits for its turn in an event loop needs neither.
        self._threads = Threads(waiting.pool_size, "the ledger")
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[str, asyncio.Lock]]
        self._queues = WeakKeyDictionary()

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
        """Charge an account for a request, once, however often it is tried: all rows of the quote are written, or none.

        The rows are in the currency of the quote; `currency` is a balance that pays all of it, and `paid` is what each
        of several balances pays, as `settle` splits it. Returns True if the request was new; False if it was charged
        already, and then the first timestamp and execution time stay. Raises `LedgerConflictError` if the request was
        charged with other rows, `CurrencyError` for a currency that cannot pay it, `InstantError` for a naive
        timestamp and for a new charge that is further ahead of the clock than its setting, `LedgerError` for an invalid
        name or count, `LedgerDamagedError` for a request whose rows are missing, and `LedgerUnavailableError` without a
        database.
        """
        charge = charge_rows(NewCharge(quote, account, request_id, timestamp, execution_ms, currency, paid))
        with self.writing((account,)) as connection:
            [new] = write_charges(connection, [charge], self.clock.latest())
            if not new:
                connection.rollback()  # so that nothing is written to the disk
        return new

    def walk(
        self,
        account: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        currency: str | None = None,
        size: int = 1000,
    ) -> Walk:
        """Return a walk through an account's rows from `start` on and before `end`, in pages of `size` rows.

        `currency` selects the rows of one currency. Rows that are appended later are not part of the walk, whatever
        their timestamp. Raises `ValueError` for a size below 1 and for what is no currency, `InstantError` for a naive
        datetime, and `LedgerUnavailableError` without a database.
        """
        if isinstance(size, bool) or size < 1:
            raise ValueError(f"size={size}. Allowed: 1 or more")
        if currency is not None and not is_balance(currency) and (words := no_currency(currency)):
            raise ValueError(words)
        start_instant = BEFORE_ALL if start is None else instant_of(start)
        end_instant = AFTER_ALL if end is None else instant_of(end)
        with self.reading() as connection:
            rows = connection.scalar(select(ACCOUNTS.c.rows).where(ACCOUNTS.c.account == account)) or 0
            # Numbers begin at 1: the place (start, 0) is before every row of that instant.
            walk = Walk(size, end_instant, currency, rows, 0, 1, start_instant, 0)
            total = connection.scalar(select(func.count()).select_from(ENTRIES).where(_ahead(account, walk)))
        return replace(walk, total=total or 0)

    def page(self, account: str, walk: Walk) -> Page:
        """Return the next rows of a walk, ordered by time, and then by the order of the appends.

        Raises `LedgerUnavailableError` without a database.
        """
        query = select(ENTRIES).where(_ahead(account, walk)).order_by(ENTRIES.c.instant, ENTRIES.c.number)
        with self.reading() as connection:
            rows = connection.execute(query.limit(walk.size + 1)).all()
        page_rows = rows[: walk.size]
        next_walk = None
        if len(rows) > len(page_rows):
            last = page_rows[-1]
            next_walk = replace(walk, page=walk.page + 1, instant=last.instant, number=last.number)
        return Page(tuple(map(entry_of_row, page_rows)), next_walk)

    def connections(self) -> tuple[int, int]:
        """Return how many connections to the database are in use now, and how many wait for use."""
        pool = self._engine.pool
        return (pool.checkedout(), pool.checkedin()) if isinstance(pool, QueuePool) else (0, 0)

    def close(self) -> None:
        """Close every connection; an engine of the host stays open."""
        self._threads.close(_AT_THE_END)
        if self._own:
            self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ping(self) -> None:
        """Check that the database answers. Raises `LedgerUnavailableError` if it does not."""
        with self.reading() as connection:
            connection.execute(select(1))

    def try_to_write(self) -> None:
        """Check that the database takes writes. Raises `LedgerUnavailableError` if it does not."""
        with self.transaction(Need.TRIAL) as connection:
            try_to_write(connection)

    @contextmanager
    def transaction(self, need: Need) -> Iterator[Connection]:
        """Yield a connection, rolled back unless committed. Raises `LedgerUnavailableError` without a database."""
        if not self._ready:
            self._make_ready()
        with connected(self._engine, self.outage, need) as connection:
            yield connection

    def _make_ready(self) -> None:
        try:
            with unavailable(self.outage, Need.READ):
                make_tables(self._engine, self.outage)
        except LedgerUnavailableError:
            raise
        except LedgerError as error:
            if not self._lazy:
                raise
            # A lazy ledger is in use already, so this is an outage: its callers must keep their charges and try again.
            raise LedgerUnavailableError(self.outage.failed(str(error))) from None
        self._ready = True

    def reading(self) -> AbstractContextManager[Connection]:
        """Return a context with a connection for reading. Raises `LedgerUnavailableError` without a database."""
        return self.transaction(Need.READ)

    @contextmanager
    def writing(self, accounts: Collection[str]) -> Iterator[Connection]:
        """Yield a connection to write rows of these accounts; it is committed at the end unless there was an error.

        In this process one writer of an account at a time has a connection. Raises `LedgerUnavailableError` without a
        database, when the accounts stay busy, and for an engine of the host in AUTOCOMMIT.
        """
        with self._turns.take(accounts, self.waiting.wait_timeout), self.transaction(Need.WRITE) as connection:
            if not self._own:
                try:
                    check_transaction(connection)
                except LedgerError as error:  # the host's mistake: the caller must keep the charge
                    raise LedgerUnavailableError(str(error)) from None
            yield connection
            connection.commit()

    async def in_thread(self, accounts: Collection[str], call: Callable[[], _Result]) -> _Result:
        """Call a function in a thread of the ledger, once it is the turn of these accounts in this event loop.

        Raises `LedgerUnavailableError` if that takes too long, and at once if every thread waits for a database that is
        known not to answer.
        """
        loop, limit = asyncio.get_running_loop(), self.waiting.wait_timeout + self.waiting.statement_timeout
        queues = self._queues.setdefault(loop, WeakValueDictionary())
        async with AsyncExitStack() as turns:
            for account in sorted(set(accounts)):
                turn = queues.setdefault(account, asyncio.Lock())
                try:
                    async with asyncio.timeout(self.waiting.wait_timeout):
                        await turns.enter_async_context(turn)
                except TimeoutError:
                    raise LedgerUnavailableError(f"the ledger is busy: other appends to {account!r} wait") from None
            if self._threads.waiting() and not self.outage.answers:
                raise LedgerUnavailableError(f"the ledger's database {self.outage.problem}")
            future = self._threads.submit(call)
            try:
                async with asyncio.timeout(limit) as timer:
                    return await asyncio.wrap_future(future)
            except TimeoutError:
                if not timer.expired():
                    raise
                words = f"the ledger's database does not answer: no answer in {limit} s"
                raise LedgerUnavailableError(words) from None


def _ahead(account: str, walk: Walk) -> ColumnElement[bool]:
    after = tuple_(ENTRIES.c.instant, ENTRIES.c.number) > tuple_(walk.instant, walk.number)
    ahead = and_(ENTRIES.c.account == account, ENTRIES.c.number <= walk.rows, after, ENTRIES.c.instant < walk.end)
    return ahead if walk.currency is None else and_(ahead, ENTRIES.c.currency == walk.currency)
