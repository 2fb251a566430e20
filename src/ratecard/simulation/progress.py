"""How a long simulation says what it is doing."""

from collections.abc import Callable
from typing import Any

# How far the engine is, in percent; negative before it knows.
Percent = Callable[[], Any]
# Called with what begins, and how to ask how far it is, if that can be known.
Progress = Callable[[str, Percent | None], None]


def silent(words: str, percent: Percent | None = None) -> None:
    """Says nothing."""
