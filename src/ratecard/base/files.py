"""Safe replacement of files: each is written beside its place first, and several change together or not at all."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ratecard.base.errors import TableError


def replace_files(folder: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Replace or create files below a folder; `before` has the contents that they are expected to have.

    New and old contents are first written beside the files, which are then replaced one by one. A failure restores
    the files that were replaced. Raises `TableError`; every file is then as it was.
    """
    name = next(iter(after), "")
    # After an error, old contents are restored first; then the files beside them and the new folders are removed.
    with ExitStack() as new_folders, ExitStack() as files_beside, ExitStack() as replaced:
        try:
            replacements: list[tuple[Path, Path, Path | None]] = []
            for name, content in after.items():
                path, old = (folder / name).resolve(), before.get(name)
                if (path.read_bytes() if path.exists() else None) != old:
                    raise TableError.of_file(name, "has changed meanwhile; nothing is written. Try again")
                for parent in reversed([path.parent, *path.parent.parents]):
                    if not parent.exists():
                        parent.mkdir()
                        new_folders.callback(parent.rmdir)
                new, kept = beside(path), None if old is None else beside(path).with_suffix(".old")
                for place, data in ((new, content), (kept, old)):
                    if place is not None and data is not None:
                        files_beside.callback(place.unlink, missing_ok=True)
                        _write(place, data, path)
                replacements.append((path, new, kept))
            for path, new, kept in replacements:
                if kept is None:
                    replaced.callback(path.unlink, missing_ok=True)
                else:
                    replaced.callback(kept.replace, path)
                new.replace(path)
        except OSError as error:
            words = f"cannot be written: {error.strerror}. No file is changed"
            raise TableError.of_file(name, words) from None
        replaced.pop_all()
        new_folders.pop_all()


def _write(path: Path, content: bytes, like: Path) -> None:
    """Write a file and flush it to the disk, with the permissions of `like`, if that exists."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if like.exists():
        shutil.copymode(like, path)


def beside(path: Path) -> Path:
    """Return the path of a new file beside another one; when it is complete, it gets the other's name."""
    target = path.resolve()
    return target.with_name(f".{target.name}.{os.getpid()}.new")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a new file, which replaces `path` at the end; after an error, `path` is unchanged."""
    new = beside(path)
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
