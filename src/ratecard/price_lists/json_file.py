"""A price list that is a JSON file: numbers as they are written, and no key twice."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from ratecard.base.errors import RateCardError
from ratecard.price_lists.peer import InexpressibleError, LeftOut, PeerModel

_Entry = TypeVar("_Entry")
# What reading a list or a number raises where there is something else.
_NOT_OF_ITS_KIND = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


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


def page_of(value: Any) -> str | None:
    """The address of a page; None for anything else."""
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
