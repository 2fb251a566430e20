"""The place of a kept roll-up, a folder of this machine (`storage.py`: of an object storage), and the manifest in it.

The manifest says what the groups distinguish, the files of usage that were read, and the packs of groups.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ratecard.base.errors import SimulationError
from ratecard.base.json_text import read_json
from ratecard.base.messages import echo
from ratecard.requests.dialects import TableDialect
from ratecard.simulation.groups.plan import Plan, Usage, parts_of
from ratecard.simulation.rows.columns import DAY, LAYOUTS, Layout
from ratecard.simulation.rows.files import Stamp
from ratecard.simulation.spill import locked
from ratecard.simulation.sql import ColumnType

MANIFEST = "manifest.json"
# The format of the folder as a whole.
_FORMAT: Literal[2] = 2
# The type of each model, which its rows have if they state no type.
_Types = dict[str, str]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Distinguished(_Part):
    """The columns that kept groups distinguish beside their keys, their day and the columns of their type.

    `cuts` are the seconds of a UTC day at which a price may change. `types`: of each model, where rows lack a type.
    The others are as `Predicates` has them.
    """

    layouts: dict[str, Layout]
    thresholds: tuple[int, ...] = ()
    lacking: dict[str, tuple[str, ...]] = {}
    summed: dict[str, tuple[str, ...]] = {}
    cuts: tuple[int, ...] = ()
    types: _Types = {}

    @classmethod
    def of(cls, plan: Plan, *, untyped: bool) -> Self:
        """Return the columns that groups by a plan distinguish; `untyped`: rows may lack a type."""
        predicates = plan.predicates
        return cls(
            layouts=dict(plan.layouts),
            thresholds=predicates.thresholds,
            lacking=dict(predicates.lacking),
            summed={type_: tuple(sorted(models)) for type_, models in sorted(predicates.summed.items())},
            cuts=plan.cuts,
            types=dict(sorted(plan.types.items())) if untyped else {},
        )

    def missing(self, asked: "Distinguished", models: Mapping[str | None, set[str | None]]) -> Iterator[str]:
        """Yield in words each difference that is asked for and not kept; `models`: the models of groups by type."""
        for type_, layout in asked.layouts.items():
            kept = self.layouts[type_]
            known = {column.name: column for column in kept.attributes}
            if (layout.quantities, layout.buckets, layout.places) != (kept.quantities, kept.buckets, kept.places):
                yield f"the buckets of tokens of type {type_}"
            yield from (f"{column.name} of type {type_}" for column in layout.counts if column not in kept.counts)
            for column in layout.attributes:
                if column.name not in known:
                    yield f"{column.name} of type {type_}"
                elif not set(known[column.name].defaults) <= set(column.defaults):
                    yield f"the default of {column.name}"
        yield from (f"prompts above {edge:,} tokens" for edge in asked.thresholds if edge not in self.thresholds)
        for type_, buckets in asked.lacking.items():
            for bucket in buckets:
                if bucket not in self.lacking.get(type_, ()):
                    yield f"whether a request of type {type_} has tokens {bucket}"
        yield from self.summed_here_only(asked, models)
        cuts = (cut for cut in asked.cuts if cut not in (self.cuts or (0,)))
        yield from (f"prices that change at {cut // 3600:02}:{cut // 60 % 60:02} UTC" for cut in cuts)
        # Parameters follow a colon, unless the names of models have colons.
        have_colons = [any(":" in name for name in types) for types in (self.types, asked.types)]
        for name in sorted({name for names in models.values() for name in names if name is not None}):
            beginnings = (name[:at] for at in range(1, len(name) + 1) if name[at : at + 1] in (":", ""))
            differs = any(self.types.get(beginning) != asked.types.get(beginning) for beginning in beginnings)
            if differs or (":" in name and have_colons[0] != have_colons[1]):
                yield f"the type of {name}, which some rows do not say"

    def summed_here_only(self, other: "Distinguished", models: Mapping[str | None, set[str | None]]) -> Iterator[str]:
        """Yield in words the quantities and counts by meter of a model that are summed here, but not by the other."""
        all_models = {name for names in models.values() for name in names}
        for part, named in other.summed.items():
            summed, (words, part_models) = self.summed.get(part), (part, all_models)
            if part in self.layouts:
                words, part_models = "the quantities", models.get(part, set())
            for model in sorted(name for name in part_models if name is not None):
                if model not in named and (summed is None or model in summed):
                    yield f"{words} of each request of {model}"


class KeptFile(_Part):
    """A file of usage: the number of its share, its stamp, and its rows; `found` counts those left out too.

    `undated` are rows without an instant, where days were chosen.
    """

    share: int
    stamp: Stamp
    found: int
    rows: int
    undated: int = 0


class PackedFile(_Part):
    """A file in the folder, and its bytes."""

    name: Annotated[str, Field(pattern=r"^\w+/[\w-]+/[\w-]+\.parquet$")]
    bytes: int


class PackedPart(_Part):
    """The files of a part of the types: its groups, and the shapes that they number."""

    groups: PackedFile
    shapes: PackedFile


class Pack(_Part):
    """Groups that were written together: their shares, how many they are, and the files of each part of the types."""

    name: str
    shares: tuple[int, ...]
    groups: int
    parts: dict[str, PackedPart]

    @property
    def files(self) -> Iterator[PackedFile]:
        """Return all of its files."""
        return (file for part in self.parts.values() for file in (part.groups, part.shapes))


class Asked(_Part):
    """The arguments of a roll-up: with others it is made anew."""

    by: tuple[str, ...]
    where: str | None = None
    columns: dict[str, str] = {}
    dialect: TableDialect | None = None
    engine: Literal["duckdb", "spark"] = "duckdb"


class Manifest(_Part):
    """All that is known of a kept roll-up. `declared` are the columns of the usage with the types its engine gives."""

    format: Literal[2] = _FORMAT
    version: str
    usage: tuple[str, ...]
    tables: tuple[str, ...]
    asked: Asked
    declared: dict[str, str]
    known: dict[str, str]
    types: dict[str, ColumnType]
    scales: dict[str, int]
    dated: bool
    untyped: bool
    distinguished: Distinguished
    files: dict[str, KeptFile]
    packs: tuple[Pack, ...]
    odd: str = ""

    @model_validator(mode="after")
    def _typed(self) -> Self:
        if untyped := next((column for column in self.known.values() if column not in self.types), None):
            raise ValueError(f"the column '{untyped}' has no type")
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the columns that groups are kept by, besides the type, the model and the day."""
        return tuple(key for key in self.asked.by if key not in ("type", "model", DAY))

    @property
    def rows(self) -> int:
        """Return the number of rows that were rolled up."""
        return sum(file.rows for file in self.files.values())

    @property
    def usage_table(self) -> Usage:
        """Return the columns of the usage."""
        return Usage(self.known, self.types, self.scales, untyped=self.untyped, layouts=self.distinguished.layouts)

    @classmethod
    def read(cls, text: bytes, place: str) -> Self:
        """Return the manifest that `text()` wrote. Raises `SimulationError` with the place for any other content."""
        try:
            manifest = cls.model_validate_json(text)
            read_json(text)  # pydantic takes the last of two equal keys
            return manifest
        except (ValidationError, ValueError) as error:
            faults = error.errors() if isinstance(error, ValidationError) else []
            if formats := [echo(str(fault["input"])) for fault in faults if fault["loc"] == ("format",)]:
                words = f"has format {formats[0]}, and this release of ratecard reads {_FORMAT}"
                raise SimulationError(f"{place} {words}. Make the roll-up again in another folder") from None
            first = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}".removeprefix(": ") for fault in faults[:1]]
            raise not_a_manifest(place, "".join(first) or error) from None

    def text(self) -> str:
        """Return the manifest as JSON."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"


def of_others(text: bytes) -> bool:
    """Return True if a file with a manifest's name belongs to other software: JSON without the keys of a manifest."""
    try:
        content = read_json(text)
    except ValueError:  # it may be the damaged manifest of a roll-up
        return False
    return not (isinstance(content, dict) and content.keys() & {"distinguished", "packs"})


def not_a_manifest(place: object, why: object) -> SimulationError:
    """Return the error of a file that is not the manifest of a roll-up."""
    return SimulationError(f"{place} is not the manifest of a roll-up: {why}. Make it again in another folder")


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
            # On Windows, two runs at the same time do not notice each other.
            if locked(lock) is False:
                raise SimulationError(f"another run writes the roll-up {self} now. Wait for its end")
            yield

    @contextmanager
    def _asking(self, done: str) -> Iterator[None]:
        """Turn an error of the disk into a `SimulationError` of one sentence."""
        try:
            yield
        except OSError as error:
            raise SimulationError(f"{self} cannot be {done}: {error}") from error

    def new_name(self, names: Collection[str]) -> str:
        """Return a name for a pack that no other has."""
        return next(str(number) for number in range(len(names) + 1) if str(number) not in names)

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
