"""Read an instant: a date, or an aware date and time."""

from datetime import UTC, date, datetime

from ratecard.base.errors import InstantError


def read_instant(given: str) -> datetime:
    """Read `2026-10-01` (its 00:00 UTC) or an aware instant. Raises `InstantError` for a time without a time zone.

    >>> read_instant("2026-10-01").isoformat()
    '2026-10-01T00:00:00+00:00'
    """
    try:
        if len(given) == len("2026-10-01"):
            day = date.fromisoformat(given)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        found = datetime.fromisoformat(given)
    except ValueError:
        raise InstantError(f"'{given}' is not an instant. Write 2026-10-01 or 2026-10-01T12:00:00Z") from None
    if found.tzinfo is None:
        raise InstantError(f"'{given}' has no time zone. Write {given}Z for UTC")
    return found
