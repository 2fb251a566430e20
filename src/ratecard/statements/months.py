"""Months of UTC, each by its first day."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime

from ratecard.statements.lines import StatementError

# The first and the last month of Python's calendar have no month before or after them.
FIRST_MONTH, LAST_MONTH = date(1, 2, 1), date(9999, 11, 1)


def read_month(given: date | str) -> date:
    """Read a month, text like `2026-10` or the date of its first day, as its first day. Raises `StatementError`.

    >>> read_month("2026-10")
    datetime.date(2026, 10, 1)
    """
    day = given if isinstance(given, date) else None
    if isinstance(given, str) and re.fullmatch("[0-9]{4}-[0-9]{2}", given):
        with suppress(ValueError):
            day = date.fromisoformat(f"{given}-01")
    if day is None or day.day != 1 or not FIRST_MONTH <= date(day.year, day.month, 1) <= LAST_MONTH:
        raise StatementError(f"'{given}' is not a month. Write it like 2026-10")
    return date(day.year, day.month, 1)


def months_between(first: date, last: date) -> Iterator[date]:
    """Yield the first day of each month from one to another, both included.

    >>> [f"{each:%Y-%m}" for each in months_between(date(2026, 11, 1), date(2027, 1, 1))]
    ['2026-11', '2026-12', '2027-01']
    """
    while first <= last:
        yield first
        first = next_month(first)


def current_month() -> date:
    """Return the first day of the current month of UTC."""
    return datetime.now(UTC).date().replace(day=1)


def next_month(month: date) -> date:
    """Return the first day of the next month."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def month_before(month: date) -> date:
    """Return the first day of the month before."""
    return date(month.year - (month.month == 1), (month.month - 2) % 12 + 1, 1)
