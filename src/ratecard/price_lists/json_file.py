"""A price list that is a JSON file: numbers as they are written, and no key twice."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from ratecard.base.errors import RateCardError
from ratecard.base.json_reader import JsonError, read_json
from ratecard.price_lists.peer import InexpressibleError, LeftOut, PeerModel

_Entry = TypeVar("_Entry")
# The errors of reading a list or a number where there is something else.
_NOT_OF_ITS_KIND = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def read_list(path: Path, name: str) -> dict[str, dict[str, Any]]:
    """Read a file of objects by their names, its numbers as decimals.

    Raises `RateCardError`, which says what is wrong and that it is not the list of this `name`.
    """
    try:
        data = _with_decimals(read_json(path.read_bytes()))
    except JsonError as error:
        raise RateCardError(f"{path} is not a price list of {name}: it {error}") from None
    except OSError as error:
        raise RateCardError(f"{path} is not a price list of {name}: {error}") from None
    if not isinstance(data, dict) or not all(isinstance(entry, dict) for entry in data.values()):
        raise RateCardError(f"{path} is not a price list of {name}: it must hold an object for each name")
    return data


def _with_decimals(value: Any) -> Any:
    """Return a value of JSON whose whole numbers are decimals too, as prices are."""
    if isinstance(value, dict):
        return {name: _with_decimals(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(_with_decimals, value))
    return Decimal(value) if value.__class__ is int else value


def price_of(name: str, value: Any) -> Decimal:
    """Return a price by its key. Raises `InexpressibleError` for anything but a number from 0 on."""
    if not isinstance(value, Decimal) or not value.is_finite() or value < 0:
        raise InexpressibleError(f"the value of {name} is not a price")
    return value


def page_of(value: Any) -> str | None:
    """Return the address of a page; None for anything else."""
    return value if isinstance(value, str) and re.fullmatch(r"https?://[^\s,]+", value) else None


def read_entries(
    entries: Iterable[tuple[str, str, _Entry]], read: Callable[[str, str, _Entry], PeerModel]
) -> tuple[tuple[PeerModel, ...], tuple[LeftOut, ...]]:
    """Read entries by their provider and id: the models, and those of which no exact price can be written."""
    models: list[PeerModel] = []
    left_out: list[LeftOut] = []
    for provider, name, entry in entries:
        try:
            models.append(read(provider, name, entry))
        except InexpressibleError as reason:
            left_out.append(reason.left_out(provider, name))
        except _NOT_OF_ITS_KIND:
            left_out.append(LeftOut(provider, name, "a value of it is not of the kind that its key has"))
    return tuple(models), tuple(left_out)
