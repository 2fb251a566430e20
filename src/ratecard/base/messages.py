"""Messages of errors, in zod's words, and the tree that they make.

The nested `_errors` tree that API clients parse, for request bodies and for tables alike.

The messages at a field, word for word as clients know them (zod v3).
"""

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

ErrorTree = dict[str, Any]
Path = tuple[str | int, ...]
Problems = list[tuple[Path, str]]


def error_tree(problems: Iterable[tuple[Path, str]]) -> ErrorTree:
    """The tree of these (path, message) pairs, in the order given.

    The root and every node on the way to a problem have `_errors`; an array index is a string key. A path part that is
    itself called `_errors` ends the way there, so that a hostile key can neither break the tree nor forge a node.

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
        node["_errors"].append(str(message))  # plain text, whatever is known of the message inside
    return root


# Long enough for any real value, short enough that an error stays an error and not an echo of the request.
ECHO_LENGTH = 100

# Names of a caller's fields: how long one may be where it is echoed, and how many are.
NAME_LENGTH, MOST_NAMES = 64, 20


class NotOffered(str):
    """What is said of a sound request for a model, a value or a rate that these prices do not have, now or ever.

    Any other message is of a request that is wrong in itself, or that does not say enough.
    """

    __slots__ = ()


REQUIRED = "Required"
INVALID_URL = "Invalid url"


def type_word(given: object) -> str:
    """What the JSON type of a value is called in a message.

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
    """Whether a number is not a number (a comparison would depend on the host's decimal context)."""
    return given.is_nan() if isinstance(given, Decimal) else isinstance(given, float) and math.isnan(given)


def echo(given: str) -> str:
    """A value of the caller's, cut to a sane length and safe to encode.

    >>> echo("a" * 200)[-3:], echo(chr(0xD800))
    ('aa…', '\\\\ud800')
    """
    short = given if len(given) <= ECHO_LENGTH else given[:ECHO_LENGTH] + "…"
    return short.encode("utf-8", "backslashreplace").decode("utf-8")


def field_name(given: object) -> str:
    """The name of a caller's field as text: cut to 64 characters, nothing in it that a terminal would obey.

    >>> field_name("image_url"), field_name("a" * 100) == "a" * 64, field_name("\x1b[2J"), field_name(7)
    ('image_url', True, '\\\\x1b[2J', '7')
    """
    if not isinstance(given, str):
        given = str(given) if isinstance(given, int) and abs(given) < 2**63 else f"<{type(given).__name__}>"
    short = given[:NAME_LENGTH]
    if short.isprintable():
        return short
    escaped = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in short)
    return "".join(escaped)[:NAME_LENGTH]


def field_names(given: Iterable[object], most: int = MOST_NAMES) -> tuple[str, ...]:
    """At most so many names of a caller's fields, as text.

    >>> field_names(["prompt", "image_url"], 1)
    ('prompt',)
    """
    return tuple(map(field_name, islice(given, max(most, 0))))


def allowed_values(values: Iterable[str]) -> str:
    """`'5s' | '10s'`: the list that clients parse out of a message."""
    return " | ".join(f"'{value}'" for value in values)


def invalid_enum(values: Iterable[str], given: object) -> str:
    """The message for a value outside a list of words.

    >>> invalid_enum(["5s", "10s"], "zzz")
    "Invalid enum value. Expected '5s' | '10s', received 'zzz'"
    >>> invalid_enum(["5s", "10s"], 5)
    "Expected '5s' | '10s', received number"
    """
    if isinstance(given, str):
        return f"Invalid enum value. Expected {allowed_values(values)}, received '{echo(given)}'"
    return f"Expected {allowed_values(values)}, received {type_word(given)}"


def wrong_type(expected: str, given: object) -> str:
    """`Expected number, received string`."""
    return f"Expected {expected}, received {type_word(given)}"


def invalid_literal(expected: int) -> str:
    """`Invalid literal value, expected 2`."""
    return f"Invalid literal value, expected {expected}"


def too_small(minimum: int | Decimal) -> str:
    """`Number must be greater than or equal to 16`."""
    return f"Number must be greater than or equal to {minimum}"


def too_big(maximum: int | Decimal) -> str:
    """`Number must be less than or equal to 120`."""
    return f"Number must be less than or equal to {maximum}"


NOT_AN_INTEGER = "Expected integer, received float"
