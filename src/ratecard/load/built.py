"""Data made from the shipped tables when the package was built, so that a program starts quickly.

For a file with the same bytes it has the data. For a folder in which every file is the same it also has the result of
its check: no faults, the digest, and the file of each model. A source tree has no such data, and reads its YAML.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ratecard.base.messages import Path as Place
from ratecard.load.faults import TextFile
from ratecard.tables.card import Tables
from ratecard.tables.scalars import PLACED_BY

# A file in the package. Its first line is the SHA-256 of the others. The second is an object: the keys of places, the
# name and the SHA-256 of each table, and fields of `BuiltFolder`. Each further line is the data of one table.
BUILT_TABLES = "built_tables.jsonl"
_HERE = Path(__file__).parent.parent / BUILT_TABLES


class _BuiltFile(TextFile):
    """The data of a table that was read when the package was built; its line numbers are read when needed."""

    __slots__ = ("content",)

    def __init__(self, name: str, data: object, content: bytes) -> None:
        super().__init__(name, data)
        self.content = content

    def line(self, path: Place) -> int:
        from ratecard.load.yaml_text import read_yaml_text

        self.lines = self.lines or read_yaml_text(self.name, self.content).lines
        return super().line(path)


@dataclass(slots=True)
class BuiltFolder:
    """A folder that was sound when the package was built: its digest, and the family and the file of each model."""

    digest: str
    aliases: Mapping[str, str]
    families: Mapping[str, str]
    files: Mapping[str, str]
    # The data of each file, as JSON.
    lines: Mapping[str, bytes]
    # The data of models in the files that were read; it is removed when the model is made.
    _read: dict[str, Any] = field(default_factory=dict)

    def data_of(self, model: str) -> Any:
        """Return the data of a model; the data of the other models in its file is kept until they are looked up."""
        if (data := self._read.pop(model, None)) is None:
            self._read |= {entry["model"]: entry for entry in json.loads(self.lines[self.files[model]])["models"]}
            data = self._read.pop(model)
        return data


def built_folder(contents: Mapping[str, bytes], built: Path = _HERE) -> BuiltFolder | None:
    """Return the built data of a folder; None unless all its files have the same names and bytes as at the build."""
    head, lines = _built(built)
    digests = {(name, sha256(content).hexdigest()) for name, content in contents.items()}
    if not lines or digests != lines.keys():
        return None
    named = {name: line for (name, _), line in lines.items()}
    return BuiltFolder(**{part: head[part] for part in _OF_FOLDER}, lines=named)


# The keys of the head that are fields of `BuiltFolder`.
_OF_FOLDER = ("digest", "aliases", "families", "files")


def text_file(name: str, content: bytes, built: Path = _HERE) -> TextFile:
    """Read a table: its built data if its name and bytes are the same, or else its YAML."""
    line = _built(built)[1].get((name, sha256(content).hexdigest()))
    if line is not None:
        return _BuiltFile(name, json.loads(line), content)
    from ratecard.load.yaml_text import read_yaml_text  # it loads PyYAML, which the shipped tables do not need

    return read_yaml_text(name, content)


def built_file(contents: Mapping[str, bytes], tables: Tables) -> bytes:
    """Return the content of the file of built data, for a folder whose tables are sound."""
    from ratecard.load.yaml_text import read_yaml_text

    texts = [read_yaml_text(name, content) for name, content in contents.items()]
    lines = [json.dumps(text.data, separators=(",", ":")).encode() for text in texts]
    head = {
        "placed_by": PLACED_BY,
        "tables": [[name, sha256(content).hexdigest()] for name, content in contents.items()],
        **{part: getattr(tables, part) for part in _OF_FOLDER},
    }
    content = b"\n".join([json.dumps(head).encode(), *lines])
    return sha256(content).hexdigest().encode() + b"\n" + content


@cache
def _built(built: Path) -> tuple[Mapping[str, Any], Mapping[tuple[str, str], bytes]]:
    """Return the head, and the line of each table by its name and digest; both are empty without a valid file."""
    try:
        digest, _, content = built.read_bytes().partition(b"\n")
        if digest.decode() != sha256(content).hexdigest():
            return {}, {}
        first, *lines = content.split(b"\n")
        head = json.loads(first)
        if head["placed_by"] != PLACED_BY or {*_OF_FOLDER} - {*head}:
            return {}, {}
        names = [(str(name), str(digest)) for name, digest in head["tables"]]
        return head, dict(zip(names, lines, strict=True))
    except (OSError, LookupError, TypeError, ValueError):
        return {}, {}
