"""The last sound tables that were served: in memory, or in a folder that processes, restarts and replicas share.

The folder has the tables in `tables.json`, with a checksum; an empty file in `served/` for each state before them; and
`lock`, which one process at a time holds while it compares changed tables with them and replaces them.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from ratecard.base.errors import RateCardError
from ratecard.base.json_text import read_json

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

# The files of a folder of tables by name.
Contents = dict[str, bytes]
_KEPT, _SERVED, _LOCK = "tables.json", "served", "lock"
# Seconds to wait for another process that compares tables, and milliseconds between two attempts.
_PATIENCE, _PAUSE = 60, 20


class StateError(RateCardError):
    """An unusable folder of the tables that were served last; the message says what to do.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ratecard.server import LiveRateCard
    >>> with TemporaryDirectory() as state:
    ...     _ = Path(state, "tables.json").write_text("cut")
    ...     try:
    ...         LiveRateCard(state=state)
    ...     except StateError as error:
    ...         print(str(error).removeprefix(state).partition(". ")[0])
    /tables.json is damaged
    """


class LastSound:
    """The last valid tables as bytes by file name: in a folder, or in memory for one process."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._kept: Contents | None = None
        self._served: set[str] = set()

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """Keep other processes from reading or writing until the block ends. Raises `StateError`."""
        if self.folder is None:
            yield
            return
        with self._asking("written"):
            self.folder.mkdir(exist_ok=True)
            lock_file = (self.folder / _LOCK).open("ab")
        with lock_file as lock:
            if fcntl is None:
                yield
                return
            deadline = time.monotonic() + _PATIENCE
            while not self._locks(lock.fileno()):
                if time.monotonic() > deadline:
                    raise StateError(f"{lock.name} is held by another process for {_PATIENCE} s. End it")
                time.sleep(_PAUSE / 1000)
            try:
                yield
            finally:  # closing alone would leave the lock to a child that was forked meanwhile
                fcntl.flock(lock, fcntl.LOCK_UN)

    def _locks(self, lock: int) -> bool:
        with self._asking("locked"):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Keep these tables. After a crash they or the previous ones are there, complete. Raises `StateError`."""
        kept_contents = self.read()
        if kept_contents == contents:
            return
        if self.folder is None:
            self._kept = dict(contents)
            self._served.add(_name_of(contents))
            return
        texts = {name: content.decode() for name, content in contents.items()}
        with self._asking("written"):
            served_folder = self.folder / _SERVED
            served_folder.mkdir(exist_ok=True)
            if kept_contents is not None:
                (served_folder / _name_of(kept_contents)).touch()
            new_path = self.folder / f"{_KEPT}.{os.getpid()}"
            with new_path.open("w", encoding="utf-8") as file:
                json.dump({"sha256": _name_of(contents), "tables": texts}, file)
                file.flush()
                os.fsync(file.fileno())
            new_path.replace(self.folder / _KEPT)
            if fcntl:
                folder = os.open(self.folder, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)

    def read(self) -> Contents | None:
        """Return the tables that were kept last; None if there are none. Raises `StateError` if they are damaged."""
        if self.folder is None:
            return self._kept
        path = self.folder / _KEPT
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            if any(self.folder.glob(f"{_SERVED}/*")):
                raise self.unusable("is gone") from None
            return None
        except UnicodeDecodeError:
            raise self.unusable("is damaged") from None
        except OSError as error:
            raise self.unusable(f"cannot be read: {error.strerror}") from None
        try:
            state = read_json(text)
            contents = {str(name): content.encode() for name, content in state["tables"].items()}
            intact = state["sha256"] == _name_of(contents)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            intact = False
        if not intact:
            raise self.unusable("is damaged")
        return contents

    def had(self, contents: Mapping[str, bytes]) -> bool:
        """Return True if exactly these bytes were ever kept."""
        name = _name_of(contents)
        if self.folder is None:
            return name in self._served
        return self.read() == contents or (self.folder / _SERVED / name).exists()

    def unusable(self, words: str) -> StateError:
        """Return the error of kept tables that cannot be used, with what to do."""
        return StateError(
            f"{self.folder}/{_KEPT} {words}. It holds the tables that were served last, with which changed ones are "
            f"compared. Restore it from a backup; or, if the folder of tables is right, delete all of {self.folder}: "
            "the next start then takes the tables as they are"
        )

    @contextmanager
    def _asking(self, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            words = f"the folder of served tables, {self.folder}, cannot be {done}: {error.strerror or error}"
            raise StateError(f"{words}. Name a folder that this process may write, or free its disk") from None


def _name_of(contents: Mapping[str, bytes]) -> str:
    """Return a digest of the bytes; the digest of a rate card ignores examples and dates."""
    checksum = sha256()
    for name, content in sorted(contents.items()):
        checksum.update(f"{len(name.encode())} {name} {len(content)} ".encode())
        checksum.update(content)
    return checksum.hexdigest()
