"""The billing ledger: rows as JSON pages or CSV, with every digit, and in a database."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ratecard.base.errors import (
    LedgerConflictError,
    LedgerDamagedError,
    LedgerError,
    LedgerUnavailableError,
    RefundError,
)
from ratecard.ledger.clock import Clock
from ratecard.ledger.files import iter_ledger, ledger_csv, ledger_json, read_ledger
from ratecard.ledger.files import join_parts as join_parts

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ratecard.ledger.charges import (
        BookedCharge,
        BookedRefund,
        append_many,
        append_many_async,
        charge,
        charge_async,
        refund,
        refund_async,
    )
    from ratecard.ledger.rows import NewCharge
    from ratecard.ledger.store import Ledger

__all__ = [
    "BookedCharge",
    "BookedRefund",
    "Clock",
    "LedgerConflictError",
    "LedgerDamagedError",
    "LedgerError",
    "LedgerUnavailableError",
    "NewCharge",
    "RefundError",
    "append_many",
    "append_many_async",
    "charge",
    "charge_async",
    "iter_ledger",
    "ledger_csv",
    "ledger_json",
    "open_ledger",
    "read_ledger",
    "refund",
    "refund_async",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_with_sqlalchemy("charges"), name)  # imported at the first use


def _with_sqlalchemy(module: str) -> Any:
    try:
        return import_module(f"ratecard.ledger.{module}")
    except ModuleNotFoundError as error:
        raise LedgerError(f"a ledger in a database needs {error.name}: pip install 'ratecard[server]'") from None


def open_ledger(
    database: "str | Engine",
    *,
    pool_size: int = 10,
    connect_timeout: int = 10,
    wait_timeout: int = 30,
    statement_timeout: int = 60,
    clock: Clock | None = None,
    lazy: bool = False,
) -> "Ledger":
    """Open the ledger in a database, and create its tables if needed: `sqlite:///ledger.db`, `postgresql://host/name`.

    `database` is a URL, or a SQLAlchemy engine of the host, which keeps its own pool and timeouts, and stays open when
    the ledger is closed. A ledger of an earlier release is migrated, by one process. `pool_size` is the most
    connections of this process. The timeouts are seconds: to connect to PostgreSQL; to wait for other writers of an
    account, for a free connection and for a lock; and for PostgreSQL to answer a statement. `clock` limits how far
    ahead of it a new charge may be: by default an hour ahead of the machine's clock. With `lazy` the database may be
    down now: its tables are checked at the first use. Needs `ratecard[server]`. Raises `LedgerError` for another kind
    of database, a schema of a newer release, a wrong setting or a missing package, and `LedgerUnavailableError` if the
    database does not answer.

    >>> from datetime import UTC, datetime
    >>> from tempfile import TemporaryDirectory
    >>> from ratecard import load_rate_card
    >>> when = datetime(2026, 10, 1, tzinfo=UTC)
    >>> quote = load_rate_card().at(when).quote_video({"model": "ovi-image-to-video"})
    >>> with TemporaryDirectory() as folder, open_ledger(f"sqlite:///{folder}/ledger.db") as ledger:
    ...     first = ledger.append(quote, account="acme", request_id="r-1", timestamp=when)
    ...     again = ledger.append(quote, account="acme", request_id="r-1", timestamp=when)
    ...     [row] = ledger.page("acme", ledger.walk("acme")).entries
    >>> first, again, row.amount
    (True, False, Decimal('-0.22'))
    """
    store, settings = _with_sqlalchemy("store"), (pool_size, connect_timeout, wait_timeout, statement_timeout)
    ledger: Ledger = store.Ledger(database, store.Waiting(*settings), clock=clock, lazy=lazy)
    if not lazy:
        try:
            ledger.ping()
        except BaseException:
            ledger.close()
            raise
    return ledger
