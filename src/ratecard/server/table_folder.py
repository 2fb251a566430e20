"""A folder of tables that people edit: what it holds now, and whether that may be served."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from ratecard.card import RateCard
from ratecard.guard.refusals import Rules, refusals
from ratecard.load.folder import read_folder, shipped_folder, tables_from
from ratecard.server.last_sound import Contents, LastSound
from ratecard.words.errors import Fault, TableError

# How often a folder is read before it is loaded, if it never is the same twice.
_PATIENCE = 20
# The greatest factor between two rates that needs no word, and what the tables before are called in messages.
_MOST, _BEFORE = Decimal(2), "served"

logger = logging.getLogger("ratecard.server")


class TableFolder:
    """A folder of rate tables; the shipped one where none is named.

    Tables are served when they are sound, every example agrees with its rates, and nothing that was in effect differs
    from the tables in `last_sound` without saying why, as `ratecard check --against` asks; `allow_edits` takes such
    edits too. Raises `TableError` at once for others, unless `last_sound` has tables: a server starts with prices or
    not at all.
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
        """The rate card of the folder if it is another than last time; None where it is not.

        An editor writes in several steps: a changed folder is read again after every `pause`, until it is the same
        twice. What is compared is what is loaded: bytes, never dates of files. Raises `TableError`, once for a state.
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
        """The files with their bytes, or why they cannot be read."""
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
        """Raise `TableError` for edits of what was in effect; going back to what was served is only warned of."""
        now = datetime.fromtimestamp(self._clock() // 10**9, UTC)
        edits = refusals(RateCard(tables_from(before)), card, Rules(now, _MOST, _BEFORE))
        if edits and not self._last_sound.had(found):
            raise TableError(edits)
        for edit in edits:
            logger.warning("%s", edit)
        if edits:
            logger.warning("tables %s were served before, so these edits are taken", card.digest)
