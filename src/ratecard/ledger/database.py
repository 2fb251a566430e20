"""The database of a ledger: a SQLite file, or PostgreSQL where more than one machine writes."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL, Connection, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from ratecard.ledger.errors import LedgerError, LedgerUnavailableError
from ratecard.ledger.migration import prepare

_EXAMPLES = "Write sqlite:///ledger.db, or postgresql://user@host/name"
# Seconds that a writer waits for another one of the same SQLite file.
_PATIENCE = 30
# Processes that open a new database at once may meet while they make its tables.
_ATTEMPTS = 10


def connect(url: str) -> Engine:
    """An engine for this URL, its tables made where they are missing, and migrated where they are older."""
    try:
        given = make_url(url)
    except ArgumentError:  # without the URL: it may hold a password
        raise LedgerError(f"the URL of the database cannot be read. {_EXAMPLES}") from None
    engine = _sqlite(given) if given.get_backend_name() == "sqlite" else _postgresql(given)
    try:
        with connected(engine):  # whether there is a database at all is known at once
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
    """A connection, rolled back at the end unless it was committed; no database is `LedgerUnavailableError`."""
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
        # Whatever the server's default: a retry must see what the attempt before it committed.
        return create_engine(given, pool_pre_ping=True, isolation_level="READ COMMITTED")
    except (ModuleNotFoundError, NoSuchModuleError):
        raise LedgerError("a ledger in PostgreSQL needs psycopg: pip install 'psycopg[binary]'") from None
