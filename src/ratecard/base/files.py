"""Files that are whole or not there: one that is written beside its place first, and several that change together."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ratecard.base.errors import Fault, TableError


def replace_files(folder: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Replace or create files below a folder; `before` has the contents that they are expected to have.

    Everything is written beside the files first, their old contents too, and only then are they replaced one by one.
    A failure on the way puts back what was replaced. Raises `TableError`; every file is then as it was.
    """
    work = _Replacement()
    name = next(iter(after), "")
    try:
        for name, content in after.items():
            path = (folder / name).resolve()
            if (path.read_bytes() if path.exists() else None) != before.get(name):
                raise TableError([Fault(name, 1, (), "has changed meanwhile; nothing is written. Try again")])
            work.prepare(path, content, before.get(name))
        work.replace()
    except OSError as error:
        work.undo()
        raise TableError([Fault(name, 1, (), f"cannot be written: {error.strerror}. No file is changed")]) from None
    except BaseException:
        work.undo()
        raise
    finally:
        work.tidy()


class _Replacement:
    def __init__(self) -> None:
        # Path -> the files beside it with its new and its old content.
        self.prepared: dict[Path, tuple[Path, Path | None]] = {}
        self.folders: list[Path] = []
        self.done: list[Path] = []

    def prepare(self, path: Path, content: bytes, old: bytes | None) -> None:
        for folder in reversed([path.parent, *path.parent.parents]):
            if not folder.exists():
                folder.mkdir()
                self.folders.append(folder)
        new = path.with_name(f".{path.name}.{os.getpid()}.new")
        kept = path.with_name(f".{path.name}.{os.getpid()}.old") if old is not None else None
        self.prepared[path] = (new, kept)
        _write(new, content, path)
        if kept is not None and old is not None:
            _write(kept, old, path)

    def replace(self) -> None:
        for path, (new, _) in self.prepared.items():
            self.done.append(path)
            new.replace(path)

    def undo(self) -> None:
        for path in self.done:
            kept = self.prepared[path][1]
            if kept is None:
                path.unlink(missing_ok=True)
            else:
                kept.replace(path)
        self.tidy()
        for folder in reversed(self.folders):
            folder.rmdir()

    def tidy(self) -> None:
        for path in (path for pair in self.prepared.values() for path in pair if path is not None):
            path.unlink(missing_ok=True)


def _write(path: Path, content: bytes, like: Path) -> None:
    """Write a file and flush it to the disk, with the permissions of `like`, if that exists."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if like.exists():
        shutil.copymode(like, path)


def beside(path: Path) -> Path:
    """Return a path in the folder of a file that is to be written; what is there gets its name when complete."""
    target = path.resolve()
    return target.with_name(f".{target.name}.{os.getpid()}.new")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the file beside a place, which replaces it at the end; after an error all is as it was."""
    new = beside(path)
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
