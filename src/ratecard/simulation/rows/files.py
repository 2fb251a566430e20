"""The files of a usage: which ones are meant, whether they changed while they were read, and a digest of them."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ratecard.base.errors import SimulationError

_ENDINGS = {".parquet": ".parquet", ".pq": ".parquet", ".csv": ".csv", ".tsv": ".csv"}
_ENDINGS |= dict.fromkeys((".jsonl", ".ndjson", ".json"), ".jsonl")
_BOOKS = (".xlsx", ".xls", ".ods")
_ALLOWED = "Allowed: .parquet, .csv, .jsonl, each also as .gz, a folder or a pattern of them"
_PATTERN = re.compile(r"[*?\[]")
LOCAL = "file://"
# The schemes of S3 in different engines.
_S3 = ("s3", "s3a", "s3n")
_DIGITS = 16
# The column with the file of a row, if that is needed.
FILE = "ratecard_file"


class Stamp(NamedTuple):
    """A file's identity: bytes, time of its last change, and inode or ETag of a storage."""

    bytes: int
    changed: str
    identity: str


# The stamps of files, by their path or address.
Stamps = Mapping[str, Stamp]


@dataclass(frozen=True, slots=True)
class Source:
    """The files that were read: their number and bytes, and a digest of their paths, sizes, times and identities.

    Without files, the usage is a frame in memory, or a table for which Spark names no files: they are not known then.
    """

    files: int = 0
    bytes: int = 0
    fingerprint: str = ""

    @classmethod
    def of(cls, stamps: Stamps) -> "Source":
        """Return the source that consists of these files."""
        places = {file if is_remote(file) else os.path.abspath(file): stamp for file, stamp in stamps.items()}  # noqa: PTH100
        text = "\n".join(repr((place, *stamp)) for place, stamp in sorted(places.items()))
        fingerprint = sha256(text.encode()).hexdigest()[:_DIGITS] if stamps else ""
        return cls(len(stamps), sum(stamp.bytes for stamp in stamps.values()), fingerprint)


@contextmanager
def unchanged(before: Stamps, look: Callable[[], Stamps]) -> Iterator[None]:
    """Raise `SimulationError` with the name of a file that was replaced or changed since `before`.

    This error replaces the error of an engine that reads a file while it changes.
    """
    try:
        yield
    except SimulationError as error:
        _compare(before, look(), error)
        raise
    _compare(before, look())


def _compare(before: Stamps, after: Stamps, error: SimulationError | None = None) -> None:
    for file, stamp in before.items():
        if (stamp_now := after.get(file)) != stamp:
            what = "was changed or replaced" if stamp_now else "was removed"
            raise SimulationError(f"{file} {what} while the usage was read. Simulate it again") from error


def local_stamps(files: Iterable[str]) -> dict[str, Stamp]:
    """Return the stamps of files of this machine, without files that do not exist."""
    stamps = {}
    for file in files:
        try:
            status = os.stat(file)  # noqa: PTH116 (of a name as it is given)
        except OSError:
            continue
        stamps[file] = Stamp(status.st_size, str(status.st_mtime_ns), f"{status.st_dev}:{status.st_ino}")
    return stamps


def is_address(given: str) -> bool:
    """Return True if a place is an address, of a storage or of this machine (`file://...`)."""
    return "://" in given


def is_remote(given: str) -> bool:
    """Return True if a place is an address of a storage, and not a path of this machine."""
    return is_address(given) and not given.startswith(LOCAL)


def is_pattern(given: str) -> bool:
    """Return True if a place is a pattern of files: it has a character of patterns, and no file has this name."""
    return bool(_PATTERN.search(given)) and not os.path.lexists(given.removeprefix(LOCAL))


def pattern_escaped(file: str) -> str:
    """Return the name of a file, escaped so that DuckDB does not take it for a pattern; an address stays as it is."""
    return file if is_remote(file) else _PATTERN.sub(lambda mark: f"[{mark[0]}]", file)


def files_of(given: str) -> Iterator[str]:
    """Yield the files of this machine that a file, a folder or a pattern means. Raises `SimulationError` for none."""
    given = given.removeprefix(LOCAL)
    path = Path(given)
    if not is_pattern(given):
        if not path.exists():
            raise SimulationError(f"there is no file {given}")
        yield from _within(path)
        return
    anchor = Path(path.anchor)
    pattern = str(path.relative_to(anchor)) if path.anchor else given
    paths = sorted(anchor.glob(pattern))
    if not paths:
        raise SimulationError(f"there is no file {given}")
    for file in paths:
        yield from _within(file)


def named_once(files: Iterable[str]) -> list[str]:
    """Return the files of a usage. Raises `SimulationError` for a file that is named twice: it would count twice."""
    by_place: dict[str, str] = {}
    for file in files:
        place = file if is_remote(file) else os.path.realpath(file)
        if place in by_place:
            raise SimulationError(f"the usage names {file} twice, so that its rows would count twice. Name it once")
        by_place[place] = file
    return list(by_place.values())


def is_read_of(usage: str, file: str) -> bool:
    """Return True if a file, by its path or address, would be read as part of a usage: a file, folder or pattern."""
    if is_remote(usage) != is_remote(file):
        return False
    names, wanted = _names(file), _names(usage)
    return _fit(names, wanted) if is_pattern(usage) else names[: len(wanted)] == wanted


def _names(place: str) -> tuple[str, ...]:
    """Return the folders and the file of a path, or of an address, after its scheme."""
    if is_remote(place):
        scheme, _, rest = place.partition("://")
        return ("s3" if scheme.lower() in _S3 else scheme, *rest.rstrip("/").split("/"))
    return Path(os.path.realpath(place.removeprefix(LOCAL))).parts


def _fit(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return True if the names fit a pattern, or are inside a folder that fits it."""
    if not pattern or not names:
        return not pattern
    first, *others = pattern
    if first == "**":
        return any(_fit(names[at:], others) for at in range(len(names)))
    return fnmatchcase(names[0], first) and _fit(names[1:], others)


def _within(path: Path) -> Iterator[str]:
    if not path.is_dir():
        yield str(path)
        return
    files = sorted(str(file) for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "_")))
    if not files:
        raise SimulationError(f"the folder {path} holds no files. {_ALLOWED}")
    yield from files


def is_workbook(file: str) -> bool:
    """Return True if a file is a workbook by its ending."""
    return Path(file).suffix.lower() in _BOOKS


def kind_of(file: str) -> str:
    """Return the kind of a file by its ending. Raises `SimulationError` for an ending that no usage has."""
    name = file.partition("?")[0] if is_remote(file) else file
    suffixes = [suffix for suffix in Path(name).suffixes if suffix not in (".gz", ".zst")]
    ending = suffixes[-1].lower() if suffixes else ""
    if is_workbook(name):
        words = "is a workbook, and a simulation reads none. Save its sheet as CSV (UTF-8), and give that"
        raise SimulationError(f"{file} {words}. {_ALLOWED}")
    if ending not in _ENDINGS:
        raise SimulationError(f"{file} is not a usage table. {_ALLOWED}")
    return _ENDINGS[ending]


def is_usage(file: str) -> bool:
    """Return True if a file is a usage table by its ending."""
    try:
        return bool(kind_of(file))
    except SimulationError:
        return False


def kind_to_write(place: str) -> str:
    """Return the kind of file to write to a storage, by its ending. Raises `SimulationError` for any other ending."""
    ending = Path(place).suffix.lower()
    if ending not in _ENDINGS:
        what = "a workbook is written as a file of this machine" if is_workbook(place) else "its format is not known"
        raise SimulationError(f"{place} cannot be written to a storage: {what}. Allowed there: .parquet, .csv, .jsonl")
    return _ENDINGS[ending]


def one_kind(files: Sequence[str]) -> str:
    """Return the kind of all files. Raises `SimulationError` if they are of several kinds."""
    kinds = {kind_of(file) for file in files}
    if len(kinds) > 1:
        raise SimulationError(f"the usage has files of {len(kinds)} kinds: {', '.join(sorted(kinds))}. Give one kind")
    return kinds.pop()
