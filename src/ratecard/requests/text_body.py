"""Turn fields written as text (command line, CSV, a table's example) into the JSON values of a body."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ratecard.base.money import READING
from ratecard.requests.counters import FLAT, usage_of_buckets
from ratecard.tables.meters import COMPLETION, PROMPT
from ratecard.tables.video import LISTED_NUMBERS

_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,400})?", re.ASCII)
_IN_A_CELL = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# Longer numbers stay decimals: they exceed every bound, and may be too long for an integer.
_DIGITS = 100
# The fields of a video body that are numbers.
NUMBER_FIELDS = (*LISTED_NUMBERS, "target_fps", "reference_video_total_duration")
_TOKEN_FIELDS = {path[-1]: bucket for path, bucket in FLAT.items()}
_BOOLEANS = {"true": True, "false": False}


def body_of_text(fields: Mapping[str, str]) -> dict[str, Any]:
    """Make a body from fields as text. Empty fields are left out; invalid values stay text, to be refused later.

    >>> body_of_text({"model": "m", "duration": "5s", "audio": "true", "target_fps": "48", "resolution": ""})
    {'model': 'm', 'duration': '5s', 'audio': True, 'target_fps': Decimal('48')}
    """
    return {name: _value(name, text) for name, text in fields.items() if text != ""}


def flag_of_text(text: str) -> bool | str:
    """Read `true` or `false`; anything else stays text."""
    return _BOOLEANS.get(text.lower(), text)


def _value(name: str, text: str) -> Any:
    if name == "audio":
        return flag_of_text(text)
    if name in NUMBER_FIELDS and _NUMBER.fullmatch(text):
        return READING.create_decimal(text)
    return text


def usage_of_text(type_: str, model: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Make a usage from a table's example, in which cache buckets and a single RPC call are written flat.

    An example with `counts` and no tokens, or without any field, is of a model without tokens.

    >>> usage_of_text("text", "m", {"prompt_tokens": "10", "cached_tokens": "4"})["usage"]
    {'prompt_tokens': 10, 'completion_tokens': 0, 'prompt_tokens_details': {'cached_tokens': 4}}
    """
    values = {name: _numbers(text) for name, text in fields.items()}
    counted = "tokens" in values or ("counts" in values and not values.keys() & _TOKEN_FIELDS.keys())
    if values and type_ in ("text", "embedding") and not counted:
        counts = {PROMPT: 0, COMPLETION: 0}
        counts |= {bucket: values.pop(name) for name, bucket in _TOKEN_FIELDS.items() if name in values}
        return {"type": type_, "model": model, **usage_of_buckets(counts), **values}
    if "factor" in values:
        type_ = "upscale"
    if type_ == "rpc":
        call = {name: values.pop(name) for name in ("method",) if name in values}
        return {"type": type_, **values, "calls": [call]}
    return {"type": type_, "model": model, **values}


def _numbers(text: Any) -> Any:
    """Read a number, or every number of `tokens` or `counts`."""
    if isinstance(text, Mapping):
        return {name: number_of_text(count) for name, count in text.items()}
    return number_of_text(text)


def number_of_text(text: Any) -> Any:
    """Read a number from text, a whole one as int; anything else stays as it is, to be refused.

    >>> number_of_text("2"), number_of_text("2.5"), number_of_text("two")
    (2, Decimal('2.5'), 'two')
    """
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        return text
    number = READING.create_decimal(text)
    return int(number) if number == int(number) else number


def number_of_cell(text: str) -> int | Decimal | str:
    """Read a number of a row of usage, written as in JSON, perhaps with zeros before it; anything else stays text.

    >>> number_of_cell("2"), number_of_cell("1e3"), number_of_cell("+5")
    (2, Decimal('1E+3'), '+5')
    """
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS:
        return int(text)
    return READING.create_decimal(text) if _IN_A_CELL.fullmatch(text) else text
