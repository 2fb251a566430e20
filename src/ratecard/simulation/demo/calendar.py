"""When requests are sent: more on working days and in the afternoon, in pages of rows that follow each other."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

from ratecard.simulation.demo.traffic import Period

_WEEKDAYS = (100, 104, 105, 103, 94, 52, 48)
_HOURS = (22, 18, 15, 14, 16, 22, 32, 48, 66, 80, 90, 95, 94, 98, 100, 98, 92, 84, 74, 66, 58, 48, 38, 28)
_HOUR = 3_600_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# So many pages are enough for a smooth year.
MOST_PAGES = 65_536


class Page(NamedTuple):
    """A stretch of rows: its first microsecond, how many it lasts, and its period."""

    page: int
    start: int
    length: int
    period: int


def pages_of(periods: Sequence[Period], rows: int) -> Iterator[Page]:
    """Pages with the same number of rows each (to one), in the order of time; none crosses an hour."""
    hours = list(_hours(periods))
    ends = list(accumulate(weight for _, _, weight in hours))
    count = min(rows, MOST_PAGES)
    edges = [_place(hours, ends, ends[-1] * (2 * page + 1), 2 * count) for page in range(count)]
    for page, (start, number) in enumerate(edges):
        end = hours[number][0] + _HOUR
        following = edges[page + 1][0] if page + 1 < count else end
        yield Page(page, start, min(following, end) - start, hours[number][1])


def _place(hours: Sequence[tuple[int, int, int]], ends: Sequence[int], target: int, parts: int) -> tuple[int, int]:
    """The microsecond at which target / parts of all weight is reached, and its hour."""
    number = bisect_right(ends, target // parts)
    start, _, weight = hours[number]
    within = target - (ends[number] - weight) * parts
    return start + min(_HOUR * within // (weight * parts), _HOUR - 1), number


def _hours(periods: Sequence[Period]) -> Iterator[tuple[int, int, int]]:
    """(first microsecond, period, weight) of every hour."""
    for number, period in enumerate(periods):
        weight = sum(offer.weight for offer in period.offers)
        midnight = datetime(period.start.year, period.start.month, period.start.day, tzinfo=UTC)
        for day in range(period.days):
            start = midnight + timedelta(days=day)
            since = (start - _EPOCH) // timedelta(microseconds=1)
            for hour, of_hour in enumerate(_HOURS):
                yield since + hour * _HOUR, number, weight * _WEEKDAYS[start.weekday()] * of_hour
