"""Messages of errors, word for word as API clients know them (zod v3), and the `_errors` tree that they make."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any

ErrorTree = dict[str, Any]
Path = tuple[str | int, ...]
Problems = list[tuple[Path, str]]
# A problem of a table: (path into the part that was checked, message).
Finding = tuple[Path, str]


def error_tree(problems: Iterable[tuple[Path, str]]) -> ErrorTree:
    """Make the tree of these (path, message) pairs, in the order given.

    The root and every node on the path to a problem have `_errors`; an array index is a string key. A path part that is
    itself called `_errors` ends the path there, so that a hostile key can neither break the tree nor forge a node.

    >>> error_tree([(("refs", 2), "Required")])
    {'_errors': [], 'refs': {'_errors': [], '2': {'_errors': ['Required']}}}
    """
    root: ErrorTree = {"_errors": []}
    for path, message in problems:
        node = root
        for part in path:
            if part == "_errors":
                break
            node = node.setdefault(str(part), {"_errors": []})
        node["_errors"].append(str(message))  # plain text: callers do not see `NotOffered`
    return root


def below(at: Path, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Return the findings of a part with their paths in the whole, where the part is `at` a path."""
    return (((*at, *path), words) for path, words in findings)


def listed_twice(rows: str, key: str, names: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding for each row of a list that has the name of an earlier row."""
    earlier_names = set[str]()
    for index, name in enumerate(names):
        if name in earlier_names:
            yield (rows, index, key), f"{key} '{name}' is listed twice; keep one"
        earlier_names.add(name)


# The most characters of a caller's value that a message repeats: enough for any real value.
ECHO_LENGTH = 100
# The most characters of a caller's field name that a message repeats, and the most names.
NAME_LENGTH, MOST_NAMES = 64, 20


class NotOffered(str):
    """The message for a well-formed request whose model, value or rate these prices do not have.

    Any other message (a plain `str`) is about a request that is wrong in itself, or incomplete.
    """

    __slots__ = ()


class NoPriceYet(NotOffered):
    """The message for a model whose first price begins later; `on_any_day` leaves out the day that was asked for."""

    on_any_day: str


REQUIRED = "Required"
INVALID_URL = "Invalid url"


def type_word(given: object) -> str:
    """Return the JSON type of a value, as messages name it.

    >>> [type_word(x) for x in (None, True, 5, float("nan"), "x", [], {})]
    ['null', 'boolean', 'number', 'nan', 'string', 'array', 'object']
    """
    if given is None:
        return "null"
    if isinstance(given, bool):
        return "boolean"
    if isinstance(given, str):
        return "string"
    if isinstance(given, (int, float, Decimal)):
        return "nan" if is_nan(given) else "number"
    if isinstance(given, (list, tuple)):
        return "array"
    return "object" if isinstance(given, Mapping) else "unknown"


def is_nan(given: int | float | Decimal) -> bool:
    """Return True if a number is NaN (a comparison would depend on the host's decimal context)."""
    return given.is_nan() if isinstance(given, Decimal) else isinstance(given, float) and math.isnan(given)


def echo(given: str) -> str:
    """Repeat a caller's value: cut to 100 characters, and safe to encode.

    >>> echo("a" * 200)[-3:], echo(chr(0xD800))
    ('aa…', '\\\\ud800')
    """
    short = given if len(given) <= ECHO_LENGTH else given[:ECHO_LENGTH] + "…"
    return short.encode("utf-8", "backslashreplace").decode("utf-8")


def field_name(given: object) -> str:
    """Repeat the name of a caller's field: cut to 64 characters, control characters escaped.

    >>> field_name("image_url"), field_name("a" * 100) == "a" * 64, field_name("\x1b[2J"), field_name(7)
    ('image_url', True, '\\\\x1b[2J', '7')
    """
    if not isinstance(given, str):
        given = str(given) if isinstance(given, int) and abs(given) < 2**63 else f"<{type(given).__name__}>"
    return printable(given[:NAME_LENGTH])[:NAME_LENGTH]


def printable(given: str) -> str:
    """Return a text from outside on one line, safe to print: its control characters escaped.

    >>> print(printable("gpt\\n" + chr(0xD800)))
    gpt\\n\\ud800
    """
    if given.isprintable():
        return given
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in given)


def field_names(given: Iterable[object], most: int = MOST_NAMES) -> tuple[str, ...]:
    """Repeat at most `most` names of a caller's fields.

    >>> field_names(["prompt", "image_url"], 1)
    ('prompt',)
    """
    return tuple(map(field_name, islice(given, max(most, 0))))


def allowed_values(values: Iterable[str]) -> str:
    """Return words like `'5s' | '10s'`: the list that clients parse out of a message."""
    return " | ".join(f"'{value}'" for value in values)


def invalid_enum(values: Iterable[str], given: object) -> str:
    """Return the message for a value outside a list of words.

    >>> invalid_enum(["5s", "10s"], "zzz")
    "Invalid enum value. Expected '5s' | '10s', received 'zzz'"
    >>> invalid_enum(["5s", "10s"], 5)
    "Expected '5s' | '10s', received number"
    """
    if isinstance(given, str):
        return f"Invalid enum value. Expected {allowed_values(values)}, received '{echo(given)}'"
    return f"Expected {allowed_values(values)}, received {type_word(given)}"


def wrong_type(expected: str, given: object) -> str:
    """Return a message like `Expected number, received string`."""
    return f"Expected {expected}, received {type_word(given)}"


def invalid_literal(expected: int) -> str:
    """Return a message like `Invalid literal value, expected 2`."""
    return f"Invalid literal value, expected {expected}"


def too_small(minimum: int | Decimal) -> str:
    """Return a message like `Number must be greater than or equal to 16`."""
    return f"Number must be greater than or equal to {minimum}"


def too_big(maximum: int | Decimal) -> str:
    """Return a message like `Number must be less than or equal to 120`."""
    return f"Number must be less than or equal to {maximum}"


NOT_AN_INTEGER = "Expected integer, received float"


def plural(number: int, noun: str) -> str:
    """Write a number and its noun, in the plural unless it is 1; the noun takes an s.

    >>> plural(1, "row"), plural(1_200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
