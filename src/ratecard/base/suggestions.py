"""Find the known words nearest to a mistyped one."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from heapq import nlargest
from itertools import pairwise
from typing import Any

# Minimum similarity (0 to 1) for a suggestion, and for one that differs by a typing mistake only.
_LIKENESS, _SLIP = 0.55, 0.95
# Longer words are cut, and only this many candidates are compared closely: an error must stay cheap.
_LENGTH, _CANDIDATES = 80, 30
# How many words are remembered: the known words are those of the tables, so they repeat.
_REMEMBERED = 2_000


# The most words of one HTTP answer that are compared: each takes up to a millisecond.
MOST_COMPARED = 20
# The number of words that the current answer may still compare; None means any number.
_LEFT: ContextVar[list[int] | None] = ContextVar("_LEFT", default=None)


@contextmanager
def few_suggestions(most: int = MOST_COMPARED) -> Iterator[None]:
    """Compare at most a number of words with known ones inside a `with` block; further words get no suggestion.

    It is for an answer to many requests at once: the cost of misspelt names stays bounded.

    >>> with few_suggestions(1):
    ...     suggestions("ab-1", ["ab-2"]), suggestions("ab-1", ["ab-2"])
    (['ab-2'], [])
    """
    before = _LEFT.set([most])
    try:
        yield
    finally:
        _LEFT.reset(before)


def suggestions(given: str, known: Iterable[str], most: int = 3, *, slip: bool = False) -> list[str]:
    """List at most `most` known words, nearest first: by likeness, or by how much of `given` they contain.

    With `slip`, list only words that differ by about one letter, or by two neighbouring letters in the other order.

    >>> suggestions("kling-3-pro", ["veo3", "kling-v3-pro", "kling-o3-pro"])
    ['kling-v3-pro', 'kling-o3-pro']
    """
    if (allowance := _LEFT.get()) is not None:
        if not allowance[0]:
            return []
        allowance[0] -= 1
    wanted, least = given[:_LENGTH].lower(), _SLIP if slip else _LIKENESS
    pieces = _pieces(wanted)

    def held_in(word: str) -> int:
        return len(pieces & _pieces(word[:_LENGTH]))

    near = nlargest(_CANDIDATES, known, key=lambda word: (held_in(word), -len(word)))
    letters = Counter(wanted).items()
    scored = list[tuple[Any, str]]()
    for word in near:
        lower, share = word[:_LENGTH].lower(), held_in(word) / max(len(pieces), 1)
        length = max(len(wanted) + len(lower), 1)
        # Words that cannot be among the nearest are not compared closely, which takes longest.
        enough = scored[most - 1][0] if len(scored) >= most else least
        bound = 2 * sum([min(lower.count(letter), count) for letter, count in letters]) / length
        if max(bound, (bound + share) / 2) < enough:
            continue
        ratio = 2 * letters_in_common(lower, wanted) / length
        if slip and _are_swapped(lower, wanted):
            ratio = 1.0
        scored.append((max(ratio, (ratio + share) / 2), word))
        scored.sort(key=lambda pair: -pair[0])
    return [word for likeness, word in scored[:most] if likeness >= least]


def _are_swapped(one: str, other: str) -> bool:
    """Return True if two words differ by two neighbouring letters in the other order.

    >>> _are_swapped("service_teir", "service_tier"), _are_swapped("tier", "tiers"), _are_swapped("abcd", "badc")
    (True, False, False)
    """
    swapped = (one[:place] + one[place : place + 2][::-1] + one[place + 2 :] for place in range(len(one) - 1))
    return len(one) == len(other) and other in swapped


def letters_in_common(one: str, other: str) -> int:
    """Return how many letters two words share in the same order, as `difflib` counts them, in a third of the time.

    The number is the length of their longest common part, plus the letters in common before it and after it.

    >>> letters_in_common("kling-v3-pro", "kling-3-pro")
    11
    """
    size, at = 0, 0
    for start in range(len(one)):
        while start + size < len(one) and one[start : start + size + 1] in other:
            size, at = size + 1, start
    if not size:
        return 0
    place = other.index(one[at : at + size])
    before = letters_in_common(one[:at], other[:place])
    return before + size + letters_in_common(one[at + size :], other[place + size :])


@lru_cache(_REMEMBERED)
def _pieces(word: str) -> frozenset[str]:
    """Return each pair of neighbouring letters of a word."""
    lower = word.lower()
    return frozenset(map("".join, pairwise(lower)))


def did_you_mean(given: str, known: Iterable[str], *, slip: bool = False) -> str:
    """Write ` Did you mean 'x'?`, or nothing if no known word is near.

    >>> [did_you_mean(given, ["cached_tokens"], slip=True) for given in ("cached_token", "audio_tokens")]
    [" Did you mean 'cached_tokens'?", '']
    """
    near = suggestions(given, known, most=1, slip=slip)
    return f" Did you mean '{near[0]}'?" if near else ""


def meant_or_allowed(given: str, known: Collection[str]) -> str:
    """Write a suggestion for an unknown word, if one is near, and all known words.

    >>> meant_or_allowed("bach", ["batch", "flex"])
    " Did you mean 'batch'? Allowed: batch, flex"
    """
    return f"{did_you_mean(given, known)} Allowed: {', '.join(known)}"
