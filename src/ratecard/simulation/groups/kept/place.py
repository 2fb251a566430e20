"""The place of a kept roll-up: a folder of this machine; `storage.py` has the same for an object storage."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.kept.manifest import MANIFEST, Manifest, PackedFile, not_a_manifest, of_others
from ratecard.simulation.groups.plan import parts_of
from ratecard.simulation.rows.columns import LAYOUTS

try:
    import fcntl
except ImportError:  # on Windows, two runs at the same time do not notice each other
    fcntl = None  # type: ignore[assignment]

PACKS, _LOCK = "groups", ".lock"
# The end of the name of a pack while it is written, and of a file of shapes.
BEING_WRITTEN, SHAPES = ".new", "-shapes"
_PACK = re.compile(rf"\d+({re.escape(BEING_WRITTEN)})?", re.ASCII)


class KeptPlace:
    """A folder of this machine, in which a roll-up is kept, or will be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder)

    def is_kept(self) -> bool:
        """Return True if a roll-up is here."""
        place = self.folder / MANIFEST
        with self._asking("read"):
            if not place.is_file():
                return False
            try:
                text = place.read_bytes()
            except FileNotFoundError:  # it was removed meanwhile
                return False
            return not of_others(text)

    def is_free(self) -> bool:
        """Return True if a roll-up can be made here: the place has at most the files that a broken run left."""
        with self._asking("read"):
            if not self.folder.is_dir():
                return not self.folder.exists()
            paths = [path for path in self.folder.iterdir() if not path.name.startswith(".")]
            return all(path.name == PACKS and all(map(_is_pack, path.iterdir())) for path in paths)

    def is_whole(self, kept: Manifest) -> bool:
        """Return True if all files that a manifest names are here, each of its size."""
        return not missing_of(self.folder, kept)

    def manifest(self) -> Manifest:
        """Return the manifest. Raises `SimulationError` for a file that is not the manifest of a roll-up."""
        place = self.folder / MANIFEST
        try:
            return Manifest.read(place.read_bytes(), str(place))
        except FileNotFoundError:
            raise self._removed() from None
        except OSError as error:
            raise not_a_manifest(place, error) from None

    def _removed(self) -> SimulationError:
        return SimulationError(f"the roll-up {self} was removed meanwhile. Run again")

    def opened(self) -> Manifest:
        """Return the manifest; the files that it names are in the folder already."""
        return self.manifest()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out. Raises `SimulationError` where one is at work."""
        with self._asking("written"):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock_file = (self.folder / _LOCK).open("wb")
        with lock_file as lock:
            if fcntl:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise SimulationError(f"another run writes the roll-up {self} now. Wait for its end") from None
            yield

    @contextmanager
    def _asking(self, done: str) -> Iterator[None]:
        """Turn an error of the disk into a `SimulationError` of one sentence."""
        try:
            yield
        except OSError as error:
            raise SimulationError(f"{self} cannot be {done}: {error}") from error

    def new_name(self, taken: Collection[str]) -> str:
        """Return a name for a pack that no other has."""
        return next(str(number) for number in range(len(taken) + 1) if str(number) not in taken)

    def need(self, kept: Manifest) -> None:
        """Check that the files of a manifest are in the folder. Raises `SimulationError` where they were replaced."""

    def publish(self, kept: Manifest) -> None:
        """Make the files that were written to the folder the state that others see."""


def name_in_pack(part: str) -> str:
    """Return the name of the files of a part of the types in a pack, without their ending."""
    return part.replace(" ", "-")


def _is_pack(folder: Path) -> bool:
    """Return True if a folder is a pack, or the rest of one after a broken run, by its name and those of its files."""
    names = {f"{name_in_pack(part)}{end}.parquet" for part in parts_of(LAYOUTS) for end in ("", SHAPES)}
    return bool(_PACK.fullmatch(folder.name)) and {file.name for file in folder.iterdir()} <= names


def missing_of(folder: Path, kept: Manifest) -> list[PackedFile]:
    """Return the files of a roll-up that a folder does not have, or has in another size."""
    files = (file for pack in kept.packs for file in pack.files)
    places = ((file, folder / file.name) for file in files)
    return [file for file, place in places if not (place.is_file() and place.stat().st_size == file.bytes)]
