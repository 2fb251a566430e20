"""Fields written as text (a command line, a CSV row, a table's example) -> the JSON values that a body has."""

import re
from collections.abc import Mapping
from typing import Any

from ratecard.words.money import READING

_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,400})?", re.ASCII)
_NUMBER_FIELDS = ("upscale_factor", "target_fps", "slowdown_factor", "reference_video_total_duration")
_BOOLEANS = {"true": True, "false": False}


def body_of_text(fields: Mapping[str, str]) -> dict[str, Any]:
    """A body from fields as text; what is empty is left out, what does not fit stays text, for the API to refuse.

    >>> body_of_text({"model": "m", "duration": "5s", "audio": "true", "target_fps": "48", "resolution": ""})
    {'model': 'm', 'duration': '5s', 'audio': True, 'target_fps': Decimal('48')}
    """
    return {name: _value(name, text) for name, text in fields.items() if text != ""}


def _value(name: str, text: str) -> Any:
    if name == "audio":
        return _BOOLEANS.get(text.lower(), text)
    if name in _NUMBER_FIELDS and _NUMBER.fullmatch(text):
        return READING.create_decimal(text)
    return text
