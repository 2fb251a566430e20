"""A walk through the ledger, page by page: its place, and the rows that belong to it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ratecard.base.errors import InstantError
from ratecard.line_items.ledger_entry import LedgerEntry

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Before and after every instant, in the 64 bits of a database's integer.
BEFORE_ALL, AFTER_ALL = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Walk:
    """A place in a walk: numbers and text only, so that a cursor can carry it.

    The walk includes the account's rows up to the number `rows`, which existed when it began. The remaining rows come
    after the place (`instant`, `number`), in this order, and before the instant `end`; instants are microseconds since
    1970. `total` is the number of rows at the beginning.
    """

    size: int
    end: int
    currency: str | None
    rows: int
    total: int
    page: int
    instant: int
    number: int


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of the ledger, and the walk that continues after them; None after the last page."""

    entries: tuple[LedgerEntry, ...]
    next: Walk | None


def instant_of(moment: datetime) -> int:
    """Convert an aware datetime to microseconds since 1970, exactly. Raises `InstantError` without a time zone.

    >>> instant_of(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    if moment.utcoffset() is None:
        raise InstantError(f"{moment!r} has no time zone. Write an aware one, like datetime(..., tzinfo=UTC)")
    return (moment - _EPOCH) // _MICROSECOND


def timestamp_of(instant: int) -> str:
    """Convert microseconds since 1970 to the timestamp of a ledger row: ISO 8601, in UTC.

    >>> timestamp_of(1_000_000)
    '1970-01-01T00:00:01+00:00'
    """
    return (_EPOCH + instant * _MICROSECOND).isoformat()
