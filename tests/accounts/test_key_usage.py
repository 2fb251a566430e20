"""What a key has spent, from rows of the ledger."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard import InstantError, PriceBook
from ratecard.accounts import ApiKey, CurrencyError, current_period_usage, settle, trailing_seven_days, within_limits
from ratecard.ledger import ledger_csv, read_ledger
from ratecard.line_items import LedgerEntry

NOW = datetime(2026, 10, 15, 12, 30, tzinfo=UTC)
TICK, WEEK = timedelta(microseconds=1), timedelta(days=7)


def row(when: datetime, amount: str, currency: str = "USD") -> LedgerEntry:
    return LedgerEntry(when.isoformat(), "s", Decimal(1), Decimal(1), Decimal(amount), currency, "", None)


@pytest.mark.parametrize(
    ("when", "counts"),
    [
        (NOW - WEEK - TICK, False),
        (NOW - WEEK, False),
        (NOW - WEEK + TICK, True),
        (NOW - TICK, True),
        (NOW, True),
        (NOW + TICK, False),
        (datetime(2, 1, 1, tzinfo=UTC), False),
        (datetime(9999, 12, 31, tzinfo=UTC), False),
    ],
)
def test_the_edges_of_seven_days(when: datetime, counts: bool) -> None:
    assert trailing_seven_days([row(when, "-1")], NOW).usd == counts


@pytest.mark.parametrize(
    ("period", "first"),
    [
        ("DAY", datetime(2026, 10, 15, tzinfo=UTC)),
        ("EPOCH", datetime(2026, 10, 15, tzinfo=UTC)),
        ("MONTH", datetime(2026, 10, 1, tzinfo=UTC)),
        ("LIFETIME", datetime(2, 1, 1, tzinfo=UTC)),
    ],
)
def test_the_edges_of_a_period(period: str, first: datetime) -> None:
    rows = [row(first, "-1"), row(first - TICK, "-2"), row(NOW, "-4"), row(NOW + TICK, "-8")]
    assert current_period_usage(rows, period, NOW).usd == (7 if period == "LIFETIME" else 5)


def test_instants_are_compared_and_not_their_text() -> None:
    tokyo = replace(row(NOW, "-1"), timestamp="2026-10-15T21:30:00+09:00")
    ends = replace(row(NOW, "-1"), timestamp="2026-10-15T12:30:00Z")
    assert trailing_seven_days([tokyo, ends], NOW.astimezone()).usd == 2
    assert current_period_usage([row(NOW, "-1")], "MONTH", date(2026, 10, 15)).usd == 0, "a day is its 00:00 UTC"


def test_each_currency_is_added_up_and_refunds_are_taken_off() -> None:
    rows = [
        row(NOW, "-0.1"),
        row(NOW, "-0.20"),
        row(NOW, "-3", "DIEM"),
        row(NOW, "0.05"),
        row(NOW, "-9", "BUNDLED_CREDITS"),
    ]
    found = trailing_seven_days(iter(rows), NOW)
    assert (found.usd, found.diem, found.vcu) == (Decimal("0.25"), Decimal(3), Decimal(0))
    assert json.loads(found.model_dump_json()) == {"usd": "0.25", "vcu": "0", "diem": "3"}
    found = current_period_usage(rows, "MONTH", NOW)
    assert json.loads(found.model_dump_json()) == {"usd": "0.25", "diem": "3"}, "as the API lists it"
    assert current_period_usage([*rows, row(NOW, "-1", "VCU")], "MONTH", NOW).vcu == 1, "nothing is dropped"
    assert trailing_seven_days([row(NOW, "5"), row(NOW, "-5", "DIEM")], NOW).usd == 0, "a refund of an earlier charge"


def test_a_row_that_no_key_record_can_hold_is_refused() -> None:
    for currency in ("EUR", "USDC", "usd "):
        with pytest.raises(CurrencyError) as caught:
            trailing_seven_days([row(NOW, "-1", currency)], NOW)
        words = f"a key record has no amount in {currency!r}. Allowed: USD, VCU, DIEM, BUNDLED_CREDITS"
        assert str(caught.value) == f"s of {NOW.isoformat()}: {words}"
    assert trailing_seven_days([row(NOW - WEEK, "-1", "EUR")], NOW).usd == 0, "of another time"
    for timestamp in ("2026-10-15T12:00:00", "yesterday", ""):
        with pytest.raises(InstantError, match=r"^row 2: timestamp "):
            trailing_seven_days([row(NOW, "-1"), replace(row(NOW, "-1"), timestamp=timestamp)], NOW)
    with pytest.raises(InstantError):
        trailing_seven_days([], NOW.replace(tzinfo=None))
    with pytest.raises(ValueError, match="limitPeriod 'WEEK' is not known"):
        current_period_usage([], "WEEK", NOW)


AMOUNTS = st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=9)


@given(amounts=st.lists(AMOUNTS, max_size=6))
def test_the_sum_is_exact(amounts: list[Decimal]) -> None:
    rows = [row(NOW, str(amount)) for amount in amounts]
    assert trailing_seven_days(rows, NOW).usd == max(-sum(amounts, Decimal(0)), Decimal(0))


def test_from_charges_to_a_key_record(prices: PriceBook) -> None:
    quote = prices.quote_video({"model": "ovi-image-to-video"})
    paid = settle(quote, {"DIEM": Decimal("0.15"), "USD": Decimal(5)})
    rows = read_ledger(ledger_csv(quote.ledger_entries(timestamp=NOW, request_id="r", paid=paid)))
    record: dict[str, Any] = {"consumptionLimits": {"usd": "0.13"}, "limitPeriod": "MONTH"}
    spent = current_period_usage(rows, record["limitPeriod"], NOW)
    key = ApiKey.model_validate(record | {"currentPeriodUsage": json.loads(spent.model_dump_json())})
    assert (key.currentPeriodUsage.usd, key.currentPeriodUsage.diem) == (Decimal("0.07"), Decimal("0.15"))
    assert within_limits(quote, key) is False
    assert within_limits(quote, key, paid=settle(quote, {"DIEM": Decimal("0.16"), "USD": Decimal(5)})) is True
