"""The place of every part of a YAML text, to the character, so that lines can be copied and inserted."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from re import compile as pattern
from typing import Any, NamedTuple

import yaml

from ratecard.base.errors import Fault, TableError
from ratecard.base.messages import Path
from ratecard.base.money import plain_text
from ratecard.load.yaml_text import LOADER

# The characters that end a line in YAML, also in comments.
_ENDINGS = "\n\r\x85\u2028\u2029"
_LINES = pattern(f"[^{_ENDINGS}]*(?:\r\n|[{_ENDINGS}]|$)")
_DASH = pattern(" *- +")
# A value that needs no quotes, even in a list in brackets.
_PLAIN = pattern(r"[A-Za-z0-9](?:[A-Za-z0-9_./-]*[A-Za-z0-9])?")


class Span(NamedTuple):
    """A range of characters; `end` is not part of it."""

    start: int
    end: int


class Positions:
    """The text of a file that loads without faults, and the place of every part of it."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        try:
            # `-sig`: without a byte order mark.
            self.text = text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise TableError.of_file(name, "is not text in UTF-8; save it as that first") from None
        lines = lines_of(text)
        self.starts = [0, *accumulate(map(len, lines))]
        # The line ending of the file is that of its first line.
        self.eol = next((line[len(line.rstrip("\r\n")) :] for line in lines), "") or "\n"
        # The span of every value; the start of every key; which values are written in brackets; scalars as text.
        self.spans: dict[Path, Span] = {}
        self.keys: dict[Path, int] = {}
        self.flow: set[Path] = set()
        # The number of parts of each list or mapping.
        self.lengths: dict[Path, int] = {}
        self.values: dict[Path, str] = {}
        # Values with an anchor (&name), and its aliases (*name): a copy writes them out.
        self.shared: dict[Span, str] = {}
        self._anchors: dict[str, str] = {}
        events = yaml.parse(text, Loader=LOADER)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._value(next(events), (), events)

    def numbers(self, rows: str, key: str) -> dict[str, int]:
        """Return the number of each item of the list `rows`, by the value that it has for a key."""
        return {value: int(path[1]) for path, value in self.values.items() if path[::2] == (rows, key)}

    @cached_property
    def models(self) -> dict[str, int]:
        """Return the number of each model."""
        return self.numbers("models", "model")

    def line_of(self, offset: int) -> int:
        """Return the line number (from 1) of a character."""
        return bisect_right(self.starts, offset)

    def line(self, offset: int) -> Span:
        """Return the span of the line of a character, with its ending."""
        number = min(self.line_of(offset), len(self.starts) - 1)
        return Span(self.starts[number - 1], self.starts[number])

    def after(self, path: Path) -> int | None:
        """Return the start of the line after a part; None if the file ends there without a line ending."""
        line = self.line(self.spans[path].end - 1)
        return line.end if self.text[line.end - 1] in _ENDINGS else None

    def column(self, offset: int) -> int:
        """Return the number of characters before one on its line."""
        return offset - self.line(offset).start

    def dash(self, path: Path) -> int:
        """Return the column of the dash before a list's item. Raises `TableError` if they are on different lines."""
        start = self.spans[path].start
        before = self.text[self.line(start).start : start]
        if path in self.flow or not _DASH.fullmatch(before):
            raise self.refusal(path, "must begin with a dash and its first key, not in brackets: write it so first")
        return before.index("-")

    def above(self, path: Path) -> int:
        """Return the start of an item of a list, or of the comment lines directly above it."""
        number = self.line_of(self.spans[path].start)
        earlier = self.spans.get((*path[:-1], int(path[-1]) - 1))
        last = self.line_of(earlier.end - 1) if earlier else 0
        while number - 1 > last and self.text[slice(*self.starts[number - 2 : number])].lstrip(" ").startswith("#"):
            number -= 1
        return self.starts[number - 1]

    def refusal(self, path: Path, words: str) -> TableError:
        """Return the error that says why a file cannot be written to, at one of its parts."""
        return TableError([Fault(self.name, self.line_of(self.spans[path].start), path, words)])

    def copy(self, span: Span, replaced: Mapping[Span, str]) -> str:
        """Return the text of a span with some parts replaced; aliases are written out."""
        words, at = [], span.start
        literals = {place: literal(value) for place, value in self.shared.items()}
        for (start, end), new in sorted({**literals, **replaced}.items()):
            if at <= start and end <= span.end:
                words += [self.text[at:start], new]
                at = end
        return "".join([*words, self.text[at : span.end]])

    def _value(self, event: Any, path: Path, events: Iterator[Any]) -> int:
        """Record a value and all in it; return its end."""
        start, end = self._offset(event.start_mark), self._offset(event.end_mark)
        if isinstance(event, yaml.AliasEvent):
            self.values[path] = self._anchors[str(event.anchor)]
            self.shared[Span(start, end)] = self.values[path]
        elif isinstance(event, yaml.ScalarEvent):
            # The parser lets a block scalar end where the next value begins.
            end = start + len(self.text[start:end].rstrip())
            self.values[path] = event.value
            if event.anchor:
                self._anchors[event.anchor] = event.value
                self.shared[Span(start, end)] = event.value
        else:
            if event.flow_style:
                self.flow.add(path)
            end = self._parts(isinstance(event, yaml.MappingStartEvent), path, events)
        self.spans[path] = Span(start, end)
        return end

    def _parts(self, mapping: bool, path: Path, events: Iterator[Any]) -> int:
        """Record the parts of a list or mapping; return its end: the bracket, or else the last part, not a comment."""
        end, number = 0, 0
        while not isinstance(event := next(events), yaml.MappingEndEvent | yaml.SequenceEndEvent):
            inner = (*path, event.value if mapping else number)
            if mapping:
                self.keys[inner] = self._offset(event.start_mark)
                event = next(events)
            end = self._value(event, inner, events)
            number += 1
        self.lengths[path] = number
        return self._offset(event.end_mark) if path in self.flow else end

    def _offset(self, mark: Any) -> int:
        return self.starts[int(mark.line)] + int(mark.column)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, each with its ending."""
    return [line for line in _LINES.findall(text) if line]


def literal(value: str) -> str:
    """Write a value as YAML: as it is, or in double quotes.

    >>> print(literal("2027-03-01"), literal("16:9"))
    2027-03-01 "16:9"
    """
    if _PLAIN.fullmatch(value):
        return value
    return '"' + "".join(map(_escaped, value)) + '"'


def on_one_line(value: Any) -> str:
    """Write a value as YAML on one line: a mapping or list in brackets, an amount, a number, or text.

    >>> print(on_one_line({"tokens": {"input": 1000}, "at": "16:30", "total": Decimal("0.10")}))
    {tokens: {input: 1000}, at: "16:30", total: 0.1}
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(str(name))}: {on_one_line(part)}" for name, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(on_one_line, value)) + "]"
    return plain_text(value) if isinstance(value, Decimal) else literal(str(value))


def _escaped(char: str) -> str:
    """Escape a character that is not printable: YAML takes some of them for line endings."""
    if char.isprintable():
        return f"\\{char}" if char in '"\\' else char
    return f"\\U{ord(char):08X}"
