"""Whether a charge keeps a key within its spending limit, and when the limit's period began."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from ratecard import ApiKey, InstantError, PriceBook, Quote, period_start, within_limits


@pytest.fixture
def quote(prices: PriceBook) -> Quote:
    """0.77 dollars."""
    return prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})


@pytest.mark.parametrize(
    ("limits", "before", "currency", "within"),
    [
        ({"usd": "1.00"}, "0.23", "usd", True),  # to the last cent
        ({"usd": "1.00"}, "0.2300000001", "usd", False),
        ({"usd": "0"}, "0", "usd", False),
        ({"usd": None}, "10000", "usd", True),
        ({}, "10000", "usd", True),
        ({"usd": "1", "diem": "100"}, "50", "diem", True),
        ({"usd": "100", "diem": "1"}, "50", "DIEM", False),
    ],
)
def test_a_charge_within_or_beyond_the_limit(
    quote: Quote, limits: dict[str, Any], before: str, currency: str, within: bool
) -> None:
    record = {"id": "k", "consumptionLimits": limits}
    spent = {currency.lower(): Decimal(before)}
    for key in (record, ApiKey.model_validate(record)):
        assert within_limits(quote, key, spent, currency=currency) is within
        assert within_limits(quote, key, Decimal(before), currency=currency) is within
        recorded = ApiKey.model_validate(record | {"currentPeriodUsage": {currency.lower(): before}})
        assert within_limits(quote, recorded, currency=currency) is within


def test_what_was_spent_in_another_currency_does_not_count(quote: Quote) -> None:
    key = {"consumptionLimits": {"usd": "1"}, "currentPeriodUsage": {"usd": "0.9"}}
    assert within_limits(quote, key, {"diem": Decimal(50)})
    assert not within_limits(quote, key)
    assert not within_limits(quote, key, {"usd": Decimal("0.9")})


def test_a_currency_without_spending_limits(quote: Quote) -> None:
    with pytest.raises(ValueError, match=r"currency='EUR' has no spending limit. Allowed: usd, diem, vcu"):
        within_limits(quote, {}, currency="EUR")


@pytest.mark.parametrize(
    ("period", "instant", "start"),
    [
        ("MONTH", datetime(2026, 9, 29, 12, 30, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)),
        ("MONTH", datetime(2026, 9, 1, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)),
        ("MONTH", datetime(2026, 10, 1, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 9, 1, tzinfo=UTC)),
        ("DAY", datetime(2026, 9, 29, 23, 59, 59, 9, tzinfo=UTC), datetime(2026, 9, 29, tzinfo=UTC)),
        ("EPOCH", datetime(2026, 9, 29, 23, tzinfo=timezone(timedelta(hours=-2))), datetime(2026, 9, 30, tzinfo=UTC)),
    ],
)
def test_the_period_that_holds_an_instant(period: str, instant: datetime, start: datetime) -> None:
    found = period_start(period, instant)
    assert (found, found.utcoffset()) == (start, timedelta(0))


def test_a_period_or_time_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"limitPeriod 'YEAR' is not known. Allowed: DAY, EPOCH, MONTH"):
        period_start("YEAR", datetime(2026, 9, 29, tzinfo=UTC))
    with pytest.raises(InstantError, match="has no time zone"):
        period_start("DAY", datetime(2026, 9, 29))  # noqa: DTZ001 - the mistake
