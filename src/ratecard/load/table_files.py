"""Which files below a folder are tables: links are followed, hidden names are not read, and no file is read twice.

The same rules hold on a disk and in a revision of a repository, so they are written for a `Tree`, which is either.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from ratecard.words.errors import Fault

Kind = Literal["file", "folder", "link"]


class Entry(NamedTuple):
    """What a folder holds under a name."""

    name: str
    kind: Kind


class LinkError(Exception):
    """A link that cannot be followed; the message says why, after "is a link"."""


class Tree(Protocol):
    """Files and folders by their real path, without a link in it."""

    def entries(self, folder: str) -> Iterator[Entry]:
        """What is in a folder. Raises `OSError` for one that cannot be read."""

    def target(self, path: str) -> Entry:
        """The real path that a link leads to, and what is there. Raises `LinkError`."""


class Disk:
    """The files of this machine."""

    def entries(self, folder: str) -> Iterator[Entry]:
        """What is in a folder; devices and the like are nothing here."""
        with os.scandir(folder) as found:
            for each in found:
                if each.is_symlink():
                    yield Entry(each.name, "link")
                elif each.is_dir() or each.is_file():
                    yield Entry(each.name, "folder" if each.is_dir() else "file")

    def target(self, path: str) -> Entry:
        """The real path that a link leads to, and what is there."""
        try:
            real = os.path.realpath(path, strict=True)
        except FileNotFoundError:
            raise LinkError(f"to nothing: {Path(path).readlink()} is not there") from None
        except OSError as error:
            raise LinkError(f"that cannot be followed: {error.strerror}") from None
        return Entry(real, "folder" if Path(real).is_dir() else "file")


class TableFiles:
    """The tables below a folder: their real paths by the names that a person sees; and the links that are at fault."""

    def __init__(self, tree: Tree, root: str) -> None:
        self.found: dict[str, str] = {}
        self.faults: list[Fault] = []
        self._tree, self._root = tree, root
        # What was reached already, by its real path: a folder with its own and its linked folders, and every file.
        self._folders: dict[str, set[str]] = {}
        self._files: set[str] = set()
        # The links to follow: the folder that holds each, and its name below the root.
        self._links: list[tuple[str, str]] = []
        followed: list[tuple[str, str, str]] = []
        self._read(root, "")
        while self._links:  # after the folders themselves, so that a file with two names has that without a link
            folder, name = self._links.pop(0)
            target = self._follow(folder, name)
            if target is not None:
                followed.append((folder, name, target))
        for folder, name, target in followed:
            if self._leads_to(target, folder):
                self._loop(name)
        self.found = dict(sorted(self.found.items()))

    def _read(self, folder: str, name: str) -> None:
        """A folder and those in it, under the name by which it was reached."""
        self._folders[folder] = set()
        try:
            entries = sorted(self._tree.entries(folder))
        except OSError as error:
            self.faults.append(Fault(name.rstrip("/") or folder, 1, (), f"cannot be read: {error.strerror}"))
            return
        for entry, kind in entries:
            real = f"{folder.rstrip('/')}/{entry}" if folder else entry
            if entry.startswith("."):
                continue
            if kind == "link":
                self._links.append((folder, f"{name}{entry}"))
            elif kind == "file":
                self._take(real, f"{name}{entry}")
            else:
                self._folders[folder].add(real)
                if real not in self._folders:
                    self._read(real, f"{name}{entry}/")

    def _take(self, real: str, name: str) -> None:
        if name.endswith((".yaml", ".yml")) and real not in self._files:
            self._files.add(real)
            self.found[name] = real

    def _follow(self, folder: str, name: str) -> str | None:
        """What a link leads to; the real path of a folder."""
        entry = name.rpartition("/")[2]
        try:
            real, kind = self._tree.target(f"{folder.rstrip('/')}/{entry}" if folder else entry)
        except LinkError as error:
            self.faults.append(Fault(name, 1, (), f"is a link {error}. Mend the link, or remove it"))
            return None
        if kind == "file":
            self._take(real, name)
            return None
        if _holds(real, folder) or _holds(real, self._root):
            self._loop(name)
            return None
        self._folders[folder].add(real)
        if real not in self._folders:
            self._read(real, f"{name}/")
        return real

    def _leads_to(self, start: str, end: str) -> bool:
        """Whether one folder is reached from another."""
        reached, ahead = {start}, [start]
        while ahead:
            more = self._folders.get(ahead.pop(), set()) - reached
            reached |= more
            ahead += more
        return end in reached

    def _loop(self, name: str) -> None:
        self.faults.append(Fault(name, 1, (), "is a link to a folder that leads back to it. Remove the link"))


def _holds(folder: str, path: str) -> bool:
    """Whether a folder is the other, or above it."""
    return folder in ("", "/", path) or path.startswith(f"{folder}/")
