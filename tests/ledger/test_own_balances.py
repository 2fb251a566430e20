"""Balances of a folder of one's own, from the quote to the simulation; and a folder that has none."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import ratecard
from currencies import PICTURE, TABLES
from ratecard import RateCard
from ratecard.accounts import CurrencyError, TopUpError, settle
from ratecard.history import usage_history_router
from ratecard.ledger import LedgerError, ledger_csv, ledger_json, read_ledger
from ratecard.ledger.store import Ledger
from ratecard.line_items import LedgerEntry
from ratecard.review.compare import compare_sides
from ratecard.review.guard import Rules, refusals
from ratecard.review.sides import Side
from ratecard.server import Bearer, LiveRateCard
from ratecard.server.charges import charges_router
from ratecard.tables.limits import NO_LIMITS

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
LIMITS = """limits:
  - effective: 2026-01-01
    checked: 2026-01-01
    source: a test
    rates: {CREDITS: 0.01, VOUCHERS: unknown}
"""
KEYS = {"key": "a"}


def folder_with(folder: Path, limits: str, dearer: str = "2") -> RateCard:
    folder.mkdir(exist_ok=True)
    tables = TABLES.format(currency="USD").replace("rate: 2}", f"rate: {dearer}}}")
    (folder / "made-up.yaml").write_text(tables.replace("total: 2}", f"total: {dearer}}}"))
    if limits:
        (folder / "limits.yaml").write_text(limits)
    return ratecard.load_rate_card(folder)


@pytest.fixture
def credits_card(tmp_path: Path) -> RateCard:
    return folder_with(tmp_path / "own", LIMITS)


@pytest.fixture
def bare_card(tmp_path: Path) -> RateCard:
    return folder_with(tmp_path / "bare", "")


def test_a_balance_of_any_name_pays(credits_card: RateCard) -> None:
    quote = credits_card.at(WHEN).rate(PICTURE)
    paid = settle(quote, {"credits": Decimal(150), "USD": Decimal(9)})
    assert paid == {"CREDITS": Decimal(150), "USD": Decimal("0.5")}
    rows = quote.ledger_entries(timestamp=WHEN, request_id="r", paid=paid)
    assert [(str(row.unit), str(row.amount), row.currency, row.price_per_unit_usd) for row in rows] == [
        ("1", "-150", "CREDITS", Decimal(2)), ("0", "-0.5", "USD", Decimal(2))
    ]  # fmt: skip
    [row] = quote.ledger_entries(timestamp=WHEN, request_id="r", currency="CREDITS")
    assert (row.amount, row.currency) == (Decimal(-200), "CREDITS")
    with pytest.raises(ValueError, match=r"balances has 'DIEM'. Allowed: CREDITS, USD"):
        settle(quote, {"DIEM": Decimal(9)})
    for name in ("DIEM", "VOUCHERS"):
        with pytest.raises(CurrencyError) as caught:
            quote.ledger_entries(timestamp=WHEN, request_id="r", currency=name)
        assert str(caught.value) == f"currency='{name}' has no rate in limits.yaml. Allowed: USD, CREDITS"


def test_its_files_are_read_with_its_rates(credits_card: RateCard) -> None:
    prices = credits_card.at(WHEN)
    rows = prices.rate(PICTURE).ledger_entries(timestamp=WHEN, request_id="r", currency="CREDITS")
    for content in (ledger_csv(rows), ledger_json(rows)):
        assert read_ledger(content, rates=prices.limits.rates) == rows
        with pytest.raises(LedgerError) as caught:
            read_ledger(content)
        allowed = "Allowed: USD, DIEM, BUNDLED_CREDITS or another ISO 4217 code"
        meant = "Did you mean 'BUNDLED_CREDITS'?"
        assert str(caught.value) == f"row 1: currency 'CREDITS' is not known. {meant} {allowed}"
        for name, reason in (("DIEM", "is not known."), ("VOUCHERS", "has no stated rate.")):
            with pytest.raises(LedgerError) as refused:
                read_ledger(content.replace("CREDITS", name), rates=prices.limits.rates)
            assert str(refused.value) == (
                f"row 1: currency '{name}' {reason} Allowed: USD, CREDITS or another ISO 4217 code"
            )


LATER = LIMITS.replace("limits:\n", "").replace("2026-01-01", "2026-11-01").replace("CREDITS: 0.01, ", "DIEM: 1, ")


def test_a_ledger_has_the_balances_of_all_days(tmp_path: Path, ledger: Ledger) -> None:
    card = folder_with(tmp_path / "both", f"limits:\n{LATER}{LIMITS.removeprefix('limits:')[1:]}")
    stated = [each.rates for each in card.tables.limits]
    days = {"CREDITS": WHEN, "DIEM": datetime(2026, 11, 2, tzinfo=UTC)}
    rows = [
        row
        for name, day in days.items()
        for row in card.at(day).rate(PICTURE).ledger_entries(timestamp=day, request_id="r", currency=name)
    ]
    assert read_ledger(ledger_csv(rows), rates=stated) == tuple(rows)
    for rates in stated:
        with pytest.raises(LedgerError, match="is not known"):
            read_ledger(ledger_csv(rows), rates=rates)
    with client_of(ledger, card) as client:
        assert set(days) < set(pattern_in(client).strip("^()$").split("|"))
        assert all(client.get("/billing/usage-history", params={"currency": name}).is_success for name in days)


def test_the_order_in_which_balances_pay_is_a_change_and_one_that_cannot_pay_is_none(tmp_path: Path) -> None:
    pays = ["CREDITS: 0.01, VOUCHERS: 1", "VOUCHERS: 1, CREDITS: 0.01", "CREDITS: 0.01, VOUCHERS: 1, VCU: unknown"]
    texts = [LIMITS.replace("CREDITS: 0.01, VOUCHERS: unknown", each) for each in pays]
    first, turned, more = (folder_with(tmp_path / str(number), text) for number, text in enumerate(texts))
    [change] = compare_sides(Side("a", first), Side("b", turned)).changes
    [term] = change.terms
    assert (term.term, term.old, term.new) == ("rates order", "CREDITS, VOUCHERS", "VOUCHERS, CREDITS")
    assert not compare_sides(Side("a", first), Side("b", more)).changes
    faults = [
        [str(each) for each in refusals(first, card, Rules(WHEN, Decimal(9), "before"))] for card in (turned, more)
    ]
    assert "rates order: CREDITS, VOUCHERS -> VOUCHERS, CREDITS" in faults[0][0]
    assert faults[1] == []


def test_its_bill_is_re_rated(credits_card: RateCard, tmp_path: Path) -> None:
    quote = credits_card.at(WHEN).rate(PICTURE)
    entries: list[LedgerEntry] = []
    for number in range(4):
        paid = settle(quote, {"CREDITS": Decimal(50 * number), "USD": Decimal(9)})
        entries += quote.ledger_entries(timestamp=WHEN, request_id=f"r-{number}", paid=paid)
    file = tmp_path / "export.csv"
    unknown = ledger_csv(entries[:1]).replace("USD", "DIEM").split("\n", 1)[1]
    file.write_text(ledger_csv(entries) + unknown)
    dearer = folder_with(tmp_path / "dearer", LIMITS, "3")
    with ratecard.simulate(str(file), credits_card, ["as-billed", dearer], by=["currency"]) as found:
        assert not found.disputed
        [refused] = found.unpriced
        assert {group.key[0]: group.amounts[1] for group in found.groups} == {
            "CREDITS": Decimal(3), "USD": Decimal(5)
        }  # fmt: skip
        assert found.total.amounts == (Decimal(8), Decimal(8), Decimal(12))
    assert refused.reason == "currency: DIEM has no worth in USD that is known. Allowed: USD, CREDITS"


def client_of(ledger: Ledger, card: RateCard) -> TestClient:
    live, app = LiveRateCard(card), FastAPI()
    history = usage_history_router(ledger, Bearer(KEYS.get), secret="sixteen signs or more", tables=live)  # noqa: S106
    for routes in (history, charges_router(ledger, live, Bearer(KEYS.get))):
        app.include_router(routes)
    return TestClient(app, headers={"authorization": "Bearer key"})


def pattern_in(client: TestClient) -> Any:
    return client.get("/openapi.json").json()["components"]["schemas"]["UsageEntry"]["properties"]["currency"][
        "pattern"
    ]


def test_its_balance_over_http(credits_card: RateCard, ledger: Ledger) -> None:
    charge = {"usage": PICTURE, "timestamp": WHEN.isoformat(), "request_id": "r-1", "currency": "CREDITS"}
    with client_of(ledger, credits_card) as client:
        [entry] = client.post("/charges", json=charge).json()["entries"]
        assert (entry["amount"], entry["currency"], entry["pricePerUnitUsd"]) == ("-200", "CREDITS", "2")
        [row] = client.get("/billing/usage-history", params={"currency": "CREDITS"}).json()["data"]
        assert (row["amount"], row["currency"], row["pricePerUnitUsd"]) == (-200, "CREDITS", 2)
        assert client.get("/billing/usage-history", params={"currency": "USD"}).json()["data"] == []
        refused = client.get("/billing/usage-history", params={"currency": "DIEM"})
        assert refused.json()["details"]["currency"]["_errors"] == [
            "Invalid enum value. Expected 'USD' | 'CREDITS' | another ISO 4217 code, received 'DIEM'"
        ]
        answer = client.post("/charges", json=charge | {"request_id": "r-2", "currency": "DIEM"})
        assert answer.status_code == 400
        assert pattern_in(client) == "^(USD|CREDITS|[A-Z]{3})$"
        body = client.get("/openapi.json").json()["components"]["schemas"]["ChargeRequest"]
        assert body["properties"]["currency"]["examples"] == ["CREDITS"]


def test_a_folder_without_balances_knows_none(bare_card: RateCard, ledger: Ledger, tmp_path: Path) -> None:
    prices = bare_card.at(WHEN)
    quote = prices.rate(PICTURE)
    assert prices.limits is NO_LIMITS
    assert settle(quote, {"USD": Decimal(2)}) == {"USD": Decimal(2)}
    with pytest.raises(ValueError, match=r"balances has 'DIEM'. Allowed: USD"):
        settle(quote, {"DIEM": Decimal(2)})
    rows = quote.ledger_entries(timestamp=WHEN, request_id="r")
    content = ledger_csv([*rows, *rows]).replace(",USD,", ",DIEM,", 1)
    with pytest.raises(LedgerError, match=r"currency 'DIEM' is not known. Allowed: USD or another ISO 4217 code"):
        read_ledger(content, rates=prices.limits.rates)
    file = tmp_path / "export.csv"
    file.write_text(content)
    with ratecard.simulate(str(file), bare_card, ["as-billed"]) as found:
        assert [each.reason for each in found.unpriced] == [
            "currency: DIEM has no worth in USD that is known. Allowed: USD"
        ]
    with client_of(ledger, bare_card) as client:
        refused = client.get("/billing/usage-history", params={"currency": "DIEM"}).json()
        assert refused["details"]["currency"]["_errors"] == [
            "Invalid enum value. Expected 'USD' | another ISO 4217 code, received 'DIEM'"
        ]
        assert pattern_in(client) == "^(USD|[A-Z]{3})$"


def test_what_its_limits_leave_out(credits_card: RateCard) -> None:
    limits = credits_card.at(WHEN).limits
    assert ratecard.limits.failed_request_block([WHEN] * 99, WHEN, limits.failed_requests) is None
    assert ratecard.accounts.daily_allowance(Decimal(5), limits.diem) == 0
    with pytest.raises(
        TopUpError, match=r"a top-up in 'USD' is not accepted. The tables have no top_up in limits.yaml"
    ):
        ratecard.accounts.check_top_up(Decimal(5), "USD", limits.top_up)
