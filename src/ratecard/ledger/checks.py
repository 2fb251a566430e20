"""What can be kept in every database, checked before anything is written."""

from datetime import UTC, datetime

from ratecard.ledger.errors import LedgerError
from ratecard.ledger.walk import AFTER_ALL
from ratecard.words.errors import InstantError
from ratecard.words.wording import echo

_LONGEST = 200


def check_name(field: str, given: str) -> None:
    """An account or a request id: a key of the database, so short, and without signs that one of them refuses."""
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST or not given.isprintable():
        raise LedgerError(f"{field}={echo(repr(given))}. Allowed: 1 to {_LONGEST} printable characters")


def check_moment(given: datetime) -> None:
    """A moment that has a date in UTC: the first and last hours of the calendar may have none."""
    try:
        given.astimezone(UTC)
    except OverflowError:
        raise InstantError(f"{given!r} has no date in UTC") from None


def check_count(field: str, given: int | None) -> None:
    """A whole number, zero or more, that fits 64 bits."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= AFTER_ALL):
        raise LedgerError(f"{field}={echo(repr(given))}. Allowed: a whole number, zero or more, of 64 bits")
