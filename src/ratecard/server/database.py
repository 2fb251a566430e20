"""The ledger of a server: how long its database takes, and whether it answers."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic_ns, perf_counter
from typing import Any

from ratecard.ledger import LedgerError, LedgerUnavailableError
from ratecard.ledger.store import Ledger
from ratecard.server.metrics import LEDGER_ANSWERS, LEDGER_CONNECTIONS, LEDGER_SECONDS

# Seconds between two looks at the database, and after which one without an answer says that there is none.
_EVERY, _PATIENCE = 1, 5


class MeasuredLedger(Ledger):
    """A ledger that counts its transactions, and the seconds that they take."""

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """As that of `Ledger`: a transaction, with the wait for a connection."""
        with _measured("transaction"), super().reading() as connection:
            yield connection

    @contextmanager
    def writing(self, accounts: Collection[str]) -> Iterator[Any]:
        """As that of `Ledger`: a transaction, with the wait for other writers of the accounts."""
        with _measured("write"), super().writing(accounts) as connection:
            yield connection


@contextmanager
def _measured(operation: str) -> Iterator[None]:
    started, outcome = perf_counter(), "refused"
    try:
        yield
        outcome = "done"
    except LedgerUnavailableError:
        outcome = "unavailable"
        raise
    finally:
        LEDGER_SECONDS.labels(operation, outcome).observe(perf_counter() - started)


class LedgerWatch:
    """Looks at the database of a ledger once a second, in a thread: `/readyz` needs no key, and must not reach it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._stop = ledger, Event()
        self._answers = False
        self._asked: int | None = None

    def unready(self) -> str:
        """Why the ledger cannot be used, without the names of machines; empty if it can."""
        late = self._asked is not None and monotonic_ns() - self._asked > _PATIENCE * 10**9
        return "" if self._answers and not late else "the ledger's database does not answer"

    def start(self) -> None:
        """Look now, and in a thread from now on."""
        self._stop = Event()
        self._look()
        Thread(target=self._watch, args=(self._stop,), name="ratecard ledger", daemon=True).start()

    def stop(self) -> None:
        """End the thread, and close the ledger."""
        self._stop.set()
        self._ledger.close()

    def _watch(self, stop: Event) -> None:
        while not stop.wait(_EVERY):
            self._look()

    def _look(self) -> None:
        self._asked = monotonic_ns()
        try:
            self._ledger.ping()
            self._answers = True
        except LedgerError:  # the ledger has logged why
            self._answers = False
        self._asked = None
        LEDGER_ANSWERS.set(self._answers)
        used, idle = self._ledger.connections()
        LEDGER_CONNECTIONS.labels("used").set(used)
        LEDGER_CONNECTIONS.labels("idle").set(idle)
