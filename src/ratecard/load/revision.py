"""Read a folder of tables as it was at a git revision, with the command `git`; nothing is checked out."""

import os
import posixpath
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ratecard.base.errors import RateCardError, TableError
from ratecard.base.messages import echo
from ratecard.load.folder import SHARED, Entry, FileKind, LinkError, TableFiles, tables_from
from ratecard.tables.card import Tables

# How git's modes of files begin, and its mode of links; a nested repository has another mode.
_FILE, _LINK = b"100", b"120000"
# The most links that are followed one after the other, as on Linux.
_MOST_LINKS = 40
# Git sets these for its hooks; here the folder decides which repository is read.
_OF_HOOKS = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}


class RevisionError(RateCardError):
    """A revision that cannot be read: git, the repository, the revision, or the folder in it is missing."""


class Revision(NamedTuple):
    """One commit of the repository that holds a folder: the name that was given, and its hash."""

    name: str
    commit: str
    folder: Path

    @property
    def label(self) -> str:
        """Return text like `HEAD~1 (46acc76fc9ee)`; the hash alone if it was the name."""
        return self.commit[:12] if self.commit.startswith(self.name) else f"{self.name} ({self.commit[:12]})"


def repository_of(folder: Path) -> Path:
    """Return the top folder of the git repository of a folder. Raises `RevisionError` if it is not in one."""
    return Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))


def find_revision(folder: Path, name: str) -> Revision:
    """Find the commit that a name means in the repository of a folder. Raises `RevisionError`."""
    repository_of(folder)
    # A name must not be read as an option of git, or as several names.
    if name and name[0] != "-" and name.isprintable():
        answer = _run(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if answer.returncode == 0:
            return Revision(name, answer.stdout.decode().strip(), folder)
    words = "Write a commit, branch or tag, like HEAD~1 or origin/main"
    raise RevisionError(f"'{echo(name)}' is not a git revision in {folder}. {words}")


def load_revision(revision: Revision) -> Tables:
    """Load the tables of a folder at a revision; the shipped files replace shared files that it did not have yet.

    Raises `RevisionError` if the folder had no tables then, `TableError` with every fault, each at `revision:file`.
    """
    prefix = _git(revision.folder, "rev-parse", "--show-prefix").removesuffix(b"\n")
    try:
        texts = _files(revision, prefix)
        if not texts.keys() - set(SHARED):
            place = prefix.decode(errors="replace").rstrip("/") or "."
            raise RevisionError(f"{place} holds no rate table at {revision.label}. Name a later revision")
        return tables_from(texts)
    except TableError as error:
        raise TableError([replace(fault, file=f"{revision.name}:{fault.file}") for fault in error.faults]) from None


class _Commit:
    """The `Tree` of a commit: paths begin at the top of its repository, and unknown folders are empty."""

    def __init__(self, revision: Revision) -> None:
        listing = _git(revision.folder, "ls-tree", "--full-tree", "-r", "-z", revision.commit)
        self.blobs: dict[str, bytes] = {}
        self._links: dict[str, str] = {}
        self._folders: dict[str, dict[str, FileKind]] = {"": {}}
        for line in listing.split(b"\0")[:-1]:
            head, _, name = line.partition(b"\t")
            mode, _, blob = head.split()
            path = os.fsdecode(name)
            if mode.startswith(_FILE):
                self._add(path, "file")
            elif mode == _LINK:
                self._add(path, "link")
                self._links[path] = ""
            self.blobs[path] = blob
        targets = _contents(revision.folder, [self.blobs[path] for path in self._links])
        self._links = {path: os.fsdecode(target) for path, target in zip(self._links, targets, strict=True)}

    def _add(self, path: str, kind: FileKind) -> None:
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = {}
            self._add(folder, "folder")
        self._folders[folder][name] = kind

    def entries(self, folder: str) -> Iterator[Entry]:
        return (Entry(name, kind) for name, kind in self._folders.get(folder, {}).items())

    def target(self, path: str) -> Entry:
        for _ in range(_MOST_LINKS):
            if (real := self._one_link_less(path)) is None:
                break
            path = real
        else:
            raise LinkError("that leads back to itself")
        if path in self._folders:
            return Entry(path, "folder")
        if path not in self.blobs:
            raise LinkError(f"to nothing: {path} is not in the repository at that revision")
        return Entry(path, "file")

    def _one_link_less(self, path: str) -> str | None:
        """Return a path with its first link replaced by the target; None if there is no link in it."""
        parts = path.split("/")
        for number in range(1, len(parts) + 1):
            head = "/".join(parts[:number])
            if head in self._links:
                to = posixpath.normpath(posixpath.join(posixpath.dirname(head), self._links[head]))
                if to.startswith(("/", "../")) or to == "..":
                    raise LinkError(f"out of the repository, to {self._links[head]}, which has no revisions")
                rest = posixpath.normpath(posixpath.join(to, *parts[number:]))
                return "" if rest == "." else rest
        return None


def _files(revision: Revision, prefix: bytes) -> dict[str, bytes]:
    """Return the contents of all tables below a prefix, by name; git is called once for names, twice for contents."""
    commit = _Commit(revision)
    files = TableFiles(commit, os.fsdecode(prefix).rstrip("/"))
    if files.faults:
        raise TableError(files.faults)
    contents = _contents(revision.folder, [commit.blobs[path] for path in files.found.values()])
    return dict(zip(files.found, contents, strict=True))


def _contents(folder: Path, blobs: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the contents of these blobs, which one call of git reads."""
    output = _git(folder, "cat-file", "--batch", given=b"".join(blob + b"\n" for blob in blobs)) if blobs else b""
    offset = 0
    for _ in blobs:
        head_end = output.index(b"\n", offset)
        size = int(output[offset:head_end].split()[2])
        yield output[head_end + 1 : head_end + 1 + size]
        offset = head_end + 1 + size + 1


def _git(folder: Path, *words: str, given: bytes = b"") -> bytes:
    process = _run(folder, *words, given=given)
    if process.returncode:
        complaint = process.stderr.decode(errors="replace").strip()
        if "not a git repository" in complaint:
            raise RevisionError(f"{folder} is not in a git repository, so it has no revisions")
        raise RevisionError(f"git cannot read {folder}: {echo(complaint)}")
    return process.stdout


def _run(folder: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS} | {"LC_ALL": "C"}
    command = ["git", "-C", str(folder), *words]
    try:
        return subprocess.run(command, input=given, capture_output=True, check=False, env=environment)  # noqa: S603
    except OSError:
        raise RevisionError("the command git is not installed here, so no revision can be read") from None
