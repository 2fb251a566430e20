"""A balance in USDC beside top-ups in USDC: from the table to the bill. `make test-postgres` runs this too."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from kept import rows, sums

import ratecard
from currencies import PICTURE, TABLES
from ratecard import RateCard, TableError
from ratecard.accounts import check_top_up, settle
from ratecard.ledger import charge, ledger_csv, ledger_json, read_ledger, refund
from ratecard.ledger.store import Ledger

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
LIMITS = """limits:
  - effective: 2026-01-01
    checked: 2026-01-01
    source: a test
    top_up: {{currency: {currency}, least: 5, paid_in: [USDC, {currency}]}}
    rates: {rates}
"""


def card_with(folder: Path, rates: str, currency: str = "USD") -> RateCard:
    (folder / "made-up.yaml").write_text(TABLES.format(currency="USD"))
    (folder / "limits.yaml").write_text(LIMITS.format(rates=rates, currency=currency))
    return ratecard.load_rate_card(folder)


def test_a_wallet_in_usdc_is_topped_up_and_pays(tmp_path: Path, ledger: Ledger) -> None:
    card = card_with(tmp_path, "{DIEM: 1, USDC: 1}")
    prices = card.at(WHEN)
    balance = check_top_up(Decimal(5), "USDC", prices.limits.top_up)
    quote = prices.rate(PICTURE)
    paid = settle(quote, {"DIEM": Decimal("0.5"), "USDC": balance, "USD": Decimal(9)})
    assert paid == {"DIEM": Decimal("0.5"), "USDC": Decimal("1.5"), "USD": Decimal(0)}
    what: dict[str, Any] = {"account": "a", "timestamp": WHEN}
    booked = charge(ledger, card, PICTURE, request_id="r", paid=paid, **what)
    assert [(str(row.amount), row.currency) for row in booked.entries] == [("-0.5", "DIEM"), ("-1.5", "USDC")]
    charge(ledger, card, PICTURE, request_id="s", currency="USDC", **what)
    refund(ledger, request_id="r", refund_id="f", sku=booked.entries[0].sku, amount=Decimal("1.6"), **what)
    kept = rows(ledger, "a")
    assert sums(kept) == {"DIEM": Decimal("0.4"), "USDC": Decimal(2)}
    assert len(rows(ledger, "a", currency="USDC")) == 3
    for write in (ledger_csv, ledger_json):
        assert read_ledger(write(kept), rates=prices.limits.rates) == tuple(kept)


@pytest.mark.parametrize(
    ("rates", "currency"), [("{USDC: 0.5}", "USD"), ("{USDC: unknown}", "USD"), ("{USDC: 1}", "EUR")]
)
def test_a_balance_that_is_not_worth_one_is_not_topped_up_in_itself(tmp_path: Path, rates: str, currency: str) -> None:
    with pytest.raises(TableError) as caught:
        card_with(tmp_path, rates, currency)
    assert f"paid_in has 'USDC', which is not worth one {currency}. Leave it out" in str(caught.value)
