"""Compare the rates and conditions of two versions.

Rates and factors are compared for each combination of attributes, so that splitting, joining or moving lines changes
nothing. Conditions (what is accepted, rounding, markups) are compared as text, whatever their order in the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from pydantic import BaseModel

from ratecard.review.difference import Priced, RateChange, TermChange
from ratecard.review.sides import Priceable
from ratecard.tables.limits import Limits
from ratecard.tables.rate import Charge, Combination, RateFactor, combinations, named_attributes, tiers
from ratecard.tables.scalars import value_text
from ratecard.tables.version import Version

# The values of an attribute that a rate does not name, if the version does not list them. They also stand for no tier
# or condition, because a rate without a tier or condition is compared separately from rates that name one.
_ALL = ("",)
# A token rate without a context is for the base context.
_UNNAMED = {"context": ("base",), "above": _ALL, "from": _ALL}
# The label of a factor, which also takes the place of its unit.
_FACTOR = "factor"


# The charge of a rate, what its unit counts, its currency and its values: rates with equal keys are compared.
_Key = tuple[str, str, str, Combination]


def rate_changes(old: Priceable | None, new: Priceable | None) -> tuple[RateChange, ...]:
    """Return every rate that differs; combinations on the same two lines are one change."""
    names = _names(old, new)
    before, after = _rates(old, names), _rates(new, names)
    groups: dict[tuple[str, Priced | None, Priced | None], list[Combination]] = {}
    known: dict[str, list[Combination]] = {}
    for key in {**before, **after}:
        (charge, *_, values), was, now = key, before.get(key), after.get(key)
        known.setdefault(charge, []).append(values)
        if was is None or now is None or was.each != now.each:
            groups.setdefault((charge, was, now), []).append(values)
    return tuple(
        RateChange(charge, _attributes(names[charge], values, known[charge]), was, now)
        for (charge, was, now), values in groups.items()
    )


def _attributes(names: tuple[str, ...], changed: Sequence[Combination], possible: Sequence[Combination]) -> str:
    """Return text like `resolution 480p | 720p, audio true`; an attribute with all of its values is left out."""
    shown = []
    for name, values, every in zip(names, _columns(changed), _columns(possible), strict=True):
        if values != [""] and (len(values) == 1 or len(values) < len(every)):
            shown.append(f"{name} {' | '.join(values)}")
    return ", ".join(shown)


def _columns(combined: Sequence[Combination]) -> list[list[str]]:
    return [list(dict.fromkeys(column)) for column in zip(*combined, strict=True)]


def _names(*sides: Priceable | None) -> dict[str, tuple[str, ...]]:
    """Return the attributes that the rates of each charge name, and the conditions of its factors, on either side."""
    versions = [side.version for side in sides if side]
    charges: dict[str, list[Charge]] = {}
    for charge in (charge for version in versions for charge in version.charges):
        charges.setdefault(charge.charge, []).append(charge)
    names: dict[str, tuple[str, ...]] = {}
    for name, group in charges.items():
        rates = [rate for charge in group for rate in charge.rates]
        keys = dict.fromkeys(key for charge in group for key in charge.ATTRIBUTES)
        keys |= dict.fromkeys(key for rate in rates for key in rate.attributes)
        names[name] = named_attributes(rates, tuple(keys))
    for label, factor in (labelled_factor for version in versions for labelled_factor in _factors(version)):
        names[label] = tuple(dict.fromkeys((*names.get(label, ()), *factor.conditions)))
    return names


def _factors(version: Version) -> Iterator[tuple[str, RateFactor]]:
    """Yield every factor of a version and of its charges, with a label that says where it is."""
    yield from ((_FACTOR, factor) for factor in version.multipliers)
    for charge in version.charges:
        yield from ((f"{_FACTOR} of {charge.charge}", factor) for factor in charge.multipliers)


def _rates(side: Priceable | None, names: Mapping[str, tuple[str, ...]]) -> dict[_Key, Priced]:
    if side is None:
        return {}
    rates = {}
    for charge in side.version.charges:
        unit = side.units[charge.unit]
        domains = {name: _domain(side.version, charge, name) for name in names[charge.charge]}
        for rate in charge.rates:
            amount = charge.unit_rate(rate)
            each = Fraction(amount) / unit.per
            priced = Priced(amount, unit.unit, each, rate.source, currency=side.model.currency)
            for values in combinations(rate, domains):
                rates[charge.charge, unit.counts, side.model.currency, values] = priced
    for label, factor in _factors(side.version):
        stated = tuple(factor.conditions.get(name, "") for name in names[label])
        priced = Priced(factor.factor, _FACTOR, Fraction(factor.factor), factor.source)
        rates[label, _FACTOR, side.model.currency, stated] = priced
    return rates


def _domain(version: Version, charge: Charge, name: str) -> tuple[str, ...]:
    if name == "up_to":
        return tiers(charge.rates) or _ALL
    if name not in charge.ATTRIBUTES:  # A rate without conditions or hours is compared separately from rates with them.
        return _ALL
    values = _UNNAMED.get(name) or version.values_of(name)
    return values or _ALL


# Keys that are not conditions: rates, which are compared separately, and evidence.
_NOT_TERMS = {"rates", "charges", "examples", "effective", "announced", "checked", "source", "reference", "evidence"}
_NOT_TERMS |= {"correction", "expected_change", "place", "minimum_place", "factors"}
# Lists whose order matters, because the first item that fits is used.
_ORDERED = {"tiers"}

Terms = dict[str, str | tuple[str, ...]]
_text = partial(value_text, in_order=False)


def terms_of(side: Priceable) -> Terms:
    """Return every condition of a version by its name: `accepts duration`, `rounding places`, `markup of video`."""
    model, version, units = side
    terms: Terms = {"type": model.type, "currency": model.currency, "mode": getattr(model, "mode", "")}
    terms["limit tier"] = getattr(model, "tier", None) or ""
    terms |= {name: _text(getattr(model, name) or "") for name in ("aliases", "patterns", "provider")}
    terms |= described(version)
    terms["order of charges"] = ", ".join(charge.charge for charge in version.charges)
    for charge in version.charges:
        of_charge = {**described(charge), "unit count": str(units[charge.unit].per)}
        terms |= {f"{name} of {charge.charge}": value for name, value in of_charge.items() if name != "charge"}
    return {name: value for name, value in terms.items() if value}


def described(part: BaseModel, prefix: str = "") -> Terms:
    """Return the keys of a part of a table, nested ones too, each with its value as text."""
    terms: Terms = {}
    of_limits = {"rates"} if isinstance(part, Limits) else set()
    for name in {*type(part).model_fields, *(part.model_extra or ())} - (_NOT_TERMS - of_limits):
        value, words = getattr(part, name), f"{prefix}{name.rstrip('_')}"
        if isinstance(value, BaseModel):
            terms |= described(value, f"{words} ")
        elif isinstance(value, Mapping):
            terms |= {f"{words} {key}": _text(item) for key, item in value.items()}
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            terms[words] = _parts(value, ordered=name in _ORDERED)
        elif value is not None:
            terms[words] = _text(value)
    if payers := [name for name, worth in (part.model_extra or {}).items() if worth is not None]:
        terms[f"{prefix}order"] = ", ".join(payers)  # Balances pay in the order in which they are written.
    return terms


def term_changes(old: Terms, new: Terms) -> tuple[TermChange, ...]:
    """Return the conditions that differ, by name; for a list, only the items that differ."""
    sides = ((name, _listed(old.get(name, "")), _listed(new.get(name, ""))) for name in sorted({**old, **new}))
    return tuple(TermChange(name, _only(was, now), _only(now, was)) for name, was, now in sides if was != now)


def _only(items: tuple[str, ...], others: tuple[str, ...]) -> str:
    return "; ".join(item for item in items if item not in others)


def _listed(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,)


def _parts(values: tuple[BaseModel, ...], *, ordered: bool) -> tuple[str, ...]:
    words = [
        ", ".join(f"{key} {'; '.join(_listed(value))}" for key, value in sorted(described(part).items()))
        for part in values
    ]
    return tuple(f"{number}. {item}" for number, item in enumerate(words, 1)) if ordered else tuple(sorted(words))
