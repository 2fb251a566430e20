"""Read a request body, a mapping or JSON as bytes or text, into a dict; numbers keep their digits."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import BaseModel

from ratecard.base.errors import QuoteError
from ratecard.base.messages import REQUIRED, wrong_type
from ratecard.base.money import READING

Body = Mapping[str, Any] | bytes | bytearray | str

INVALID = "Invalid request body"
# What a server reads of a body at most, unless it is told another length.
MOST_BODY_BYTES = 2**20
# How many problems of what a body holds are listed: each may cost a look for what was meant.
MOST_PROBLEMS = 50
# JSON numbers never pass through a float; the scanner is called directly because `decode` would search for white space
# around every body first.
_SCAN: Any = json.JSONDecoder(parse_float=READING.create_decimal).scan_once  # type: ignore[attr-defined]
_SPACE = " \t\n\r"


def read_body(body: Any) -> dict[str, Any]:
    """Read the fields of a body. Raises `QuoteError` with an error tree for anything that is not an object.

    >>> read_body(b'{"reference_video_total_duration": 4.10}')
    {'reference_video_total_duration': Decimal('4.10')}
    """
    if body.__class__ is bytes:
        try:  # the common case first: an object and nothing around it
            text = body.decode()
            fields, end = _SCAN(text, 0)
            if end == len(text) and fields.__class__ is dict:
                return fields
        except (ValueError, StopIteration, RecursionError):
            pass  # read again below, with the reason
    elif body.__class__ is dict:
        return body
    if isinstance(body, (bytes, bytearray, memoryview)):
        try:
            body = bytes(body).decode()
        except UnicodeDecodeError as error:
            _refuse(f"The body is not JSON: byte {error.start} is not UTF-8")
    return _object(_parse(body)) if isinstance(body, str) else _object(body)


def _parse(text: str) -> Any:
    start = 0
    while text[start : start + 1] in _SPACE and start < len(text):
        start += 1
    if start == len(text):
        _refuse(REQUIRED)
    try:
        value, end = _SCAN(text, start)
    except (json.JSONDecodeError, StopIteration, RecursionError, ValueError) as error:
        _refuse(f"The body is not JSON: {_reason(error)}")
    if end < len(text) and text[end:].strip(_SPACE):
        _refuse(f"The body is not JSON: something follows at character {end}")
    return value


def _reason(error: BaseException) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, StopIteration):
        return f"no value at character {error.value}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        _refuse(wrong_type("object", value))
    return dict(value)


def _refuse(message: str) -> NoReturn:
    raise QuoteError(INVALID, [((), message)])


def mapping_of(given: object) -> Mapping[Any, Any] | None:
    """View an object as a mapping: a mapping itself, a pydantic model, or an object of a client library.

    None if it is none of these. Fields of a pydantic model that are None are left out.
    """
    if isinstance(given, Mapping):
        return given
    if given is None or isinstance(given, (str, bytes, int, float, list, tuple, set, type)):
        return None
    if isinstance(given, BaseModel):
        fields = {**given.__dict__, **(given.__pydantic_extra__ or {})}
        return {name: value for name, value in fields.items() if value is not None}
    try:
        dump = getattr(given, "model_dump", None)
        found = dump() if callable(dump) else getattr(given, "__dict__", None)
    except Exception:  # noqa: BLE001 - code of a client, which may raise anything
        return None
    return found if isinstance(found, Mapping) else None
