"""Instants: how to read one, and which instant a day or an aware datetime means; and months, each by its first day."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

from ratecard.base.errors import InstantError
from ratecard.base.messages import echo

# The instant of a row of usage or of a ledger, as text (ISO 8601): the same for every reader and engine.
ROW_INSTANT = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}"
    "([ T]([01][0-9]|2[0-3]):[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z| UTC|[+-](0[0-9]|1[0-7])(:?[0-5][0-9])?)?)?"
)
_ROW_INSTANT = re.compile(ROW_INSTANT)


class Instant(datetime):
    """An instant in UTC, to the second, that is written like `2026-10-01T16:00:00Z`.

    >>> str(Instant.of(datetime.fromisoformat("2026-10-01T18:00:00+02:00")))
    '2026-10-01T16:00:00Z'
    """

    @classmethod
    def of(cls, moment: datetime) -> "Instant":
        """Return the instant of an aware datetime."""
        instant = utc(moment)
        return cls(instant.year, instant.month, instant.day, instant.hour, instant.minute, instant.second, tzinfo=UTC)

    def __str__(self) -> str:
        return self.isoformat()

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """Return the text of the instant, which ends in `Z`."""
        return super().isoformat(sep, timespec).removesuffix("+00:00") + "Z"


def utc(moment: date) -> datetime:
    """Return the instant, in UTC, of an aware datetime or of a day at 00:00 UTC. Raises `InstantError` for a naive one.

    >>> utc(date(2026, 10, 1)).isoformat()
    '2026-10-01T00:00:00+00:00'
    """
    # Most moments are in UTC already, and this runs for each model.
    if moment.__class__ is datetime and moment.tzinfo is UTC:
        return moment
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InstantError(f"{moment!r} has no time zone. Write an aware instant, like datetime(..., tzinfo=UTC)")
    if isinstance(moment, Instant):
        return datetime.combine(moment.date(), moment.time(), UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first or the last day of the calendar
        return moment.replace(tzinfo=UTC)


def in_utc(instant: datetime | date) -> datetime:
    """Convert an instant to UTC; a date means its 00:00. Raises `InstantError` without a time zone or a date in UTC."""
    if not isinstance(instant, datetime):
        if isinstance(instant, date):
            return utc(instant)
        raise InstantError(f"{instant!r} is not a datetime or a date")
    if instant.utcoffset() is None:
        raise InstantError(f"{instant!r} has no time zone. Write an aware instant, like datetime(..., tzinfo=UTC)")
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise InstantError(f"{instant!r} is beyond the calendar in UTC") from None


def aware(moment: object) -> datetime:
    """Return an aware datetime as it is. Raises `InstantError` for anything else."""
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise InstantError(f"{moment!r} has no time zone. Write an aware one, like datetime(..., tzinfo=UTC)")
    return moment


def day_or_instant(moment: date) -> date:
    """Return a date or an aware datetime as it is written: 00:00 UTC is a day, anything else an `Instant`.

    >>> [str(day_or_instant(datetime(2026, 10, 1, hour, tzinfo=UTC))) for hour in (0, 9)]
    ['2026-10-01', '2026-10-01T09:00:00Z']
    """
    if not isinstance(moment, datetime):
        return moment
    instant = Instant.of(moment)
    return instant.date() if utc(instant.date()) == instant else instant


def read_instant(given: str) -> datetime:
    """Read `2026-10-01` (its 00:00 UTC) or an aware instant. Raises `InstantError` for a time without a time zone.

    >>> read_instant("2026-10-01").isoformat()
    '2026-10-01T00:00:00+00:00'
    """
    try:
        if len(given) == len("2026-10-01"):
            return utc(date.fromisoformat(given))
        instant = datetime.fromisoformat(given)
    except ValueError:
        raise InstantError(f"'{given}' is not an instant. Write 2026-10-01 or 2026-10-01T12:00:00Z") from None
    if instant.tzinfo is None:
        raise InstantError(f"'{given}' has no time zone. Write {given}Z for UTC")
    return instant


def instant_of_row(given: str) -> datetime:
    """Read the instant of a row: a day, or a time, which is in UTC if it names no zone. Raises `InstantError`.

    >>> instant_of_row("2026-10-01 12:00:00 UTC") == instant_of_row("2026-10-01T14:00+02")
    True
    """
    try:
        if _ROW_INSTANT.fullmatch(given):
            moment = datetime.fromisoformat(given.replace(" UTC", "Z"))
            return utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except ValueError:  # the 31st of June
        pass
    raise InstantError(f"'{echo(given)}' is not an instant. Write it like 2026-10-01T12:00:00Z")


def months_between(first: date, last: date) -> Iterator[date]:
    """Yield the first day of each month from one to another, both included.

    >>> [f"{each:%Y-%m}" for each in months_between(date(2026, 11, 1), date(2027, 1, 1))]
    ['2026-11', '2026-12', '2027-01']
    """
    while first <= last:
        yield first
        first = next_month(first)


def next_month(month: date) -> date:
    """Return the first day of the next month."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def month_before(month: date) -> date:
    """Return the first day of the month before."""
    return date(month.year - (month.month == 1), (month.month - 2) % 12 + 1, 1)
