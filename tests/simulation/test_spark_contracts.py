"""Spark prices rows by the contracts of their accounts as DuckDB does."""

from contract_usage import SHOP, row_by_row, table, usage
from engines_agree import Engines, same
from rows import table_of
from test_rows_at_their_hours import card as card_of_hours
from test_rows_at_their_hours import rows as rows_at_hours

from contract_tables import contract
from ratecard.review.sides import Side


def test_rows_have_the_prices_of_their_accounts(engines: Engines) -> None:
    rows, how = usage(), {"current": Side("now", SHOP), "contracts": True}
    for by in (("account",), ("model", "day")):
        found = engines.on_spark(table(rows), by=by, **how)
        assert {row.key: row.amounts[0] for row in found.groups if row.requests} == row_by_row(SHOP, rows, *by)[0]
        same(engines.on_duckdb(table(rows), by=by, **how), found)


def test_rows_at_their_hours_too(engines: Engines) -> None:
    card = card_of_hours(contracts=[contract("- {for: {type: text}, percent: -50%}", "c", "'0'", "2026-10-25")])
    rows = list(rows_at_hours())
    found = engines.on_spark(table_of(rows), current=Side("now", card), by=["customer"], contracts=True)
    assert {row.key: row.amounts[0] for row in found.groups} == row_by_row(card, rows, "customer", account="customer")[
        0
    ]
