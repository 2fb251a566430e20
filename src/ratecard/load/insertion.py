"""Whole new lines between the lines of a file, which stay as they are to the byte."""

from codecs import BOM_UTF8
from collections.abc import Iterable
from typing import NamedTuple

from ratecard.load.positions import Positions, lines_of


class Insertion(NamedTuple):
    """New lines, where the line begins above which they go, and what they say in a few words."""

    offset: int
    text: str
    what: str


class Added(NamedTuple):
    """Lines that are new in a file: the first, the last, what they say, and they themselves."""

    file: str
    first: int
    last: int
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.first}-{self.last}: {self.what}"


def inserted(at: Positions, content: bytes, insertions: Iterable[Insertion]) -> tuple[bytes, list[Added]]:
    """The content of a file with new lines in it, and their numbers."""
    words, done, shift = [], 0, 0
    added = []
    for offset, text, what in sorted(insertions, key=lambda insertion: insertion.offset):
        count = len(lines_of(text))
        first = at.line_of(offset) + shift
        added.append(Added(at.name, first, first + count - 1, what, text))
        words += [at.text[done:offset], text]
        done, shift = offset, shift + count
    mark = BOM_UTF8 if content.startswith(BOM_UTF8) else b""
    return mark + "".join([*words, at.text[done:]]).encode(), added
