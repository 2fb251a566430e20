"""YAML read as text: every scalar stays the characters that a person wrote, and every node knows its line.

An ordinary YAML reader turns `16:9` into 969, `no` into False and `0.10` into a float, and keeps the last of two equal
keys without a word. Here nothing is guessed: duplicate keys, tags and too many aliases are refused.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml

from ratecard.tables.rate import SOURCE_KEY
from ratecard.words.errors import Fault
from ratecard.words.tree import Path

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

# A table is written by a person: far beyond any real one, and small enough that a hostile file stays harmless.
MAX_BYTES = 5_000_000
MAX_DEPTH = 20
MAX_VALUES_FROM_ALIASES = 10_000

_PLAIN_TAGS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


@dataclass(slots=True)
class TextFile:
    """The data of one YAML file, the line of every part of it, and what was wrong with it."""

    name: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """The line of a part; of a part that is missing, the line of what should hold it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fault(self, path: Path, message: str) -> None:
        """Record a mistake at a part of the file."""
        self.faults.append(Fault(self.name, self.line(path), path, message))


def read_yaml_text(name: str, content: bytes) -> TextFile:
    """The text, lines and faults of one file; `name` is how messages call it."""
    file = TextFile(name)
    if len(content) > MAX_BYTES:
        file.fault((), f"the file has {len(content):,} bytes; a table has at most {MAX_BYTES:,}")
        return file
    try:
        _refuse_depth(content)
        node = yaml.compose(content, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = ", ".join(filter(None, (error.context, error.problem)))
        file.faults.append(Fault(name, mark.line + 1 if mark else 1, (), f"not YAML: {words}"))
        return file
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        words = str(error).splitlines()[0]
        file.fault((), f"not YAML text in UTF-8: {words}")
        return file
    if node is None:
        file.fault((), "the file is empty")
        return file
    file.data = _Reader(file).value(node, ())
    return file


def _refuse_depth(content: bytes) -> None:
    """Deep nesting is refused while it is still a stream of events: building nodes of it could exhaust the stack."""
    depth = 0
    for event in yaml.parse(content, Loader=_Loader) if content.count(b"[") + content.count(b"{") > MAX_DEPTH else ():
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            if depth > MAX_DEPTH:
                raise yaml.MarkedYAMLError(
                    problem=f"more than {MAX_DEPTH} levels of nesting", problem_mark=event.start_mark
                )
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1


class _Reader:
    def __init__(self, file: TextFile) -> None:
        self.file = file
        self.nodes_seen: set[int] = set()
        self.values_from_aliases = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.file.lines.setdefault(path, node.start_mark.line + 1)
        if len(path) > MAX_DEPTH or self._too_many_aliases(node):
            self.file.fault(path, "too many or endless aliases (*name); write the values out")
            return None
        if node.tag not in _PLAIN_TAGS:
            self.file.fault(path, f"tag '{node.tag}' is not allowed; every value is plain text")
            return None
        if isinstance(node, yaml.ScalarNode):
            return node.value
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: yaml.Node, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, line = key_node.value, key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self.file.faults.append(Fault(self.file.name, line, path, "a key must be a word"))
            elif key in result or key == SOURCE_KEY:
                before = self.file.lines.get((*path, key))
                words = f"key '{key}' stands twice (first in line {before}); keep one" if before else f"key '{key}'?"
                self.file.faults.append(Fault(self.file.name, line, (*path, key), words))
            else:
                self.file.lines[(*path, key)] = line
                result[key] = self.value(value_node, (*path, key))
                if key == "rate":
                    result[SOURCE_KEY] = f"{self.file.name}:{value_node.start_mark.line + 1}"
        return result

    def _too_many_aliases(self, node: yaml.Node) -> bool:
        """Whether a node was reached before (through an alias) and such values are too many by now."""
        if id(node) in self.nodes_seen:
            self.values_from_aliases += 1
        self.nodes_seen.add(id(node))
        return self.values_from_aliases > MAX_VALUES_FROM_ALIASES
