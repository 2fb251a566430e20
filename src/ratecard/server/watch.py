"""Watches a folder of tables in a thread of its own: tells of changed tables, and of those that are refused."""

import atexit
import logging
from collections.abc import Callable, Iterator
from threading import Event, Lock, Thread

from watchfiles import watch

from ratecard.card import RateCard
from ratecard.server.table_folder import TableFolder
from ratecard.words.errors import Fault, TableError

logger = logging.getLogger("ratecard.server")

# Milliseconds: what counts as quiet between the steps of an editor, and the longest that is waited for it.
_QUIET, _MOST_PATIENCE = 50, 400
# How often the folder is read where nothing tells of its changes: a network drive, a folder that was renamed.
_POLL = 500


class TableWatch:
    """Calls `taken` with the rate card of a changed folder, or `refused` with its faults."""

    def __init__(
        self, folder: TableFolder, taken: Callable[[RateCard], None], refused: Callable[[TableError], None]
    ) -> None:
        self.folder, self.taken, self.refused = folder, taken, refused
        self._lock, self._stop = Lock(), Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Watch, if nobody does: a process that was forked has no threads of its parent."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stop = Event()
                self._thread = Thread(target=self._run, args=(self._stop,), name="ratecard tables", daemon=True)
                self._thread.start()
                atexit.register(self.stop)

    def stop(self) -> None:
        """Watch no longer."""
        with self._lock:
            self._stop.set()
            if self._thread:
                self._thread.join()
            self._thread = None
            atexit.unregister(self.stop)

    def _run(self, stop: Event) -> None:
        while not stop.is_set():
            try:
                for _ in self._changes(stop):
                    self._look(stop)
            except (OSError, RuntimeError) as error:  # no folder, or no notifications on this system: read it anyway
                logger.debug("cannot watch %s: %s", self.folder.path, error)
                stop.wait(_POLL / 1000)
                self._look(stop)

    def _changes(self, stop: Event) -> Iterator[object]:
        return watch(
            self.folder.path,
            watch_filter=None,
            step=_QUIET,
            debounce=_MOST_PATIENCE,
            rust_timeout=_POLL,
            yield_on_timeout=True,
            stop_event=stop,
        )

    def _look(self, stop: Event) -> None:
        try:
            card = self.folder.changed(lambda: stop.wait(_QUIET / 1000))
            if card:
                self.taken(card)
        except TableError as error:
            self.refused(error)
        except Exception as error:  # whatever it is, the next change may mend it
            logger.exception("cannot load %s", self.folder.path)
            self.refused(TableError([Fault(str(self.folder.path), 1, (), f"cannot be loaded: {error!r}")]))
