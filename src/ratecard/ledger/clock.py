"""The clock of the ledger: how far ahead of it a new charge or refund may be. No other part reads the time of day."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ratecard.base.errors import LedgerError
from ratecard.ledger.walk import instant_of

# Seconds: more than the clocks of two machines differ, and less than a typing error in a date.
AHEAD = 3600
MOST_AHEAD = 366 * 86_400


def _system_time() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock `now`, which returns an aware datetime, and the seconds that a new charge or refund may be `ahead` of it.

    The default is an hour ahead of the machine's clock. Raises `LedgerError` for seconds that are not 0 to a year.

    >>> noon = datetime(2026, 10, 1, 12, tzinfo=UTC)
    >>> Clock(ahead=60, now=lambda: noon).latest() - Clock(ahead=0, now=lambda: noon).latest()
    60000000
    """

    ahead: int = AHEAD
    now: Callable[[], datetime] = _system_time

    def __post_init__(self) -> None:
        if isinstance(self.ahead, bool) or not isinstance(self.ahead, int) or not 0 <= self.ahead <= MOST_AHEAD:
            raise LedgerError(f"ahead={self.ahead!r}. Allowed: a whole number of seconds, 0 to {MOST_AHEAD}")

    def latest(self) -> int:
        """Return the latest instant of a new charge, in microseconds since 1970."""
        return instant_of(self.now()) + self.ahead * 1_000_000
