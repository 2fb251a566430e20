"""Read a folder of YAML files: find the files, read them, check them, and make tables of them.

Links are followed, hidden names are not read, and no file is read twice. The same rules hold on a disk and in a git
revision, so they are written for a `Tree`, which is either.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from ratecard.base.collector import uncollected
from ratecard.base.errors import Fault, TableError, in_order
from ratecard.base.messages import Finding
from ratecard.base.messages import Path as Place
from ratecard.load.built import BuiltFolder, built_file, built_folder, text_file
from ratecard.load.checks import (
    check_limits,
    check_metered,
    check_meters,
    check_model,
    check_names,
    check_references,
    check_units,
    check_video,
    check_vocabulary,
)
from ratecard.load.faults import TextFile, complaints
from ratecard.tables.card import MODEL_CLASSES, AnyModel, Family, ModelsOnDemand, Names, Tables
from ratecard.tables.limits import Limits, LimitsFile
from ratecard.tables.meters import Meters, Unit, Units, Vocabulary
from ratecard.tables.video import VideoModel

if TYPE_CHECKING:
    from ratecard.tables.contract import Contract
    from ratecard.tables.monthly import Monthly

UNITS, METERS, VOCABULARY, LIMITS = SHARED = "units.yaml", "meters.yaml", "vocabulary.yaml", "limits.yaml"
# Optional files: one allows open names of models, the other has the terms of a month of every account.
NAMES, MONTHLY = OPTIONAL = "names.yaml", "monthly.yaml"
# The folder of contracts, inside the folder of tables; each file is one contract.
_CONTRACTS = "contracts/"
_Part = TypeVar("_Part", bound=BaseModel)


def shipped_folder() -> Path:
    """Return the tables inside the installed package; in a source checkout, those of the repository."""
    package = Path(__file__).parent.parent
    inside = package / "pricing_tables"
    return inside if inside.is_dir() else package.parent.parent / "pricing_tables"


def load_tables(folder: str | Path | None = None) -> Tables:
    """Load every `.yaml` or `.yml` file below a folder, in capitals too; the shipped tables if `folder` is left out.

    `units.yaml` and `meters.yaml` of a folder add to the shipped ones; its `vocabulary.yaml` replaces the shipped one.
    A folder without `limits.yaml` has no limits. Raises `TableError` with every fault.
    """
    return tables_from(read_folder(folder))


def read_folder(folder: str | Path | None = None) -> dict[str, bytes]:
    """Read the bytes of the files that `load_tables` loads, by their names below the folder. Raises `TableError`.

    Links are followed, and a file that is reached twice counts once; names that begin with a dot are not read.
    """
    root = Path(folder) if folder is not None else shipped_folder()
    if not root.is_dir():
        raise TableError.of_file(str(root), "is not a folder. Name the folder that holds the rate tables")
    files = TableFiles(Disk(), os.path.realpath(root))
    contents, faults = {}, list(files.faults)
    for name, path in files.found.items():
        try:
            contents[name] = Path(path).read_bytes()
        except OSError as error:
            faults.append(Fault(name, 1, (), f"cannot be read: {error.strerror}"))
    if faults:
        raise TableError(in_order(faults))
    if not any(map(_is_family, contents)):
        raise TableError.of_file(str(root), "holds no rate table. A table is a file that ends in .yaml")
    return contents


def is_contract(name: str) -> bool:
    """Return True if a file of this name holds a contract."""
    return name.startswith(_CONTRACTS)


def _is_family(name: str) -> bool:
    return name not in (*SHARED, *OPTIONAL) and not is_contract(name)


def _shipped(name: str, kind: type[_Part]) -> _Part:
    """Return a shared file of the shipped tables. Raises `TableError`."""
    text = text_file(name, (shipped_folder() / name).read_bytes())
    if (part := _validated(text, kind)) is None:
        raise TableError(text.faults)
    return part


@cache
def shipped_meters() -> Meters:
    """Return the meters and conditions of the shipped tables."""
    return _shipped(METERS, Meters)


@cache
def shipped_units() -> Mapping[str, Unit]:
    """Return the units of the shipped tables, by name."""
    return _shipped(UNITS, Units).by_name


@cache
def _vocabulary() -> Vocabulary:
    """Return the shipped vocabulary for a folder without one, without the service parameters of the shipped service."""
    return _shipped(VOCABULARY, Vocabulary).model_copy(update={"service_parameters": False})


@cache
def shipped_limits() -> Limits:
    """Return the newest limits of the shipped tables, with the worth of one unit of each balance in US dollars.

    >>> shipped_limits().rates.DIEM, shipped_limits().rates.VCU
    (Decimal('1'), None)
    """
    return _shipped(LIMITS, LimitsFile).limits[0]


@uncollected()
def tables_from(contents: Mapping[str, bytes]) -> Tables:
    """Make tables of file names and their bytes, wherever they come from. Raises `TableError`.

    If the folder was sound when the package was built, each model is made at its first look-up.
    """
    built = built_folder(contents)
    family_files = {*built.files.values()} if built else set[str]()
    texts = {name: text_file(name, content) for name, content in contents.items() if name not in family_files}
    own_units = _shared(texts.get(UNITS), Units, check_units, lambda: Units(units=()))
    own_meters = _shared(texts.get(METERS), Meters, check_meters, Meters)
    units = {**shipped_units(), **own_units.by_name} if own_units else None
    meters = own_meters.laid_over(shipped_meters()) if own_meters else None
    vocabulary = _shared(texts.get(VOCABULARY), Vocabulary, check_vocabulary, _vocabulary)
    limits = _shared(texts.get(LIMITS), LimitsFile, check_limits, lambda: LimitsFile(limits=()))
    patterns = _open_patterns(texts.get(NAMES))
    models: Mapping[str, AnyModel]
    if built:
        models = ModelsOnDemand(built.files, partial(_built_model, built))
        families, files = built.families, built.files
    else:
        family_texts = [text for name, text in texts.items() if _is_family(name)]
        placed_models = [(text, index, model) for text in family_texts for index, model in _models(text)]
        models = {model.model: model for _, _, model in placed_models}
        families = {model.model: str(text.data.get("family", "")) for text, _, model in placed_models}
        files = _check_models(placed_models, texts.values(), units, meters, vocabulary)
        check_names(placed_models, patterns=patterns is not False)
    monthly, contracts = _agreed(texts, models, families, units or {}, meters)
    faults = [fault for text in texts.values() for fault in text.faults]
    if faults or units is None or meters is None or vocabulary is None or limits is None:
        raise TableError(in_order(faults))
    tables = Tables(
        models,
        units,
        meters,
        vocabulary,
        limits.limits,
        patterns=bool(patterns),
        families=families,
        files=files,
        monthly=monthly.monthly if monthly else (),
        monthly_correction=monthly.correction if monthly else None,
        contracts=contracts,
    )
    if built:
        vars(tables).update(digest=built.digest, aliases=built.aliases)
    if contracts:
        from ratecard.contracts.checks import contract_faults

        if faults := contract_faults(tables):
            raise TableError(in_order(faults))
    return tables


def _built_model(built: BuiltFolder, name: str) -> AnyModel:
    """Make a model of a folder that was sound when the package was built."""
    data = built.data_of(name)
    return MODEL_CLASSES[data["type"]].model_validate(data)


def _open_patterns(text: TextFile | None) -> bool | None:
    """Return whether the file of names lets models have open patterns; None if it is at fault."""
    if text is None:
        return False
    names = _validated(text, Names)
    return None if names is None else names.patterns


def _agreed(
    texts: Mapping[str, TextFile],
    models: Mapping[str, AnyModel],
    families: Mapping[str, str],
    units: Mapping[str, Unit],
    meters: Meters | None,
) -> tuple["Monthly | None", Mapping[str, "Contract"]]:
    """Return the file of the terms that every account has, if any, and the contracts; their faults are recorded."""
    signed_texts = [text for name, text in texts.items() if is_contract(name)]
    if not signed_texts and MONTHLY not in texts:
        return None, {}
    # Imported here, so that a folder without contracts does not wait for their classes.
    from ratecard.load.monthly import TermChecks
    from ratecard.tables.contract import Contract
    from ratecard.tables.monthly import Monthly

    # A broken file of models has no models that a term could be for, and the term is not to blame.
    are_sound = not any(text.faults for name, text in texts.items() if _is_family(name))
    checks = TermChecks(models, families, units, meters) if units and meters and are_sound else None
    monthly = _validated(texts[MONTHLY], Monthly) if MONTHLY in texts else None
    signed = [(text, agreed) for text in signed_texts if (agreed := _validated(text, Contract))]
    contracts = dict[str, Contract]()
    for text, contract in signed:
        name = contract.contract
        if name in contracts:
            text.fault(("contract",), f"contract '{name}' is in {contracts[name].place} too. Give it another name")
        contracts[name] = contract.model_copy(update={"place": text.place(("contract",))})
        if checks:
            _record(text, ("monthly",), checks.of_contract(contract))
    if checks and monthly:
        _record(texts[MONTHLY], ("monthly",), checks.of(monthly.monthly))
    return monthly, contracts


def build_tables(contents: Mapping[str, bytes]) -> bytes:
    """Return the content of the file of built data for these files. Raises `TableError` with every fault."""
    return built_file(contents, tables_from(contents))


def _check_models(
    found: Iterable[tuple[TextFile, int, AnyModel]],
    texts: Iterable[TextFile],
    units: Mapping[str, Unit] | None,
    meters: Meters | None,
    vocabulary: Vocabulary | None,
) -> Mapping[str, str]:
    """Record the faults of each model, and of models together; return the file of each."""
    files: dict[str, str] = {}
    for text, index, model in found:
        _record(text, ("models", index), check_model(model, units, meters))
        if not isinstance(model, VideoModel):
            if meters:
                _record(text, ("models", index), check_metered(model, meters))
        elif vocabulary:
            _record(text, ("models", index), check_video(model, vocabulary.video))
        if model.model in files:
            text.fault(("models", index, "model"), f"model '{model.model}' is in {files[model.model]} too")
        files[model.model] = text.name
    models = {model.model: model for _, _, model in found}
    broken = {name for text in texts for name in _written(text)} - models.keys()
    for text, index, model in found:
        _record(text, ("models", index), check_references(model, models, broken))
    return files


def _shared(
    text: TextFile | None,
    kind: type[_Part],
    check: Callable[[_Part], Iterable[Finding]],
    otherwise: Callable[[], _Part],
) -> _Part | None:
    """Return a shared file, checked; None if it has faults, and the result of `otherwise` if it does not exist."""
    if text is None:
        return otherwise()
    part = _validated(text, kind)
    if part:
        _record(text, (), check(part))
    return part


def _models(text: TextFile) -> Iterator[tuple[int, AnyModel]]:
    """Yield the valid models of a family file with their index; the faults of the others are recorded."""
    if isinstance(text.data, dict) and "contract" in text.data and "models" not in text.data:
        text.fault(("contract",), "is a contract, and these are read in the folder contracts/. Move the file there")
        return
    family = _validated(text, Family)
    if family:
        if not family.models:
            text.fault(("models",), "models is empty. Write at least one model, or remove the file")
        yield from enumerate(family.models)
    elif isinstance(text.data, dict) and isinstance(text.data.get("models"), list):
        one_model: TypeAdapter[AnyModel] = TypeAdapter(AnyModel)
        for index, model in enumerate(text.data["models"]):
            with suppress(ValidationError):  # its faults are recorded with those of the family
                yield index, one_model.validate_python(model)


def _written(text: TextFile) -> Iterator[str]:
    """Yield the ids of a file's models as they are written, valid or not."""
    models = text.data.get("models") if isinstance(text.data, dict) else None
    for model in models if isinstance(models, list) else ():
        if isinstance(model, dict) and isinstance(model.get("model"), str):
            yield model["model"]


def _validated(text: TextFile, part: type[_Part]) -> _Part | None:
    if text.data is None:
        return None
    try:
        return part.model_validate(text.data)
    except ValidationError as error:
        for path, message in complaints(error, text.data, part):
            text.fault(path, message)
        return None


def _record(text: TextFile, at: Place, findings: Iterable[Finding]) -> None:
    for path, message in findings:
        text.fault((*at, *path), message)


FileKind = Literal["file", "folder", "link", "other"]


class Entry(NamedTuple):
    """A name in a folder, and its kind."""

    name: str
    kind: FileKind


class LinkError(Exception):
    """A link that cannot be followed; its message continues "is a link ..."."""


class Tree(Protocol):
    """Files and folders, by their real path (without links)."""

    def entries(self, folder: str) -> Iterator[Entry]:
        """List a folder. Raises `OSError` if it cannot be read."""

    def target(self, path: str) -> Entry:
        """Follow a link; return the real path and the kind of its target. Raises `LinkError`."""


class Disk:
    """The files of this machine."""

    def entries(self, folder: str) -> Iterator[Entry]:
        """List a folder; what is neither a file nor a folder, such as a pipe, is of the kind "other"."""
        with os.scandir(folder) as entries_of_folder:
            for entry in entries_of_folder:
                if entry.is_symlink():
                    yield Entry(entry.name, "link")
                elif entry.is_dir() or entry.is_file():
                    yield Entry(entry.name, "folder" if entry.is_dir() else "file")
                else:
                    yield Entry(entry.name, "other")

    def target(self, path: str) -> Entry:
        """Follow a link; return the real path and the kind of its target. Raises `LinkError`."""
        try:
            real = os.path.realpath(path, strict=True)
        except FileNotFoundError:
            raise LinkError(f"to nothing: {Path(path).readlink()} is not there") from None
        except OSError as error:
            raise LinkError(f"that cannot be followed: {error.strerror}") from None
        if not (Path(real).is_dir() or Path(real).is_file()):
            raise LinkError(f"to {real}, which is no file")  # such as a pipe: to read it might never end
        return Entry(real, "folder" if Path(real).is_dir() else "file")


class TableFiles:
    """The tables below a folder: `found` has their real paths by name, `faults` the links and folders in error.

    Names are those that a person sees below the folder. Real folders are read first, then links, each real file once.
    """

    def __init__(self, tree: Tree, root: str) -> None:
        self.found: dict[str, str] = {}
        self.faults: list[Fault] = []
        self._tree, self._root = tree, root
        # Folders read so far, with the folders in them or linked from them, and files read so far; all by real path.
        self._folders: dict[str, set[str]] = {}
        self._files: set[str] = set()
        # Links still to follow: the folder of each, and its name below the root.
        self._links: list[tuple[str, str]] = []
        followed: list[tuple[str, str, str]] = []
        self._read(root, "")
        # Links come after the folders, so that a file with two names gets the one without a link.
        while self._links:
            folder, name = self._links.pop(0)
            if (target := self._follow(folder, name)) is not None:
                followed.append((folder, name, target))
        for folder, name, target in followed:
            if self._leads_to(target, folder):
                self._loop(name)
        self.found = dict(sorted(self.found.items()))

    def _read(self, folder: str, name: str) -> None:
        """Read a folder and the folders in it; `name` is the path by which it was reached."""
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
            elif kind == "other" and _is_yaml(entry):
                self.faults.append(Fault(f"{name}{entry}", 1, (), "is no file. Remove it"))
            elif kind == "folder":
                self._folders[folder].add(real)
                if real not in self._folders:
                    self._read(real, f"{name}{entry}/")

    def _take(self, real: str, name: str) -> None:
        if _is_yaml(name) and real not in self._files:
            self._files.add(real)
            self.found[name] = real

    def _follow(self, folder: str, name: str) -> str | None:
        """Follow a link; return the real path of the folder that it leads to, None for anything else."""
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
        """Return True if folder `end` can be reached from folder `start`."""
        reached, ahead = {start}, [start]
        while ahead:
            folders = self._folders.get(ahead.pop(), set()) - reached
            reached |= folders
            ahead += folders
        return end in reached

    def _loop(self, name: str) -> None:
        self.faults.append(Fault(name, 1, (), "is a link to a folder that leads back to it. Remove the link"))


def _is_yaml(name: str) -> bool:
    return name.lower().endswith((".yaml", ".yml"))


def _holds(folder: str, path: str) -> bool:
    """Return True if a folder is the folder of a path, or above it."""
    return folder in ("", "/", path) or path.startswith(f"{folder}/")
