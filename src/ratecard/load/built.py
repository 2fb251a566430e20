"""What the reader of YAML made of the shipped tables when the package was built, so that a program starts quickly.

It is used for a file only that has the same bytes. A source tree has none, and reads its YAML.
"""

import json
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from ratecard.base.errors import TableError
from ratecard.base.messages import Path as Place
from ratecard.load.text_file import TextFile
from ratecard.tables.places import PLACED_BY

# In the package. The first line is an object: the keys of places, the name and the SHA-256 of each table, and that of
# the further lines, which hold the data of one table each.
BUILT_TABLES = "built_tables.jsonl"
_HERE = Path(__file__).parent.parent / BUILT_TABLES


class _BuiltFile(TextFile):
    """The data of a table that was read when the package was built; its lines are read when one is asked for."""

    __slots__ = ("content",)

    def __init__(self, name: str, data: object, content: bytes) -> None:
        super().__init__(name, data)
        self.content = content

    def line(self, path: Place) -> int:
        """Return the line number of a part, as the reader of YAML says it."""
        from ratecard.load.yaml_text import read_yaml_text

        self.lines = self.lines or read_yaml_text(self.name, self.content).lines
        return super().line(path)


def text_file(name: str, content: bytes, built: Path = _HERE) -> TextFile:
    """Read a table: what was built of it, if its name and bytes are the same, or else its YAML."""
    line = _built_lines(built).get((name, sha256(content).hexdigest()))
    if line is not None:
        return _BuiltFile(name, json.loads(line), content)
    from ratecard.load.yaml_text import read_yaml_text  # the shipped tables do not need it, and it loads PyYAML

    return read_yaml_text(name, content)


def build_tables(contents: Mapping[str, bytes]) -> bytes:
    """Write the file of what is built of these tables. Raises `TableError` for every fault of their YAML."""
    from ratecard.load.yaml_text import read_yaml_text

    texts = [read_yaml_text(name, content) for name, content in contents.items()]
    if faults := [fault for text in texts for fault in text.faults]:
        raise TableError(faults)
    lines = [json.dumps(text.data, separators=(",", ":")).encode() for text in texts]
    head = {
        "placed_by": PLACED_BY,
        "tables": [[name, sha256(content).hexdigest()] for name, content in contents.items()],
        "sha256": sha256(b"\n".join(lines)).hexdigest(),
    }
    return b"\n".join([json.dumps(head).encode(), *lines])


@cache
def _built_lines(built: Path) -> Mapping[tuple[str, str], bytes]:
    """Return the line of each table by its name and digest; none if the file is absent, damaged or made by others."""
    try:
        first, _, tables = built.read_bytes().partition(b"\n")
        head = json.loads(first)
        if head["placed_by"] != PLACED_BY or head["sha256"] != sha256(tables).hexdigest():
            return {}
        names = [(str(name), str(digest)) for name, digest in head["tables"]]
        return dict(zip(names, tables.split(b"\n"), strict=True))
    except (OSError, LookupError, TypeError, ValueError):
        return {}
