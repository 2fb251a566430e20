"""Spark prices rows at their own hours as DuckDB does."""

from engines_agree import Engines
from rows import table_of
from test_rows_at_their_hours import card, groups, row_by_row, rows

from ratecard.review.sides import Side


def test_rows_are_priced_at_their_own_hour(engines: Engines) -> None:
    prices = card()
    found = engines.on_spark(table_of(rows()), current=Side("now", prices), by=("model", "day"))
    assert groups(found) == row_by_row(prices, ("model", "day"))
