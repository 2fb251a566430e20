"""Checks of rates and factors under conditions: their names are declared, and it is clear which of them apply.

Every combination of attributes that a version accepts fits exactly one rate of a charge, at each hour.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from ratecard.base.messages import Finding
from ratecard.base.suggestions import did_you_mean, meant_or_allowed
from ratecard.line_items.conditions import chosen, combinations_of, held_under, in_full, rank, written_rates
from ratecard.tables.metered import METERED_CHARGES, MeteredVersion
from ratecard.tables.meters import Meter, Meters, UsageCondition
from ratecard.tables.rate import (
    ANY,
    HOURS,
    WEEKDAYS,
    WINDOW,
    ZONE,
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
from ratecard.tables.windows import DAYS, Window, held_rates, read_hours, window_of, zone_of, zones

CheckOfCharge = Callable[[Charge], Iterable[Finding]]
_MINUTES_OF_DAY = 24 * 60
# Tables have few sets of windows, so that most results are remembered.
_REMEMBERED = 256
# In these two years every zone has each of its offsets, and two zones have every pair that occurs.
_FIRST, _HOURS = datetime(2026, 1, 1, tzinfo=UTC), 2 * 366 * 24
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


def check_hours(charge: Charge) -> Iterator[Finding]:
    """Check the hours, weekdays and zones of the lines of a charge."""
    for index, rate in enumerate(charge.rates):
        named = [name for name in WINDOW if name in rate.attributes]
        if not named:
            continue
        if ZONE not in named:
            yield ("rates", index), f"{named[0]} without a zone. Write whose clock decides, like zone: UTC"
        elif named == [ZONE]:
            yield ("rates", index, ZONE), "zone has no effect without hours or weekdays. Write some, or leave it out"
        yield from ((("rates", index, name), words) for name, words in _wrong_words(rate.attributes))


def _wrong_words(attributes: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    for word in attributes.get(HOURS, ()):
        first, _, end = word.partition("..")
        if read_hours(word) is None:
            is_empty = first == end and read_hours(f"{first}..24:00") is not None
            wrong = "ends where it begins" if is_empty else "is not a time of the day"
            yield HOURS, f"hours '{word}' {wrong}. Write from and to, like 16:30..00:30; to is the first minute after"
    for word in attributes.get(WEEKDAYS, ()):
        if word not in DAYS:
            yield WEEKDAYS, f"weekdays '{word}' is not known.{meant_or_allowed(word, DAYS)}"
    zone_names = attributes.get(ZONE, ())
    if len(zone_names) > 1:
        yield ZONE, f"names {len(zone_names)} zones. Write a line for each"
    for word in zone_names:
        if word not in zones():
            near = did_you_mean(word, sorted(zones()))
            yield ZONE, f"zone '{word}' is not a time zone.{near} Write a name like UTC or Europe/Berlin"


def at_each_hour(version: Accepting, charge: Charge, check: CheckOfCharge) -> Iterator[Finding]:
    """Check a charge as it is at each of its hours: with the rates that hold together."""
    if not any(name in rate.attributes for rate in charge.rates for name in WINDOW):
        yield from check(charge)
        return
    if any(check_hours(charge)):
        return  # these faults are reported already
    moments = _moments(_windows_of(charge)).items()
    cases = [(moment, held_rates(version, charge, held)) for held, moment in moments]
    findings = list(of_all_cases((moment, list(_at(charge, numbered, check))) for moment, numbered in cases))
    # A line is compared with those of other hours only if no line has a fault.
    yield from findings or of_all_cases((moment, list(_lacking(charge, numbered))) for moment, numbered in cases)


def rates_at_each_hour(
    version: Accepting, charge: Charge, within: Window | None = None
) -> Iterator[list[tuple[int, Rate]]]:
    """Yield the rates of a checked charge that hold together, with the indexes of their lines.

    There are such rates for each of its hours, or for those of a window of another charge.
    """
    windows = _windows_of(charge)
    for held in _moments(windows if within is None else tuple(dict.fromkeys((*windows, within)))):
        if within is None or within in held:
            yield held_rates(version, charge, held)


def _windows_of(charge: Charge) -> tuple[Window, ...]:
    return tuple(dict.fromkeys(window for rate in charge.rates if (window := window_of(rate.attributes))))


def _at(charge: Charge, numbered: Sequence[tuple[int, Rate]], check: CheckOfCharge) -> Iterator[Finding]:
    held = charge.with_rates(rate for _, rate in numbered)
    if numbered:
        yield from placed(check(held), numbered)
    else:
        yield ("rates",), "no rate holds"


def _lacking(charge: Charge, numbered: Iterable[tuple[int, Rate]]) -> Iterator[Finding]:
    """Yield a finding for each bucket of tokens that has a rate at other hours only."""
    written, lacking = list(written_rates(charge.with_rates(rate for _, rate in numbered))), dict[str, Finding]()
    for rate in written_rates(charge):
        if chosen(written, rate.bucket, rate.edge.above, rate.conditions) is None:
            words = f"no rate for {rate.bucket} tokens. Write one for the other hours too"
            lacking.setdefault(rate.bucket, (("rates", charge.rates.index(rate.rate)), words))
    yield from lacking.values()


@lru_cache(_REMEMBERED)
def _moments(windows: tuple[Window, ...]) -> dict[frozenset[Window], str]:
    """Return every set of windows that hold together at some time, and such a time in words."""
    if not windows:
        return {frozenset(): ""}
    names = tuple(dict.fromkeys(window.zone for window in windows))
    moments: dict[frozenset[Window], str] = {}
    edges = {edge for window in windows for hours in window.hours for edge in hours}
    for offsets in _offsets(names):
        shifts = dict(zip(names, offsets, strict=True))
        # In minutes of a week, UTC: a set of windows changes only where a window or a day begins or ends.
        starts = {
            (day * _MINUTES_OF_DAY + edge - shift) % (7 * _MINUTES_OF_DAY)
            for day in range(7)
            for edge in (0, *edges)
            for shift in offsets
        }
        for start in sorted(starts):
            local = {
                name: divmod((start + shift) % (7 * _MINUTES_OF_DAY), _MINUTES_OF_DAY) for name, shift in shifts.items()
            }
            held = frozenset(window for window in windows if window.holds_at(*local[window.zone]))
            day, minute = local[names[0]]
            moments.setdefault(held, f"on {DAYS[day]} at {minute // 60:02}:{minute % 60:02} in {names[0]}")
    return moments


@lru_cache(_REMEMBERED)
def _offsets(names: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the offsets from UTC that these zones have at the same time, in minutes."""
    if len(names) == 1:
        return ((0,),)  # every local time of a week occurs
    zones_of, offset_sets = [zone_of(name) for name in names], dict[tuple[int, ...], None]()
    for hour in range(_HOURS):
        instant = _FIRST + timedelta(hours=hour)
        offsets = (instant.astimezone(zone).utcoffset() or timedelta() for zone in zones_of)
        offset_sets[tuple(int(offset.total_seconds()) // 60 for offset in offsets)] = None
    return tuple(offset_sets)


def placed(findings: Iterable[Finding], numbered: Sequence[tuple[int, Rate]]) -> Iterator[Finding]:
    """Yield findings of some rates of a charge, at the indexes that these rates have in the whole charge."""
    for path, words in findings:
        in_rates = path[:1] == ("rates",) and path[1:]
        yield (*path[:1], numbered[int(path[1])][0], *path[2:]) if in_rates else path, words


def of_all_cases(cases: Iterable[tuple[str, Sequence[Finding]]]) -> Iterator[Finding]:
    """Yield the findings of all cases, each once; a finding of only some cases names the first of them."""
    cases_of, count = dict[Finding, list[str]](), 0
    for count, (case, findings) in enumerate(cases, 1):  # noqa: B007 (the last is how many there are)
        for finding in findings:
            cases_of.setdefault(finding, []).append(case)
    for (path, words), cases_with in cases_of.items():
        yield path, words if len(cases_with) == count or not cases_with[0] else f"{words} ({cases_with[0]})"
