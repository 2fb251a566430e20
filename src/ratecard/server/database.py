"""The ledger of a server: opened when its database answers, watched, measured, and back without a restart."""

import logging
from collections.abc import Callable
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Any

from ratecard.ledger import LedgerError, LedgerUnavailableError
from ratecard.ledger.store import Ledger
from ratecard.server.metrics import LEDGER_ANSWERS, LEDGER_CONNECTIONS, LEDGER_SECONDS

_logger = logging.getLogger(__name__)
# Seconds between two looks at the database.
_EVERY = 1
# Any name will do: the look only has to reach the tables.
_NOBODY = "nobody"


class WatchedLedger:
    """A ledger whose database may be away: its methods raise `LedgerUnavailableError` until it is back.

    Every method of `Ledger` is there, timed. `open_it` opens the ledger, and is called again until that succeeds.
    """

    def __init__(self, open_it: Callable[[], Ledger]) -> None:
        self._open_it, self._opened = open_it, list[Ledger]()
        self._opening, self._telling = Lock(), Lock()
        self._stop = Event()
        self.reason = "not asked yet"

    def __getattr__(self, name: str) -> Any:
        getattr(Ledger, name)

        def call(*given: Any, **named: Any) -> Any:
            started, outcome = perf_counter(), "refused"
            try:
                found = getattr(self._ledger(), name)(*given, **named)
                outcome = "done"
                self._tell("")
                return found
            except LedgerUnavailableError as error:
                outcome = "unavailable"
                self._tell(" ".join(str(error).split()))
                raise
            finally:
                LEDGER_SECONDS.labels(name, outcome).observe(perf_counter() - started)

        return call

    def unready(self) -> str:
        """Why the ledger cannot be used, without the names of machines; empty if it can."""
        return "the ledger's database does not answer" if self.reason else ""

    def start(self) -> None:
        """Look at the database now, and in a thread from now on."""
        self._stop = Event()
        self._look()
        Thread(target=self._watch, args=(self._stop,), name="ratecard ledger", daemon=True).start()

    def stop(self) -> None:
        """End the thread, and close every connection."""
        self._stop.set()
        with self._opening:
            while self._opened:
                self._opened.pop().close()

    def _ledger(self) -> Ledger:
        if not self._opened:
            with self._opening:
                if not self._opened:
                    self._opened.append(self._open_it())
        return self._opened[0]

    def _watch(self, stop: Event) -> None:
        while not stop.wait(_EVERY):
            self._look()

    def _look(self) -> None:
        try:
            self.walk(_NOBODY, size=1)
        except LedgerUnavailableError:
            return
        except LedgerError as error:  # another schema, since this server began
            self._tell(str(error))
            return
        used, idle = self._ledger().connections()
        LEDGER_CONNECTIONS.labels("used").set(used)
        LEDGER_CONNECTIONS.labels("idle").set(idle)

    def _tell(self, reason: str) -> None:
        """Log once that the database no longer answers, and once that it does again."""
        with self._telling:
            before, self.reason = self.reason, reason
        LEDGER_ANSWERS.set(not reason)
        if reason and before in ("", "not asked yet"):
            _logger.error("%s; what needs it is answered with 503 until it does", reason)
        elif before and not reason and before != "not asked yet":
            _logger.info("the ledger's database answers again")
