"""A folder of YAML files -> checked tables, or every fault of the folder at once."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ratecard.load.checks import check_model
from ratecard.load.complaints import complaints
from ratecard.load.video_checks import check_video
from ratecard.load.yaml_text import TextFile, read_yaml_text
from ratecard.tables.card import AnyModel, Family, Tables
from ratecard.tables.digest import digest
from ratecard.tables.vocabulary import Unit, Units, Vocabulary
from ratecard.words.errors import Fault, TableError

UNITS, VOCABULARY = "units.yaml", "vocabulary.yaml"
Part = TypeVar("Part", bound=BaseModel)


def shipped_folder() -> Path:
    """The tables inside the installed package; in a source checkout, those of the repository."""
    package = Path(str(files("ratecard")))
    inside = package / "pricing_tables"
    return inside if inside.is_dir() else package.parent.parent / "pricing_tables"


def load_tables(folder: str | Path | None = None) -> Tables:
    """Every `.yaml` file below a folder; the shipped tables where none is named.

    A folder without `units.yaml` or `vocabulary.yaml` uses the shipped ones. Raises `TableError` with every fault.
    """
    shipped = shipped_folder()
    root = Path(folder) if folder is not None else shipped
    if not root.is_dir():
        raise TableError([Fault(str(root), 1, (), "is not a folder. Name the folder that holds the rate tables")])
    contents = {path.relative_to(root).as_posix(): path.read_bytes() for path in _yaml_files(root)}
    for name in (UNITS, VOCABULARY):
        contents.setdefault(name, (shipped / name).read_bytes())
    return tables_from(contents)


def _yaml_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.y*ml") if path.suffix in (".yaml", ".yml") and path.is_file())


def tables_from(contents: Mapping[str, bytes]) -> Tables:
    """Tables from file names and their bytes; pure, so that a revision of a repository can be read as well."""
    texts = {name: read_yaml_text(name, content) for name, content in contents.items()}
    units_part = _validated(texts[UNITS], Units)
    vocabulary = _validated(texts[VOCABULARY], Vocabulary)
    units = {unit.unit: unit for unit in units_part.units} if units_part else {}
    if units_part:
        _check_units(texts[UNITS], units_part)
    models: dict[str, AnyModel] = {}
    homes: dict[str, str] = {}
    for text in (text for name, text in texts.items() if name not in (UNITS, VOCABULARY)):
        for index, model in _models(text):
            _check(text, index, model, units, vocabulary)
            if model.model in homes:
                text.fault(("models", index, "model"), f"model '{model.model}' stands in {homes[model.model]} too")
            homes[model.model] = text.name
            models[model.model] = model
    faults = [fault for text in texts.values() for fault in text.faults]
    if faults or vocabulary is None:
        raise TableError(sorted(faults, key=lambda fault: (fault.file, fault.line, fault.message)))
    parts: list[BaseModel] = [*models.values(), *units.values(), vocabulary]
    return Tables(models, units, vocabulary, digest(parts))


def _models(text: TextFile) -> Iterator[tuple[int, AnyModel]]:
    """The sound models of a family file with their index; the faults of the others are recorded."""
    family = _validated(text, Family)
    if family:
        yield from enumerate(family.models)


def _validated(text: TextFile, part: type[Part]) -> Part | None:
    if text.data is None:
        return None
    try:
        return part.model_validate(text.data)
    except ValidationError as error:
        for path, message in complaints(error, text.data, part):
            text.fault(path, message)
        return None


def _check(
    text: TextFile, index: int, model: AnyModel, units: Mapping[str, Unit], vocabulary: Vocabulary | None
) -> None:
    for path, message in check_model(model, units):
        text.fault(("models", index, *path), message)
    if vocabulary:
        for path, message in check_video(model, vocabulary.video):
            text.fault(("models", index, *path), message)


def _check_units(text: TextFile, part: Units) -> None:
    seen: set[str] = set()
    for index, unit in enumerate(part.units):
        if unit.unit in seen:
            text.fault(("units", index, "unit"), f"unit '{unit.unit}' stands twice; keep one")
        if str(unit.per).strip("0") != "1":
            words = (
                f"per {unit.per} is not a power of ten: the price of one would not be a decimal. Write 1, 1000, 1000000"
            )
            text.fault(("units", index, "per"), words)
        seen.add(unit.unit)
