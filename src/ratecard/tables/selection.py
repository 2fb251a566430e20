"""Which rate fits which attributes: every combination that a version accepts must fit exactly one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from ratecard.tables.charge import Charge
from ratecard.tables.rate import ANY, Rate

Combination = tuple[str, ...]
Domains = Mapping[str, Sequence[str]]


class Accepting(Protocol):
    """A version, as far as rates are selected under it."""

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Every value that the attribute can have."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The rates of a charge by the values of the attributes that they name."""

    attributes: tuple[str, ...]
    rates: Mapping[Combination, Rate]


def named_attributes(rates: Iterable[Rate], order: Sequence[str]) -> tuple[str, ...]:
    """The attributes that these rates name, in the order of `order`."""
    named = {attribute for rate in rates for attribute in rate.attributes}
    return tuple(attribute for attribute in order if attribute in named)


def combinations(rate: Rate, attributes: Sequence[str], domains: Domains) -> Iterator[Combination]:
    """Every combination of values that a rate stands for."""
    return product(*(rate.attributes.get(attribute, domains[attribute]) for attribute in attributes))


def domains_of(version: Accepting, charge: Charge) -> dict[str, tuple[str, ...]]:
    """The values that each attribute named by a charge's rates can have; of `up_to`, the tiers that it has."""
    names = named_attributes(charge.rates, charge.ATTRIBUTES)
    return {name: tiers(charge.rates) if name == "up_to" else version.values_of(name) for name in names}


def tiers(rates: Iterable[Rate]) -> tuple[str, ...]:
    """Every upper edge of these rates' tiers, rising, `any` last."""
    edges = {edge for rate in rates for edge in rate.attributes.get("up_to", ())}
    return tuple(sorted(edges, key=lambda edge: (edge == ANY, len(edge), edge)))


def select(version: Accepting, charge: Charge) -> Selection:
    """Compile rates, which were checked when they were loaded, into one look-up."""
    domains = domains_of(version, charge)
    attributes = tuple(domains)
    rates = {key: rate for rate in charge.rates for key in combinations(rate, attributes, domains)}
    return Selection(attributes, rates)


def overlaps(rates: Sequence[Rate], attributes: Sequence[str], domains: Domains) -> Iterator[tuple[int, int, str]]:
    """(index, index of the earlier rate, combination) for every combination that two rates fit."""
    seen: dict[Combination, int] = {}
    for index, rate in enumerate(rates):
        for key in combinations(rate, attributes, domains):
            if key in seen:
                yield index, seen[key], describe(attributes, key)
                break
            seen[key] = index


def missing(rates: Sequence[Rate], attributes: Sequence[str], domains: Domains) -> Iterator[str]:
    """Every accepted combination that no rate fits."""
    have = {key for rate in rates for key in combinations(rate, attributes, domains)}
    for key in product(*(domains[attribute] for attribute in attributes)):
        if key not in have:
            yield describe(attributes, key)


def describe(attributes: Sequence[str], key: Combination) -> str:
    """`resolution: 720p, audio: true`."""
    return ", ".join(f"{attribute}: {value}" for attribute, value in zip(attributes, key, strict=True))
