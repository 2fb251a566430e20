"""The daily allowance of staked DIEM, its refresh, and top-ups of a balance."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from ratecard import InstantError, PriceBook
from ratecard.accounts import TopUpError, check_top_up, daily_allowance, next_refresh


@pytest.mark.parametrize(
    ("staked", "usd"),
    [
        ("0", "0"),
        ("0.0999999999", "0"),
        ("0.1", "0.1"),
        ("1", "1"),
        ("2.5", "2.5"),
        ("1234.000000000001", "1234.000000000001"),
    ],
)
def test_one_staked_token_gives_a_dollar_a_day(prices: PriceBook, staked: str, usd: str) -> None:
    assert daily_allowance(Decimal(staked), prices.limits.diem) == Decimal(usd)


@pytest.mark.parametrize("wrong", [-1, 0.5, True, "1", Decimal("NaN"), Decimal("-Infinity")])
def test_a_stake_that_is_not_a_number(prices: PriceBook, wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"staked=.* must be a "):
        daily_allowance(wrong, prices.limits.diem)


@pytest.mark.parametrize(
    ("instant", "refresh"),
    [
        (datetime(2026, 9, 29, tzinfo=UTC), datetime(2026, 9, 30, tzinfo=UTC)),
        (datetime(2026, 9, 29, 23, 59, 59, 999_999, tzinfo=UTC), datetime(2026, 9, 30, tzinfo=UTC)),
        (datetime(2026, 12, 31, 12, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        (datetime(2026, 9, 30, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 9, 30, tzinfo=UTC)),
        (datetime(2026, 9, 29, 23, tzinfo=timezone(timedelta(hours=-2))), datetime(2026, 10, 1, tzinfo=UTC)),
    ],
)
def test_it_is_refreshed_at_midnight_utc(instant: datetime, refresh: datetime) -> None:
    found = next_refresh(instant)
    assert (found, found.utcoffset()) == (refresh, timedelta(0))


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InstantError, match="has no time zone"):
        next_refresh(datetime(2026, 9, 29))  # noqa: DTZ001 - the mistake


def test_the_least_top_up_is_in_the_table(prices: PriceBook) -> None:
    top_up, diem, failed = prices.limits.top_up, prices.limits.diem, prices.limits.failed_requests
    assert top_up
    assert (top_up.currency, top_up.least, top_up.paid_in) == ("USD", Decimal(5), ("USDC", "USD"))
    assert diem
    assert (diem.usd_per_day, diem.least_staked) == (Decimal(1), Decimal("0.1"))
    assert failed
    assert (failed.more_than, failed.within_seconds, failed.blocked_seconds) == (20, 30, 30)
    assert prices.limits.scraped_urls == 5


@pytest.mark.parametrize("currency", ["USDC", "USD"])
@pytest.mark.parametrize("amount", ["5", "5.000000", "1234.567890123456789"])
def test_a_top_up_adds_what_was_paid(prices: PriceBook, amount: str, currency: str) -> None:
    assert check_top_up(Decimal(amount), currency, prices.limits.top_up) == Decimal(amount)


@pytest.mark.parametrize(
    ("amount", "currency", "said"),
    [
        (Decimal("4.999999999999"), "USDC", "a top-up of 4.999999999999 USDC is below the least, 5 USD"),
        (0, "USD", "a top-up of 0 USD is below the least, 5 USD"),
        (50, "EUR", "a top-up in 'EUR' is not accepted. Allowed: USDC, USD"),
        (50, "usdc", "a top-up in 'usdc' is not accepted. Did you mean 'USDC'? Allowed: USDC, USD"),
        (50, None, "a top-up in None is not accepted. Allowed: USDC, USD"),
    ],
)
def test_a_top_up_that_is_not_accepted(prices: PriceBook, amount: Any, currency: Any, said: str) -> None:
    with pytest.raises(TopUpError) as caught:
        check_top_up(amount, currency, prices.limits.top_up)
    assert str(caught.value) == said


@pytest.mark.parametrize("wrong", [-5, 5.5, True, "5", Decimal("NaN"), Decimal("Infinity")])
def test_a_top_up_that_is_not_a_number(prices: PriceBook, wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"amount=.* must be a "):
        check_top_up(wrong, "USDC", prices.limits.top_up)
