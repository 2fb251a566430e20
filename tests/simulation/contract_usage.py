"""Usage of accounts with contracts, and what each row is charged by itself."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow
from rows import Row, key_of, quote_of, table_of

from contract_tables import card_of, contract
from ratecard import QuoteError, RateCard

ACCOUNTS = ("a", "b", "c", "d", "e", "nobody", None)
CONTRACTS = (
    contract("- {for: {type: text}, percent: -20%}", "plain", "a, b", "2026-10-03", "2026-10-20"),
    contract(
        """
        - {for: {model: tiered, conditions: {tokens: output}}, rate: 7}
        - {for: {model: clip, conditions: {resolution: 720p}}, at_most: 0.15}
        - {for: {type: text}, at_least: 0.9}
        """,
        "bounds",
        "c",
        "2026-10-10",
    ),
    contract("- {for: {model: clip}, factor: 0.5}", "more", "b", "2026-10-05", "2026-10-15", "extends: plain\n"),
    contract("- {for: {model: hidden}, only: true}\n- {for: {model: flat}, closed: true}", "hiding", "d"),
    contract("- {for: {model: flat}, rate: 2}", "first", "e", "2026-10-01", "2026-10-08"),
    contract("- {for: {model: flat}, rate: 4}", "second", "e", "2026-10-12"),
)
SHOP = card_of(*CONTRACTS)


def usage(rows: int = 240, seed: int = 34) -> list[Row]:
    """Rows of all models, by all accounts, at random instants of October."""
    chance = Random(seed)  # noqa: S311 (made-up usage)
    found = []
    for _ in range(rows):
        row: Row = {
            "model": chance.choice(("tiered", "flat", "clip", "hidden")),
            "timestamp": datetime(2026, 10, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(30 * 86_400)),
            "account": chance.choice(ACCOUNTS),
        }
        if row["model"] in ("tiered", "flat"):
            counts = {"prompt_tokens": chance.randrange(2_000), "completion_tokens": chance.randrange(900)}
            found.append({"type": "text", **row, **counts})
        elif row["model"] == "clip":
            chosen = {"duration": chance.choice(("5s", "10s")), "resolution": chance.choice(("480p", "720p"))}
            found.append({"type": "video", **row, **chosen})
        else:
            found.append({"type": "video", **row, "duration": "5s"})
    return found


def table(rows: Sequence[Row], *further: str) -> pyarrow.Table:
    """The rows as a table whose accounts are in a column of their own."""
    return table_of(rows, ("account", *further))


class _OfAccount:
    """The prices of an account at any instant."""

    def __init__(self, card: RateCard, account: str | None) -> None:
        self.card, self.account = card, account

    def at(self, instant: datetime) -> Any:
        return self.card.at(instant, account=self.account)


def row_by_row(
    card: RateCard, rows: Sequence[Row], *keys: str, account: str = "account", listed: bool = False
) -> tuple[dict[tuple[Any, ...], Decimal], int]:
    """Return the charge of rows priced one by one, by keys, and how many have no price; `listed`: at list prices."""
    sums, refused = defaultdict[tuple[Any, ...], Decimal](Decimal), 0
    for row in rows:
        try:
            prices: Any = _OfAccount(card, None if listed else row[account])
            charged = quote_of(prices, row).total
        except QuoteError:
            refused += 1
        else:
            sums[tuple(key_of(row, key) for key in keys)] += charged
    return dict(sums), refused
