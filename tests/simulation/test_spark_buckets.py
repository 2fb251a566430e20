"""Spark on columns of buckets and conditions: the same shapes, sums and reasons as DuckDB."""

from random import Random

import pyarrow
from counted_rows import counted_table, random_counting_card, random_counting_rows
from engines_agree import Engines, same
from made_up_card import card_of, token_columns

from ratecard.review.sides import Side
from ratecard.simulation.simulate import simulate


def test_buckets_and_conditions_agree(engines: Engines) -> None:
    table, now = token_columns(), Side("now", card_of(), None)
    found = engines.on_spark(table, current=now, by=("model", "service_tier"))
    same(engines.on_duckdb(table, current=now, by=("model", "service_tier")), found)
    assert 0 < found.priced < found.rows


def test_counts_within_an_object_agree(engines: Engines) -> None:
    counts = pyarrow.array([{"input": 300_000, "cache_input": 7, "output": 2}, {"input": 1, "cache_input": 2}, None])
    flat = token_columns().slice(0, 3)
    table = flat.select(["type", "model", "timestamp", "service_tier"]).append_column("tokens", counts)
    now = Side("now", card_of(), None)
    found = engines.on_spark(table, current=now, by=("model",))
    with simulate(table, now, by=("model",)) as other:
        same(other, found)
    assert found.priced == 1


def test_counts_by_meter_agree(engines: Engines) -> None:
    """Those that are charged linearly are sums, also of fractions; others are part of the shape."""
    random = Random(1)  # noqa: S311
    card = random_counting_card(random)
    rows = random_counting_rows(card, random, 60)
    table = counted_table(rows)
    found = engines.on_spark(table, current=Side("now", card), by=("model",))
    same(engines.on_duckdb(table, current=Side("now", card), by=("model",)), found)
    assert found.priced > found.rows / 3
