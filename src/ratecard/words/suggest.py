"""Did you mean: the known words nearest to a mistyped one."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest

# A word this unlike is no suggestion.
_LIKENESS = 0.55
# Longer words are cut, and only this many candidates are compared closely: a refusal must stay cheap.
_LENGTH, _CANDIDATES = 80, 30


def suggestions(given: str, known: Iterable[str], most: int = 3) -> list[str]:
    """At most `most` known words, nearest first: those as a whole alike, or that hold the most of what was given.

    >>> suggestions("kling-3-pro", ["veo3", "kling-v3-pro", "kling-o3-pro"])
    ['kling-v3-pro', 'kling-o3-pro']
    """
    wanted = given[:_LENGTH].lower()
    pieces = _pairs(wanted)
    near = nlargest(_CANDIDATES, known, key=lambda word: (len(pieces & _pairs(word.lower())), -len(word)))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    scored = []
    for word in near:
        matcher.set_seq1(word.lower())
        whole = matcher.ratio()
        held = len(pieces & _pairs(word.lower())) / max(len(pieces), 1)
        scored.append((max(whole, (whole + held) / 2), word))
    return [word for likeness, word in sorted(scored, key=lambda pair: -pair[0])[:most] if likeness >= _LIKENESS]


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, or nothing where no known word is near."""
    near = suggestions(given, known, most=1)
    return f" Did you mean '{near[0]}'?" if near else ""


def _pairs(word: str) -> set[str]:
    return {word[i : i + 2] for i in range(len(word) - 1)}
