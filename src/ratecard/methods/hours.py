"""Rules for rates that hold at some hours only: what a line may say, and a charge at each of its hours."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from ratecard.base.messages import Finding
from ratecard.base.suggestions import did_you_mean, meant_or_allowed
from ratecard.line_items.conditions import chosen, written_rates
from ratecard.tables.rate import HOURS, WEEKDAYS, WINDOW, ZONE, Accepting, Charge, Rate
from ratecard.tables.windows import DAYS, Window, held_rates, read_hours, window_of, zone_of, zones

CheckOfCharge = Callable[[Charge], Iterable[Finding]]
_MINUTES_OF_DAY = 24 * 60
# Tables have few sets of windows, so that most results are remembered.
_REMEMBERED = 256
# In these two years every zone has each of its offsets, and two zones have every pair that occurs.
_FIRST, _HOURS = datetime(2026, 1, 1, tzinfo=UTC), 2 * 366 * 24


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
