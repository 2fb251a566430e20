"""The rates of two versions, combination by combination: a line that was split, joined or moved changes nothing."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from ratecard.diff.change import Priced, RateChange
from ratecard.diff.side import Priceable
from ratecard.tables.charge import Charge
from ratecard.tables.rate import Rate
from ratecard.tables.selection import Combination, combinations, named_attributes, tiers
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
    values: Combination


def rate_changes(old: Priceable | None, new: Priceable | None) -> tuple[RateChange, ...]:
    """Every rate that differs; combinations that stand on the same two lines are one change."""
    names = _names(old, new)
    before, after = _rates(old, names), _rates(new, names)
    groups: dict[tuple[str, Priced | None, Priced | None], list[Combination]] = {}
    known: dict[str, list[Combination]] = {}
    for key in {**before, **after}:
        was, now = before.get(key), after.get(key)
        known.setdefault(key.charge, []).append(key.values)
        if was is None or now is None or was.each != now.each:
            groups.setdefault((key.charge, was, now), []).append(key.values)
    return tuple(
        RateChange(charge, _attributes(names[charge], values, known[charge]), was, now)
        for (charge, was, now), values in groups.items()
    )


def _attributes(names: tuple[str, ...], found: Sequence[Combination], known: Sequence[Combination]) -> str:
    """`resolution 480p | 720p, audio true`; what has every value that there is does not matter."""
    shown = []
    for name, values, every in zip(names, _columns(found), _columns(known), strict=True):
        if values != [""] and (len(values) == 1 or len(values) < len(every)):
            shown.append(f"{name} {' | '.join(values)}")
    return ", ".join(shown)


def _columns(combined: Sequence[Combination]) -> list[list[str]]:
    return [list(dict.fromkeys(column)) for column in zip(*combined, strict=True)]


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
