"""The billing ledger: rows as JSON pages or CSV, with every digit, and in a database."""

from typing import TYPE_CHECKING

from ratecard.ledger.errors import LedgerConflictError, LedgerError, LedgerUnavailableError
from ratecard.ledger.files import COLUMNS, iter_ledger, join_parts, ledger_csv, ledger_json, read_ledger

if TYPE_CHECKING:
    from ratecard.ledger.store import Ledger

__all__ = [
    "COLUMNS",
    "LedgerConflictError",
    "LedgerError",
    "LedgerUnavailableError",
    "iter_ledger",
    "join_parts",
    "ledger_csv",
    "ledger_json",
    "open_ledger",
    "read_ledger",
]


def open_ledger(url: str) -> "Ledger":
    """Open the ledger in a database, and create its tables if needed: `sqlite:///ledger.db`, `postgresql://host/name`.

    Migrates a ledger of an earlier release; one process does it. Needs `ratecard[server]`. Raises `LedgerError` for
    another kind of database, a schema of a newer release, or a missing package, and `LedgerUnavailableError` if the
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
    try:
        from ratecard.ledger.store import Ledger
    except ModuleNotFoundError as error:
        raise LedgerError(f"a ledger in a database needs {error.name}: pip install 'ratecard[server]'") from None
    return Ledger(url)
