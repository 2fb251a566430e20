"""Quotes for a ledger, and its usage history read as a client does."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from starlette.testclient import TestClient

from ratecard import LineItem, Quote
from ratecard.ledger.store import Ledger
from ratecard.line_items import LineRate, PricedVersion
from ratecard.tables.limits import Rates

PATH = "/billing/usage-history"
RATES = Rates(DIEM=Decimal(1), BUNDLED_CREDITS=Decimal(1))
WHEN = datetime(2026, 10, 1, tzinfo=UTC)


def quote_of(*amounts: Decimal | str, currency: str = "USD") -> Quote:
    """A quote with one line an amount."""
    lines = tuple(LineItem(LineRate("sku", "unit", Decimal(each), "m.yaml:1"), 1, Decimal(each)) for each in amounts)
    total = sum((line.amount for line in lines), Decimal(0))
    return Quote(PricedVersion("model, 1", "image", currency, date(2026, 1, 1), "digest", RATES), total, total, lines)


def append_each(ledger: Ledger, *amounts: str, account: str = "a", currency: str = "USD", prefix: str = "r") -> None:
    """A request an amount, a minute apart."""
    for minute, amount in enumerate(amounts):
        ledger.append(
            quote_of(amount),
            account=account,
            request_id=f"{prefix}-{minute}",
            timestamp=WHEN + timedelta(minutes=minute),
            currency=currency,
        )


def answers(client: TestClient, headers: dict[str, str] | None = None, **filters: Any) -> Iterator[Any]:
    """Every page, JSON or CSV, from the first to the last."""
    parameters: dict[str, Any] = filters
    while parameters is not None:
        answer = client.get(PATH, params=parameters, headers=headers)
        assert answer.status_code == 200, answer.text
        yield answer
        is_json = answer.headers["content-type"] == "application/json"
        cursor = answer.json()["nextCursor"] if is_json else answer.headers.get("x-next-cursor")
        parameters = {"cursor": cursor} if cursor else None  # type: ignore[assignment]
