"""Rates under conditions of a request, as `service_tier: batch`: which of a charge hold when some are stated.

Of two rates that hold, one that names all conditions of the other, and its hours, overrides it.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from ratecard.tables.meters import Meters
from ratecard.tables.rate import Accepting, Charge, Conditioned, HeldRate, Rate, RateFactor, domains_of, less


def named_conditions(charges: Iterable[Charge], factors: Iterable[RateFactor] = ()) -> dict[str, set[str]]:
    """The conditions that the rates and factors of charges name, and these further factors; of each the values."""
    found: dict[str, set[str]] = {}
    for charge in charges:
        if isinstance(charge, Conditioned):
            for rate in charge.rates:
                for name, values in charge.conditions_of(rate).items():
                    found.setdefault(name, set()).update(values)
            factors = (*factors, *charge.factors)
    for factor in factors:
        for name, value in factor.conditions.items():
            found.setdefault(name, set()).add(value)
    return found


def in_full(named: Mapping[str, Iterable[str]], stated: Mapping[str, str], meters: Meters) -> dict[str, str]:
    """The value of each of these conditions: the stated one, else its default; without one, the first that is named."""
    return {
        name: stated.get(name) or meters.condition[name].default or min(values) for name, values in named.items()
    }


def beside_defaults(stated: Mapping[str, str], meters: Meters) -> dict[str, str]:
    """Stated conditions without those that have their defaults, in the order of meters.yaml."""
    return {
        name: stated[name] for name, each in meters.condition.items() if stated.get(name, each.default) != each.default
    }


def combinations_of(named: Mapping[str, set[str]], meters: Meters) -> Iterator[dict[str, str]]:
    """Every combination of the named values and defaults of conditions, without the defaults; that of none first.

    A condition that has no default is in each of them.
    """
    declared = [(meters.condition[name], values) for name, values in named.items()]
    listed = [
        [*([None] if one.default else []), *(each for each in one.values if each in values - {one.default})]
        for one, values in declared
    ]
    for values in product(*listed):
        yield {name: value for name, value in zip(named, values, strict=True) if value}


class Rank(NamedTuple):
    """What a rate names beside the attributes of its method: conditions, and whether hours."""

    conditions: frozenset[str]
    timed: bool

    def above(self, other: "Rank") -> bool:
        """Whether a rate overrides another."""
        return self != other and self.conditions >= other.conditions and self.timed >= other.timed


def rank(charge: Conditioned, rate: Rate) -> Rank:
    """What a rate of a charge names."""
    return Rank(frozenset(charge.conditions_of(rate)), isinstance(rate, HeldRate))


def held_under(version: Accepting, charge: Conditioned, stated: Mapping[str, str]) -> list[tuple[int, Rate]]:
    """Return the rates of a charge under conditions stated in full, each with the index of its line in the charge.

    They name attributes of the method alone, and only what others that override them leave.
    """
    held = []
    for index, rate in enumerate(charge.rates):
        named = charge.conditions_of(rate)
        if all(stated.get(name) in values for name, values in named.items()):
            attributes = {name: values for name, values in rate.attributes.items() if name not in named}
            held.append((index, rank(charge, rate), rate.model_copy(update={"attributes": attributes})))
    domains = domains_of(version, charge)
    return [
        (index, left)
        for index, own, rate in held
        for left in less(rate, [other for _, one, other in held if one.above(own)], domains)
    ]
