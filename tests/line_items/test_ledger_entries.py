"""The ledger rows of a quote: their fields, and that they sum to its total."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any

import pytest

from ledger_rows import USAGES, WHEN, all_rows, rows_of
from ratecard import InstantError, PriceBook
from ratecard.accounts import CurrencyError
from ratecard.line_items import InferenceDetails, LedgerEntry
from ratecard.line_items.ledger_entry import changing_balances, unknown_currency, value_of
from ratecard.tables.limits import Rates


@pytest.mark.parametrize("usage", USAGES, ids=lambda usage: f"{usage['type']}-{usage.get('model', 'rpc')}")
def test_the_rows_of_a_quote_sum_to_minus_what_is_charged(prices: PriceBook, usage: dict[str, object]) -> None:
    quote = prices.rate(usage)
    rows = rows_of(quote)
    assert sum(row.amount for row in rows) == -quote.total
    for row in rows:
        assert row.amount == -(row.unit * row.price_per_unit) <= 0
    assert len(rows) == (1 if quote.type == "video" else len(quote.lines))
    assert len({row.sku for row in rows}) == len(rows)


def test_text_has_one_row_for_each_bucket(prices: PriceBook) -> None:
    quote = prices.rate(USAGES[0])
    first, cached, _, searched = rows_of(quote, execution_ms=812, currency="DIEM")
    details = InferenceDetails("chatcmpl-1", 812, 5_500, 700)
    assert first == LedgerEntry(
        "2026-09-29T12:30:01.250000+00:00",
        "claude-opus-4-6-llm-input-mtoken",
        Decimal(6),
        Decimal("0.0005"),
        Decimal("-0.003"),
        "DIEM",
        "claude-opus-4-6",
        details,
    )
    assert first.to_dict() == {
        "timestamp": "2026-09-29T12:30:01.250000+00:00",
        "sku": "claude-opus-4-6-llm-input-mtoken",
        "pricePerUnitUsd": Decimal(6),
        "unit": Decimal("0.0005"),
        "amount": Decimal("-0.003"),
        "currency": "DIEM",
        "notes": "claude-opus-4-6",
        "inferenceDetails": {
            "requestId": "chatcmpl-1",
            "inferenceExecutionTime": 812,
            "promptTokens": 5_500,
            "completionTokens": 700,
        },
    }
    assert (cached.sku, cached.amount) == ("claude-opus-4-6-llm-cache-input-mtoken", Decimal("-0.003"))
    assert (searched.sku, searched.unit, searched.amount) == ("web-search-krequest", Decimal("0.002"), Decimal("-0.02"))


def test_a_video_is_one_row_at_its_rounded_total(prices: PriceBook) -> None:
    for usage in USAGES[-2:]:
        quote = prices.rate(usage)
        [row] = rows_of(quote)
        assert (row.unit, row.price_per_unit_usd, row.amount) == (Decimal(1), quote.total, -quote.total)
        assert row.sku == quote.lines[0].sku
        assert row.details == InferenceDetails("chatcmpl-1", None)
    several = prices.rate(USAGES[-2])
    assert len(several.lines) == 2, "the fee for the image is in the row's price"
    rounded = prices.rate(USAGES[-1])
    assert rounded.total != rounded.exact


def test_tokens_are_those_of_language_models_only(prices: PriceBook) -> None:
    for row in all_rows(prices):
        assert row.details is not None
        counted = row.details.to_dict().keys() & {"promptTokens", "completionTokens"}
        assert bool(counted) == ("-llm-" in row.sku or row.sku == "web-search-krequest")


def test_a_charge_of_zero(prices: PriceBook) -> None:
    empty = {"prompt_tokens": 0, "completion_tokens": 0}
    assert rows_of(prices.rate({"type": "text", "model": "grok-4-3", "usage": empty})) == ()
    [row] = rows_of(prices.rate({"type": "speech", "model": "tts-kokoro", "characters": 0}))
    assert (str(row.amount), str(row.unit)) == ("0", "0")


def test_an_aware_time_of_any_zone(prices: PriceBook) -> None:
    quote, zone = prices.rate(USAGES[0]), timezone(timedelta(hours=2))
    [row, *_] = quote.ledger_entries(timestamp=WHEN.astimezone(zone), request_id="r")
    assert row.timestamp == "2026-09-29T14:30:01.250000+02:00"
    assert datetime.fromisoformat(row.timestamp).astimezone(UTC) == WHEN


class Nowhere(tzinfo):
    """A time zone without an offset."""

    def utcoffset(self, when: datetime | None) -> None:
        return None

    tzname = dst = utcoffset


@pytest.mark.parametrize("zone", [None, Nowhere()])
def test_a_time_without_a_zone_is_refused(prices: PriceBook, zone: tzinfo | None) -> None:
    when = WHEN.replace(tzinfo=zone)
    with pytest.raises(InstantError) as caught:
        prices.rate(USAGES[0]).ledger_entries(timestamp=when, request_id="r")
    assert str(caught.value) == f"{when!r} has no time zone. Write an aware one, like datetime(..., tzinfo=UTC)"


def test_what_is_no_instant_currency_or_payment_is_refused(prices: PriceBook) -> None:
    quote = prices.rate(USAGES[0])
    day: Any = WHEN.date()
    with pytest.raises(InstantError, match="has no time zone"):
        quote.ledger_entries(timestamp=day, request_id="r")
    currencies: list[Any] = [5, ["USD"]]
    for currency in currencies:
        with pytest.raises(CurrencyError, match="Allowed: a text, one of DIEM, BUNDLED_CREDITS, USD"):
            rows_of(quote, currency=currency)
    payments: list[Any] = ["USD", [("USD", quote.total)]]
    for paid in payments:
        with pytest.raises(CurrencyError, match="Allowed: what each balance pays, like"):
            rows_of(quote, paid=paid)


def test_currencies_are_those_of_real_exports(prices: PriceBook) -> None:
    quote = prices.rate(USAGES[0])
    for currency in ("USD", "DIEM", "BUNDLED_CREDITS"):
        assert {row.currency for row in rows_of(quote, currency=currency)} == {currency}
    with pytest.raises(ValueError) as caught:
        rows_of(quote, currency="usd")
    assert str(caught.value) == "currency='usd'. Allowed: USD, DIEM, BUNDLED_CREDITS"


def test_the_worth_of_a_balance_is_needed_for_its_value_and_does_not_tell_rows_apart(prices: PriceBook) -> None:
    [row, *_] = rows_of(prices.rate(USAGES[0]), currency="DIEM")
    assert (replace(row, worth=Decimal(2)), value_of(Decimal(3), replace(row, worth=Decimal(2)))) == (row, Decimal(6))
    assert value_of(Decimal(3), replace(row, currency="USD", worth=None)) == 3
    with pytest.raises(CurrencyError, match="does not say what one DIEM was worth"):
        value_of(Decimal(3), replace(row, worth=None))


def test_each_balance_pays_in_turn_and_the_last_one_all_that_is_left(prices: PriceBook) -> None:
    paid = {"USD": Decimal("0.042"), "DIEM": Decimal("0.005")}
    rows = rows_of(prices.rate(USAGES[0]), paid=paid)
    assert [(row.currency, str(row.amount)) for row in rows] == [
        ("DIEM", "-0.003"),
        ("DIEM", "-0.002"),
        ("USD", "-0.001"),
        ("USD", "-0.021"),
        ("USD", "-0.02"),
    ]


def test_a_currency_is_known_by_its_code_or_by_its_worth_at_some_time() -> None:
    stated = [Rates(DIEM=Decimal(1)), Rates(DIEM=Decimal(2), CREDITS=Decimal(1))]
    assert [unknown_currency(given, *stated) for given in ("EUR", "CREDITS")] == ["", ""]
    assert changing_balances(stated) == ["CREDITS", "DIEM"]
    assert changing_balances(stated[:1]) == []
