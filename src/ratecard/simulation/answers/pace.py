"""The pace of a usage: the days that are scaled to a year, and whether these are like a year."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from ratecard.base.errors import SimulationError
from ratecard.simulation.answers.rows import Row

# The number of days that are scaled to a year by default, and the days of a year.
DEFAULT_PACE, _YEAR = 90, 365


@dataclass(frozen=True, slots=True)
class Pace:
    """The `days` days from `first` to `last`; `every` is True if the usage covers no other days.

    `empty` of them have no priced request. `growth` is the share by which the second half of them has more requests
    than the first half; None where the first half has no requests.
    """

    first: date
    last: date
    days: int
    every: bool
    empty: int
    growth: Fraction | None

    def year(self, amount: Fraction) -> Fraction:
        """Scale an amount of these days to a year."""
        return amount * _YEAR / self.days


def read_pace(given: str) -> int | None:
    """Read the number of days that are scaled to a year: `30d`; None for `all`. Raises `SimulationError`.

    >>> read_pace("30d")
    30
    """
    if given == "all":
        return None
    if not re.fullmatch(r"0*[1-9]\d{0,5}d", given, re.ASCII):
        raise SimulationError(f"pace '{given}' cannot be read. Write 30d, 90d or all")
    return int(given.removesuffix("d"))


def pace_of(covered: tuple[date, date], rows: Sequence[Row], most: int | None) -> Pace:
    """Return the pace of the last `most` days that a usage covers; `rows` are its priced requests by day."""
    earliest, last = covered
    days = (last - earliest).days + 1
    days = days if most is None else min(days, most)
    first = last - timedelta(days - 1)
    requests = {row.key[0]: row.requests for row in rows if row.requests}
    counts = [requests.get((first + timedelta(day)).isoformat(), 0) for day in range(days)]
    before, after = sum(counts[: days // 2]), sum(counts[-(days // 2) :] if days > 1 else ())
    growth = Fraction(after, before) - 1 if before else None
    return Pace(first, last, days, first == earliest, counts.count(0), growth)
