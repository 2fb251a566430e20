"""A roll-up in an object storage: copied to a folder to be read, and changed by one request at the end.

Only the manifest is ever written again, and only if it is still the one that was read.
"""

import re
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.kept.place import MANIFEST, PACKS, KeptPlace, Manifest, missing_of, of_others

if TYPE_CHECKING:
    from obstore import ObjectMeta, PutMode, UpdateVersion
    from obstore.store import ObjectStore, RetryConfig

# A storage that is out of reach is reported within a minute.
_RETRIES: "RetryConfig" = {"max_retries": 4, "retry_timeout": timedelta(seconds=60)}
_KINDS = ("s3", "gcs", "azure")
_ALLOWED = "Allowed: s3://bucket/folder, gs://bucket/folder, az://container/folder"
_AT_ONCE = 8
_PACKED = re.compile(rf"{PACKS}/[0-9a-f]{{32}}/[\w-]+\.parquet", re.ASCII)
# A run that is still going on cannot name an object that is older than the manifest by more than this.
_OLD = timedelta(hours=1)
# The number of attempts to read a roll-up that other runs replace meanwhile.
_ATTEMPTS = 5
# Patterns in the messages of the library: the words of the storage, in XML or JSON, or of the network; then the host.
_SAID = (
    re.compile(r"<Message>([^<\n]+)"),
    re.compile(r'"message": *"([^"]+)'),
    re.compile(r'^ +(?:message|error): "([^"]+)"', re.MULTILINE),
    re.compile(r"status code: (\d+ [A-Z][A-Za-z ]+)"),
)
_HOST = re.compile(r"https?://([^/\s]+)")
_NO_CREDENTIALS = re.compile(r"Missing \w+|169\.254\.\d+\.\d+|token request")
_NOWHERE = ("NoSuchBucket", "ContainerNotFound")
_FAILED: tuple[type[Exception], ...] = (BaseError, OSError)
_NO_ADDRESS: tuple[type[Exception], ...] = (BaseError, ValueError)


class _OvertakenError(SimulationError):
    """The error that another run has changed the roll-up."""


class Stored(KeptPlace):
    """The roll-up at an address of a storage, with a folder for its copy. Raises `SimulationError`."""

    def __init__(self, address: str, folder: Path) -> None:
        super().__init__(folder)
        self._address = address.rstrip("/")
        self._store = _store(self._address)
        # The manifest that was read last, and the version of its object.
        self._kept: Manifest | None = None
        self._version: UpdateVersion | None = None

    def __str__(self) -> str:
        return self._address

    def is_kept(self) -> bool:
        """Return True if a roll-up is here."""
        with self._asking("read"):
            text, self._version = self._look()
            self._kept = None
            return text is not None and not of_others(text)

    def is_free(self) -> bool:
        """Return True if a roll-up can be made here: the place has at most the files that a broken run left."""
        with self._asking("read"):
            return all(_PACKED.fullmatch(meta["path"]) for meta in self._listed())

    def is_whole(self, kept: Manifest) -> bool:
        """Return True if all objects that a manifest names are here, each of its size."""
        with self._asking("read"):
            sizes = {meta["path"]: meta["size"] for meta in self._listed(PACKS)}
            return all(sizes.get(file.name) == file.bytes for pack in kept.packs for file in pack.files)

    def manifest(self) -> Manifest:
        """Return the manifest. Raises `SimulationError` for a file that is not the manifest of a roll-up."""
        with self._asking("read"):
            text, self._version = self._look()
            if text is None:
                raise self._removed()
            self._kept = Manifest.read(text, f"{self}/{MANIFEST}")
            return self._kept

    def opened(self) -> Manifest:
        """Return the manifest after copying its files to the folder; try again if another run replaces them."""
        for _ in range(_ATTEMPTS):
            kept = self.manifest()
            with suppress(_OvertakenError):
                self.need(kept)
                return kept
        raise self._overtaken()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Check that the storage can be written, before the usage is read; only `publish` can detect other runs."""
        with self._asking("written"):
            trial = f"{PACKS}/{self.new_name(())}/trial.parquet"
            obstore.put(self._store, trial, b"")
            with suppress(*_FAILED):
                obstore.delete(self._store, trial)
        self.folder.mkdir(parents=True, exist_ok=True)
        yield

    def new_name(self, names: Collection[str]) -> str:
        """Return a name for a pack that no other run will have."""
        return uuid4().hex

    def need(self, kept: Manifest) -> None:
        """Copy the files of the manifest that the folder lacks.

        Raises `SimulationError` where they are missing because another run replaced them.
        """
        with self._asking("read"):
            self._copy([file.name for file in missing_of(self.folder, kept)])
            if missing_of(self.folder, kept) and self._look()[1] != self._version:
                raise self._overtaken()

    def publish(self, kept: Manifest) -> None:
        """Put the new files, then the manifest, if it is still the one that was read; then remove replaced files."""
        known_names = _names(self._kept)
        names, text = _names(kept), kept.text().encode()
        with self._asking("written, and is as it was"):
            _each(lambda name: obstore.put(self._store, name, self.folder / name), names - known_names)
            # Some storages ignore conditions, so the version is checked here too.
            if self._look()[1] != self._version:
                raise self._overtaken()
            self._put(text)
        with suppress(*_FAILED):
            put_time = obstore.head(self._store, MANIFEST)["last_modified"]
            packs = {meta["path"]: meta["last_modified"] for meta in self._listed(PACKS)}
            # A run that began before this manifest was put cannot put its own.
            old_names = {name for name, changed in packs.items() if changed < put_time - _OLD}
            unused = (known_names | {name for name in old_names if _PACKED.fullmatch(name)}) - names
            if unused := unused & packs.keys():
                obstore.delete(self._store, sorted(unused))

    def _look(self) -> "tuple[bytes | None, UpdateVersion | None]":
        """Return the text and the version of the manifest; None for both if there is no manifest."""
        try:
            object_ = obstore.get(self._store, MANIFEST)
        except FileNotFoundError as error:
            if any(word in str(error) for word in _NOWHERE):
                raise
            return None, None
        version: UpdateVersion = {}
        if e_tag := object_.meta["e_tag"]:
            version["e_tag"] = e_tag
        if number := object_.meta["version"]:
            version["version"] = number
        return bytes(object_.bytes()), version

    def _put(self, text: bytes) -> None:
        """Put the manifest in one request, if it is the one that was read."""
        try:
            mode: PutMode = "create" if self._version is None else self._version
            obstore.put(self._store, MANIFEST, text, mode=mode, use_multipart=False)
        except _FAILED as error:
            # The storage may have written it, and only its answer was lost.
            try:
                stored = self._look()[0]
            except _FAILED:
                words = f"{self} cannot be written: {_cause(str(error))}"
                raise SimulationError(f"{words}. It is not known whether the roll-up has changed. Run again") from error
            if stored == text:
                return
            if isinstance(error, (AlreadyExistsError, PreconditionError, FileNotFoundError)):
                raise self._overtaken() from None
            raise

    def _overtaken(self) -> "_OvertakenError":
        return _OvertakenError(
            f"another run changed the roll-up {self} meanwhile, which is as that one left it. Run again"
        )

    def _copy(self, names: Collection[str]) -> None:
        """Copy objects to the folder; objects that no longer exist are left out."""

        def copy(name: str) -> None:
            place = self.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                chunks = obstore.get(self._store, name).stream()
                with place.open("wb") as file:
                    for chunk in chunks:
                        file.write(chunk)

        self.folder.mkdir(parents=True, exist_ok=True)
        _each(copy, names)

    def _listed(self, folder: str | None = None) -> "Iterator[ObjectMeta]":
        return (meta for batch in obstore.list(self._store, folder) for meta in batch)

    @contextmanager
    def _asking(self, done: str) -> Iterator[None]:
        """Turn an error of the storage, or of the folder of the copy, into a `SimulationError` of one sentence."""
        try:
            yield
        except _FAILED as error:
            raise SimulationError(f"{self} cannot be {done}: {_cause(str(error))}") from error


def no_storage(address: str) -> str:
    """Return why an address cannot be read or written; empty for an address of a known storage."""
    try:
        return "" if obstore.parse_scheme(address) in _KINDS else _refused("no object storage")
    except _NO_ADDRESS as error:
        return _refused(_cause(str(error)))


def _store(address: str) -> "ObjectStore":
    """Return the storage of an address, with the address as its root. Raises `SimulationError`."""
    try:
        return from_url(address, retry_config=_RETRIES)
    except _NO_ADDRESS as error:
        raise SimulationError(f"{address} {_refused(_cause(str(error)))}") from error


def _refused(words: str) -> str:
    return f"is not a place for a roll-up: {words}. {_ALLOWED}"


def _names(kept: Manifest | None) -> set[str]:
    return {file.name for pack in kept.packs for file in pack.files} if kept else set()


def _each(work: Callable[[str], object], names: Collection[str]) -> None:
    """Call `work` with each of the names, several at once. Raises the error of the first one that fails."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(work, sorted(names)):
            pass


def _cause(words: str) -> str:
    """Return the message of the library in a few words, without its traces."""
    first = words.strip().splitlines()[0]
    if match := _NO_CREDENTIALS.search(first):
        return f"there are no credentials in the environment, and none of this machine ({match[0]})"
    message = next((match[1] for pattern in _SAID if (match := pattern.search(words))), "")
    if not message:
        return first.removeprefix("Generic ").strip(" -")
    host = _HOST.search(first)
    return f"{host[1]} says: {message}".rstrip(" .") if host else message.rstrip(" .")
