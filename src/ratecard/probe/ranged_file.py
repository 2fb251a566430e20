"""A file on the web as one that can be read and searched."""

import io

from ratecard.probe.unreadable import UnreadableError
from ratecard.probe.web import Web

BLOCK = 2**16
_MOST_BLOCKS = 16


class RangedFile(io.RawIOBase):
    """Reads blocks by range requests when they are first asked for, and keeps them: the byte limit bounds them.

    What goes wrong is kept as `failure`, and then the file ends: a media library that meets an error in a read may well
    go on without it, so the reader of the file raises it afterwards.
    """

    def __init__(self, web: Web, start: bytes, size: int) -> None:
        self._web, self.size = web, size
        self._blocks = {at: start[at * BLOCK : (at + 1) * BLOCK] for at in range(-(-len(start) // BLOCK))}
        self._at = 0
        self._next, self._step = 1, 1
        self.failure: UnreadableError | None = None

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes: by another range."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves without reading."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence])
        return self._at

    def read(self, count: int = -1) -> bytes:
        """At most so many bytes, to the end of a block; none at the end of the file and after a failure."""
        if self._at >= self.size or self.failure:
            return b""
        block, offset = divmod(self._at, BLOCK)
        try:
            found = self._block(block)[offset:][: None if count < 0 else count]
        except UnreadableError as failure:
            self.failure = failure
            return b""
        self._at += len(found)
        return found

    def _block(self, wanted: int) -> bytes:
        if wanted not in self._blocks:
            # A long table is read in ever longer pieces, so that it does not cost a round trip for each block.
            self._step = min(self._step * 2, _MOST_BLOCKS) if wanted == self._next else 1
            count = next((more for more in range(1, self._step) if wanted + more in self._blocks), self._step)
            part = self._web.read(wanted * BLOCK, count * BLOCK, self.size)
            for at in range(-(-len(part) // BLOCK)):
                self._blocks[wanted + at] = part[at * BLOCK : (at + 1) * BLOCK]
            self._next = wanted + count
        return self._blocks[wanted]
