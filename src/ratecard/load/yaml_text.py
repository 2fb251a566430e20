"""Read YAML as text: every scalar stays the characters that a person wrote, and every part has its line number.

An ordinary YAML reader turns `16:9` into 969, `no` into False and `0.10` into a float, and silently keeps the last of
two equal keys. Here duplicate keys, tags, deep nesting and too many aliases are errors. The text is read as a stream of
events, because building a tree of a hostile file can exhaust the stack.
"""

from collections.abc import Callable
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from ratecard.base.errors import Fault
from ratecard.base.messages import Path
from ratecard.load.faults import TextFile
from ratecard.tables.scalars import MINIMUM_KEY, PLACED_BY, SOURCE_KEY

# Every scalar stays text; the reader in C is used if it is installed.
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

# These limits are above any table that a person writes, and low enough that a hostile file is harmless.
MAX_BYTES = 5_000_000
MAX_DEPTH = 20
MAX_ALIASES = 1_000
_RESERVED = {SOURCE_KEY, MINIMUM_KEY}


def read_yaml_text(name: str, content: bytes) -> TextFile:
    """Read one file into its data, lines and faults; messages call it `name`."""
    file = TextFile(name)
    if len(content) > MAX_BYTES:
        file.fault((), f"the file has {len(content):,} bytes; a table has at most {MAX_BYTES:,}")
        return file
    try:
        file.data = _Reader(file, content).document()
    except _UnreadableError as problem:
        file.faults.append(Fault(name, problem.line, problem.path, str(problem)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = ", ".join(filter(None, (error.context, error.problem)))
        faulty = content.split(b"\n")[mark.line : mark.line + 1] if mark else []
        if any(text.lstrip(b" ").startswith(b"\t") for text in faulty):
            words += ". A tab does not indent: write spaces"
        file.faults.append(Fault(name, mark.line + 1 if mark else 1, (), f"not YAML: {words}"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = content[: getattr(error, "position", 0)].count(b"\n") + 1
        file.faults.append(Fault(name, line, (), f"not YAML text in UTF-8: {str(error).splitlines()[0]}"))
    return file


class _UnreadableError(Exception):
    """A mistake after which the rest of a file cannot be read."""

    def __init__(self, event: Any, path: Path, message: str) -> None:
        super().__init__(message)
        self.line, self.path = int(event.start_mark.line) + 1, path


class _Reader:
    def __init__(self, file: TextFile, content: bytes) -> None:
        self.file = file
        # The parser is called directly, because the generator of `yaml.parse` takes a sixth longer.
        self.event: Callable[[], Any] = LOADER(content).get_event
        self.anchors: dict[str, str] = {}
        self.aliases = 0

    def document(self) -> Any:
        data, first = None, True
        while not isinstance(event := self.event(), StreamEndEvent):
            if isinstance(event, DocumentStartEvent):
                if not first:
                    raise _UnreadableError(event, (), "a second document begins here; write one table a file")
                event = self.event()
                self.file.lines[()] = event.start_mark.line + 1
                data, first = self.value(event, ()), False
        if first:
            self.file.fault((), "the file is empty")
        return data

    def value(self, event: Any, path: Path) -> Any:
        if event.__class__ is AliasEvent:
            return self._alias(event, path)
        if event.tag:
            raise _UnreadableError(event, path, f"tag '{event.tag}' is not allowed; every value is plain text")
        if len(path) > MAX_DEPTH:
            raise _UnreadableError(event, path, f"more than {MAX_DEPTH} levels of nesting")
        if event.__class__ is ScalarEvent:
            if event.anchor:
                self.anchors[event.anchor] = event.value
            return event.value
        if event.anchor:
            raise _UnreadableError(
                event, path, f"anchor '&{event.anchor}': only a single value may be named and used again"
            )
        return self._sequence(path) if event.__class__ is SequenceStartEvent else self._mapping(path)

    # The next two loops take half of the time of a load, so they compare classes and read lines without a call.

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        next_event, value, lines = self.event, self.value, self.file.lines
        while (event := next_event()).__class__ is not SequenceEndEvent:
            place = (*path, len(items))
            lines.setdefault(place, event.start_mark.line + 1)
            items.append(value(event, place))
        return items

    def _mapping(self, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        next_event, value, lines = self.event, self.value, self.file.lines
        placed_by = PLACED_BY.get(str(path[-2]), {}) if len(path) > 1 else {}
        while (event := next_event()).__class__ is not MappingEndEvent:
            line = event.start_mark.line + 1
            if event.__class__ is not ScalarEvent or event.tag or event.anchor:
                raise _UnreadableError(event, path, "a key must be a plain word, without tag, anchor or alias")
            key, place = event.value, (*path, event.value)
            if key in _RESERVED:
                raise _UnreadableError(event, path, f"key '{key}' is reserved; leave it out")
            if key in result:
                words = f"key '{key}' is written twice (first in line {self.file.line(place)}); keep one"
                self.file.faults.append(Fault(self.file.name, line, place, words))
                value(next_event(), (*place, "again"))
                continue
            lines[place] = line
            result[key] = value(next_event(), place)
            if key in placed_by:
                result[placed_by[key]] = f"{self.file.name}:{line}"
        return result

    def _alias(self, event: Any, path: Path) -> str:
        """Return the value of an alias; only single values have aliases, so that few lines cannot become millions."""
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise _UnreadableError(event, path, f"more than {MAX_ALIASES} aliases (*name); write the values out")
        if event.anchor not in self.anchors:
            raise _UnreadableError(event, path, f"alias '*{event.anchor}' names nothing above it")
        return self.anchors[event.anchor]
