"""The ledger of a server: the times of its database, and whether it answers. Only servers with a ledger import this."""

from collections.abc import Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Event, Thread
from time import perf_counter
from typing import Any

from prometheus_client import Gauge, Histogram

from ratecard.base.threads import Threads
from ratecard.ledger import LedgerError, LedgerUnavailableError
from ratecard.ledger.database import Need
from ratecard.ledger.store import Ledger

# Seconds between two checks of the database.
_EVERY = 1

LEDGER_SECONDS = Histogram(
    "ratecard_ledger_seconds",
    "Transactions and writes of the ledger by outcome (done, refused, unavailable), and the seconds that they took.",
    ("operation", "outcome"),
    buckets=("0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "1", "5", "30"),
)
LEDGER_ANSWERS = Gauge(
    "ratecard_ledger_answers",
    "Whether the database of the ledger answers, and takes writes where there are charges: 1, or 0.",
    multiprocess_mode="livemin",
)
LEDGER_CONNECTIONS = Gauge(
    "ratecard_ledger_connections",
    "Connections to the database of the ledger: used, and idle ones that wait for use.",
    ("connections",),
    multiprocess_mode="livesum",
)


class MeasuredLedger(Ledger):
    """A ledger that counts its transactions, and the seconds that they take."""

    @contextmanager
    def transaction(self, need: Need) -> Iterator[Any]:
        """Open a transaction as `Ledger` does, and measure it with the wait for a connection."""
        with _measured("transaction"), super().transaction(need) as connection:
            yield connection

    @contextmanager
    def writing(self, accounts: Collection[str]) -> Iterator[Any]:
        """Open a transaction as `Ledger` does, and measure it with the wait for other writers of the accounts."""
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
    """A check of a ledger's database once a second, in a thread: `/readyz` needs no key, so it must not cause queries.

    With `writes` each check is a write, which is rolled back. A check without an answer in `patience` seconds has
    failed. After a failed charge the ledger is not ready for `doubt` seconds, even if checks succeed: they do while a
    disk is full.
    """

    def __init__(self, ledger: Ledger, *, writes: bool = True, patience: int = 5, doubt: int = 30) -> None:
        self.patience, self.doubt = patience, doubt
        self._ledger, self._stop = ledger, Event()
        self._need, self._try = (Need.TRIAL, ledger.try_to_write) if writes else (Need.READ, ledger.ping)
        # A check that hangs must not keep this process from reporting it.
        self._looks = Threads(1, "ratecard ledger look")
        self._look_begun: Future[None] | None = None
        self._thread: Thread | None = None
        self._answers = False

    def unready(self) -> str:
        """Return why the ledger cannot be used, without the names of machines; empty if it can."""
        if self._answers and not self._ledger.outage.failed_to_write(self.doubt):
            return ""
        return f"the ledger's database {self._ledger.outage.problem or 'does not answer'}"

    def start(self) -> None:
        """Check the database now, and from now on in a thread."""
        self._stop = Event()
        self._look()
        self._thread = Thread(target=self._watch, args=(self._stop,), name="ratecard ledger", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the threads, and close the ledger."""
        self._stop.set()
        if self._thread:
            self._thread.join(_EVERY)
        self._looks.close(_EVERY)
        self._ledger.close()

    def _watch(self, stop: Event) -> None:
        while not stop.wait(_EVERY):
            self._look()

    def _look(self) -> None:
        if self._look_begun is None or self._look_begun.done():
            self._look_begun = self._looks.submit(self._try)
        try:
            self._look_begun.result(self.patience)
            self._answers = True
        except TimeoutError:
            self._ledger.outage.failed(f"no answer in {self.patience} s", self._need, answers=False)
            self._answers = False
        except LedgerError:  # the ledger has logged why
            self._answers = False
        except Exception as error:  # noqa: BLE001 - the thread must survive: else this would stand for ever
            self._ledger.outage.failed(" ".join(str(error).split()), self._need)
            self._answers = False
        LEDGER_ANSWERS.set(self._answers and not self._ledger.outage.problem)
        used, idle = self._ledger.connections()
        LEDGER_CONNECTIONS.labels("used").set(used)
        LEDGER_CONNECTIONS.labels("idle").set(idle)
