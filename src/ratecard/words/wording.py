"""The messages at a field, word for word as clients know them (zod v3)."""

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal

# Long enough for any real value, short enough that an error stays an error and not an echo of the request.
ECHO_LENGTH = 100


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
