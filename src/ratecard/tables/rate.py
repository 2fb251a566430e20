"""Rates, the charges that hold them, and the rate that a request selects.

Every combination of attributes that a version accepts must fit exactly one rate of each charge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any, ClassVar, Protocol

from pydantic import Field, model_validator

from ratecard.tables.scalars import Frozen, Number, Positive, Text, Words, gathered

# The key under which the loader puts the `file:line` of a rate; files may not have it.
SOURCE_KEY = "@source"
# Lists whose parts get a `file:line`, each with the key whose line it is.
PLACED_BY = {"rates": "rate", "examples": "total", "versions": "effective"}
PLACED_BY |= {"factors": "factor"}
# The same in the file of limits.
PLACED_BY |= {"limits": "effective", "text": "tier", "types": "type", "sunsets": "endpoint"}
# The upper edge of the last tier.
ANY = "any"


class Rate(Frozen):
    """One line of a table: `{resolution: [480p, 720p], audio: true, rate: 0.154}`.

    `rate` is an amount of the model's currency per unit of the charge. `attributes` are the conditions under which it
    applies; an attribute that is not written does not matter.
    """

    rate: Number
    attributes: dict[str, Words]
    source: str = Field(default="", alias=SOURCE_KEY)

    @model_validator(mode="before")
    @classmethod
    def _gather_attributes(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError("must be a line like {resolution: 720p, rate: 0.10}")
        if "rate" not in given:
            raise ValueError("has no rate. Write one, like {resolution: 720p, rate: 0.10}")
        if isinstance(given.get("attributes"), dict):
            return given
        own = {"rate", SOURCE_KEY}
        digits = next((key for key in given if str(key).isdigit()), None)
        if digits is not None:
            raise ValueError(f"is cut off by a comma before {digits}. Write a decimal point, like 0.25")
        return gathered(given, own, "attributes")


class RateFactor(Frozen):
    """A factor on the rates of a charge: `{service_tier: batch, factor: 0.5}`.

    It holds for requests under these conditions, on rates that do not name them.
    """

    factor: Positive
    conditions: dict[str, Text]
    source: str = Field(default="", alias=SOURCE_KEY, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _gather_conditions(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError("must be a line like {service_tier: batch, factor: 0.5}")
        if "factor" not in given:
            raise ValueError("has no factor. Write one, like {service_tier: batch, factor: 0.5}")
        if isinstance(given.get("conditions"), dict):
            return given
        return gathered(given, ("factor", SOURCE_KEY), "conditions")


class Charge(Frozen):
    """One priced part of a version. A subclass is one pricing method, with its options.

    `markup` multiplies every rate of the charge: the rates are then a provider's list rates.
    """

    # Attributes that a rate of this charge may name, in the order in which a SKU names them.
    ATTRIBUTES: ClassVar[tuple[str, ...]] = ()
    # What the units of this charge may count (see units.yaml).
    METERS: ClassVar[tuple[str, ...]] = ()
    # Whether they may count any meter of meters.yaml too, but tokens.
    ANY_METER: ClassVar[bool] = False

    charge: Text
    method: str
    unit: Text
    markup: Positive = Decimal(1)
    rates: tuple[Rate, ...]

    @property
    def fields(self) -> frozenset[str]:
        """The request fields that this charge's amount depends on."""
        return frozenset(attribute for rate in self.rates for attribute in rate.attributes)

    @property
    def of_source(self) -> bool:
        """Whether seconds and size are those of the source video that a request sends."""
        return "video_url" in self.fields


Combination = tuple[str, ...]
Domains = Mapping[str, Sequence[str]]


class Accepting(Protocol):
    """A version, as the selection of rates sees it."""

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Every value that the attribute can have."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """The rates of a charge by the values of the attributes that they name."""

    attributes: tuple[str, ...]
    rates: Mapping[Combination, Rate]


def named_attributes(rates: Iterable[Rate], order: Sequence[str]) -> tuple[str, ...]:
    """The attributes that these rates name, in the order of `order`."""
    named = {attribute for rate in rates for attribute in rate.attributes}
    return tuple(attribute for attribute in order if attribute in named)


def combinations(rate: Rate, attributes: Sequence[str], domains: Domains) -> Iterator[Combination]:
    """Every combination of values that a rate applies to."""
    return product(*(rate.attributes.get(attribute, domains[attribute]) for attribute in attributes))


def domains_of(version: Accepting, charge: Charge) -> dict[str, tuple[str, ...]]:
    """The values that each attribute named by a charge's rates can have; for `up_to`, its tiers."""
    names = named_attributes(charge.rates, charge.ATTRIBUTES)
    return {name: tiers(charge.rates) if name == "up_to" else version.values_of(name) for name in names}


def tiers(rates: Iterable[Rate]) -> tuple[str, ...]:
    """The upper edges of these rates' tiers, rising, `any` last."""
    edges = {edge for rate in rates for edge in rate.attributes.get("up_to", ())}
    return tuple(sorted(edges, key=lambda edge: (edge == ANY, len(edge), edge)))


def select(version: Accepting, charge: Charge) -> _Selection:
    """Compile the rates of a charge, checked when they were loaded, into one look-up."""
    domains = domains_of(version, charge)
    attributes = tuple(domains)
    rates = {key: rate for rate in charge.rates for key in combinations(rate, attributes, domains)}
    return _Selection(attributes, rates)


def overlaps(rates: Sequence[Rate], attributes: Sequence[str], domains: Domains) -> Iterator[tuple[int, int, str]]:
    """(index, index of the earlier rate, combination) for every combination that two rates fit."""
    seen: dict[Combination, int] = {}
    for index, rate in enumerate(rates):
        for key in combinations(rate, attributes, domains):
            if key in seen:
                yield index, seen[key], _describe(attributes, key)
                break
            seen[key] = index


def missing(rates: Sequence[Rate], attributes: Sequence[str], domains: Domains) -> Iterator[str]:
    """Every accepted combination that no rate fits."""
    have = {key for rate in rates for key in combinations(rate, attributes, domains)}
    for key in product(*(domains[attribute] for attribute in attributes)):
        if key not in have:
            yield _describe(attributes, key)


def _describe(attributes: Sequence[str], key: Combination) -> str:
    """`resolution: 720p, audio: true`."""
    return ", ".join(f"{attribute}: {value}" for attribute, value in zip(attributes, key, strict=True))
