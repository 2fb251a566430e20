"""Write compact JSON in which a decimal is a number with all its digits: a standard encoder refuses decimals."""

from decimal import Decimal
from typing import Any

from msgspec import Raw
from msgspec.json import Encoder
from msgspec.json import format as _format

from ratecard.base.money import text

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
