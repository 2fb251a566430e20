"""Periods of spending limits and of daily allowances, in UTC. Nothing here reads a clock."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, overload

from ratecard.base.errors import InstantError
from ratecard.base.suggestions import did_you_mean

# The values of `limitPeriod`. An epoch is a day of the staking token; a lifetime never ends.
KEY_PERIODS = ("DAY", "EPOCH", "LIFETIME", "MONTH")
# The first day of a month plus this is always a day of the next month.
_MORE_THAN_A_MONTH = timedelta(days=32)


@overload
def period_start(period: Literal["DAY", "EPOCH", "MONTH"], instant: datetime | date) -> datetime: ...
@overload
def period_start(period: str, instant: datetime | date) -> datetime | None: ...
def period_start(period: str, instant: datetime | date) -> datetime | None:
    """Return the beginning of the limit period that contains an instant, in UTC; None for LIFETIME.

    An instant is an aware datetime; a date means its 00:00 UTC. DAY and EPOCH begin at 00:00 UTC, MONTH on its first
    day. Raises `InstantError`, and `ValueError` for another period.

    >>> period_start("MONTH", datetime(2026, 9, 29, 12, tzinfo=UTC)).isoformat()
    '2026-09-01T00:00:00+00:00'
    """
    day = in_utc(instant).replace(hour=0, minute=0, second=0, microsecond=0)
    if period not in KEY_PERIODS:
        hint = did_you_mean(period, KEY_PERIODS) if isinstance(period, str) else ""
        raise ValueError(f"limitPeriod {period!r} is not known.{hint} Allowed: {', '.join(KEY_PERIODS)}")
    if period == "LIFETIME":
        return None
    return day.replace(day=1) if period == "MONTH" else day


@overload
def period_end(period: Literal["DAY", "EPOCH", "MONTH"], instant: datetime | date) -> datetime: ...
@overload
def period_end(period: str, instant: datetime | date) -> datetime | None: ...
def period_end(period: str, instant: datetime | date) -> datetime | None:
    """Return the first instant after the limit period that contains an instant, in UTC; None for LIFETIME.

    From then on the amount spent counts from 0 again. Raises the errors of `period_start`.

    >>> period_end("MONTH", datetime(2026, 9, 29, 12, tzinfo=UTC)).isoformat()
    '2026-10-01T00:00:00+00:00'
    >>> period_end("EPOCH", datetime(2026, 9, 29, 12, tzinfo=UTC)).isoformat()
    '2026-09-30T00:00:00+00:00'
    """
    start = period_start(period, instant)
    if start is None:
        return None
    try:
        return (start + _MORE_THAN_A_MONTH).replace(day=1) if period == "MONTH" else start + timedelta(days=1)
    except OverflowError:
        raise InstantError(f"{instant!r} is in the last period of the calendar") from None


def next_refresh(instant: datetime | date) -> datetime:
    """Return the next refresh of the daily allowance, at the end of the epoch: 00:00 UTC after an instant."""
    return period_end("EPOCH", instant)


def in_utc(instant: datetime | date) -> datetime:
    """Convert an instant to UTC; a date means its 00:00. Raises `InstantError` without a time zone or a date in UTC."""
    if not isinstance(instant, datetime):
        if isinstance(instant, date):
            return datetime.combine(instant, time(), UTC)
        raise InstantError(f"{instant!r} is not a datetime or a date")
    if instant.utcoffset() is None:
        raise InstantError(f"{instant!r} has no time zone. Write an aware instant, like datetime(..., tzinfo=UTC)")
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise InstantError(f"{instant!r} is beyond the calendar in UTC") from None
