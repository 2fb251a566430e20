"""Checks of rates and factors under conditions: their names are declared, and it is clear which of them apply.

Every combination of attributes that a version accepts fits exactly one rate of a charge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ratecard.base.messages import Finding
from ratecard.base.suggestions import did_you_mean, meant_or_allowed
from ratecard.line_items.conditions import combinations_of, held_under, in_full, rank
from ratecard.methods.hours import CheckOfCharge, at_each_hour, of_all_cases, placed
from ratecard.tables.metered import METERED_CHARGES, MeteredVersion
from ratecard.tables.meters import Meter, Meters, UsageCondition
from ratecard.tables.rate import (
    ANY,
    WINDOW,
    Accepting,
    Charge,
    Conditioned,
    Rate,
    RateFactor,
    domains_of,
    missing,
    named_conditions,
    overlaps,
    tiers,
)
from ratecard.tables.video import VIDEO_CHARGES

_OF_CONDITIONS = "a condition of meters.yaml, or a value of one"


def check_attribute(
    index: int, rate: Rate, name: str, known: Mapping[str, Sequence[str]], where: str = ""
) -> Iterator[Finding]:
    """Check an attribute of a rate; `known` has the values by name, and `where` is added for an unknown name."""
    path = ("rates", index, name)
    if name not in known:
        allowed = (*known, "rate")
        kinds = (*VIDEO_CHARGES.by_method.values(), *METERED_CHARGES.by_method.values())
        if name == "factor":
            example = "`factors: [{service_tier: batch, factor: 0.5}]`"
            yield path, f"a factor is no part of a rate. Write {example} beside `rates`"
        elif any(name in kind.model_fields for kind in kinds):
            yield path, f"{name} is a key of a charge, not of a rate. Write it beside `rates`"
        else:
            near = did_you_mean(name, (*allowed, *WINDOW))
            yield path, f"unknown key '{name}'{where}.{near} Allowed: {', '.join(allowed)}"
        return
    for value in rate.attributes[name] if known[name] else ():
        if value not in known[name]:
            yield path, f"{name} '{value}' is not known.{meant_or_allowed(value, known[name])}"


def check_factors(
    factors: Sequence[RateFactor], meters: Meters, of_version: Sequence[RateFactor] = ()
) -> Iterator[Finding]:
    """Check the factors of a version, or of a charge, which multiply with those `of_version`."""
    seen = list(of_version)
    for index, factor in enumerate(factors):
        if not factor.conditions:
            yield ("factors", index), f"names no condition. Write one of: {', '.join(meters.condition)}"
        for name, value in factor.conditions.items():
            path = ("factors", index, name)
            if name not in meters.condition:
                yield path, f"'{name}' is not a condition of meters.yaml.{meant_or_allowed(name, meters.condition)}"
            elif value not in (known := meters.condition[name].values):
                yield path, f"{name} '{value}' is not known.{meant_or_allowed(value, known)}"
        for other in seen:
            shared = factor.conditions.keys() & other.conditions.keys()
            if shared and not contradict(factor.conditions, other.conditions):
                line = other.source.rpartition(":")[2]
                words = f"this factor and that of line {line} would both apply for one {min(shared)}"
                yield ("factors", index), f"{words}. Let no two hold at once"
                break
        seen.append(factor)


def check_without_rate(
    without_rate: Mapping[str, str], meter: Meter | None, conditions: Iterable[UsageCondition] = ()
) -> Iterator[Finding]:
    """Check `without_rate`: `parent` is for a dimension of a meter, `default` for a condition, `refuse` for both.

    A dimension or a condition may also be named by one of its values.
    """
    if not without_rate:
        return
    dimensions = meter.dimensions if meter else {}
    of_meter = f"a dimension or a value of {meter.meter}" if meter else ""
    kinds = {
        "parent": (of_meter, dimensions),
        "default": (_OF_CONDITIONS, {condition.condition: condition.values for condition in conditions}),
    }
    for name, treatment in without_rate.items():
        fitting = [
            kind for word, kind in kinds.items() if treatment in (word, "refuse") and (kind[1] or kind[0] == of_meter)
        ]
        known = [word for _, listed in fitting for key, values in listed.items() for word in (key, *values)]
        if name not in known:
            words = " or ".join(kind for kind, _ in fitting) or "known here: nothing can be said of it"
            yield ("without_rate", name), f"'{name}' is not {words}.{did_you_mean(name, known)}"


def check_not_sold(version: MeteredVersion, meters: Meters) -> Iterator[Finding]:
    """Check that each combination that is not sold names conditions that rates or factors of the version name."""
    named = {name: values for name, values in version.conditions.items() if name in meters.condition}
    for index, combination in enumerate(version.not_sold or ()):
        at = ("not_sold", index)
        if not combination:
            yield at, "names no condition. Write a combination, like {speed: fast, service_tier: batch}"
        for name, value in combination.items():
            known = meters.condition[name].spellings(named[name]) if name in named else {}
            if name not in named:
                yield (*at, name), f"no rate or factor names {name}.{meant_or_allowed(name, named)}"
            elif known.get(value) != value:
                yield (*at, name), f"no rate or factor names {name}: {value}.{meant_or_allowed(value, known)}"


def at_each_condition(
    version: MeteredVersion, charge: Conditioned, meters: Meters, check: CheckOfCharge
) -> Iterator[Finding]:
    """Check a charge as it is under each combination of the conditions that its rates name."""
    if not (version.not_sold or any(rate.timed or charge.conditions_of(rate) for rate in charge.rates)):
        yield from dict.fromkeys(check(charge))  # each finding once, as below
        return
    known = {
        **dict.fromkeys(charge.ATTRIBUTES, ()),
        **{condition.condition: condition.values for condition in meters.conditions},
    }
    wrong = [
        finding
        for index, rate in enumerate(charge.rates)
        for name in charge.conditions_of(rate)
        for finding in check_attribute(index, rate, name, known, f" in a rate of {charge.method}")
    ]
    yield from wrong
    if not charge.rates:
        yield from check(charge)
    elif not wrong:
        yield from of_all_cases(_under_each(version, charge, meters, check))


def _under_each(
    version: MeteredVersion, charge: Conditioned, meters: Meters, check: CheckOfCharge
) -> Iterator[tuple[str, list[Finding]]]:
    named = named_conditions([charge.model_copy(update={"factors": ()})])
    for stated in (
        combination for combination in combinations_of(named, meters) if not version.refuses(combination, meters)
    ):
        numbered = held_under(version, charge, in_full(named, stated, meters))
        if not numbered:
            yield "", [(("rates",), "no rate for a request without conditions. Write one")]
            continue
        held = charge.with_rates(rate for _, rate in numbered)
        unclear = list(_unclear(version, charge, held, [index for index, _ in numbered], stated))
        yield "", unclear
        words = ", ".join(f"{name} {value}" for name, value in stated.items())
        yield words, [] if unclear else list(placed(check(held), numbered))


def _unclear(
    version: MeteredVersion, charge: Conditioned, held: Conditioned, lines: Sequence[int], stated: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield a finding for two rates of the charge that both hold, if neither overrides the other."""
    for index, earlier, combination in overlaps(held.rates, domains_of(version, held)):
        one, other = charge.rates[lines[index]], charge.rates[lines[earlier]]
        if rank(charge, one) != rank(charge, other):
            subject = ", ".join((combination or charge.charge, *(f"{name}: {value}" for name, value in stated.items())))
            line = other.source.rpartition(":")[2]
            words = f"this rate and that of line {line} both hold for {subject}. Write the rate for both"
            yield ("rates", lines[index]), words


def contradict(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return True if no request can be under both conditions."""
    return any(other.get(name, value) != value for name, value in one.items())


def check_rates(version: Accepting, charge: Charge) -> Iterator[Finding]:
    """Check, at each hour of a charge, that every combination of attributes that is accepted fits exactly one rate."""
    yield from at_each_hour(version, charge, lambda held: _check_rates(version, held))


def _check_rates(version: Accepting, charge: Charge) -> Iterator[Finding]:
    if not charge.rates:
        yield ("rates",), "rates is empty. Write at least one rate"
        return
    wrong = list(_wrong_attributes(version, charge))
    yield from wrong
    if wrong:
        return
    domains = domains_of(version, charge)
    for index, earlier, combination in overlaps(charge.rates, domains):
        other = charge.rates[earlier].source.rpartition(":")[2]
        yield ("rates", index), f"two rates for {combination or 'the same thing'} (the other in line {other}); keep one"
    for combination in missing(charge.rates, domains):
        yield ("rates",), f"no rate for {combination}, which this version accepts. Add one, or do not accept it"


def _wrong_attributes(version: Accepting, charge: Charge) -> Iterator[Finding]:
    known = dict.fromkeys(charge.ATTRIBUTES, ())
    for index, rate in enumerate(charge.rates):
        for attribute, values in rate.attributes.items():
            path = ("rates", index, attribute)
            if attribute not in known:
                yield from check_attribute(index, rate, attribute, known, f" in a rate of {charge.method}")
            elif attribute == "up_to":
                yield from ((path, words) for words in _wrong_tier(values))
            else:
                accepted = version.values_of(attribute)
                hint = f"It accepts: {', '.join(accepted)}" if accepted else "It offers no choice of this field"
                for value in (value for value in values if value not in accepted):
                    yield path, f"{attribute} '{value}' is not accepted by this version. {hint}"
    edges = tiers(charge.rates)
    if "up_to" in charge.ATTRIBUTES and ANY not in edges:
        words = f"the tiers end at {edges[-1]}. Add a last one" if edges else "no rate names its tier. Write one"
        yield ("rates",), f"{words}: up_to: any"


def _wrong_tier(values: tuple[str, ...]) -> Iterator[str]:
    for value in values:
        if value != ANY and not (value.isascii() and value.isdigit() and value[0] != "0"):
            yield f"up_to '{value}' is not a height in pixels. Write digits like 720, or any for the last tier"
