"""Insert new versions, retirements and models into the file of a table, as whole lines; other lines keep every byte.

A new version has the lines of its base with other dates, rates and totals; a new model has those of the candidate.
"""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from re import compile as pattern
from typing import NamedTuple

from ratecard.base.messages import Path
from ratecard.base.money import plain, text
from ratecard.candidates.rates import amounts_of
from ratecard.load.positions import Positions, Span, lines_of, literal
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.version import Retirement, Version


class Insertion(NamedTuple):
    """New lines, the offset of the line that they go above, and a few words on them."""

    offset: int
    text: str
    what: str


class Added(NamedTuple):
    """New lines of a file: the numbers of the first and the last, a few words on them, and their text."""

    file: str
    first: int
    last: int
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.first}-{self.last}: {self.what}"


def inserted(at: Positions, content: bytes, insertions: Iterable[Insertion]) -> tuple[bytes, list[Added]]:
    """Return the content of a file with the insertions, and the lines that were added."""
    words, position, shift = [], 0, 0
    added = []
    for offset, new, what in sorted(insertions, key=lambda insertion: insertion.offset):
        count = len(lines_of(new))
        first = at.line_of(offset) + shift
        added.append(Added(at.name, first, first + count - 1, what, new))
        words += [at.text[position:offset], new]
        position, shift = offset, shift + count
    mark = BOM_UTF8 if content.startswith(BOM_UTF8) else b""
    return mark + "".join([*words, at.text[position:]]).encode(), added


# The keys at the head of a version; a new version leaves out those whose values are not known.
_HEAD = ("effective", "announced", "checked", "source", "reference", "correction", "expected_change")


def new_version(
    at: Positions, path: Path, base: Version, version: Version, totals: Sequence[str | None], checked: date
) -> Insertion:
    """Return a new version, to go above its base at `path`; a total that is None stays as written.

    Comments between the lines of the base are copied, because they explain the lines; those beside its dates and source
    are not, because these are new. Raises `TableError` if the base is not written line by line.
    """
    at.dash(path)
    start, end = at.line(at.spans[path].start).start, at.line(at.spans[path].end - 1).end
    replaced = _head(at, path, version, checked)
    before = amounts_of(base)
    for place, amount in amounts_of(version).items():
        if amount != before[place]:
            replaced[at.spans[*path, *place.path]] = text(plain(amount))
    for number, total in enumerate(totals):
        if total is not None:
            replaced[at.spans[*path, "examples", number, "total"]] = total
    lines = at.copy(Span(start, end), replaced)
    if not lines.endswith(("\n", "\r")):  # The base ends the file, and the last line has no line break.
        lines += at.eol
    return Insertion(at.above(path), lines, f"from {version.effective}")


def _head(at: Positions, path: Path, version: Version, checked: date) -> dict[Span, str]:
    """Return the new dates and source, in place of the first of these keys in the base; the others are removed."""
    known = {"effective": str(version.effective), "checked": str(checked), "source": literal(version.source)}
    if version.announced:
        known["announced"] = str(version.announced)
    first, *others = sorted(at.keys[*path, name] for name in _HEAD if (*path, name) in at.keys)
    ends = {at.keys[*path, name]: at.spans[*path, name].end for name in _HEAD if (*path, name) in at.keys}
    indent = at.eol + " " * at.column(at.spans[path].start)
    head = indent.join(f"{name}: {known[name]}" for name in _HEAD if name in known)
    replaced = {Span(first, at.line(ends[first] - 1).end): head + at.eol}
    for key in others:
        replaced[Span(at.line(key).start, at.line(ends[key] - 1).end)] = ""
    return replaced


def new_retirement(at: Positions, path: Path, retired: Retirement) -> Insertion:
    """Return the line that retires the model at `path`, below its currency. Raises `TableError`."""
    at.dash(path)
    below = at.after((*path, "currency"))
    if (*path, "retired") in at.spans:
        words = "is there already; change that line by hand, since promote only adds lines"
        raise at.refusal((*path, "retired"), f"retired {words}")
    if below is None:
        raise at.refusal((*path, "currency"), "is the last line of the file and has no line ending; add one first")
    successor = f", successor: {literal(retired.successor)}" if retired.successor else ""
    indent = " " * at.column(at.spans[path].start)
    words = f"{indent}retired: {{on: {retired.on}{successor}}}{at.eol}"
    return Insertion(below, words, f"retired on {retired.on}")


# A name that is safe for a file on every system.
FILE_NAME = pattern(r"[a-z0-9][a-z0-9._-]{0,80}")
_SCHEMA = b"# yaml-language-server:"


def file_of(before: Tables, model: AnyModel, family: str) -> str | None:
    """Return the file of a family, preferring one with models of the same type; None for a new family."""
    members = (known for name, known in before.models.items() if before.families[name] == family)
    homes = [(member.type != model.type, before.files[member.model]) for member in members]
    return min(homes)[1] if homes else None


def folder_of_type(before: Tables, model: AnyModel) -> str:
    """Return the folder of a model's type; a type that is new to the tables gets a folder of its own name."""
    alike = (name for name, known in before.models.items() if known.type == model.type)
    folders = Counter(before.files[name].rpartition("/")[0] for name in alike).most_common(1)
    return folders[0][0] if folders else model.type


def new_file(folder: str, family: str, taken_names: Collection[str]) -> str:
    """Return the name of the file of a new family in a folder. Raises `ValueError`."""
    if not FILE_NAME.fullmatch(family):
        raise ValueError(f"family '{family}' cannot be the name of a file. Write small letters, digits, - . and _")
    name = f"{folder}/{family}.yaml" if folder else f"{family}.yaml"
    if name in taken_names:
        raise ValueError(f"family '{family}' is new, but its file {name} is there already. Choose another name")
    return name


def head_of(name: str, family: str, contents: Mapping[str, bytes]) -> str:
    """Return the first lines of a new file, with the schema comment of the other files in its folder."""
    folder = name.rpartition("/")[0]
    others = (content for other, content in contents.items() if other.rpartition("/")[0] == folder)
    schema = next(
        (other.partition(b"\n")[0].decode().strip() + "\n" for other in others if other.startswith(_SCHEMA)), ""
    )
    return f"{schema}family: {literal(family)}\nmodels:\n"


def model_lines(of: Positions, path: Path, dash: int = 2, column: int = 4, eol: str = "\n") -> str:
    """Return the lines of a candidate at `path` as an item of a list, with the dash and the keys at these columns."""
    span = of.spans[path]
    shift = column - of.column(span.start)
    first, *others = of.copy(span, {}).splitlines()
    lines = [" " * dash + "-" + " " * (column - dash - 1) + first]
    for line in others:
        bare = line.lstrip(" ")
        lines.append(" " * max(len(line) - len(bare) + shift, column) + bare if bare else "")
    return eol.join([*lines, ""])


def new_model(at: Positions, of: Positions, path: Path, what: str) -> Insertion:
    """Return a new model, to go below the last one of a file, or above it if the file lacks its last line break."""
    number = at.lengths["models",] - 1
    last = at.spans["models", number]
    dash, column = at.dash(("models", number)), at.column(last.start)
    lines = model_lines(of, path, dash, column, at.eol)
    below = at.after(("models", number))
    if below is not None:
        return Insertion(below, at.eol + lines, what)
    return Insertion(at.above(("models", number)), lines + at.eol, what)
