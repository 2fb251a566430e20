"""Checks of rates and factors under conditions: what they name is declared, and no two of them hold alike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from ratecard.base.messages import Finding, Path
from ratecard.base.suggestions import did_you_mean
from ratecard.tables.metered import Conditioned
from ratecard.tables.meters import Meter, Meters
from ratecard.tables.rate import WINDOW, Rate, RateFactor
from ratecard.tables.token_rates import WrittenRate, chosen, more_specific, written_rates


def check_attribute(index: int, rate: Rate, name: str, known: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Check an attribute of a rate, of which `known` has the values by name."""
    path = ("rates", index, name)
    if name not in known:
        allowed = (*known, "rate")
        near = did_you_mean(name, (*allowed, *WINDOW))
        yield path, f"unknown key '{name}'.{near} Allowed: {', '.join(allowed)}"
        return
    for value in rate.attributes[name]:
        if known[name] and value not in known[name]:
            near = did_you_mean(value, known[name])
            yield path, f"{name} '{value}' is not known.{near} Allowed: {', '.join(known[name])}"


def check_factors(
    factors: Sequence[RateFactor], meters: Meters, of_version: Sequence[RateFactor] = ()
) -> Iterator[tuple[int, Path, str]]:
    """Check factors; those of a charge multiply with those `of_version`."""
    seen = list(of_version)
    for index, factor in enumerate(factors):
        if not factor.conditions:
            yield index, (), f"names no condition. Write one of: {', '.join(meters.condition)}"
        for name, value in factor.conditions.items():
            if name not in meters.condition:
                near, allowed = did_you_mean(name, meters.condition), ", ".join(meters.condition)
                yield index, (name,), f"'{name}' is not a condition of meters.yaml.{near} Allowed: {allowed}"
            elif value not in meters.condition[name].values:
                known = meters.condition[name].values
                near = did_you_mean(value, known)
                yield index, (name,), f"{name} '{value}' is not known.{near} Allowed: {', '.join(known)}"
        for other in seen:
            shared = factor.conditions.keys() & other.conditions.keys()
            if shared and not _contradict(factor.conditions, other.conditions):
                line = other.source.rpartition(":")[2]
                words = f"this factor and that of line {line} would both apply for one {min(shared)}"
                yield index, (), f"{words}. Let no two hold at once"
                break
        seen.append(factor)


def check_without_rate(names: Iterable[str], meter: Meter) -> Iterator[Finding]:
    """Check that `without_rate` names dimensions of a meter, or values of them."""
    known = [*meter.dimensions, *(value for values in meter.dimensions.values() for value in values)]
    for name in names:
        if name not in known:
            words = f"'{name}' is not a dimension or a value of {meter.meter}.{did_you_mean(name, known)}"
            yield ("without_rate", name), words


def check_twice(charge: Conditioned, written: Sequence[WrittenRate]) -> Iterator[Finding]:
    """Check that of two rates that can hold for one request, one is more specific, or a third settles it."""
    for number, one in enumerate(written):
        for other in written[:number]:
            if one.bucket != other.bucket or _contradict(one.conditions, other.conditions):
                continue
            of_what = f"{one.bucket} tokens" if one.bucket else charge.charge
            if (one.edge.above, one.conditions, one.timed) == (other.edge.above, other.conditions, other.timed):
                shown = "".join(f", {name} {value}" for name, value in one.conditions.items())
                tier = f", {tier_words(one.edge.sku)}" if one.bucket else ""
                yield ("rates", charge.rates.index(one.rate)), f"two rates for {of_what}{tier}{shown}; keep one"
            elif not (more_specific(one, other) or more_specific(other, one)):
                conditions, above = {**one.conditions, **other.conditions}, max(one.edge.above, other.edge.above)
                best = chosen(written, one.bucket, above, conditions)
                if best is None or not (more_specific(best, one) and more_specific(best, other)):
                    named = "".join(f", {name}: {value}" for name, value in conditions.items())
                    line = other.rate.source.rpartition(":")[2]
                    prompt = f" of a prompt of {above + 1} tokens" if one.bucket else ""
                    words = f"this rate and that of line {line} both hold for {of_what}{prompt}"
                    place = ("rates", charge.rates.index(one.rate))
                    yield place, f"{words}{named}. Write the rate for both"


def stated_conditions(charge: Conditioned, factors: Sequence[RateFactor]) -> Iterator[dict[str, str]]:
    """Every combination of the conditions that rates or factors name, and of their defaults, which are left out."""
    values: dict[str, dict[str, None]] = {}
    for conditions in (*(each.conditions for each in written_rates(charge)), *(each.conditions for each in factors)):
        for name, value in conditions.items():
            values.setdefault(name, {"": None})[value] = None
    for chosen_values in product(*values.values()):
        yield {name: value for name, value in zip(values, chosen_values, strict=True) if value}


def tier_words(sku: str) -> str:
    """A tier, as a message names it."""
    name = sku or "base"
    return f"context {name}" if name in ("base", "extended") else name.replace("-", " ", 1)


def _contradict(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether no request can be under both conditions."""
    return any(other.get(name, value) != value for name, value in one.items())
