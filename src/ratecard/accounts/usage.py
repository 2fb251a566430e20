"""The spending of a key, from rows of the ledger: in the last seven days, and in its limit period."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from ratecard.accounts.keys import UNLIMITED, Amounts
from ratecard.accounts.periods import in_utc, period_start
from ratecard.base.errors import CurrencyError, InstantError
from ratecard.base.instants import read_instant
from ratecard.base.messages import echo
from ratecard.base.money import EXACT, text
from ratecard.line_items.ledger_entry import LedgerEntry

_WEEK = timedelta(days=7)


def trailing_seven_days(entries: Iterable[LedgerEntry], at: datetime | date) -> Amounts:
    """Return `usage.trailingSevenDays` of a key: what it spent in the seven days up to an instant.

    `entries` are the rows of the ledger for this key, in any order; those of other times do not count. A row of exactly
    seven days before does not count; a row of the instant itself does. Refunds count when they are paid back, and no
    amount is below 0. Bundled credits are not counted, as in `within_limits`. Exact. Raises `InstantError` for an
    instant or a row without a time zone, and `CurrencyError` for a currency without an amount in key records.

    >>> at = datetime.fromisoformat("2026-10-08T00:00:00Z")
    >>> amounts = [("2026-10-01T00:00:00+00:00", "-5"), ("2026-10-07T00:00:00+00:00", "-0.22")]
    >>> rows = [LedgerEntry(when, "s", Decimal(1), Decimal(1), Decimal(a), "USD", "", None) for when, a in amounts]
    >>> trailing_seven_days(rows, at).model_dump_json()
    '{"usd":"0.22","vcu":"0","diem":"0"}'
    """
    now = in_utc(at)
    spent = _spent(entry for entry, instant in _dated(entries) if now - instant < _WEEK and instant <= now)
    return _amounts(spent)


def current_period_usage(entries: Iterable[LedgerEntry], period: str, at: datetime | date) -> Amounts:
    """Return `currentPeriodUsage` of a key: what it spent from the beginning of its limit period up to an instant.

    `period` is the `limitPeriod` of the key: DAY, EPOCH, MONTH or LIFETIME. Rows, refunds and errors are those of
    `trailing_seven_days`; raises `ValueError` for another period too.

    >>> days = [("2026-09-30T23:59:59+00:00", "-5"), ("2026-10-01T00:00:00+00:00", "-0.22")]
    >>> rows = [LedgerEntry(when, "s", Decimal(1), Decimal(1), Decimal(a), "USD", "", None) for when, a in days]
    >>> current_period_usage(rows, "MONTH", date(2026, 10, 8)).usd
    Decimal('0.22')
    """
    now, start = in_utc(at), period_start(period, at)
    spent = _spent(entry for entry, when in _dated(entries) if (start is None or start <= when) and when <= now)
    # The API has no `vcu` here, so it is included only if some was spent.
    return _amounts({name: amount for name, amount in spent.items() if amount or name != "vcu"})


def _dated(entries: Iterable[LedgerEntry]) -> Iterator[tuple[LedgerEntry, datetime]]:
    for number, entry in enumerate(entries, 1):
        try:
            yield entry, in_utc(read_instant(entry.timestamp))
        except InstantError as error:
            raise InstantError(f"row {number}: timestamp {error}") from None


def _spent(entries: Iterable[LedgerEntry]) -> dict[str, Decimal]:
    spent = dict.fromkeys(("usd", "vcu", "diem"), Decimal(0))
    for entry in entries:
        name = entry.currency.lower()
        if name in spent:
            spent[name] = EXACT.subtract(spent[name], entry.amount)
        elif entry.currency != UNLIMITED:
            allowed = ", ".join(name.upper() for name in spent)
            words = f"a key record has no amount in {echo(entry.currency)!r}. Allowed: {allowed}, {UNLIMITED}"
            raise CurrencyError(f"{entry.sku} of {entry.timestamp}: {words}")
    return {name: max(amount, Decimal(0)) for name, amount in spent.items()}


def _amounts(spent: Mapping[str, Decimal]) -> Amounts:
    """Return the amounts as text, as the API writes them, because other programs would lose digits of numbers."""
    return Amounts.model_validate({name: text(amount) for name, amount in spent.items()})
