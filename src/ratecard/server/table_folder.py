"""A folder of tables that people edit: what it holds now, and whether that is sound."""

from collections.abc import Callable
from pathlib import Path

from ratecard.card import RateCard
from ratecard.load.folder import read_folder, shipped_folder, tables_from
from ratecard.server.last_sound import LastSound
from ratecard.words.errors import Fault, TableError

# How often a folder is read before it is loaded, if it never is the same twice.
_PATIENCE = 20

Contents = dict[str, bytes]


class TableFolder:
    """A folder of rate tables; the shipped one where none is named.

    Raises `TableError` at once for a folder that is not sound, unless other tables were kept in `last_sound`: a server
    starts with prices or not at all.
    """

    def __init__(self, folder: str | Path | None = None, last_sound: LastSound | None = None) -> None:
        self.path = Path(folder) if folder is not None else shipped_folder()
        self._last_sound = last_sound
        found = self._read()
        try:
            self.card = self._loaded(found)
        except TableError:
            kept = last_sound.read() if last_sound else None
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
        if self._last_sound:
            self._last_sound.write(found)
        return card
