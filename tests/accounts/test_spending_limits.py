"""Whether a charge keeps a key within its spending limit, and when the limit's period began."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from currencies import PICTURE, card_in
from ratecard import Estimate, InstantError, PriceBook, Quote
from ratecard.accounts import ApiKey, CurrencyError, next_refresh, period_end, period_start, settle, within_limits
from ratecard.accounts.keys import KEY_PERIODS


@pytest.fixture
def quote(prices: PriceBook) -> Quote:
    """0.77 dollars."""
    return prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})


@pytest.mark.parametrize(
    ("limits", "before", "currency", "within"),
    [
        ({"usd": "1.00"}, "0.23", "usd", True),  # exactly the limit
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


@pytest.mark.parametrize(
    ("currency", "said"),
    [
        ("EUR", "currency='EUR' has no spending limit. Allowed: usd, diem, vcu"),
        ("bundled_credits", "currency='BUNDLED_CREDITS' has no spending limit. Allowed: usd, diem, vcu"),
        ("vcu", "currency='VCU' has no rate in limits.yaml. Allowed: USD, DIEM, BUNDLED_CREDITS"),
    ],
)
def test_a_currency_without_a_spending_limit_or_a_rate(quote: Quote, currency: str, said: str) -> None:
    with pytest.raises(CurrencyError) as caught:
        within_limits(quote, {}, currency=currency)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("currency", "said"),
    [
        (None, "currency='EUR' has no spending limit. Allowed: usd, diem, vcu"),
        ("usd", "currency='USD' cannot pay what is priced in EUR. Allowed: EUR"),
        ("diem", "currency='DIEM' cannot pay what is priced in EUR. Allowed: EUR"),
    ],
)
def test_a_quote_in_another_currency_has_no_limit(currency: str | None, said: str) -> None:
    quote = card_in("EUR").at(datetime(2026, 10, 1, tzinfo=UTC)).rate(PICTURE)
    with pytest.raises(CurrencyError) as caught:
        within_limits(quote, {"consumptionLimits": {"usd": "1"}}, currency=currency)
    assert str(caught.value) == said
    with pytest.raises(CurrencyError) as split:
        within_limits(quote, {}, paid={"EUR": Decimal(2)})
    assert str(split.value) == "currency='EUR' has no spending limit. Allowed: usd, diem, vcu"


@pytest.mark.parametrize(
    ("currency", "limit", "within"),
    [("usd", "2", True), ("usd", "1.99", False), ("diem", "2.5", True), ("diem", "2.4999999", False),
     ("vcu", "20", True), ("vcu", "19.99", False)],
)  # fmt: skip
def test_a_limit_is_compared_with_the_amount_in_its_own_currency(currency: str, limit: str, within: bool) -> None:
    quote = card_in("USD", "{DIEM: 0.8, VCU: 0.1}").at(datetime(2026, 10, 1, tzinfo=UTC)).rate(PICTURE)
    key = {"consumptionLimits": {currency: limit}}
    assert within_limits(quote, key, currency=currency) is within
    assert within_limits(quote, key, currency=currency.upper()) is within


@pytest.mark.parametrize(
    "record",
    [{"consumptionLimit": {"usd": 0}}, {"consumption_limits": {"usd": 0}},
     {"consumptionLimits": {"usd": 1}, "currentPeriodUsages": {"usd": "1"}}],
)  # fmt: skip
def test_a_misspelt_limit_is_not_taken_for_none(quote: Quote, record: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"is not known\. Did you mean '"):
        within_limits(quote, record)


@pytest.mark.parametrize(
    ("limit", "spent", "within"),
    [("6", "0", True), ("5.999999", "0", False), ("7", "1", True), ("7", "1.000001", False)],
)
def test_the_most_of_an_estimate_is_compared_before_the_request_runs(limit: str, spent: str, within: bool) -> None:
    most = Estimate(Decimal(1), Decimal(6), "USD")
    key = {"consumptionLimits": {"usd": limit}, "currentPeriodUsage": {"usd": spent}}
    assert within_limits(most, key) is within
    assert within_limits(most, key, {"usd": Decimal(spent)}) is within


def test_an_estimate_is_paid_at_the_worth_that_balances_have_in_its_price_book(prices: PriceBook) -> None:
    most = prices.estimate_text("grok-4-3", prompt_tokens=1_000_000, max_completion_tokens=1000)
    assert most.lowest < most.highest
    diem = {"consumptionLimits": {"diem": str(most.highest), "usd": "0"}}
    assert within_limits(most, diem, currency="diem")
    assert not within_limits(most, diem, {"diem": Decimal("0.000001")}, currency="diem")
    assert not within_limits(most, diem)
    paid = settle(most.highest, {"DIEM": Decimal("0.4"), "USD": Decimal(10)}, rates=most.rates)
    assert within_limits(most, {"consumptionLimits": {"usd": str(paid["USD"])}}, paid=paid)
    assert not within_limits(most, {"consumptionLimits": {"diem": "0.39"}}, paid=paid)
    with pytest.raises(CurrencyError, match=r"paid adds up to 0\.4 USD, but the charge is"):
        within_limits(most, {}, paid={"DIEM": Decimal("0.4")})
    with pytest.raises(CurrencyError, match="has no rate: the quote is not of a price book"):
        within_limits(Estimate(Decimal(1), Decimal(6), "USD"), {}, currency="diem")


@pytest.mark.parametrize(
    ("limits", "before", "within"),
    [
        ({}, {}, True),
        ({"usd": "0.27", "diem": "0.4"}, {}, True),  # exactly both limits
        ({"usd": "0.2699"}, {}, False),
        ({"diem": "0.3999"}, {}, False),
        ({"usd": "1", "diem": "1"}, {"usd": "0.73", "diem": "0.6"}, True),
        ({"usd": "1", "diem": "1"}, {"usd": "0.7301", "diem": "0"}, False),
        ({"usd": "1", "diem": "1"}, {"usd": "0", "diem": "0.6001"}, False),
        ({"vcu": "0"}, {"vcu": "9"}, True),  # pays nothing
    ],
)
def test_each_part_of_a_split_is_compared_with_its_own_limit(
    quote: Quote, limits: dict[str, str], before: dict[str, str], within: bool
) -> None:
    paid = settle(quote, {"DIEM": Decimal("0.4"), "BUNDLED_CREDITS": Decimal("0.1"), "USD": Decimal(5)})
    assert paid == {"DIEM": Decimal("0.4"), "BUNDLED_CREDITS": Decimal("0.1"), "USD": Decimal("0.27")}
    key = {"consumptionLimits": limits}
    assert within_limits(quote, key | {"currentPeriodUsage": before}, paid=paid) is within
    assert within_limits(quote, key, {name: Decimal(part) for name, part in before.items()}, paid=paid) is within
    assert (
        within_limits(quote, key, {name.upper(): Decimal(part) for name, part in before.items()}, paid=paid) is within
    )


def test_what_bundled_credits_pay_alone_is_within_any_limit(quote: Quote) -> None:
    paid = {"BUNDLED_CREDITS": Decimal("0.77")}
    assert within_limits(quote, {"consumptionLimits": {"usd": "0"}}, Decimal(1), paid=paid)


@pytest.mark.parametrize(
    ("spent", "more", "said"),
    [
        ({"euro": Decimal(1)}, {}, "spent has 'euro'. Allowed: usd, diem, vcu"),
        ({"usd": Decimal(1), "USD": Decimal(2)}, {}, "spent has 'USD' twice; keep one"),
        (Decimal(1), {"paid": {"DIEM": Decimal("0.4"), "USD": Decimal("0.37")}},
         "spent=Decimal('1') of a charge that diem, usd pay. Give it by currency"),
        (None, {"paid": {"USD": Decimal("0.76")}}, "paid adds up to 0.76 USD, but the charge is 0.77 USD"),
        (None, {"paid": {"USD": Decimal("0.77")}, "currency": "usd"},
         "currency and paid are both given. Leave out currency"),
    ],
)  # fmt: skip
def test_what_does_not_say_its_currency_is_refused(quote: Quote, spent: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(CurrencyError) as caught:
        within_limits(quote, {}, spent, **more)
    assert str(caught.value) == said


@pytest.mark.parametrize("spent", [None, {"usd": Decimal(0)}])
def test_a_limit_in_an_unknown_currency_is_refused(quote: Quote, spent: Any) -> None:
    record = {"consumptionLimits": {"eur": "0"}, "currentPeriodUsage": {"usd": "0"}}
    for key in (record, ApiKey.model_validate(record)):
        with pytest.raises(CurrencyError, match=r"^consumptionLimits has 'eur'"):
            within_limits(quote, key, spent)
    spending = {"consumptionLimits": {"usd": "9"}, "currentPeriodUsage": {"eur": "1"}}
    for key in (spending, ApiKey.model_validate(spending)):
        if spent is None:
            with pytest.raises(CurrencyError, match=r"^currentPeriodUsage has 'eur'"):
                within_limits(quote, key)
        else:  # the usage in the record does not count then
            assert within_limits(quote, key, spent)


@pytest.mark.parametrize("amount", [0.1, "0.1", True, Decimal("-0.5"), Decimal("NaN"), Decimal("Infinity")])
def test_what_was_spent_is_exact(quote: Quote, amount: Any) -> None:
    key = {"consumptionLimits": {"usd": "1"}}
    with pytest.raises(ValueError, match=r"^spent=.* must be a "):
        within_limits(quote, key, amount)
    with pytest.raises(ValueError, match=r"^spent\['usd'\]=.* must be a "):
        within_limits(quote, key, {"usd": amount})


def test_what_one_balance_pays_may_be_given_by_itself(quote: Quote) -> None:
    key = {"consumptionLimits": {"diem": "1"}}
    paid = {"DIEM": Decimal("0.77"), "USD": Decimal(0)}
    assert within_limits(quote, key, Decimal("0.23"), paid=paid)
    assert not within_limits(quote, key, Decimal("0.24"), paid=paid)


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
def test_the_period_that_contains_an_instant(period: str, instant: datetime, start: datetime) -> None:
    found = period_start(period, instant)
    assert found is not None
    assert (found, found.utcoffset()) == (start, timedelta(0))


def test_an_invalid_period_or_time() -> None:
    said: dict[Any, str] = {
        "YEAR": "limitPeriod 'YEAR' is not known. Allowed: DAY, EPOCH, LIFETIME, MONTH",
        "month": "limitPeriod 'month' is not known. Did you mean 'MONTH'? Allowed: DAY, EPOCH, LIFETIME, MONTH",
        None: "limitPeriod None is not known. Allowed: DAY, EPOCH, LIFETIME, MONTH",
    }
    for find in (period_start, period_end):
        for period, words in said.items():
            with pytest.raises(ValueError, match=r"limitPeriod") as caught:
                find(period, datetime(2026, 9, 29, tzinfo=UTC))
            assert str(caught.value) == words
        for period in KEY_PERIODS:
            with pytest.raises(InstantError, match="has no time zone"):
                find(period, datetime(2026, 9, 29))  # noqa: DTZ001 - the mistake
            with pytest.raises(InstantError, match="beyond the calendar"):
                find(period, datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))))


@pytest.mark.parametrize("period", KEY_PERIODS)
def test_a_date_means_its_first_instant(period: str) -> None:
    day, instant = date(2026, 2, 28), datetime(2026, 2, 28, tzinfo=UTC)
    for find in (period_start, period_end):
        assert find(period, day) == find(period, instant)
        with pytest.raises(InstantError, match="'2026-02-28' is not a datetime or a date"):
            find(period, "2026-02-28")  # type: ignore[call-overload]
    assert next_refresh(day) == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("period", "instant", "end"),
    [
        ("DAY", datetime(2026, 12, 31, 23, 59, 59, 9, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        ("DAY", datetime(2026, 9, 29, tzinfo=UTC), datetime(2026, 9, 30, tzinfo=UTC)),
        ("EPOCH", datetime(2026, 9, 29, 23, tzinfo=timezone(timedelta(hours=-2))), datetime(2026, 10, 1, tzinfo=UTC)),
        ("MONTH", datetime(2026, 1, 31, 12, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)),
        ("MONTH", datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)),
        ("MONTH", datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        ("MONTH", datetime(2027, 1, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2027, 1, 1, tzinfo=UTC)),
        ("MONTH", datetime(9999, 11, 30, tzinfo=UTC), datetime(9999, 12, 1, tzinfo=UTC)),
    ],
)
def test_the_end_of_the_period_that_contains_an_instant(period: str, instant: datetime, end: datetime) -> None:
    found = period_end(period, instant)
    assert found is not None
    assert (found, found.utcoffset()) == (end, timedelta(0))


def test_a_lifetime_neither_begins_nor_ends() -> None:
    now = datetime(2026, 9, 29, tzinfo=UTC)
    assert (period_start("LIFETIME", now), period_end("LIFETIME", now)) == (None, None)


def test_the_last_period_of_the_calendar_has_no_end() -> None:
    for period in ("DAY", "EPOCH", "MONTH"):
        with pytest.raises(InstantError, match="is in the last period of the calendar"):
            period_end(period, datetime(9999, 12, 31, tzinfo=UTC))


@given(st.datetimes(datetime(1, 2, 1), datetime(9999, 10, 31), timezones=st.timezones()))  # noqa: DTZ001
def test_a_period_contains_its_instant_and_the_next_begins_where_it_ends(instant: datetime) -> None:
    for period in ("DAY", "EPOCH", "MONTH"):
        start, end = period_start(period, instant), period_end(period, instant)
        assert start <= instant < end
        assert period_start(period, end) == end
        assert period_end(period, end - timedelta(microseconds=1)) == end


@pytest.mark.parametrize("currency", ["usd", "diem"])
def test_a_negative_usage_raises_no_limit(quote: Quote, currency: str) -> None:
    """More was refunded in a period than spent: the limit is still the most of a charge."""
    record = {"consumptionLimits": {currency: "0.10"}, "currentPeriodUsage": {currency: "-100"}}
    assert not within_limits(quote, record, currency=currency)
    assert within_limits(quote, record | {"consumptionLimits": {currency: "1000"}}, currency=currency)
