"""The rates of two versions, combination by combination: a line that was split, joined or moved changes nothing."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from ratecard.diff.change import Priced, RateChange
from ratecard.diff.side import Priceable
from ratecard.tables.charge import Charge
from ratecard.tables.rate import Rate
from ratecard.tables.selection import combinations, named_attributes, tiers
from ratecard.tables.version import Version
from ratecard.tables.vocabulary import Unit
from ratecard.words.money import multiply, plain

# What an attribute is where a rate does not name it and the version lists no values of it.
_ALL = ("",)
# A rate of tokens that names no context is the one of the ordinary context.
_UNNAMED = {"context": ("base",)}


class _Key(NamedTuple):
    """What a rate is the price of: rates are compared where all of this is equal."""

    charge: str
    counts: str
    currency: str
    values: tuple[str, ...]


def rate_changes(old: Priceable | None, new: Priceable | None) -> tuple[RateChange, ...]:
    """Every rate that differs; combinations that stand on the same two lines are one change."""
    names = _names(old, new)
    before, after = _rates(old, names), _rates(new, names)
    found = [
        (key, was, now)
        for key, was, now in ((key, before.get(key), after.get(key)) for key in {**before, **after})
        if was is None or now is None or was.each != now.each
    ]
    return tuple(_joined(found, names))


def _joined(
    found: Sequence[tuple[_Key, Priced | None, Priced | None]], names: Mapping[str, tuple[str, ...]]
) -> Iterator[RateChange]:
    groups: dict[tuple[str, Priced | None, Priced | None], list[tuple[str, ...]]] = {}
    for key, was, now in found:
        groups.setdefault((key.charge, was, now), []).append(key.values)
    for (charge, was, now), values in groups.items():
        yield RateChange(charge, _attributes(names[charge], values), was, now)


def _attributes(names: tuple[str, ...], combined: Sequence[tuple[str, ...]]) -> str:
    """`resolution 480p | 720p, audio true`."""
    each = [list(dict.fromkeys(column)) for column in zip(*combined, strict=True)]
    shown = ((name, [value for value in values if value]) for name, values in zip(names, each, strict=True))
    return ", ".join(f"{name} {' | '.join(values)}" for name, values in shown if values)


def _names(*sides: Priceable | None) -> dict[str, tuple[str, ...]]:
    """The attributes that the rates of each charge name, on either side."""
    charges = sorted((charge for side in sides if side for charge in side.version.charges), key=lambda one: one.charge)
    return {name: _ordered(list(group)) for name, group in groupby(charges, key=lambda one: one.charge)}


def _ordered(charges: Sequence[Charge]) -> tuple[str, ...]:
    order = tuple(dict.fromkeys(name for charge in charges for name in charge.ATTRIBUTES))
    return named_attributes((rate for charge in charges for rate in charge.rates), order)


def _rates(side: Priceable | None, names: Mapping[str, tuple[str, ...]]) -> dict[_Key, Priced]:
    if side is None:
        return {}
    found = {}
    for charge in side.version.charges:
        unit = side.units[charge.unit]
        domains = {name: _domain(side.version, charge, name) for name in names[charge.charge]}
        for rate in charge.rates:
            priced = _priced(charge, rate, unit)
            for values in combinations(rate, names[charge.charge], domains):
                found[_Key(charge.charge, unit.counts, side.model.currency, values)] = priced
    return found


def _domain(version: Version, charge: Charge, name: str) -> tuple[str, ...]:
    if name == "up_to":
        return tiers(charge.rates) or _ALL
    values: tuple[str, ...] = _UNNAMED.get(name) or version.values_of(name)  # type: ignore[attr-defined]
    return values or _ALL


def _priced(charge: Charge, rate: Rate, unit: Unit) -> Priced:
    amount = plain(multiply(rate.rate, charge.markup))
    return Priced(amount, unit.unit, Fraction(amount) / unit.per, rate.source)
