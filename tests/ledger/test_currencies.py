"""Money has one currency, from the quote to the bill: rows, files, the database; what is not known is refused."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from kept import WHEN, quote_of, rows

from currencies import FILM, PICTURE, card_in
from ratecard import PriceBook, Quote, RateCardError
from ratecard.accounts import CurrencyError
from ratecard.base.money import ISO_4217
from ratecard.ledger import LedgerConflictError, LedgerError, ledger_csv, ledger_json, read_ledger
from ratecard.ledger.store import Ledger

ALLOWED = "Allowed: USD, DIEM, BUNDLED_CREDITS or another ISO 4217 code"


def quote_in(currency: str, rates: str = "{DIEM: 1, BUNDLED_CREDITS: 1}", usage: Any = PICTURE) -> Quote:
    return card_in(currency, rates).at(WHEN).rate(usage)


def test_a_quote_in_euros_is_booked_in_euros(ledger: Ledger) -> None:
    quote = quote_in("EUR")
    assert ledger.append(quote, account="a", request_id="r", timestamp=WHEN)
    [row] = rows(ledger, "a")
    assert (row.price_per_unit, row.price_per_unit_usd, row.unit, row.amount, row.currency) == (
        Decimal(2),
        None,
        Decimal(1),
        Decimal(-2),
        "EUR",
    )
    assert row.to_dict() == {
        "timestamp": "2026-10-01T12:30:01.250000+00:00",
        "sku": "picture-fixed-1K-1img",
        "pricePerUnit": Decimal(2),
        "unit": Decimal(1),
        "amount": Decimal(-2),
        "currency": "EUR",
        "notes": "picture",
        "inferenceDetails": {"requestId": "r"},
    }
    assert rows(ledger, "a", currency="EUR") == [row]
    assert rows(ledger, "a", currency="USD") == []
    assert ledger.append(quote, account="a", request_id="r", timestamp=WHEN) is False
    with pytest.raises(LedgerConflictError) as caught:
        ledger.append(quote_in("USD"), account="a", request_id="r", timestamp=WHEN)
    assert str(caught.value) == (
        "request 'r' is in the ledger already, and not the same: currency of row 1 is EUR, not USD"
    )


@pytest.mark.parametrize("currency", ["USD", "DIEM", "BUNDLED_CREDITS", "VCU"])
def test_nothing_but_its_own_currency_pays_a_quote_in_euros(ledger: Ledger, currency: str) -> None:
    with pytest.raises(CurrencyError) as caught:
        ledger.append(quote_in("EUR"), account="a", request_id="r", timestamp=WHEN, currency=currency)
    assert str(caught.value) == f"currency='{currency}' cannot pay what is priced in EUR. Allowed: EUR"
    assert isinstance(caught.value, RateCardError) and isinstance(caught.value, ValueError)
    assert rows(ledger, "a") == []


@pytest.mark.parametrize(
    ("rates", "currency", "amount"),
    [
        ("{DIEM: 1, BUNDLED_CREDITS: 1}", None, "-2"),
        ("{DIEM: 1, BUNDLED_CREDITS: 1}", "USD", "-2"),
        ("{DIEM: 1, BUNDLED_CREDITS: 1}", "DIEM", "-2"),
        ("{DIEM: 0.8, BUNDLED_CREDITS: 4}", "DIEM", "-2.5"),
        ("{DIEM: 0.8, BUNDLED_CREDITS: 4}", "BUNDLED_CREDITS", "-0.5"),
        ("{VCU: 0.1}", "VCU", "-20"),
    ],
)
def test_a_balance_is_charged_at_its_stated_rate(rates: str, currency: str | None, amount: str) -> None:
    [row] = quote_in("USD", rates).ledger_entries(timestamp=WHEN, request_id="r", currency=currency)
    assert (row.price_per_unit_usd, row.unit, str(row.amount)) == (Decimal(2), Decimal(1), amount)
    assert row.currency == (currency or "USD")
    assert row.to_dict()["pricePerUnitUsd"] == 2
    assert "pricePerUnit" not in row.to_dict()


@pytest.mark.parametrize(
    ("rates", "currency", "said"),
    [
        ("{DIEM: 1, BUNDLED_CREDITS: 1}", "VCU", " has no rate in limits.yaml. Allowed: USD, DIEM, BUNDLED_CREDITS"),
        ("{DIEM: 1}", "BUNDLED_CREDITS", " has no rate in limits.yaml. Allowed: USD, DIEM"),
        ("{}", "DIEM", " has no rate in limits.yaml. Allowed: USD"),
        ("{DIEM: 1, BUNDLED_CREDITS: 1}", "usd", ". Allowed: USD, DIEM, BUNDLED_CREDITS"),
        ("{DIEM: 1, BUNDLED_CREDITS: 1}", "EUR", ". Allowed: USD, DIEM, BUNDLED_CREDITS"),
    ],
)
def test_what_has_no_rate_pays_nothing(rates: str, currency: str, said: str) -> None:
    with pytest.raises(CurrencyError) as caught:
        quote_in("USD", rates).ledger_entries(timestamp=WHEN, request_id="r", currency=currency)
    assert str(caught.value) == f"currency='{currency}'{said}"


def test_a_quote_of_no_price_book_is_paid_in_its_own_currency() -> None:
    quote = quote_of("1")
    quote = replace(quote, version=replace(quote.version, rates=None))
    [row] = quote.ledger_entries(timestamp=WHEN, request_id="r")
    assert row.currency == "USD"
    with pytest.raises(CurrencyError) as caught:
        quote.ledger_entries(timestamp=WHEN, request_id="r", currency="DIEM")
    assert str(caught.value) == "currency='DIEM' has no rate: the quote is not of a price book. Allowed: USD"


def test_the_rates_are_those_of_the_quotes_own_day() -> None:
    from currencies import TABLES, limits_in_time
    from ratecard.testing.card_strategies import card_of

    limits = limits_in_time(("2026-10-02", "{DIEM: 0.5}"), ("2026-09-01", "{DIEM: 1}"))
    card = card_of({"tables.yaml": TABLES.format(currency="USD").encode(), "limits.yaml": limits})
    found = {}
    for usage in (PICTURE, FILM):
        for day in (1, 2):
            when = datetime(2026, 10, day, tzinfo=UTC)
            [row] = card.at(when).rate(usage).ledger_entries(timestamp=when, request_id="r", currency="DIEM")
            found[usage["model"], day] = str(row.amount)
    assert found == {("picture", 1): "-2", ("picture", 2): "-4", ("film", 1): "-0.51", ("film", 2): "-1.02"}


USD_ROW = {"timestamp": "2026-10-01", "sku": "s", "pricePerUnitUsd": 1, "unit": 2, "amount": -2, "currency": "USD"}
EUR_ROW = {"timestamp": "2026-10-01", "sku": "s", "pricePerUnit": 1, "unit": 2, "amount": -2, "currency": "EUR"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (USD_ROW | {"currency": "usd"}, f"currency 'usd' is not known. Did you mean 'USD'? {ALLOWED}"),
        (USD_ROW | {"currency": "EUX"}, f"currency 'EUX' is not known. Did you mean 'EUR'? {ALLOWED}"),
        (USD_ROW | {"currency": "$"}, f"currency '$' is not known. {ALLOWED}"),
        (USD_ROW | {"currency": "VCU"}, f"currency 'VCU' has no stated rate. {ALLOWED}"),
        (USD_ROW | {"currency": "EUR"}, "pricePerUnitUsd of a row in EUR. Its price is pricePerUnit, and no other"),
        (EUR_ROW | {"currency": "USD"}, "pricePerUnit of a row in USD. Its price is pricePerUnitUsd, and no other"),
        (EUR_ROW | {"currency": "DIEM"}, "pricePerUnit of a row in DIEM. Its price is pricePerUnitUsd, and no other"),
        (USD_ROW | EUR_ROW, "pricePerUnitUsd of a row in EUR. Its price is pricePerUnit, and no other"),
        (EUR_ROW | USD_ROW, "pricePerUnit of a row in USD. Its price is pricePerUnitUsd, and no other"),
        (EUR_ROW | {"pricePerUnit": None}, "pricePerUnit is missing"),
        (USD_ROW | {"pricePerUnitUsd": ""}, "pricePerUnitUsd is missing"),
    ],
)
def test_an_unknown_currency_and_a_mixture_are_refused_with_their_row(row: dict[str, Any], said: str) -> None:
    names = ("timestamp", "sku", "pricePerUnitUsd", "pricePerUnit", "unit", "amount", "currency")
    sound = ",".join(("2026-10-01", "s", "1", "", "2", "-2", "USD"))
    cells = ",".join("" if row.get(name) is None else str(row[name]) for name in names)
    for content in (json.dumps({"data": [USD_ROW, row]}), "\n".join((",".join(names), sound, cells))):
        with pytest.raises(LedgerError) as caught:
            read_ledger(content)
        assert str(caught.value) == f"row 2: {said}"


def test_vcu_is_read_where_a_rate_is_stated() -> None:
    content = json.dumps([USD_ROW | {"currency": "VCU"}])
    limits = card_in("USD", "{VCU: 0.1}").at(WHEN).limits
    [row] = read_ledger(content, rates=limits.rates)
    assert (row.currency, row.price_per_unit_usd) == ("VCU", Decimal(1))
    with pytest.raises(LedgerError):
        read_ledger(content, rates=card_in("USD").at(WHEN).limits.rates)


def test_both_forms_hold_every_currency() -> None:
    entries = [
        *quote_in("USD").ledger_entries(timestamp=WHEN, request_id="u", currency="DIEM"),
        *quote_in("EUR").ledger_entries(timestamp=WHEN, request_id="e"),
        *quote_in("JPY", usage=FILM).ledger_entries(timestamp=WHEN, request_id="j"),
    ]
    assert [entry.currency for entry in entries] == ["DIEM", "EUR", "JPY"]
    for some in (entries, entries[:1], entries[1:], []):
        for write in (ledger_json, ledger_csv):
            assert read_ledger(write(some)) == tuple(some)
    dollars, euros = "timestamp,sku,pricePerUnitUsd,unit,", "timestamp,sku,pricePerUnit,unit,"
    assert ledger_csv(entries[:1]).startswith(dollars)
    assert ledger_csv([]).startswith(dollars)
    assert ledger_csv(entries[1:]).startswith(euros)
    heading, first, second, _ = ledger_csv(entries).splitlines()
    assert heading.startswith("timestamp,sku,pricePerUnitUsd,pricePerUnit,unit,amount,currency,")
    assert first.split(",")[2:7] == ["2", "", "1", "-2", "DIEM"]
    assert second.split(",")[2:7] == ["", "2", "1", "-2", "EUR"]
    assert '"pricePerUnit":2,"unit":1,"amount":-2,"currency":"EUR"' in ledger_json(entries)


def test_a_heading_that_names_a_column_twice() -> None:
    with pytest.raises(LedgerError) as caught:
        read_ledger("timestamp,sku,pricePerUnitUsd,unit,unit,amount,amount,currency\n2026-10-01,s,1,2,2,-2,-3,USD\n")
    assert str(caught.value) == "the heading has unit, amount twice"


def test_http_says_a_currency_that_is_not_the_dollar(prices: PriceBook) -> None:
    assert quote_in("EUR").to_json() == b'{"quote":2,"currency":"EUR"}'
    assert quote_in("EUR", usage=FILM).to_json() == b'{"quote":0.51,"currency":"EUR"}'
    assert quote_in("USD").to_json() == b'{"quote":2}'


def test_the_codes_are_codes() -> None:
    assert len(ISO_4217) > 150
    assert all(len(code) == 3 and code.isalpha() and code.isupper() for code in ISO_4217)
    assert {"USD", "EUR", "JPY", "CHF"} <= ISO_4217
    assert not ISO_4217 & {"VCU", "XXX", "XTS", "XAU"}
