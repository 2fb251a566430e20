"""What a price list of others says, before it becomes tables: models with dated charges, or why one cannot be one."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from ratecard.tables.meters import COMPLETION, PROMPT

# An undated price holds from this day on.
UNDATED = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class PeerRate:
    """An amount per unit of a charge; of tokens it names its bucket, and where its tier begins.

    `above` and `begins` are numbers of tokens (`begins` counts already), `hours` windows like `16:30..00:30` in UTC,
    on `weekdays` (`mon`) or all of them.
    """

    amount: Decimal
    tokens: str | None = None
    above: int | None = None
    begins: int | None = None
    hours: tuple[str, ...] = ()
    weekdays: tuple[str, ...] = ()
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PeerCharge:
    """Rates of one meter: `token`, or a name that `counts` of a usage have; each is the amount for `per` of its units.

    `without_rate` says what becomes of buckets without a rate, as in a table; `factors` are those of conditions, each
    with its `factor`. `note` becomes a comment above the charge.
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
    """Return what becomes of tokens without a rate in a list that prices them as the bucket which contains them.

    `priced` are the buckets with a price: the input and the output are refused without one, as it is not known.
    """
    refused = {whole: "refuse" for whole in (PROMPT, COMPLETION) if whole not in priced}
    return {**refused, "cache": "parent", "lifetime": "parent", "modality": "parent"}


@dataclass(frozen=True, slots=True)
class PeerExample:
    """A usage without its model, as a table writes it, and its total; `at` is an instant whose hour it has."""

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
    """A model of a provider, by the id that the list has; `type` as in tables. Its table is `provider/id`.

    `aliases` are further ids of the same provider; of two models that have one name, the first keeps it.
    """

    versions: tuple[PeerVersion, ...]
    name: str = ""
    type: str = "text"
    currency: str = "USD"
    aliases: tuple[str, ...] = ()
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut(_Listed):
    """A model of the list that becomes no table, and why no exact price of it can be written.

    `detail` is what of the reason is of this model alone, `priced` whether the list has a price of it at all.
    """

    reason: str
    priced: bool = True
    detail: str = ""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return " ".join(f"{self.reason}{detail}".split())


class InexpressibleError(Exception):
    """Why no exact price of a model can be written; `priced` is whether the list has one."""

    def __init__(self, reason: str, *, priced: bool = True) -> None:
        super().__init__(reason)
        self.priced = priced

    def left_out(self, provider: str, name: str) -> LeftOut:
        """Return the model as one that is left out for this reason."""
        return LeftOut(provider, name, str(self), priced=self.priced)


@dataclass(frozen=True, slots=True)
class PeerMeter:
    """A meter that the shipped tables lack; `every_usage` is how many a usage has that does not count it."""

    meter: str
    every_usage: int | None = None


@dataclass(frozen=True, slots=True)
class PeerCondition:
    """A condition that the shipped tables lack, or that has more values; `same_as` are other spellings of them."""

    condition: str
    values: tuple[str, ...]
    default: str
    same_as: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PriceList:
    """One list: its models, what is left out of it, and what it counts; `source` names the list.

    `buckets` are those of tokens that the shipped tables lack, by their dimensions.
    """

    source: str
    models: tuple[PeerModel, ...]
    left_out: tuple[LeftOut, ...] = ()
    meters: tuple[PeerMeter, ...] = ()
    conditions: tuple[PeerCondition, ...] = ()
    buckets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
