"""Charges of accounts with a contract: booked once, whatever the contract becomes; their rows keep its name."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from contract_tables import card_of, contract
from ratecard.base.errors import QuoteError
from ratecard.ledger import charge, open_ledger, read_ledger, refund
from ratecard.ledger.files import ledger_csv, ledger_json

WHEN = datetime(2026, 11, 1, tzinfo=UTC)
USAGE: dict[str, Any] = {"type": "text", "model": "tiered", "tokens": {"input": 1000, "output": 0}}


def test_a_retry_after_a_change_is_answered_from_the_ledger_and_a_refund_pays_back_what_was_booked(
    tmp_path: Path,
) -> None:
    before, after = (card_of(contract(f"- {{for: {{type: text}}, percent: {by}%}}")) for by in (-20, -50))
    request: dict[str, Any] = {"account": "a-1", "request_id": "r", "timestamp": WHEN}
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        booked = charge(ledger, before, USAGE, **request)
        again = charge(ledger, after, USAGE, **request)
        assert (booked.new, again.new, again.entries) == (True, False, booked.entries)
        [row] = booked.entries
        assert (row.amount, row.contract, row.price_per_unit) == (Decimal("-0.0016"), "acme", Decimal("1.6"))
        back = refund(ledger, refund_id="f", sku=row.sku, corrected=Decimal("0.001"), **request)
        assert [(each.amount, each.contract) for each in back.entries] == [(Decimal("0.0006"), "acme")]
        other = charge(ledger, after, USAGE, **{**request, "account": "a-2"})
        assert [(each.amount, each.contract) for each in other.entries] == [(Decimal("-0.002"), None)]
        page = ledger.page("a-1", ledger.walk("a-1"))
        assert [each.contract for each in page.entries] == ["acme", "acme"]


@pytest.mark.parametrize("written", [ledger_csv, ledger_json])
def test_files_keep_the_contract_of_a_row(written: Any) -> None:
    card = card_of(contract("- {for: {type: text}, percent: -20%}"))
    rows = [
        row
        for account in ("a-1", "a-2")
        for row in card.at(WHEN, account=account).rate(USAGE).ledger_entries(timestamp=WHEN, request_id=account)
    ]
    assert [row.contract for row in rows] == ["acme", None]
    assert read_ledger(written(rows)) == tuple(rows)
    assert "contract" not in written(rows[1:])


def test_a_model_that_is_kept_cannot_be_charged_to_another_account(tmp_path: Path) -> None:
    card = card_of(contract("- {for: {model: hidden}, only: true}"))
    usage = {"type": "video", "model": "hidden", "duration": "5s"}
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        assert charge(ledger, card, usage, account="a-1", request_id="r", timestamp=WHEN).new
        with pytest.raises(QuoteError, match="not found"):
            charge(ledger, card, usage, account="a-2", request_id="r", timestamp=WHEN)
