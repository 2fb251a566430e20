"""The rate card that a server quotes from, replaced while it runs when its folder has other valid tables.

Endpoints use `LiveRateCard`. `TableWatch` watches the folder in a thread, and `TableFolder` decides whether its tables
may be served: it compares them with those that were served last (`last_sound`).
"""

import atexit
import logging
import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Event, Lock, RLock, Thread, local
from typing import Any
from weakref import WeakSet

from watchfiles import watch

from ratecard.base.errors import Fault, QuoteError, TableError
from ratecard.base.instants import utc
from ratecard.card import MOST_CONTRACTS, RateCard
from ratecard.load.folder import read_folder, shipped_folder, tables_from
from ratecard.price_book import PriceBook, deprecation_of
from ratecard.review.guard import Rules, refusals
from ratecard.server.http import JSON
from ratecard.server.last_sound import Contents, LastSound, StateError
from ratecard.server.models import listed_model, listed_models, price_change
from ratecard.server.monitoring import TABLES_INFO, TABLES_REFUSED, TABLES_STAND_REFUSED, TABLES_TAKEN
from ratecard.server.revision import SERVICE_VERSION
from ratecard.server.schemas import ModelList

_SECOND = 10**9
# The key of a list of models: their type, and the number of boundaries of the card before its day.
_Listing = tuple[str | None, int]
# The most lists of models that are kept; each has hundreds of kilobytes.
MOST_LISTINGS = 64


class Served:
    """A rate card from one instant to the end of its UTC day at the latest, with all that answers need.

    One price book holds from `since` until before `until` (nanoseconds since 1970): no price changes between them.
    """

    def __init__(self, card: RateCard, now: int, account: str | None = None) -> None:
        self.card, self._account = card, account
        instant = datetime.fromtimestamp(now // _SECOND, UTC)
        midnight = instant.replace(hour=0, minute=0, second=0)
        tomorrow = midnight + timedelta(days=1)
        changes = (midnight, *card.changes_between(midnight, tomorrow), tomorrow)
        since, until = next(pair for pair in pairwise(changes) if pair[0] <= instant < pair[1])
        self.since, self.until = (int(moment.timestamp()) * _SECOND for moment in (since, until))
        # A contract begins and ends at midnight, so it does not change before `until`.
        self.book = card.at(instant, account=account)
        self._of_account = lru_cache(MOST_CONTRACTS)(lambda account: Served(card, now, account))
        self.digest = card.digest
        self._models: dict[_Listing, bytes] = {}
        shared_headers = {"content-type": JSON, "x-service-version": SERVICE_VERSION, "x-ratecard-digest": self.digest}
        self.headers = _encoded(shared_headers)
        # Notices are made when a model is quoted, because each look-up of a model lays the contract over it.
        self.notices = cache(self._notices)

    def under(self, account: str | None) -> "Served":
        """Return this object; for an account with contracts another one with their prices, which is made once."""
        return self._of_account(account) if account is not None and self.card.in_force.knows(account) else self

    def model_of(self, fields: Mapping[str, Any]) -> str:
        """Return the id of the model that a request names; empty if it names no known model."""
        name = fields.get("model")
        try:
            model = self.book.tables.named(self.book.plain_name(name)) if isinstance(name, str) else None
        except QuoteError:  # patterns of several models match
            return ""
        return model.model if model else ""

    def notices_in(self, answer: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return an answer in a list with its model's notices, in the fields `deprecation` and `price_change`."""
        notices: dict[str, dict[str, str]] = {}
        for name, value in self.notices(self.model_of(fields)):
            notice, _, part = name.decode().removeprefix("x-service-model-").rpartition("-")
            notices.setdefault(notice.replace("-", "_"), {})[part] = value.decode("latin-1")
        return {**answer, **notices}

    def _notices(self, name: str) -> list[tuple[bytes, bytes]]:
        """Return the headers that announce the retirement or the next prices of a model; none for an empty name."""
        model = self.book.tables.models.get(name)
        if model is None:
            return []
        deprecation = deprecation_of(model, self.book.instant)
        return _encoded((deprecation.headers if deprecation else {}) | price_change(model, self.book.instant))

    def models(self, type_: str | None, day: date | None) -> bytes:
        """Return the answer of `GET /models` for a type and a day; made once for all days with the same list."""
        listing = self._listing(type_, day)
        if (body := self._models.get(listing)) is None:
            prices = self._book_of(day)
            listed = ModelList(data=listed_models(prices, self.book.instant, type_))
            body = self._models[listing] = listed.model_dump_json().encode()
            for oldest in list(self._models)[:-MOST_LISTINGS]:
                self._models.pop(oldest, None)  # two routers may share a card, each with a thread that comes here
        return body

    def kept_models(self, type_: str | None, day: date | None) -> bytes | None:
        """Return what `models` returns, if it is made already."""
        return self._models.get(self._listing(type_, day))

    def _book_of(self, day: date | None) -> PriceBook:
        return self.book if day in (None, self.book.day) else self.card.at(day, account=self._account)

    def _listing(self, type_: str | None, day: date | None) -> _Listing:
        """Return the key of a list of models: no listed price changes between two boundaries of the card."""
        moment = self.book.instant if day in (None, self.book.day) else utc(day)
        return type_, bisect_right(self._boundaries, moment)

    @cached_property
    def _boundaries(self) -> tuple[datetime, ...]:
        return self.card.boundaries(account=self._account)

    def model(self, name: str, day: date | None) -> bytes:
        """Return the answer of `GET /models/{id}` for a day. Raises `QuoteError` for a model without a price on it."""
        return listed_model(self._book_of(day), self.book.instant, name).model_dump_json().encode()

    @cached_property
    def versions(self) -> dict[str, str]:
        """Return the effective date of every model's version."""
        return {model.model: model.effective.isoformat() for model in self.book.models()}

    @cached_property
    def changes_at(self) -> str | None:
        """Return the next instant at which a price changes, begins or ends; None if no change is known.

        Changes of models that only contracts have are not included.
        """
        later = (boundary for boundary in self.book.tables.boundaries() if boundary.timestamp() * _SECOND >= self.until)
        return next((boundary.isoformat() for boundary in sorted(later)), None)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]


# The most readings of a folder that changes all the time, before it is loaded anyway.
_PATIENCE = 20
# The greatest factor between two rates that needs no reason, and the name of the previous tables in messages.
_MOST, _BEFORE = Decimal(2), "served"

logger = logging.getLogger("ratecard.server")


class TableFolder:
    """A folder of rate tables, by default the shipped one, and whether its tables may be served.

    Tables may be served if they are valid and have the `digest` (if one is named), every example agrees with its rates,
    and no version that was in effect differs from `last_sound` without a reason (`ratecard check --against`);
    `allow_edits` drops the last condition. Otherwise raises `TableError`, unless `last_sound` has tables to start with:
    then `card` is made of those, and `refused` says why. Raises `StateError` if `last_sound` cannot be used.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        last_sound: LastSound | None = None,
        *,
        allow_edits: bool = False,
        digest: str | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.path, self.digest = Path(folder) if folder is not None else shipped_folder(), digest
        self._last_sound, self._allow_edits, self._clock = last_sound or LastSound(), allow_edits, clock
        self.refused: TableError | None = None
        contents = self._read()
        try:
            self.card = self._loaded(contents)
        except TableError as error:
            kept = self._last_sound.read()
            if kept is None:
                raise
            self.card, self.refused = self._card_of_kept(kept), error
            if digest not in (None, self.card.digest):
                raise
        self._seen: Contents | tuple[Fault, ...] | None = contents

    def changed(self, pause: Callable[[], object]) -> RateCard | None:
        """Return the rate card of the folder if its bytes changed since the last call; else None.

        An editor writes in several steps: a changed folder is read again after every `pause`, until two readings are
        the same. Raises `TableError`, once for each state of the folder.
        """
        contents = self._read()
        if contents == self._seen:
            return None
        for _ in range(_PATIENCE):
            pause()
            previous, contents = contents, self._read()
            if previous == contents:
                break
        if contents == self._seen:
            return None
        self._seen = contents
        try:
            return self._loaded(contents)
        except StateError as error:
            raise TableError.of_file(str(self._last_sound.folder), f"{error}; then restart") from None

    def forget(self) -> None:
        """Treat the folder as changed at the next call of `changed`, whatever it holds."""
        self._seen = None

    def _read(self) -> Contents | tuple[Fault, ...]:
        """Return the bytes by file name, or why the folder cannot be read."""
        try:
            return read_folder(self.path)
        except TableError as error:
            return error.faults
        except OSError as error:
            return (Fault(str(error.filename or self.path), 1, (), f"cannot be read: {error.strerror}"),)

    def _loaded(self, contents: Contents | tuple[Fault, ...]) -> RateCard:
        if isinstance(contents, tuple):
            raise TableError(contents)
        card = RateCard(tables_from(contents))
        card.prove_all()
        refuse_other(card, self.digest, self.path)
        with self._last_sound.deciding():
            previous = self._last_sound.read()
            if previous is not None and previous != contents and not self._allow_edits:
                self._guard(previous, contents, card)
            self._last_sound.write(contents)
        return card

    def _guard(self, before: Contents, contents: Contents, card: RateCard) -> None:
        """Raise `TableError` for edits of versions that were in effect; log them if these tables were served before."""
        now = datetime.fromtimestamp(self._clock() // _SECOND, UTC)
        edits = refusals(self._card_of_kept(before), card, Rules(now, _MOST, _BEFORE))
        if edits and not self._last_sound.had(contents):
            raise TableError(edits)
        for edit in edits:
            logger.warning("%s", edit)
        if edits:
            logger.warning("tables %s were served before, so these edits are taken", card.digest)

    def _card_of_kept(self, kept: Contents) -> RateCard:
        try:
            card = RateCard(tables_from(kept))
            card.prove_all()
        except TableError as error:
            raise self._last_sound.unusable(f"is not sound for this release: {error.faults[0]}") from None
        return card


def refuse_other(card: RateCard, digest: str | None, folder: str | Path) -> None:
    """Raise `TableError` if a digest is named, and a rate card has another one."""
    if digest not in (None, card.digest):
        words = f"these tables have the digest {card.digest}, and only {digest} is served. Put those tables back; or, "
        raise TableError.of_file(str(folder), f"{words}if these are right, name their digest")


# Milliseconds without a change after which an editor has finished, and the longest wait for that.
_QUIET, _MOST_PATIENCE = 50, 400
# Milliseconds between readings where the system reports no changes: a network drive, a folder that was renamed.
_POLL = 500


# The lock of a thread that looks at its folder, and of a fork. A look takes further locks, in this library and others,
# and a forked process must not inherit these without the thread that frees them. A fork waits at most this many seconds
# for a look, for example while a drive hangs.
_LOOKS, _FORK_WAITS = RLock(), 10


class TableWatch:
    """The watch of a folder: it calls `taken` with the rate card of changed tables, or `refused` with the faults."""

    def __init__(
        self, folder: TableFolder, taken: Callable[[RateCard], None], refused: Callable[[TableError], None]
    ) -> None:
        self.folder, self.taken, self.refused = folder, taken, refused
        self._lock, self._stop = Lock(), Event()
        self._thread: Thread | None = None
        self._looking = False

    def begin_anew(self) -> None:
        """Forget the parent's thread in a forked process, which does not have it; repeat a look that it had begun."""
        self._lock, self._stop, self._thread = Lock(), Event(), None
        if self._looking:
            self.folder.forget()
            self._looking = False

    def start(self) -> None:
        """Start the thread, unless it runs."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stop = Event()
                self._thread = Thread(target=self._run, args=(self._stop,), name="ratecard tables", daemon=True)
                self._thread.start()
                atexit.register(self.stop)

    def stop(self) -> None:
        """End the thread."""
        with self._lock:
            self._stop.set()
            if self._thread:
                self._thread.join()
            self._thread = None
            atexit.unregister(self.stop)

    def _run(self, stop: Event) -> None:
        stopped = Event()
        stopped.set()
        while not stop.is_set():
            try:
                with _LOOKS:  # no fork may come while the watcher sets itself up at its first use
                    list(self._changes(stopped))
                for _ in self._changes(stop):
                    self._look(stop)
            except (OSError, RuntimeError) as error:  # no folder, or no notifications: read it anyway
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
        with _LOOKS:
            self._looking = True
            try:
                card = self.folder.changed(lambda: stop.wait(_QUIET / 1000))
                if card:
                    self.taken(card)
            except TableError as error:
                self.refused(error)
            except Exception as error:  # the thread must survive: the next change may repair the folder
                logger.exception("cannot load %s", self.folder.path)
                self.refused(TableError.of_file(str(self.folder.path), f"cannot be loaded: {error!r}"))
            self._looking = False


# A folder of tables, by default the shipped one, or a rate card.
TableSource = TableFolder | RateCard | str | Path | None


@dataclass(frozen=True, slots=True)
class TableRefusal:
    """The time at which changed tables were refused, and every fault with its `file:line`."""

    at: datetime
    error: TableError


class LiveRateCard:
    """The rate card of a folder that is followed while people edit it; or a card that stays until `take`.

    Every version must agree with its examples before it is served, else `TableError` is raised. Changed tables that
    edit a version that was in effect are refused, unless they give a reason or `allow_edits` is set. So that this holds
    over a restart too, `state` is a folder that keeps the tables that were served last, also for other processes: if
    those of the folder are refused at the start, the kept ones are served, and `refusal` says why. With a `digest`,
    tables with another one are refused. Raises `StateError` for a `state` that is damaged or cannot be written.

    Every answer is made from one `now()`: a card on one day, which ends at 00:00 UTC by `clock` (nanoseconds since
    1970), the only clock of the server. A thread watches the folder from the first answer on, in a forked process too.

    >>> import ratecard
    >>> live = LiveRateCard(ratecard.load_rate_card())
    >>> live.now().book.quote_video(b'{"model": "ovi-image-to-video"}').to_json()
    b'{"quote":0.22}'
    """

    def __init__(
        self,
        tables: TableSource = None,
        *,
        allow_edits: bool = False,
        state: str | Path | None = None,
        digest: str | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._clock, self._lock = clock, Lock()
        self._watch: TableWatch | None = None
        refused: TableError | None = None
        if isinstance(tables, RateCard):
            if state is not None:
                raise ValueError("state keeps the files of a folder of tables: give the folder, not a rate card")
            card = tables
            card.prove_all()
            refuse_other(card, digest, "tables")
        else:
            if not isinstance(tables, TableFolder):
                last_sound = LastSound(None if state is None else Path(state))
                tables = TableFolder(tables, last_sound, allow_edits=allow_edits, digest=digest, clock=clock)
            self._watch, card, refused = TableWatch(tables, self._take, self.refuse), tables.card, tables.refused
            digest = tables.digest
        self.served, self._digest = Served(card, clock()), digest
        self._started = False
        self.refusal: TableRefusal | None = None
        self.standing = False
        _LIVE.add(self)
        if refused:
            self.refuse(refused)

    def now(self) -> Served:
        """Return the card and price book of this instant; `served` is that of the last call."""
        served, instant = self.served, self._clock()
        if served.since <= instant < served.until and self._started:
            return served
        self.start()
        with self._lock:  # another thread may have swapped the card: roll the current one over to today
            served = self.served
            if not served.since <= instant < served.until:
                served = self.served = Served(served.card, instant)
        return served

    def take(self, card: RateCard) -> None:
        """Serve another card from the next answer on.

        Raises `TableError` if an example contradicts its rates, and for another digest than the one that was named.
        """
        card.prove_all()
        refuse_other(card, self._digest, "tables")
        self._take(card)

    def _take(self, card: RateCard) -> None:
        with self._lock:
            previous, self.served, self.standing = self.served, Served(card, self._clock()), False
        TABLES_TAKEN.inc()
        TABLES_INFO.labels(previous.digest).set(0)
        self._show()
        logger.info("tables %s take the place of %s", card.digest, previous.digest)

    def refuse(self, error: TableError) -> None:
        """Keep the current card, and log why."""
        TABLES_REFUSED.inc()
        for fault in error.faults:
            logger.error("%s", fault)
        logger.error("%s; tables %s stay", error.body()["error"], self.served.digest)
        # This comes last, so that the log has a refusal before others can see it.
        self.refusal, self.standing = TableRefusal(datetime.fromtimestamp(self._clock() // _SECOND, UTC), error), True
        self._show()

    def _show(self) -> None:
        TABLES_INFO.labels(self.served.digest).set(1)
        TABLES_STAND_REFUSED.set(self.standing)

    def start(self) -> None:
        """Start to follow the folder."""
        self._show()
        self._started = True
        if self._watch:
            self._watch.start()

    def stop(self) -> None:
        """Stop following the folder."""
        if self._watch:
            self._watch.stop()

    def begin_anew(self) -> None:
        """Make a forked process follow the folder from its next answer on, whatever threads of the parent held."""
        self._lock, self._started = Lock(), False
        if self._watch:
            self._watch.begin_anew()


# The live cards of this process, which a forked process has too; and whether a thread's fork holds the lock of looks.
_LIVE: WeakSet[LiveRateCard] = WeakSet()
_FORK = local()


def _before_fork() -> None:
    _FORK.holds = _LOOKS.acquire(timeout=_FORK_WAITS)


def _after_fork() -> None:
    if _FORK.holds:
        _LOOKS.release()


def _begin_anew() -> None:
    global _LOOKS
    _LOOKS = RLock()
    for live in list(_LIVE):
        live.begin_anew()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_begin_anew)
