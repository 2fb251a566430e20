"""A price list that is a JSON file: numbers as they are written, and no key twice."""

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from ratecard.base.errors import RateCardError

# What reading a list or a number raises where there is something else.
NOT_OF_ITS_KIND = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class InexpressibleError(Exception):
    """Why no exact price of an entry can be written; `priced` is whether the list has one."""

    def __init__(self, reason: str, *, priced: bool = True) -> None:
        super().__init__(reason)
        self.priced = priced


def read_json(path: Path, name: str) -> dict[str, dict[str, Any]]:
    """Read a file of objects by their names, its numbers as decimals.

    Raises `RateCardError`, which says what is wrong and that it is not the list of this `name`.
    """
    try:
        data = json.loads(path.read_bytes(), parse_float=Decimal, parse_int=Decimal, object_pairs_hook=_once)
    except (OSError, ValueError) as error:
        raise RateCardError(f"{path} is not a price list of {name}: {error}") from None
    if not isinstance(data, dict) or not all(isinstance(entry, dict) for entry in data.values()):
        raise RateCardError(f"{path} is not a price list of {name}: it must hold an object for each name")
    return data


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} is written twice")
    return found


def price_of(name: str, value: Any) -> Decimal:
    """A price by its key. Raises `InexpressibleError` for anything but a number from 0 on."""
    if not isinstance(value, Decimal) or not value.is_finite() or value < 0:
        raise InexpressibleError(f"the value of {name} is not a price")
    return value
