"""Reads all rows of an account, and makes quotes with any rows."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from ratecard import LineItem, Quote
from ratecard.ledger.store import Ledger, Walk
from ratecard.line_items import LedgerEntry, LineRate, PricedVersion
from ratecard.tables.limits import Rates

RATES = Rates(DIEM=Decimal(1), BUNDLED_CREDITS=Decimal(1))
WHEN = datetime(2026, 10, 1, 12, 30, 1, 250_000, tzinfo=UTC)


def pages(ledger: Ledger, account: str, **filters: Any) -> Iterator[tuple[LedgerEntry, ...]]:
    """The pages of a walk from its beginning to its end."""
    following: Walk | None = ledger.walk(account, **filters)
    while following is not None:
        page = ledger.page(account, following)
        yield page.entries
        following = page.next


def rows(ledger: Ledger, account: str, **filters: Any) -> list[LedgerEntry]:
    return [row for page in pages(ledger, account, **filters) for row in page]


def quote_of(*amounts: Decimal | str, model: str = "m") -> Quote:
    """A quote with a line for each amount, of a type with a ledger row for each line."""
    lines = tuple(
        LineItem(LineRate(f"{model}-{place}", "unit", Decimal(amount), "image/m.yaml:1"), 1, Decimal(amount))
        for place, amount in enumerate(amounts)
    )
    total = sum((line.amount for line in lines), Decimal(0))
    return Quote(PricedVersion(model, "image", "USD", date(2026, 1, 1), "digest", RATES), total, total, lines)


AMOUNTS = st.decimals(min_value=0, max_value=10**20, allow_nan=False, allow_infinity=False)


class Card:
    """A card whose prices are the amounts that a usage says, one line each; `rates` are what the balances are worth."""

    def __init__(self, rates: Rates = RATES) -> None:
        self.rates, self.rated = rates, 0

    def at(self, instant: datetime, *, account: str | None = None) -> "Card":
        return self

    def rate(self, usage: Any) -> Quote:
        self.rated += 1
        return at_rates(quote_of(*usage["amounts"]), self.rates)


def at_rates(quote: Quote, rates: Rates) -> Quote:
    """A quote of a day on which balances were worth this."""
    return replace(quote, version=replace(quote.version, rates=rates))


def sums(entries: Iterable[LedgerEntry]) -> dict[str, Decimal]:
    """Return the payments in each currency, less what was paid back."""
    found: dict[str, Decimal] = {}
    for entry in entries:
        found[entry.currency] = found.get(entry.currency, Decimal(0)) - entry.amount
    return found
