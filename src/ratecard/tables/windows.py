"""Rates that hold at hours and weekdays of a zone: `{hours: "16:30..00:30", weekdays: [sat, sun], zone: UTC, ...}`.

The wall clock of the zone decides, from the first minute until before the last. When clocks change, an hour that occurs
twice counts twice, and a skipped hour never comes. A window over midnight belongs to the weekday on which it began.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import MAXYEAR, UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ratecard.tables.rate import HOURS, WEEKDAYS, WINDOW, ZONE, Accepting, Charge, HeldRate, Rate, domains_of, less
from ratecard.tables.version import AnyVersion, Version

# The days of a week, as `datetime.weekday` numbers them.
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_RANGE = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\.\.([01]\d|2[0-3]|24(?=:00)):([0-5]\d)", re.ASCII)


def read_hours(text: str) -> tuple[int, int] | None:
    """Read `16:30..00:30` as its first minute of the day and the minute after its last; None for other text.

    >>> read_hours("16:30..00:30"), read_hours("00:00..24:00"), read_hours("9..17")
    ((990, 30), (0, 1440), None)
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    first, end = int(match[1]) * 60 + int(match[2]), int(match[3]) * 60 + int(match[4])
    return None if first == end else (first, end)


@cache
def zones() -> frozenset[str]:
    """Return the names of all time zones."""
    return frozenset((files("tzdata") / "zones").read_text(encoding="utf-8").split())


@cache
def zone_of(name: str) -> ZoneInfo:
    """Return a time zone from the package `tzdata`: a price does not depend on the files of the host."""
    place = files("tzdata").joinpath("zoneinfo", *name.split("/"))
    with place.open("rb") as content:
        return ZoneInfo.from_file(content, key=name)


class Window(NamedTuple):
    """Hours of a zone, as minutes of the day from the first until before the last, on weekdays (0 is Monday)."""

    zone: str
    hours: tuple[tuple[int, int], ...]
    weekdays: tuple[int, ...]

    def holds(self, instant: datetime) -> bool:
        """Return True if the wall clock of the zone is in the window at an aware instant.

        >>> night = Window("UTC", ((1380, 60),), (4,))  # from Friday 23:00 until 01:00
        >>> [night.holds(datetime.fromisoformat(f"2026-10-0{at}:30Z")) for at in ("2T00", "2T23", "3T00", "3T01")]
        [False, True, True, False]
        """
        try:
            local = instant.astimezone(zone_of(self.zone))
        except OverflowError:  # the first or the last day of the calendar
            local = instant
        return self.holds_at(local.weekday(), local.hour * 60 + local.minute)

    def holds_at(self, today: int, minute: int) -> bool:
        """Return True if a minute of a weekday, on the wall clock of the zone, is in the window."""
        for first, end in self.hours:
            if first < end:
                if first <= minute < end and today in self.weekdays:
                    return True
            elif (minute >= first and today in self.weekdays) or (minute < end and (today - 1) % 7 in self.weekdays):
                return True
        return False


def window_of(attributes: Mapping[str, tuple[str, ...]]) -> Window | None:
    """Return the window that the attributes of a rate name, which were checked at load; None without a window."""
    if ZONE not in attributes:
        return None
    return _window(attributes[ZONE][0], attributes.get(HOURS, ("00:00..24:00",)), attributes.get(WEEKDAYS, DAYS))


@lru_cache(1_000)
def _window(zone: str, hours: tuple[str, ...], weekdays: tuple[str, ...]) -> Window:
    ranges = (read_hours(text) for text in hours)
    days = tuple(sorted(DAYS.index(day) for day in weekdays))
    return Window(zone, tuple(sorted(minutes for minutes in ranges if minutes)), days)


def windows_of(versions: Iterable[Version]) -> tuple[Window, ...]:
    """Return the different windows that rates of these versions name, in their order."""
    rates = (rate for version in versions for charge in version.charges for rate in charge.rates)
    named = (window_of(rate.attributes) for rate in rates if ZONE in rate.attributes)
    return tuple(dict.fromkeys(filter(None, named)))


def open_at(windows: Iterable[Window], instant: datetime) -> frozenset[Window]:
    """Return the windows that hold at an instant."""
    return frozenset(window for window in windows if window.holds(instant))


def changes_between(windows: Iterable[Window], first: datetime, end: datetime) -> Iterator[datetime]:
    """Yield the instants strictly between two others at which any of these windows opens or closes."""
    windows = tuple(windows)
    if not windows:
        return
    before, midnight = open_at(windows, first), first.replace(hour=0, minute=0, second=0, microsecond=0)
    seconds = sorted({0, *seconds_of_changes(windows)})
    for day, second in product(range((end - midnight).days + 1), seconds):
        instant = midnight + timedelta(day, second)
        if first < instant < end and (now := open_at(windows, instant)) != before:
            yield instant
            before = now


_FIRST_YEAR, _YEARS = 1990, 110
_WEEK = timedelta(7)
_DAY = 24 * 60 * 60


def seconds_of_changes(windows: Iterable[Window]) -> frozenset[int]:
    """Return the seconds of a UTC day, except 0, at which any of these windows opens or closes on some day.

    >>> [second / 3600 for second in sorted(seconds_of_changes([Window("Europe/London", ((990, 1020),), (0,))]))]
    [1.0, 15.5, 16.0, 16.5, 17.0, 23.0]
    """
    seconds: set[int] = set()
    for window in windows:
        offsets, changes = _clock_changes(window.zone)
        local = {0, *(minute * 60 for edges in window.hours for minute in edges)}
        seconds |= changes | {(second - offset) % _DAY for second in local for offset in offsets}
    return frozenset(seconds - {0})


def each_hour(at: datetime, windows: Sequence[Window]) -> list[datetime]:
    """Return an instant and, for each further set of windows that hold together, the first instant in a week after it.

    Windows in several zones may meet otherwise in another season, but each of them opens in any week.
    """
    moments = [at, *changes_between(windows, at, at + _WEEK if at.year < MAXYEAR else at)]
    return sorted({open_at(windows, moment): moment for moment in reversed(moments)}.values())


@cache
def _clock_changes(name: str) -> tuple[frozenset[int], frozenset[int]]:
    """Return the offsets of a zone from UTC, and the seconds of a UTC day at which its clock is changed."""
    zone, offsets, changes = zone_of(name), set[int](), set[int]()

    def offset(second: int) -> int:
        at = datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
        return int((at.astimezone(zone).utcoffset() or timedelta()).total_seconds())

    before = offset(0)
    offsets.add(before)
    for week in range(_YEARS * 53):  # no zone changes its clock twice in a week
        first, end = 7 * week * _DAY, 7 * (week + 1) * _DAY
        after = offset(end)
        if after != before:
            offsets.add(after)
            while end - first > 1:
                middle = (first + end) // 2
                first, end = (middle, end) if offset(middle) == before else (first, middle)
            changes.add(end % _DAY)
        before = after
    return frozenset(offsets), frozenset(changes)


def version_at_hours(version: AnyVersion, held: frozenset[Window]) -> AnyVersion:
    """Return a version as it is while these windows hold, without the rates of other hours.

    A rate with a window is more specific than one without. Where exactly one rate may hold for a request (see
    `Charge.SPECIFIC`), a rate without a window keeps only the values for which no rate with a window holds.
    """
    charges = tuple(
        charge.with_rates(rate for _, rate in held_rates(version, charge, held))
        if any(ZONE in rate.attributes for rate in charge.rates)
        else charge
        for charge in version.charges
    )
    return version.model_copy(update={"charges": charges})


def held_rates(version: Accepting, charge: Charge, held: frozenset[Window]) -> list[tuple[int, Rate]]:
    """Return the rates of a charge while these windows hold, each with the index of its line in the charge."""
    windows = [window_of(rate.attributes) for rate in charge.rates]
    rates = [
        (index, _held(rate) if window else rate)
        for index, (rate, window) in enumerate(zip(charge.rates, windows, strict=True))
        if window is None or window in held
    ]
    if charge.SPECIFIC:
        return rates
    timed, domains = [rate for _, rate in rates if rate.timed], domains_of(version, charge)
    return [(index, part) for index, rate in rates for part in ([rate] if rate.timed else less(rate, timed, domains))]


def _held(rate: Rate) -> HeldRate:
    attributes = {name: values for name, values in rate.attributes.items() if name not in WINDOW}
    return HeldRate.model_construct(rate=rate.rate, attributes=attributes, source=rate.source, listed=rate.listed)
