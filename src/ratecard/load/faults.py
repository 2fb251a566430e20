"""Translate pydantic's errors into messages that say what was given, at which line of its file, and what is allowed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ratecard.base.errors import Fault
from ratecard.base.messages import Path, echo
from ratecard.base.suggestions import did_you_mean, meant_or_allowed
from ratecard.tables.metered import MeteredVersion, Tokens
from ratecard.tables.rate import Charge, ChargeClasses, Conditioned, CountedCharge
from ratecard.tables.scalars import MINIMUM_KEY, SOURCE_KEY


@dataclass(slots=True)
class TextFile:
    """The data of one YAML file, the line of each part, and its faults."""

    name: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Return the line number of a part; for a missing part, of the part that should hold it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def place(self, path: Path) -> str:
        """Return the `file:line` of a part."""
        return f"{self.name}:{self.line(path)}"

    def fault(self, path: Path, message: str) -> None:
        """Record a mistake at a part of the file."""
        self.faults.append(Fault(self.name, self.line(path), path, message))


# Keys that only prices under conditions have, and the options of charges that count one thing.
_OF_CONDITIONS = {*Conditioned.model_fields, "not_sold"} - Charge.model_fields.keys()
_OF_COUNTS = CountedCharge.model_fields.keys() - Conditioned.model_fields.keys()
# Keys of charges that people write in a version or a model by mistake.
_OF_CHARGES = Tokens.model_fields.keys() - Charge.model_fields.keys() - MeteredVersion.model_fields.keys()
_SHAPES = {
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "must hold keys, like `key: value`"),
    "tuple_type": 'must be a list (items start with "- ")',
}


def complaints(
    error: ValidationError, data: Any, root: type[BaseModel], label: str = "the file"
) -> Iterator[tuple[Path, str]]:
    """Yield (path into `data`, message) for each problem of validating `data` as `root`; messages call it `label`."""
    for problem in error.errors(include_url=False):
        yield from _complaint(problem, data, root, label)


def _complaint(problem: Mapping[str, Any], data: Any, root: type[BaseModel], label: str) -> Iterator[tuple[Path, str]]:
    path = _path_in(problem["loc"], data)
    kind, context = problem["type"], problem.get("ctx") or {}
    key = next((str(part) for part in reversed(path) if isinstance(part, str)), label)
    input_value = problem["input"]
    shown = f" '{echo(input_value)}'" if isinstance(input_value, str) else ""
    if kind == "missing":
        yield path, f"{key} is missing{_inside(path)}"
    elif kind == "extra_forbidden":
        allowed = _allowed_keys(root, problem["loc"][:-1])
        if key in _OF_CONDITIONS and {"accepts", "method"} & {*allowed}:
            yield path, f"{key}: videos are not priced by conditions. Write a rate for each value of a field instead"
        elif key in _OF_COUNTS and "method" in allowed:
            yield path, f"{key} is for charges that count one thing, and this method does not. Leave it out"
        elif key in _OF_CHARGES and {"charges", "versions"} & {*allowed}:
            yield path, f"{key} is a key of a charge. Write it in charges, beside its rates"
        else:
            yield path, f"unknown key '{echo(key)}'.{did_you_mean(key, allowed)} Allowed here: {', '.join(allowed)}"
    elif kind == "too_long":
        yield path, f"{key} has {context['actual_length']:,} entries. Allowed: at most {context['max_length']}"
    elif kind == "value_error":
        yield path, f"{key}{shown} {context['error']}"
    elif kind in ("literal_error", "union_tag_invalid"):
        allowed = [word.strip(" '") for word in str(context.get("expected") or context["expected_tags"]).split(",")]
        allowed = [part.strip(" '") for word in allowed for part in word.split(" or ")]
        field = path if kind == "literal_error" else (*path, context["discriminator"].strip("'"))
        value = str(input_value if kind == "literal_error" else context["tag"])
        yield field, f"{field[-1]} '{echo(value)}' is not known.{meant_or_allowed(value, allowed)}"
    elif kind == "union_tag_not_found":
        word = context["discriminator"].strip("'")
        yield path, f"{word} is missing{_inside((*path, word))}"
    else:
        yield path, f"{key}{shown} {_SHAPES.get(kind, problem['msg'])}"


def _path_in(loc: tuple[str | int, ...], data: Any) -> Path:
    """Return `loc` without the names of union members, which are not in the file."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        inside = (isinstance(data, Mapping) and part in data) or (isinstance(data, list) and isinstance(part, int))
        if inside:
            path.append(part)
            data = data[part]
        elif index == len(loc) - 1 and isinstance(data, Mapping):
            path.append(part)
    return tuple(path)


def _inside(path: Path) -> str:
    holders = [str(part) for part in path[:-1] if isinstance(part, str)]
    return f" in {holders[-1]}" if holders else ""


def _allowed_keys(root: type[BaseModel], loc: tuple[str | int, ...]) -> list[str]:
    """Return the keys of the pydantic model that a location leads to; a location also names the members of unions."""
    at: Any = root
    for part in loc:
        members = [member for member in get_args(at) if member not in (Ellipsis, NoneType)]
        if isinstance(at, ChargeClasses):
            at = at.by_method[str(part)]
        elif isinstance(at, type) and issubclass(at, BaseModel):
            at = _bare({field.alias or name: field for name, field in at.model_fields.items()}[str(part)].annotation)
        elif isinstance(part, int):
            at = _bare(members[0])
        else:
            at = next(member for member in members if _has_tag(member, part))
    names = (field.alias or name for name, field in at.model_fields.items())
    return [name for name in names if name not in (SOURCE_KEY, MINIMUM_KEY)]


def _bare(annotation: Any) -> Any:
    """Return an annotation without `Annotated` and `| None` around it; for a charge, the classes that it may have."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        return next((classes for classes in metadata if isinstance(classes, ChargeClasses)), _bare(inner))
    members = [member for member in get_args(annotation) if member is not NoneType]
    return _bare(members[0]) if NoneType in get_args(annotation) else annotation


def _has_tag(model: type[BaseModel], tag: str) -> bool:
    fields = model.model_fields
    return any(tag in get_args(fields[name].annotation) for name in ("method", "type") if name in fields)
