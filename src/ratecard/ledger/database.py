"""The connections of a ledger: engines and their timeouts, outages of the database, and writers that wait."""

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from itertools import count
from time import monotonic_ns
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import URL, Connection, Engine, create_engine, delete, event, false, insert, make_url, select
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    InterfaceError,
    InternalError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as NoConnectionError

from ratecard.base.errors import LedgerError, LedgerUnavailableError
from ratecard.ledger.schema import ACCOUNTS, ENTRIES, REFUNDS, REQUESTS, prepare

log = logging.getLogger("ratecard.ledger")

_EXAMPLES = "Write sqlite:///ledger.db, or postgresql://user@host/name"
_DIALECTS = ("sqlite", "postgresql")
# Processes that open a new database at the same time may collide while they create its tables.
_ATTEMPTS = 10
# Codes of PostgreSQL and names of SQLite: a lock that was not free in time, a deadlock, a statement that took too long.
_BUSY = ("55P03", "40P01", "57014", "SQLITE_BUSY", "SQLITE_LOCKED")
# Codes of PostgreSQL for valid statements that it refuses: no permission, no such table or column.
_REFUSES = ("42501", "42P01", "42703")


@dataclass(frozen=True, slots=True)
class Waiting:
    """The number of connections of a process, and its timeouts in seconds."""

    pool_size: int = 10
    connect_timeout: int = 10
    wait_timeout: int = 30
    statement_timeout: int = 60

    def __post_init__(self) -> None:
        for name in ("pool_size", "connect_timeout", "wait_timeout", "statement_timeout"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 86_400:
                raise LedgerError(f"{name}={number!r}. Allowed: a whole number, 1 to 86400")


def engine_of(database: str | Engine, waiting: Waiting) -> Engine:
    """Make the engine of a URL without connecting, or return the host's own. Raises `LedgerError` for anything else."""
    if isinstance(database, Engine):
        check_dialect(database.dialect.name)
        return database
    try:
        address = make_url(database)
    except ArgumentError:  # the URL is not shown: it may contain a password
        raise LedgerError(f"the URL of the database cannot be read. {_EXAMPLES}") from None
    return _sqlite(address, waiting) if address.get_backend_name() == "sqlite" else _postgresql(address, waiting)


def check_dialect(name: str) -> None:
    """Raise `LedgerError` for a kind of database in which no ledger can be kept."""
    if name not in _DIALECTS:
        raise LedgerError(f"a ledger cannot be kept in {name}. Allowed: {', '.join(_DIALECTS)}")


def check_transaction(connection: Connection) -> None:
    """Raise `LedgerError` for a connection in AUTOCOMMIT, where a charge could be half written, or mixed with others.

    The driver is asked, because it can be in this mode without the knowledge of SQLAlchemy; one that does not say is
    refused too. Needs the tables.
    """
    if connection.dialect.name == "sqlite":
        # Settings and hosts can begin a transaction in several ways, so only the effect is checked.
        connection.execute(delete(REQUESTS).where(false()))
        in_transaction, level = getattr(connection.connection.driver_connection, "in_transaction", None), "SERIALIZABLE"
    else:
        autocommit = getattr(connection.connection.dbapi_connection, "autocommit", None)
        in_transaction, level = None if autocommit is None else not autocommit, "READ COMMITTED"
    if not in_transaction:
        state = "may be in AUTOCOMMIT, which its driver does not say" if in_transaction is None else "is in AUTOCOMMIT"
        raise LedgerError(
            f"the connection {state}: each statement is committed by itself, so a charge could be half written."
            f' Pass one with transactions, of an engine without AUTOCOMMIT or with isolation_level="{level}"'
        )


def connect(engine: Engine) -> Connection:
    """Open a connection for the ledger's own transactions."""
    connection = engine.connect()
    if engine.dialect.name == "postgresql":
        # A retry must see what the attempt before it committed, whatever the server's default is. This is set for each
        # connection, because an option of the host's engine would override that of an engine derived from it.
        connection.execution_options(isolation_level="READ COMMITTED")
    return connection


def _sqlite(url: URL, waiting: Waiting) -> Engine:
    if url.database in (None, "", ":memory:") or "memory" in url.query.get("mode", ""):
        raise LedgerError(f"a ledger in memory would be lost, and differ between threads. {_EXAMPLES}")
    return create_engine(url, connect_args={"timeout": waiting.wait_timeout}, **_pool(waiting))


def _postgresql(url: URL, waiting: Waiting) -> Engine:
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise LedgerError(f"a ledger cannot be kept in {url.drivername}. {_EXAMPLES}")
    # This ends connections to a server that vanished without closing them.
    silence_options = {"tcp_user_timeout": str(waiting.statement_timeout * 1000)}
    query = {"connect_timeout": str(waiting.connect_timeout), **silence_options, **url.query}
    address = url.set(drivername="postgresql+psycopg", query=query)
    try:
        engine = create_engine(address, pool_pre_ping=True, **_pool(waiting))
    except (ModuleNotFoundError, NoSuchModuleError):
        raise LedgerError("a ledger in PostgreSQL needs psycopg: pip install 'psycopg[binary]'") from None

    # These are not options of the connection, because the URL may have other options, and some proxies refuse them all.
    @event.listens_for(engine, "connect")
    def _set_timeouts(connection: Any, _: object) -> None:
        connection.autocommit = True
        for name, seconds in (("lock_timeout", waiting.wait_timeout), ("statement_timeout", waiting.statement_timeout)):
            connection.execute(f"SET {name} = '{seconds}s'")
        connection.autocommit = False

    return engine


def _pool(waiting: Waiting) -> dict[str, int]:
    return {"pool_size": waiting.pool_size, "max_overflow": 0, "pool_timeout": waiting.wait_timeout}


def make_tables(engine: Engine, outage: "Outage") -> None:
    """Make or migrate the tables if needed. Raises `LedgerError`, and the errors of the database."""
    with connect(engine):  # a database that does not answer fails here, before the retries
        pass
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            prepare(partial(connect, engine))
            return
        except DBAPIError as error:
            if attempt == _ATTEMPTS:
                words = outage.failed(f"the tables cannot be made: {error.orig}")
                raise LedgerUnavailableError(words) from error


class Need(IntEnum):
    """The access to the database that an attempt needs, the least first; a trial is a write that is rolled back."""

    READ = 1
    TRIAL = 2
    WRITE = 3


_DOES_NOT_ANSWER, _TAKES_NO_WRITES = "does not answer", "takes no writes"


class Outage:
    """An outage of the database, by kinds of attempts; logs one line when it begins, and one when it is over.

    A success proves nothing about attempts that need more: a database that takes no writes can be read, and one whose
    disk is full only fails at the commit. A trial that succeeds after a failed trial counts as a write that succeeds.
    """

    def __init__(self) -> None:
        self._lock, self._numbers = threading.Lock(), count(1)
        # The number of the last failed attempt of each kind: the success of an older attempt does not end the outage.
        self._failed: dict[Need, int] = {}
        # The kinds of attempts that did not get an answer when they last failed.
        self._silent: frozenset[Need] = frozenset()
        self._problem, self._write_failed = "", 0

    @property
    def problem(self) -> str:
        """Return what is wrong, to be read after "the ledger's database"; empty if there is no outage."""
        return self._problem if self._failed else ""

    @property
    def answers(self) -> bool:
        """Return True if the database answers, though it may take no writes."""
        return not any(need in self._failed for need in self._silent)

    def failed_to_write(self, seconds: int) -> bool:
        """Return True if a write failed within this many seconds, and no write has succeeded since."""
        return Need.WRITE in self._failed and monotonic_ns() - self._write_failed < seconds * 10**9

    def begin(self) -> int:
        """Return the number of a new attempt."""
        return next(self._numbers)

    def failed(self, reason: str, need: Need = Need.READ, *, answers: bool = True) -> str:
        """Note that an attempt failed, with or without an answer; return a sentence that says what is wrong."""
        problem = _TAKES_NO_WRITES if answers and need > Need.READ else _DOES_NOT_ANSWER
        words = f"the ledger's database {problem}: {reason}"
        with self._lock:
            had_failed = bool(self._failed)
            self._failed[need] = next(self._numbers)
            self._silent = self._silent - {need} if problem == _TAKES_NO_WRITES else self._silent | {need}
            if need == Need.WRITE:
                self._write_failed = monotonic_ns()
            if not had_failed:
                self._problem = problem
        if not had_failed:
            log.error("%s; each request tries again", words)
        return words

    def succeeded(self, attempt: int, need: Need) -> None:
        """Note that an attempt succeeded."""
        if not self._failed:
            return
        with self._lock:
            if need == Need.TRIAL and self._failed.get(Need.TRIAL, attempt) < attempt:
                need = Need.WRITE
            had_failed = bool(self._failed)
            self._failed = {kind: last for kind, last in self._failed.items() if kind > need or last > attempt}
            is_over = had_failed and not self._failed
        if is_over:
            words = "answers" if self._problem == _DOES_NOT_ANSWER else "takes writes"
            log.info("the ledger's database %s again", words)


@contextmanager
def connected(engine: Engine, outage: Outage, need: Need = Need.READ) -> Iterator[Connection]:
    """Yield a connection that is rolled back unless committed. Raises `LedgerUnavailableError` without a database."""
    attempt = outage.begin()
    with unavailable(outage, Need.READ):
        connection = connect(engine)
    with unavailable(outage, need), connection:
        yield connection
    outage.succeeded(attempt, need)


@contextmanager
def unavailable(outage: Outage, need: Need) -> Iterator[None]:
    """Raise `LedgerUnavailableError` for errors of the database, which are an outage unless it is only busy."""
    try:
        yield
    except DBAPIError as error:
        codes = [str(getattr(error.orig, name, "")) for name in ("sqlstate", "sqlite_errorname")]
        failed = isinstance(error, (OperationalError, InterfaceError, InternalError)) or type(error) is DatabaseError
        if not failed and not any(code in _REFUSES for code in codes):  # the database refuses the rows
            raise
        words = " ".join(str(error.orig).split())
        if any(code.startswith(_BUSY) for code in codes):
            raise LedgerUnavailableError(f"the ledger is busy: {words}") from error
        need = Need.READ if error.connection_invalidated else need
        raise LedgerUnavailableError(outage.failed(words, need)) from error
    except NoConnectionError as error:
        raise LedgerUnavailableError("the ledger's database does not answer: every connection is busy") from error


def try_to_write(connection: Connection) -> None:
    """Test each table of charges and refunds by an INSERT of no rows, which needs the usual locks and permissions."""
    for table in (ACCOUNTS, REQUESTS, REFUNDS, ENTRIES):
        no_rows = select(table).where(table.c.account == "")  # no account has this name
        connection.execute(insert(table).from_select(table.c.keys(), no_rows))
    connection.rollback()


class Turns:
    """One writer at a time for each account: writers that wait hold no connection, and delay no other account."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns = WeakValueDictionary[str, threading.Lock]()

    @contextmanager
    def take(self, accounts: Iterable[str], seconds: int) -> Iterator[None]:
        """Wait for the turn of every account. Raises `LedgerUnavailableError` if that takes too long."""
        with ExitStack() as turns:
            for account in sorted(set(accounts)):  # in one order, so that no two writers wait for each other
                turns.enter_context(self._take(account, seconds))
            yield

    @contextmanager
    def _take(self, account: str, seconds: int) -> Iterator[None]:
        with self._lock:
            turn = self._turns.setdefault(account, threading.Lock())
        if not turn.acquire(timeout=seconds):
            raise LedgerUnavailableError(f"the ledger is busy: other appends to {account!r} took {seconds} s")
        try:
            yield
        finally:
            turn.release()
