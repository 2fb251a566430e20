"""A folder of tables as it was at a git revision, read through the command `git`; nothing is checked out."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from ratecard.load.folder import LIMITS, UNITS, VOCABULARY, shipped_folder, tables_from
from ratecard.tables.card import Tables
from ratecard.words.errors import Fault, RateCardError, TableError
from ratecard.words.wording import echo

_SHARED = (UNITS, VOCABULARY, LIMITS)
# How the mode of a file begins; those of a symbolic link and of another repository do not.
_FILE = b"100"
# A hook of git sets these for its own repository; here the folder decides which one is read.
_OF_HOOKS = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}


class RevisionError(RateCardError):
    """A revision that cannot be read: no git, no repository, no such revision, or no such folder in it."""


class Revision(NamedTuple):
    """One commit of the repository that holds a folder: what it was asked for by, and its hash."""

    name: str
    commit: str
    folder: Path

    @property
    def label(self) -> str:
        """`HEAD~1 (46acc76fc9ee)`; a hash alone says enough."""
        return self.commit[:12] if self.commit.startswith(self.name) else f"{self.name} ({self.commit[:12]})"


def repository_of(folder: Path) -> Path:
    """The top folder of the repository that a folder is in. Raises `RevisionError` where it is in none."""
    return Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))


def find_revision(folder: Path, name: str) -> Revision:
    """The commit that a name means in the repository of a folder. Raises `RevisionError`."""
    repository_of(folder)
    # A name is never an option of git, and never more than one name.
    if name and name[0] != "-" and name.isprintable():
        found = _run(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found.returncode == 0:
            return Revision(name, found.stdout.decode().strip(), folder)
    words = "Write a commit, branch or tag, like HEAD~1 or origin/main"
    raise RevisionError(f"'{echo(name)}' is no revision of the repository of {folder}. {words}")


def load_revision(revision: Revision) -> Tables:
    """The tables of a folder at a revision; shared files that it did not have yet are the shipped ones.

    Raises `RevisionError` where the folder was not there then, `TableError` with every fault, each at `revision:file`.
    """
    prefix = _git(revision.folder, "rev-parse", "--show-prefix").removesuffix(b"\n")
    found = _files(revision, prefix)
    if not found.keys() - set(_SHARED):
        place = prefix.decode(errors="replace").rstrip("/") or "."
        raise RevisionError(f"{place} holds no rate table at {revision.label}. Name a later revision")
    shipped = shipped_folder()
    for name in _SHARED:
        found.setdefault(name, (shipped / name).read_bytes())
    try:
        return tables_from(found)
    except TableError as error:
        faults = [
            Fault(f"{revision.name}:{fault.file}", fault.line, fault.path, fault.message) for fault in error.faults
        ]
        raise TableError(faults) from None


def _files(revision: Revision, prefix: bytes) -> dict[str, bytes]:
    """Every YAML file below the prefix, by its name there: one call for the names, one for all contents."""
    tree = f"{revision.commit}:".encode() + prefix
    listed = _run(revision.folder, "ls-tree", "--full-tree", "-r", "-z", os.fsdecode(tree))
    entries = (line.partition(b"\t") for line in listed.stdout.split(b"\0") if line)
    blobs = {}
    for head, _, path in entries:
        mode, _, blob = head.split()
        if mode.startswith(_FILE) and path.endswith((b".yaml", b".yml")):
            blobs[path.decode(errors="surrogateescape")] = blob
    wanted = b"".join(blob + b"\n" for blob in blobs.values())
    out = _git(revision.folder, "cat-file", "--batch", given=wanted)
    contents, at = {}, 0
    for name in blobs:
        head_end = out.index(b"\n", at)
        size = int(out[at:head_end].split()[2])
        contents[name] = out[head_end + 1 : head_end + 1 + size]
        at = head_end + 1 + size + 1
    return contents


def _git(folder: Path, *words: str, given: bytes = b"") -> bytes:
    done = _run(folder, *words, given=given)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        if "not a git repository" in said:
            raise RevisionError(f"{folder} is not in a git repository, so it has no revisions")
        raise RevisionError(f"git cannot read {folder}: {echo(said)}")
    return done.stdout


def _run(folder: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS} | {"LC_ALL": "C"}
    command = ["git", "-C", str(folder), *words]
    try:
        return subprocess.run(command, input=given, capture_output=True, check=False, env=environment)  # noqa: S603
    except OSError:
        raise RevisionError("the command git is not installed here, so no revision can be read") from None
