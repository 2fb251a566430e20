"""The rate card that a server quotes from, replaced while it runs when its folder has other valid tables.

`LiveRateCard` is what endpoints ask. `TableWatch` watches the folder in a thread, `TableFolder` decides whether its
tables may be served, and `LastSound` shares the last valid tables between the workers of a server.
"""

import atexit
import json
import logging
import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from threading import Event, Lock, Thread

from watchfiles import watch

from ratecard.base.errors import Fault, TableError
from ratecard.base.instants import utc
from ratecard.card import RateCard
from ratecard.changes.guard import Rules, refusals
from ratecard.load.folder import read_folder, shipped_folder, tables_from
from ratecard.server.answers import ModelList, json_of
from ratecard.server.http import JSON, encode_as
from ratecard.server.metrics import TABLES_REFUSED, TABLES_TAKEN
from ratecard.server.models import listed_model, listed_models, price_change
from ratecard.server.revision import SERVICE_VERSION
from ratecard.tables.card import AnyModel

_SECOND = 10**9
# The type of the models, the boundaries of the card until then, the encoding.
_Listing = tuple[str | None, int, str]
# An answer has hundreds of kilobytes.
_MOST_LISTINGS = 64


class Served:
    """A rate card from one instant until no later than the end of its UTC day, and all that answers need of it.

    One price book is right from `since` until before `until` (nanoseconds since 1970), because no price changes
    between them.
    """

    def __init__(self, card: RateCard, now: int) -> None:
        self.card = card
        instant = datetime.fromtimestamp(now // _SECOND, UTC)
        midnight = instant.replace(hour=0, minute=0, second=0)
        changes = (
            midnight,
            *card.changes_between(midnight, midnight + timedelta(days=1)),
            midnight + timedelta(days=1),
        )
        since, until = next(pair for pair in pairwise(changes) if pair[0] <= instant < pair[1])
        self.since, self.until = (int(each.timestamp()) * _SECOND for each in (since, until))
        self.book = card.at(instant)
        self.digest = card.digest
        self._models: dict[_Listing, bytes] = {}
        # Of every answer, and of the answers about each model whose retirement or next prices are announced.
        own = {"content-type": JSON, "x-service-version": SERVICE_VERSION, "x-ratecard-digest": self.digest}
        self.headers = _encoded(own)
        notices = {name: self._notices(model) for name, model in card.tables.models.items()}
        self.notices = {name: _encoded(headers) for name, headers in notices.items() if headers}

    def _notices(self, model: AnyModel) -> dict[str, str]:
        deprecation = self.book.deprecation(model.model)
        return (deprecation.headers if deprecation else {}) | price_change(model, self.book.instant)

    def models(self, type_: str | None, day: date | None, encoding: str) -> bytes:
        """The answer of `GET /models` for a type and a day, in an encoding; made once for all days with the same."""
        listing = self._listing(type_, day, encoding)
        if listing not in self._models:
            prices = self.book if day in (None, self.book.day) else self.card.at(day)
            answer = json_of(ModelList(data=listed_models(prices, self.book.instant, type_)))
            self._models[listing] = encode_as(answer, encoding)
            while len(self._models) > _MOST_LISTINGS:
                del self._models[next(iter(self._models))]
        return self._models[listing]

    def kept_models(self, type_: str | None, day: date | None, encoding: str) -> bytes | None:
        """What `models` returns, if it is made already."""
        return self._models.get(self._listing(type_, day, encoding))

    def _listing(self, type_: str | None, day: date | None, encoding: str) -> _Listing:
        """What decides an answer: no listed price changes between two boundaries of the card."""
        moment = self.book.instant if day in (None, self.book.day) else utc(day)
        return type_, bisect_right(self._boundaries, moment), encoding

    @cached_property
    def _boundaries(self) -> tuple[datetime, ...]:
        return self.card.boundaries()

    def model(self, name: str, day: date | None) -> bytes:
        """The answer of `GET /models/{id}` for a day. Raises `QuoteError` for a model without a price on it."""
        prices = self.book if day is None else self.card.at(day)
        return json_of(listed_model(prices, self.book.instant, name))

    @cached_property
    def versions(self) -> dict[str, str]:
        """The effective date of every model's version."""
        return {model.model: version.effective.isoformat() for model, version in self.book.in_effect_all()}

    @cached_property
    def changes_at(self) -> str | None:
        """The next instant at which a price changes, begins or ends; None if no change is known."""
        later = (each for each in self.card.boundaries() if each.timestamp() * _SECOND >= self.until)
        return next((each.isoformat() for each in later), None)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]


Contents = dict[str, bytes]


class LastSound:
    """Last valid tables as bytes by file name: in a file that workers share, or in memory for one process."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._kept: Contents | None = None
        self._served: set[str] = set()

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Keep these tables. A concurrent reader gets all of them, or all of those before."""
        if self._path is None:
            self._kept = dict(contents)
            self._served.add(_name_of(contents))
            return
        # One file for each state, so that processes that write at the same time lose nothing.
        marks = self._marks(self._path)
        marks.mkdir(exist_ok=True)
        (marks / _name_of(contents)).touch()
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        new.write_text(json.dumps({name: content.decode() for name, content in contents.items()}), encoding="utf-8")
        new.replace(self._path)

    def read(self) -> Contents | None:
        """The tables that were kept last; None if there are none."""
        if self._path is None:
            return self._kept
        if not self._path.exists():
            return None
        kept: dict[str, str] = json.loads(self._path.read_text(encoding="utf-8"))
        return {name: content.encode() for name, content in kept.items()}

    def had(self, contents: Mapping[str, bytes]) -> bool:
        """Whether exactly these bytes were ever kept."""
        name = _name_of(contents)
        return name in self._served if self._path is None else (self._marks(self._path) / name).exists()

    @staticmethod
    def _marks(path: Path) -> Path:
        return path.with_name(f"{path.name}.served")


def _name_of(contents: Mapping[str, bytes]) -> str:
    """A digest of the bytes; the digest of a rate card ignores examples and dates."""
    found = sha256()
    for name, content in sorted(contents.items()):
        found.update(f"{len(name.encode())} {name} {len(content)} ".encode())
        found.update(content)
    return found.hexdigest()


# The most readings of a folder that changes all the time, before it is loaded anyway.
_PATIENCE = 20
# The greatest factor between two rates that needs no reason, and the name of the previous tables in messages.
_MOST, _BEFORE = Decimal(2), "served"

logger = logging.getLogger("ratecard.server")


class TableFolder:
    """A folder of rate tables, by default the shipped one, and whether its tables may be served.

    They may if they are valid, every example agrees with its rates, and no version that was in effect differs from
    `last_sound` without a reason (`ratecard check --against`); `allow_edits` drops the last condition. Otherwise raises
    `TableError`, unless `last_sound` has tables to start with.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        last_sound: LastSound | None = None,
        *,
        allow_edits: bool = False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.path = Path(folder) if folder is not None else shipped_folder()
        self._last_sound, self._allow_edits, self._clock = last_sound or LastSound(), allow_edits, clock
        found = self._read()
        try:
            self.card = self._loaded(found)
        except TableError:
            kept = self._last_sound.read()
            if kept is None:
                raise
            self.card, found = self._loaded(kept), kept
        self._seen = found

    def changed(self, pause: Callable[[], object]) -> RateCard | None:
        """The rate card of the folder if its bytes changed since the last call; else None.

        An editor writes in several steps: a changed folder is read again after every `pause`, until two readings are
        the same. Raises `TableError`, once for each state of the folder.
        """
        found = self._read()
        if found == self._seen:
            return None
        for _ in range(_PATIENCE):
            pause()
            before, found = found, self._read()
            if before == found:
                break
        if found == self._seen:
            return None
        self._seen = found
        return self._loaded(found)

    def _read(self) -> Contents | tuple[Fault, ...]:
        """The bytes by file name, or why the folder cannot be read."""
        try:
            return read_folder(self.path)
        except TableError as error:
            return error.faults
        except OSError as error:
            return (Fault(str(error.filename or self.path), 1, (), f"cannot be read: {error.strerror}"),)

    def _loaded(self, found: Contents | tuple[Fault, ...]) -> RateCard:
        if isinstance(found, tuple):
            raise TableError(found)
        card = RateCard(tables_from(found))
        card.prove_all()
        before = self._last_sound.read()
        if before is not None and before != found and not self._allow_edits:
            self._guard(before, found, card)
        self._last_sound.write(found)
        return card

    def _guard(self, before: Contents, found: Contents, card: RateCard) -> None:
        """Raise `TableError` for edits of what was in effect; warn only if these tables were served before."""
        now = datetime.fromtimestamp(self._clock() // 10**9, UTC)
        edits = refusals(RateCard(tables_from(before)), card, Rules(now, _MOST, _BEFORE))
        if edits and not self._last_sound.had(found):
            raise TableError(edits)
        for edit in edits:
            logger.warning("%s", edit)
        if edits:
            logger.warning("tables %s were served before, so these edits are taken", card.digest)


# Milliseconds without a change after which an editor has finished, and the longest wait for that.
_QUIET, _MOST_PATIENCE = 50, 400
# Milliseconds between readings where the system reports no changes: a network drive, a folder that was renamed.
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
        """Start the thread, unless it runs: a forked process does not have the threads of its parent."""
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
        while not stop.is_set():
            try:
                for _ in self._changes(stop):
                    self._look(stop)
            except (
                OSError,
                RuntimeError,
            ) as error:  # no folder, or no notifications: read it anyway
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
        except Exception as error:  # the thread must survive: the next change may mend it
            logger.exception("cannot load %s", self.folder.path)
            self.refused(TableError([Fault(str(self.folder.path), 1, (), f"cannot be loaded: {error!r}")]))


# A folder of tables, by default the shipped one, or a rate card.
TableSource = TableFolder | RateCard | str | Path | None


@dataclass(frozen=True, slots=True)
class TableRefusal:
    """When changed tables were refused, and every fault with its `file:line`."""

    at: datetime
    error: TableError


class LiveRateCard:
    """The rate card of a folder that is followed while people edit it; or a card that stays until `take`.

    Every version must agree with its examples before it is served, else `TableError` is raised. Changed tables that
    edit a version that was in effect are refused, unless they give a reason or `allow_edits` is set.

    Every answer is made from one `now()`: a card on one day, which ends at 00:00 UTC by `clock` (nanoseconds since
    1970), the only clock of the server. A thread watches the folder from the first answer on.

    >>> import ratecard
    >>> live = LiveRateCard(ratecard.load_rate_card())
    >>> live.now().book.quote_video(b'{"model": "ovi-image-to-video"}').to_json()
    b'{"quote":0.22}'
    """

    def __init__(
        self, tables: TableSource = None, *, allow_edits: bool = False, clock: Callable[[], int] = time.time_ns
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
        """The card and price book of this instant; `served` is that of the last call."""
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
        """Serve another card from the next answer on. Raises `TableError` if an example contradicts its rates."""
        card.prove_all()
        with self._lock:
            before, self.served, self.standing = self.served, Served(card, self._clock()), False
        TABLES_TAKEN.inc()
        logger.info("tables %s take the place of %s", card.digest, before.digest)

    def refuse(self, error: TableError) -> None:
        """Keep the current card, and log why."""
        TABLES_REFUSED.inc()
        for fault in error.faults:
            logger.error("%s", fault)
        logger.error("%s; tables %s stay", error.body()["error"], self.served.digest)
        # Last, so that a visible refusal is in the log already.
        self.refusal, self.standing = TableRefusal(datetime.fromtimestamp(self._clock() // 10**9, UTC), error), True

    def start(self) -> None:
        """Start to follow the folder."""
        self._started = True
        if self._watch:
            self._watch.start()

    def stop(self) -> None:
        """Stop following the folder."""
        if self._watch:
            self._watch.stop()
