"""A folder of YAML files -> checked tables, or every fault of the folder at once."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from ratecard.load.checks import Finding, check_model, check_references
from ratecard.load.complaints import complaints
from ratecard.load.metered_checks import check_metered
from ratecard.load.shared_checks import check_limits, check_units, check_vocabulary
from ratecard.load.table_files import Disk, TableFiles
from ratecard.load.video_checks import check_video
from ratecard.load.yaml_text import TextFile, read_yaml_text
from ratecard.tables.card import AnyModel, Family, Tables
from ratecard.tables.digest import digest
from ratecard.tables.limits import LimitsFile
from ratecard.tables.video import VideoModel
from ratecard.tables.vocabulary import Units, Vocabulary
from ratecard.words.errors import Fault, TableError
from ratecard.words.tree import Path as Place

UNITS, VOCABULARY, LIMITS = _SHARED = "units.yaml", "vocabulary.yaml", "limits.yaml"
Part = TypeVar("Part", bound=BaseModel)
_MODEL: TypeAdapter[AnyModel] = TypeAdapter(AnyModel)


def shipped_folder() -> Path:
    """The tables inside the installed package; in a source checkout, those of the repository."""
    package = Path(str(files("ratecard")))
    inside = package / "pricing_tables"
    return inside if inside.is_dir() else package.parent.parent / "pricing_tables"


def load_tables(folder: str | Path | None = None) -> Tables:
    """Every `.yaml` file below a folder; the shipped tables where none is named.

    A folder without `units.yaml`, `vocabulary.yaml` or `limits.yaml` uses the shipped ones. Raises `TableError` with
    every fault.
    """
    return tables_from(read_folder(folder))


def read_folder(folder: str | Path | None = None) -> dict[str, bytes]:
    """The files of `load_tables` with their bytes, by their names below the folder. Raises `TableError`.

    Links are followed, and a file that is reached twice counts once; names that begin with a dot are not read.
    """
    shipped = shipped_folder()
    root = Path(folder) if folder is not None else shipped
    if not root.is_dir():
        raise TableError([Fault(str(root), 1, (), "is not a folder. Name the folder that holds the rate tables")])
    files = TableFiles(Disk(), os.path.realpath(root))
    contents, faults = {}, list(files.faults)
    for name, path in files.found.items():
        try:
            contents[name] = Path(path).read_bytes()
        except OSError as error:
            faults.append(Fault(name, 1, (), f"cannot be read: {error.strerror}"))
    if faults:
        raise TableError(sorted(faults, key=lambda fault: fault.file))
    if not contents.keys() - set(_SHARED):
        raise TableError([Fault(str(root), 1, (), "holds no rate table. A table is a file that ends in .yaml")])
    for name in _SHARED:
        contents.setdefault(name, (shipped / name).read_bytes())
    return contents


def tables_from(contents: Mapping[str, bytes]) -> Tables:
    """Tables from file names and their bytes; pure, so that a revision of a repository can be read as well."""
    texts = {name: read_yaml_text(name, content) for name, content in contents.items()}
    units_part = _validated(texts[UNITS], Units)
    vocabulary = _validated(texts[VOCABULARY], Vocabulary)
    limits = _validated(texts[LIMITS], LimitsFile)
    if units_part:
        _record(texts[UNITS], (), check_units(units_part))
    if vocabulary:
        _record(texts[VOCABULARY], (), check_vocabulary(vocabulary.video))
    if limits:
        _record(texts[LIMITS], (), check_limits(limits))
    units = {unit.unit: unit for unit in units_part.units} if units_part else None
    models: dict[str, AnyModel] = {}
    homes: dict[str, str] = {}
    found: list[tuple[TextFile, int, AnyModel]] = []
    for text in (text for name, text in texts.items() if name not in _SHARED):
        for index, model in _models(text):
            _record(text, ("models", index), check_model(model, units))
            if not isinstance(model, VideoModel):
                _record(text, ("models", index), check_metered(model))
            elif vocabulary:
                _record(text, ("models", index), check_video(model, vocabulary.video))
            found.append((text, index, model))
            if model.model in homes:
                text.fault(("models", index, "model"), f"model '{model.model}' stands in {homes[model.model]} too")
            homes[model.model] = text.name
            models[model.model] = model
    broken = {name for text in texts.values() for name in _written(text)} - models.keys()
    for text, index, model in found:
        _record(text, ("models", index), check_references(model, models, broken))
    faults = [fault for text in texts.values() for fault in text.faults]
    if faults or units is None or vocabulary is None or limits is None:
        raise TableError(sorted(faults, key=lambda fault: (fault.file, fault.line, fault.message)))
    parts: list[BaseModel] = [*models.values(), *units.values(), vocabulary, *limits.limits]
    families = {model.model: str(text.data["family"]) for text, _, model in found}
    return Tables(models, units, vocabulary, limits.limits, digest(parts), families, homes)


def _models(text: TextFile) -> Iterator[tuple[int, AnyModel]]:
    """The sound models of a family file with their index; the faults of the others are recorded."""
    family = _validated(text, Family)
    if family:
        if not family.models:
            text.fault(("models",), "models is empty. Write at least one model, or remove the file")
        yield from enumerate(family.models)
    elif isinstance(text.data, dict) and isinstance(text.data.get("models"), list):
        for index, model in enumerate(text.data["models"]):
            with suppress(ValidationError):  # recorded already, with the faults of the family
                yield index, _MODEL.validate_python(model)


def _written(text: TextFile) -> Iterator[str]:
    """The ids of a file's models as they are written, sound or not."""
    models = text.data.get("models") if isinstance(text.data, dict) else None
    for model in models if isinstance(models, list) else ():
        if isinstance(model, dict) and isinstance(model.get("model"), str):
            yield model["model"]


def _validated(text: TextFile, part: type[Part]) -> Part | None:
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
