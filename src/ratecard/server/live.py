"""The rate card that is served now: changed tables take its place, sound ones only."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.server.metrics import TABLES_REFUSED, TABLES_TAKEN
from ratecard.server.served import Served
from ratecard.server.table_folder import TableFolder
from ratecard.server.watch import TableWatch
from ratecard.words.errors import TableError

logger = logging.getLogger("ratecard.server")


# A folder of tables (the shipped one for None), or a rate card.
Tables = TableFolder | RateCard | str | Path | None


class TableRefusal(NamedTuple):
    """Changed tables that were refused: when, and every fault with its `file:line`."""

    at: datetime
    error: TableError


class LiveRateCard:
    """The rate card of a folder, followed while people edit it; or a card that stays until `take` gives another.

    Every version is proved by its examples before it is served: `TableError` otherwise. Changed tables that edit what
    was in effect are refused, unless they say why or `allow_edits` is set.

    `now()` is what answers are made from: one card on one day, switched at 00:00 UTC by `clock` (nanoseconds since
    1970), the only clock of the server. The folder is watched from the first answer on, in a thread of its own.

    >>> import ratecard
    >>> live = LiveRateCard(ratecard.load_rate_card())
    >>> live.now().book.quote_video(b'{"model": "ovi-image-to-video"}').to_json()
    b'{"quote":0.22}'
    """

    def __init__(
        self, tables: Tables = None, *, allow_edits: bool = False, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self._clock, self._lock = clock, Lock()
        self._watch: TableWatch | None = None
        if isinstance(tables, RateCard):
            card = tables
            card.prove_all()
        elif isinstance(tables, TableFolder):
            self._watch, card = TableWatch(tables, self.take, self.refuse), tables.card
        else:
            folder = TableFolder(tables, allow_edits=allow_edits, clock=clock)
            self._watch, card = TableWatch(folder, self.take, self.refuse), folder.card
        self.served = Served(card, clock())
        self._started = False
        self.refusal: TableRefusal | None = None
        self.standing = False

    def now(self) -> Served:
        """What is served at this instant; `served` is what was served last."""
        served, instant = self.served, self._clock()
        if served.since <= instant < served.until and self._started:
            return served
        self.start()
        with self._lock:  # the card may have been changed meanwhile: turn the day of the one that is there
            served = self.served
            if not served.since <= instant < served.until:
                served = self.served = Served(served.card, instant)
        return served

    def take(self, card: RateCard) -> None:
        """Serve another card, from the next answer on. Raises `TableError` where its examples contradict its rates."""
        card.prove_all()
        with self._lock:
            before, self.served, self.standing = self.served, Served(card, self._clock()), False
        TABLES_TAKEN.inc()
        logger.info("tables %s take the place of %s", card.digest, before.digest)

    def refuse(self, error: TableError) -> None:
        """Keep the card that is served, and say why."""
        TABLES_REFUSED.inc()
        for fault in error.faults:
            logger.error("%s", fault)
        logger.error("%s; tables %s stay", error.body()["error"], self.served.digest)
        # Last, so that a refusal that is seen is in the log too.
        self.refusal, self.standing = TableRefusal(datetime.fromtimestamp(self._clock() // 10**9, UTC), error), True

    def start(self) -> None:
        """Follow the folder."""
        self._started = True
        if self._watch:
            self._watch.start()

    def stop(self) -> None:
        """Follow it no longer."""
        if self._watch:
            self._watch.stop()
