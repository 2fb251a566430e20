"""The progress of a long simulation: what it is doing, and how far it is."""

from collections.abc import Callable
from typing import Any

# How far the engine is, in percent; negative before it knows.
_Percent = Callable[[], Any]
# It is called with the name of the step that begins, and a function that returns its percentage, if that is known.
Progress = Callable[[str, _Percent | None], None]
# The percentages of a simulation at which the usage is opened, read and priced.
OPENED, READ, PRICED = 5, 90, 95


def silent(words: str, percent: _Percent | None) -> None:
    """Report no progress."""


class HowFar:
    """The progress of a simulation, in percent of the whole; it never goes back.

    `rows` is the number of rows read so far, if that is known.
    """

    def __init__(self, first: float, last: float, percent: _Percent | None, rows: int | None = None) -> None:
        self._first, self._last, self._percent, self._rows = first, last, percent, rows
        self._most = first

    def __call__(self) -> float:
        """Return the percent of the whole."""
        part = min(max(0.0, float(self._percent())), 100.0) / 100 if self._percent else 0.0
        self._most = max(self._most, self._first + (self._last - self._first) * part)
        return self._most

    @property
    def rows(self) -> int | None:
        """Return the number of rows read so far; None where the number of all rows is not known."""
        if self._rows is None:
            return None
        return int(self._rows * min(max(0.0, (self() - OPENED) / (READ - OPENED)), 1.0))


def within(progress: Progress, first: float, last: float, rows: int | None = None) -> Progress:
    """Return a function that reports one part of a simulation, from `first` to `last` percent of the whole."""
    return lambda words, percent: progress(words, HowFar(first, last, percent, rows))
