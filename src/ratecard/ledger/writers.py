"""Who books: a ledger, or a connection of the host whose transaction keeps a charge whole. Anything else is refused."""

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from ratecard.base.errors import LedgerError
from ratecard.ledger.clock import Clock
from ratecard.ledger.database import check_dialect, check_transaction
from ratecard.ledger.store import Ledger

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection  # needs greenlet, which a ledger of its own does without

# Where a function writes: a ledger, in a transaction of its own, or a connection of the host, who commits.
LedgerWriter = Ledger | Connection

# The object to pass instead, by the class of SQLAlchemy that was given.
_INSTEAD = {
    "Engine": "Pass open_ledger(engine), or a connection of it: with engine.begin() as connection",
    "AsyncEngine": "Pass a connection of it to the async form: async with engine.begin() as connection",
    "Session": "Pass session.connection()",
    "scoped_session": "Pass session.connection()",
    "AsyncSession": "Pass await session.connection() to the async form",
    "async_scoped_session": "Pass await session.connection() to the async form",
    "AsyncConnection": "Await charge_async, refund_async or append_many_async with it",
    "Connection": "Call charge, refund or append_many with it, or pass a connection of an AsyncEngine",
}
_OTHER = "Pass open_ledger(...) of a URL or an engine, or a connection of SQLAlchemy: engine.connect()"


def check_writer(writer: LedgerWriter) -> None:
    """Refuse what is not a ledger or a connection in a transaction, with what to pass. Raises `LedgerError`."""
    if isinstance(writer, Ledger):
        return
    if not isinstance(writer, Connection):
        raise _refusal(writer, "a Connection of SQLAlchemy")
    check_dialect(writer.dialect.name)
    check_transaction(writer)


def check_asynchronous(connection: "AsyncConnection") -> None:
    """Refuse what is not an asynchronous connection, with what to pass. Raises `LedgerError`."""
    if _kind(connection) != "AsyncConnection":
        raise _refusal(connection, "an AsyncConnection of SQLAlchemy")


def _kind(writer: object) -> str:
    """Return the name of an object's class in SQLAlchemy; empty for any other object."""
    names = [each.__name__ for each in type(writer).__mro__ if each.__module__.startswith("sqlalchemy.")]
    return next((name for name in names if name in _INSTEAD), "")


def _refusal(writer: object, connection: str) -> LedgerError:
    name = f"{type(writer).__module__}.{type(writer).__qualname__}".removeprefix("builtins.")
    words = f"a charge or refund is booked by a ledger or {connection}, not by {name}"
    return LedgerError(f"{words}. {_INSTEAD.get(_kind(writer), _OTHER)}")


def latest_of(writer: LedgerWriter, clock: Clock | None) -> int:
    """Return the latest instant that a new charge may have: by this clock, else the ledger's, else the machine's."""
    if clock is not None:
        return clock.latest()
    return (writer.clock if isinstance(writer, Ledger) else Clock()).latest()


def reading_on(writer: LedgerWriter) -> AbstractContextManager[Connection]:
    """Give a connection to read on."""
    return nullcontext(writer) if isinstance(writer, Connection) else writer.reading()


def writing_on(writer: LedgerWriter, accounts: Collection[str]) -> AbstractContextManager[Connection]:
    """Give a connection to write rows of these accounts on; that of a ledger is committed at the end."""
    return nullcontext(writer) if isinstance(writer, Connection) else writer.writing(accounts)
