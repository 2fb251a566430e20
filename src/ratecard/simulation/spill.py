"""The folder that an engine spills to. It is removed at the end, or by a later process if its own died."""

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

# The memory that DuckDB uses by default, and next to the processes of Spark; it spills the rest to disk.
DEFAULT_MEMORY, MEMORY_BESIDE_SPARK = "700MB", "500MB"
# The number of groups of whose sums DuckDB can hold all at once with this memory.
DEFAULT_GROUPS, GROUPS_BESIDE_SPARK = 1_000_000, 300_000
_PREFIX, _LOCK = "ratecard-", "in-use"


class SpillFolder:
    """A new temporary folder. The lock on a file in it shows that its process is alive."""

    def __init__(self) -> None:
        # The folder is removed at the end of this process at the latest.
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self._folder.name)
        # The file gets its name once it is locked: until then, other processes leave the folder alone.
        new = self.path / f"{_LOCK}.new"
        self._lock: IO[bytes] = new.open("wb")
        locked(self._lock)
        new.rename(self.path / _LOCK)
        _remove_dead(self.path.parent)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._lock.close()
        self._folder.cleanup()


def _remove_dead(among: Path) -> None:
    """Remove the folders of processes that were killed, or that ended with the machine."""
    for lock in among.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open("r+b") as opened:
            if locked(opened) and os.fstat(opened.fileno()).st_uid == os.getuid():
                shutil.rmtree(lock.parent, ignore_errors=True)


def locked(file: IO[bytes]) -> bool | None:
    """Lock a file. Return False where another process holds the lock, None where the system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
