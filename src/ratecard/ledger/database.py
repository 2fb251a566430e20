"""The connections of a ledger: engines and their timeouts, a database that is gone, and writers that wait."""

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from sqlalchemy import URL, Connection, Engine, create_engine, delete, event, false, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, InternalError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from ratecard.ledger.errors import LedgerError, LedgerUnavailableError
from ratecard.ledger.schema import REQUESTS, prepare

log = logging.getLogger("ratecard.ledger")

_EXAMPLES = "Write sqlite:///ledger.db, or postgresql://user@host/name"
_DIALECTS = ("sqlite", "postgresql")
# Processes that open a new database at the same time may collide while they create its tables.
_ATTEMPTS = 10
# PostgreSQL's codes for a lock that was not free in time, and for a deadlock; SQLite has only words.
_BUSY = ("55P03", "40P01")


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many connections a process has, and how many seconds it waits for what."""

    pool_size: int = 10
    connect_timeout: int = 10
    wait_timeout: int = 30
    statement_timeout: int = 60

    def __post_init__(self) -> None:
        for name in ("pool_size", "connect_timeout", "wait_timeout", "statement_timeout"):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 86_400:
                raise LedgerError(f"{name}={given!r}. Allowed: a whole number, 1 to 86400")


def engine_of(database: str | Engine, waiting: Waiting) -> Engine:
    """An engine for a URL, or that of the host; it has not connected yet. Raises `LedgerError` for another kind."""
    if isinstance(database, Engine):
        check_dialect(database.dialect.name)
        return database
    try:
        given = make_url(database)
    except ArgumentError:  # the URL is not shown: it may contain a password
        raise LedgerError(f"the URL of the database cannot be read. {_EXAMPLES}") from None
    return _sqlite(given, waiting) if given.get_backend_name() == "sqlite" else _postgresql(given, waiting)


def check_dialect(name: str) -> None:
    """Refuse a kind of database that a ledger cannot be kept in. Raises `LedgerError`."""
    if name not in _DIALECTS:
        raise LedgerError(f"a ledger cannot be kept in {name}. Allowed: {', '.join(_DIALECTS)}")


def check_transaction(connection: Connection) -> None:
    """Refuse a connection that commits each statement by itself: a charge would be half written, or another's.

    The driver is asked, because it can be in this mode without SQLAlchemy. Needs the tables. Raises `LedgerError`.
    """
    if connection.dialect.name == "sqlite":
        # How a transaction begins has several settings, and hosts that begin it themselves: only its effect counts.
        connection.execute(delete(REQUESTS).where(false()))
        commits_each, level = (
            not getattr(connection.connection.driver_connection, "in_transaction", True),
            "SERIALIZABLE",
        )
    else:
        commits_each, level = (
            bool(getattr(connection.connection.dbapi_connection, "autocommit", False)),
            "READ COMMITTED",
        )
    if commits_each:
        raise LedgerError(
            "the connection is in AUTOCOMMIT: each statement is committed by itself, so a charge could be half written."
            f' Pass one with transactions, of an engine without AUTOCOMMIT or with isolation_level="{level}"'
        )


@contextmanager
def connect(engine: Engine) -> Iterator[Connection]:
    """Give a connection for the ledger's own transactions."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            # A retry must see what the attempt before it committed, whatever the server's default is. Set for each
            # connection: an option of the host's engine would come after one of an engine that is derived from it.
            connection.execution_options(isolation_level="READ COMMITTED")
        yield connection


def _sqlite(url: URL, waiting: Waiting) -> Engine:
    if url.database in (None, "", ":memory:") or "memory" in url.query.get("mode", ""):
        raise LedgerError(f"a ledger in memory would be lost, and differ between threads. {_EXAMPLES}")
    return create_engine(url, connect_args={"timeout": waiting.wait_timeout}, **_pool(waiting))


def _postgresql(url: URL, waiting: Waiting) -> Engine:
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise LedgerError(f"a ledger cannot be kept in {url.drivername}. {_EXAMPLES}")
    # A server that vanished without a word is given up too.
    silence = {"tcp_user_timeout": str(waiting.statement_timeout * 1000)}
    query = {"connect_timeout": str(waiting.connect_timeout), **silence, **url.query}
    given = url.set(drivername="postgresql+psycopg", query=query)
    try:
        engine = create_engine(given, pool_pre_ping=True, **_pool(waiting))
    except (ModuleNotFoundError, NoSuchModuleError):
        raise LedgerError("a ledger in PostgreSQL needs psycopg: pip install 'psycopg[binary]'") from None

    # Not as options of the connection: those of the URL are the host's, and some proxies refuse any.
    @event.listens_for(engine, "connect")
    def _set_timeouts(connection: "_Psycopg", _: object) -> None:
        connection.autocommit = True
        for name, seconds in (("lock_timeout", waiting.wait_timeout), ("statement_timeout", waiting.statement_timeout)):
            connection.execute(f"SET {name} = '{seconds}s'")
        connection.autocommit = False

    return engine


class _Psycopg:
    """What is used of a connection of psycopg."""

    autocommit: bool

    def execute(self, statement: str) -> object:
        """Run a statement."""


def _pool(waiting: Waiting) -> dict[str, int]:
    return {"pool_size": waiting.pool_size, "max_overflow": 0, "pool_timeout": waiting.wait_timeout}


def make_tables(engine: Engine) -> None:
    """Make or migrate the tables if needed. Raises `LedgerError`, and the errors of the database."""
    with connect(engine):  # one that does not answer is an error now, and is not asked again and again
        pass
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            prepare(partial(connect, engine))
            return
        except DBAPIError as error:
            if attempt == _ATTEMPTS:
                raise LedgerUnavailableError(f"the ledger's tables cannot be made: {error.orig}") from error


class Outage:
    """Whether the database answers; logs one line when it no longer does, and one when it does again."""

    def __init__(self) -> None:
        self._lock, self._numbers = threading.Lock(), count(1)
        # The attempts are numbered: one that began before the last failure says nothing of what is now.
        self._failed_at = 0

    def begin(self) -> int:
        """The number of an attempt."""
        return next(self._numbers)

    def failed(self, reason: str) -> None:
        """The database did not answer."""
        with self._lock:
            known, self._failed_at = self._failed_at, next(self._numbers)
        if not known:
            log.error("%s; each request tries again", reason)

    def succeeded(self, attempt: int) -> None:
        """The database answered an attempt."""
        if not self._failed_at:
            return
        with self._lock:
            over = 0 < self._failed_at < attempt
            if over:
                self._failed_at = 0
        if over:
            log.info("the ledger's database answers again")


@contextmanager
def connected(engine: Engine, outage: Outage) -> Iterator[Connection]:
    """A connection, rolled back unless it was committed. Raises `LedgerUnavailableError` without a database."""
    attempt = outage.begin()
    try:
        with connect(engine) as connection:
            yield connection
        outage.succeeded(attempt)
    except (OperationalError, InterfaceError, InternalError) as error:
        words = " ".join(str(error.orig).split())
        if getattr(error.orig, "sqlstate", "") in _BUSY or words == "database is locked":
            raise LedgerUnavailableError(f"the ledger is busy: {words}") from error
        reason = f"the ledger's database does not answer: {words}"
        outage.failed(reason)
        raise LedgerUnavailableError(reason) from error
    except NoConnectionError as error:
        raise LedgerUnavailableError("the ledger's database does not answer: every connection is busy") from error


@dataclass(slots=True)
class _Turn:
    lock: threading.Lock = field(default_factory=threading.Lock)
    wanted: int = 0


class Turns:
    """One writer of an account at a time in this process: those that wait hold no connection, and delay no other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, _Turn] = {}

    @contextmanager
    def take(self, accounts: Iterable[str], seconds: int) -> Iterator[None]:
        """Wait for the turn of every account. Raises `LedgerUnavailableError` if that takes too long."""
        with ExitStack() as held:
            for account in sorted(set(accounts)):  # in one order, so that no two wait for each other
                held.enter_context(self._take(account, seconds))
            yield

    @contextmanager
    def _take(self, account: str, seconds: int) -> Iterator[None]:
        with self._lock:
            turn = self._turns.setdefault(account, _Turn())
            turn.wanted += 1
        try:
            if not turn.lock.acquire(timeout=seconds):
                raise LedgerUnavailableError(f"the ledger is busy: other appends to {account!r} took {seconds} s")
            try:
                yield
            finally:
                turn.lock.release()
        finally:
            with self._lock:
                turn.wanted -= 1
                if not turn.wanted:
                    del self._turns[account]

    def wanted(self, account: str) -> int:
        """How many have or wait for the turn of an account."""
        turn = self._turns.get(account)
        return turn.wanted if turn else 0
