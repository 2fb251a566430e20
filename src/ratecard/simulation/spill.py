"""The folder that an engine spills to. It is removed at the end, or later if its process died."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows does not remove a folder whose files are open
    fcntl = None  # type: ignore[assignment]

# How much DuckDB holds in memory, unless said, and beside the processes of Spark; it spills the rest.
DEFAULT_MEMORY, MEMORY_BESIDE_SPARK = "700MB", "500MB"
_PREFIX, _LOCK = "ratecard-", "in-use"


class SpillFolder:
    """A new folder among those for temporary files. A lock on a file in it says that its process lives."""

    def __init__(self) -> None:
        # Removed at the end of this process at the latest.
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self._folder.name)
        # It gets its name only when it is locked: a folder without a lock is left alone.
        new = self.path / f"{_LOCK}.new"
        self._lock: IO[bytes] = new.open("wb")
        _locked(self._lock)
        new.rename(self.path / _LOCK)
        _remove_dead(self.path.parent)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._lock.close()
        self._folder.cleanup()


def _remove_dead(among: Path) -> None:
    """Remove the folders of processes that ended without doing so: killed, or with the machine."""
    for lock in among.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open("r+b") as opened:
            if _locked(opened) and os.fstat(opened.fileno()).st_uid == os.getuid():
                shutil.rmtree(lock.parent, ignore_errors=True)


def _locked(file: IO[bytes]) -> bool:
    """Take the lock of a file, if no process has it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
