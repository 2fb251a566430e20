"""JSON read piece by piece: a file of any size is never held in whole."""

import json
from typing import Any, NoReturn, TextIO

from ratecard.ledger.errors import LedgerError
from ratecard.words.money import READING
from ratecard.words.wording import echo

_SPACE = " \t\n\r"
_CHUNK = 1 << 16
_ECHO = 80


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise LedgerError(f"{echo(repr(twice[:_ECHO]))} is twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_float=READING.create_decimal, parse_int=READING.create_decimal, object_pairs_hook=_object
)


class JsonText:
    """A place in a JSON text: what comes next, one value or one sign at a time. Raises `LedgerError` with the line."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text, self._at, self._lines_before = "", 0, 0

    def peek(self) -> str:
        """The next sign that is no space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def take(self, sign: str) -> bool:
        """Whether `sign` comes next; then it is passed over."""
        found = self.peek() == sign
        self._at += found
        return found

    def value(self) -> Any:
        """The next value in whole; its numbers keep their digits."""
        while True:
            self.peek()
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more():
                    self._at = error.pos
                    self.refuse(error.msg)
            except RecursionError:
                raise LedgerError("not JSON: it is nested too deeply") from None
            else:
                # A value at the very end of what was read may go on: 12 in 123.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value

    def refuse(self, reason: str) -> NoReturn:
        """Say where the text is not JSON."""
        line = self._lines_before + self._text.count("\n", 0, self._at) + 1
        raise LedgerError(f"line {line}: not JSON: {reason}")

    def _more(self) -> bool:
        """Read on, and forget what was passed. Twice as much each time, so that a long value is not read too often."""
        chunk = self._file.read(max(_CHUNK, len(self._text) - self._at))
        if chunk:
            self._lines_before += self._text.count("\n", 0, self._at)
            self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)
