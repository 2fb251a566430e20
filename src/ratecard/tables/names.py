"""Open patterns of the names of models, `gpt-4o-*`: `*` stands for any letters, `?` for one."""

import re
from fnmatch import translate

from ratecard.tables.limits import Flag
from ratecard.tables.scalars import Frozen


class Names(Frozen):
    """The file of names: whether models of the folder may have open patterns."""

    patterns: Flag = False


def matcher_of(pattern: str) -> re.Pattern[str]:
    """Return a compiled expression that matches the names of a pattern.

    >>> [bool(matcher_of("gpt-4o-*").fullmatch(name)) for name in ("gpt-4o-mini", "gpt-4o-", "gpt-4o")]
    [True, True, False]
    """
    # A pattern of `fnmatch` matches each part at its first place, without backtracking. The loader refuses a [.
    return re.compile(translate(pattern.replace("[", "[[]")))


def share_a_name(one: str, other: str) -> bool:
    """Return True if some name matches both patterns.

    >>> share_a_name("gpt-*-mini", "gpt-4o-*"), share_a_name("gpt-4o-*", "gpt-4.1-*")
    (True, False)
    """
    # The possible places in `other` after each letter of `one`; a star may match no letter.
    places = _after_stars({0}, other)
    for letter in one:
        if letter == "*":
            places = set(range(min(places), len(other) + 1)) if places else places
            continue
        moved = {at + 1 for at in places if at < len(other) and (other[at] in (letter, "?", "*") or letter == "?")}
        stayed = {at for at in places if at < len(other) and other[at] == "*"}
        places = _after_stars(moved | stayed, other)
    return len(other) in places


def _after_stars(places: set[int], pattern: str) -> set[int]:
    reached = set(places)
    for at in sorted(places):
        while at < len(pattern) and pattern[at] == "*":
            at += 1
            reached.add(at)
    return reached
