"""The content of another price list, read from its file: models with dated charges, or why a model is left out."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from ratecard.base.errors import RateCardError
from ratecard.base.json_text import JsonError, read_json
from ratecard.tables.meters import COMPLETION, PROMPT, Meter

# An undated price holds from this day on.
UNDATED = date(1970, 1, 1)
# This limits the work: no prompt is longer, and 1e999999 has a million digits.
_MOST_TOKENS = 10**15


@dataclass(frozen=True, slots=True)
class PeerRate:
    """An amount per unit of a charge; a rate of tokens names its bucket, and where its tier begins.

    `above` and `begins` are numbers of tokens (the tier includes `begins`), `hours` windows like `16:30..00:30` in UTC.
    """

    amount: Decimal
    tokens: str | None = None
    above: int | None = None
    begins: int | None = None
    hours: tuple[str, ...] = ()
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PeerCharge:
    """The rates of one meter (`token`, or a name in the `counts` of a usage), each the amount for `per` of its units.

    `without_rate` says how buckets without a rate are priced, as in a table; `factors` are pairs of conditions and a
    factor. `note` becomes a comment above the charge.
    """

    meter: str
    per: int
    rates: tuple[PeerRate, ...]
    without_rate: Mapping[str, str] = field(default_factory=dict)
    factors: tuple[tuple[Mapping[str, str], Decimal], ...] = ()
    included: Decimal | None = None
    at_least: Decimal | None = None
    note: str = ""


def without_rate(priced: Collection[str]) -> dict[str, str]:
    """Return the `without_rate` of a list that prices tokens without a rate as the bucket that contains them.

    `priced` are the buckets with a price. Input or output without one is refused, because its price is not known.
    """
    refused = {bucket: "refuse" for bucket in (PROMPT, COMPLETION) if bucket not in priced}
    return {**refused, "cache": "parent", "lifetime": "parent", "modality": "parent"}


@dataclass(frozen=True, slots=True)
class PeerExample:
    """A usage without its model, as a table writes it, and its total; `at` is its instant, if the hour matters."""

    usage: Mapping[str, Any]
    total: Decimal
    at: str | None = None


@dataclass(frozen=True, slots=True)
class PeerVersion:
    """The charges of a model from a day on, and at least one example."""

    effective: date
    charges: tuple[PeerCharge, ...]
    examples: tuple[PeerExample, ...]


@dataclass(frozen=True, slots=True)
class _Listed:
    """A model of a provider, by the id that the list has."""

    provider: str
    id: str

    @property
    def model(self) -> str:
        """Return its name in tables."""
        return f"{self.provider}/{self.id}"


@dataclass(frozen=True, slots=True)
class PeerModel(_Listed):
    """A model of a provider, by the id that the list has, priced in US dollars. In tables it is `provider/id`.

    `aliases` are further ids of the same provider; if two models have the same name, the first keeps it.
    """

    versions: tuple[PeerVersion, ...]
    name: str = ""
    aliases: tuple[str, ...] = ()
    reference: str | None = None

    def left_out(self, reason: str, *, detail: str = "") -> "LeftOut":
        """Return the model as one that is left out for a reason."""
        return LeftOut(self.provider, self.id, reason, detail=detail)


@dataclass(frozen=True, slots=True)
class LeftOut(_Listed):
    """A model of the list that is left out of the tables, and why its exact price cannot be written.

    `detail` is the part of the reason that is about this model alone; `priced` is False if the list has no price of it.
    """

    reason: str
    priced: bool = True
    detail: str = ""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return " ".join(f"{self.reason}{detail}".split())


class InexpressibleError(Exception):
    """The error of a model whose exact price cannot be written; `priced` is False if the list has no price of it."""

    def __init__(self, reason: str, *, priced: bool = True) -> None:
        super().__init__(reason)
        self.priced = priced


@dataclass(frozen=True, slots=True)
class PeerCondition:
    """A condition that the shipped tables lack, or one with further values; `same_as` are other spellings of values."""

    condition: str
    values: tuple[str, ...]
    default: str
    same_as: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PriceList:
    """A price list: its models, those left out, and what it counts; `source` names the list.

    `meters`, and `buckets` of tokens with their dimensions, are those that the shipped tables lack.
    """

    source: str
    models: tuple[PeerModel, ...]
    left_out: tuple[LeftOut, ...] = ()
    meters: tuple[Meter, ...] = ()
    conditions: tuple[PeerCondition, ...] = ()
    buckets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


_Entry = TypeVar("_Entry")
# The errors of code that expects a list or a number and gets something else.
_NOT_OF_ITS_KIND = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def read_list(path: Path, name: str) -> dict[str, dict[str, Any]]:
    """Read a JSON file of objects by name, numbers as decimals. Raises `RateCardError` for anything else."""
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
    """Return a JSON value with its whole numbers as decimals too, like prices."""
    if isinstance(value, dict):
        return {name: _with_decimals(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(_with_decimals, value))
    return Decimal(value) if value.__class__ is int else value


def price_of(name: str, value: Any) -> Decimal:
    """Return the value of the key `name`. Raises `InexpressibleError` for anything but a number of at least 0."""
    if not isinstance(value, Decimal) or not value.is_finite() or value < 0:
        raise InexpressibleError(f"the value of {name} is not a price")
    return value


def tokens_of(value: Any) -> int:
    """Return a number of tokens. Raises `InexpressibleError` for anything but a whole number of at least 0."""
    if not isinstance(value, Decimal) or not 0 <= value < _MOST_TOKENS or value % 1:
        raise InexpressibleError(f"{value} is not a number of tokens")
    return int(value)


def page_of(value: Any) -> str | None:
    """Return the address of a page; None for anything else."""
    return value if isinstance(value, str) and re.fullmatch(r"https?://[^\s,]+", value) else None


def read_entries(
    entries: Iterable[tuple[str, str, _Entry]], read: Callable[[str, str, _Entry], PeerModel]
) -> tuple[tuple[PeerModel, ...], tuple[LeftOut, ...]]:
    """Read entries (provider, id, data) into models, and into those left out because no exact price can be written."""
    models: list[PeerModel] = []
    left_out: list[LeftOut] = []
    for provider, name, entry in entries:
        try:
            models.append(read(provider, name, entry))
        except InexpressibleError as reason:
            left_out.append(LeftOut(provider, name, str(reason), reason.priced))
        except _NOT_OF_ITS_KIND:
            left_out.append(LeftOut(provider, name, "a value of it is not of the kind that its key has"))
    return tuple(models), tuple(left_out)
