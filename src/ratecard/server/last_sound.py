"""The tables that were served last, and which ones were before: what the workers of one server judge changes by.

A worker that is started anew while the folder is refused serves these, like the workers beside it.
"""

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

Contents = dict[str, bytes]


class LastSound:
    """Keeps the files of a folder of tables with their bytes: in a file that processes share, or for one process."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._kept: Contents | None = None
        self._served: set[str] = set()

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Keep these; whoever reads meanwhile has them whole, or those before."""
        if self._path is None:
            self._kept = dict(contents)
            self._served.add(_name_of(contents))
            return
        # A file for each, so that processes that write at one time lose nothing of each other.
        marks = self._marks(self._path)
        marks.mkdir(exist_ok=True)
        (marks / _name_of(contents)).touch()
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        new.write_text(json.dumps({name: content.decode() for name, content in contents.items()}), encoding="utf-8")
        new.replace(self._path)

    def read(self) -> Contents | None:
        """What was kept last; None where nothing was."""
        if self._path is None:
            return self._kept
        if not self._path.exists():
            return None
        kept: dict[str, str] = json.loads(self._path.read_text(encoding="utf-8"))
        return {name: content.encode() for name, content in kept.items()}

    def had(self, contents: Mapping[str, bytes]) -> bool:
        """Whether exactly these, byte for byte, were kept once."""
        name = _name_of(contents)
        return name in self._served if self._path is None else (self._marks(self._path) / name).exists()

    @staticmethod
    def _marks(path: Path) -> Path:
        return path.with_name(f"{path.name}.served")


def _name_of(contents: Mapping[str, bytes]) -> str:
    """Of the bytes themselves: a digest of what they mean leaves examples and dates out."""
    found = sha256()
    for name, content in sorted(contents.items()):
        found.update(f"{len(name.encode())} {name} {len(content)} ".encode())
        found.update(content)
    return found.hexdigest()
