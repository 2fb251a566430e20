"""JSON with exact numbers: the reader of every text, which refuses equal keys and deep nesting, and a writer."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec import MsgspecError, Raw
from msgspec.json import Decoder, Encoder
from msgspec.json import format as _format

from ratecard.base.messages import field_name
from ratecard.base.money import READING, text

# The most levels of nested objects and lists: more than any real request has, and far too few to fill a stack.
MOST_LEVELS = 100
_SPACE = " \t\n\r"
EMPTY = "is not JSON: it is empty"


JsonSource = bytes | bytearray | memoryview | str


class JsonError(ValueError):
    """A text that is not valid JSON; the message continues a sentence that begins with the name of the text.

    >>> str(JsonError("is not JSON: it is nested too deeply"))
    'is not JSON: it is nested too deeply'
    """


def distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these keys and values. Raises `JsonError` for a key that occurs twice.

    >>> distinct([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen = set[str]()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise JsonError(f"has the key '{field_name(twice)}' twice; keep one")
    return fields


# Numbers never pass through a float.
_QUICK = Decoder(float_hook=READING.create_decimal).decode
_COLON, _BRACKET, _BACKSLASH = b":[\\"
_CAREFUL: Any = json.JSONDecoder(  # the scanner also returns where a value ends
    parse_float=READING.create_decimal, object_pairs_hook=distinct
).scan_once  # type: ignore[attr-defined]


def read_json(content: JsonSource) -> Any:
    """Read one value: a number with a point or an exponent as a decimal, any other as an integer of any length.

    msgspec reads it first, but takes the last of two equal keys. In JSON a colon follows each key, and all other colons
    are inside strings. If the value has fewer keys and colons than the text has colons, or if anything else is wrong,
    the slower reader of the standard library reads the text again and says why. Raises `JsonError`.

    >>> read_json(b'{"duration": 4.10}')
    {'duration': Decimal('4.10')}
    >>> read_json('{"duration": "5s", "duration": "6s"}')
    Traceback (most recent call last):
      ...
    ratecard.base.json_text.JsonError: has the key 'duration' twice; keep one
    """
    try:
        raw = content if content.__class__ is bytes else _raw(content)
        value, colons = _QUICK(raw), raw.count(_COLON)
        # The most common cases need no walk: nothing is nested, and at most one colon is inside a string.
        if value.__class__ is dict and _BRACKET not in raw:
            if colons == len(value):
                return value
            if colons == len(value) + 1 and _BACKSLASH not in raw:
                for part in reversed(value.values()):
                    if part.__class__ is str and ":" in part:
                        return value
        # A colon that is written as \u003a is in the value, but not in the text.
        if _colons(value, MOST_LEVELS) == colons and b"\\u003" not in raw:
            return value
    except (MsgspecError, ValueError, RecursionError):
        pass
    return _read_carefully(content)


def _raw(content: JsonSource) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)


def _colons(value: Any, levels: int) -> int:
    """Count the keys of a value and the colons in its keys and texts. Raises `RecursionError` beyond these levels."""
    kind = value.__class__
    if kind is str:
        return int(value.count(":"))
    if kind is not dict and kind is not list:
        return 0
    if not levels:
        raise RecursionError
    count = 0
    if kind is dict:
        count = len(value)
        for name in value:
            if ":" in name:
                count += name.count(":")
        value = value.values()
    for part in value:
        kind = part.__class__
        if kind is str:
            if ":" in part:
                count += part.count(":")
        elif kind is dict or kind is list:
            count += _colons(part, levels - 1)
    return count


def _read_carefully(content: JsonSource) -> Any:
    """Read a value with the standard library, which says what is wrong with it and where."""
    try:
        text = content if isinstance(content, str) else bytes(content).decode()
    except UnicodeDecodeError as error:
        raise JsonError(f"is not JSON: byte {error.start} is not UTF-8") from None
    start = len(text) - len(text.lstrip(_SPACE))
    if start == len(text):
        raise JsonError(EMPTY)
    if text.startswith("\ufeff"):
        raise JsonError("is not JSON: it begins with a byte order mark. Leave that out")
    try:
        value, end = _CAREFUL(text, start)
        _colons(value, MOST_LEVELS)
    except JsonError:
        raise
    except (StopIteration, RecursionError, ValueError) as error:
        raise JsonError(f"is not JSON: {_reason(error)}") from None
    if end < len(text) and text[end:].strip(_SPACE):
        raise JsonError(f"is not JSON: something follows at character {end}")
    return value


def _reason(error: BaseException) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, StopIteration):
        return f"no value at character {error.value}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"


_EXACT = Encoder(decimal_format="number")


def compact_json(value: Any) -> bytes:
    """Return a value as compact JSON.

    >>> compact_json({"seconds": Decimal("4.10"), "audio": True})
    b'{"seconds":4.10,"audio":true}'
    """
    return _EXACT.encode(value)


def digits(amount: Decimal) -> Raw:
    """Return an amount that `compact_json` writes without an exponent."""
    return Raw(text(amount))


def spaced(json: str, indent: int) -> str:
    """Return compact JSON with spaces; in lines, if `indent` is not 0.

    >>> spaced('{"seconds":4.10,"audio":true}', 0)
    '{"seconds": 4.10, "audio": true}'
    """
    return _format(json, indent=indent)
