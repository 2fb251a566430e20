"""Spark on cards that charge otherwise than so much for so much: the same shapes, sums and reasons as DuckDB."""

from pathlib import Path
from random import Random

from engines_agree import Engines, same
from rows import table_of
from uneven import random_card, random_rows

from ratecard.review.sides import Side


def test_what_is_not_linear_is_kept_apart(engines: Engines, tmp_path: Path) -> None:
    random = Random(3)  # noqa: S311
    table, now = table_of(random_rows(random, 80)), Side("now", random_card(tmp_path, random))
    found = engines.on_spark(table, current=now, by=("model", "customer"))
    same(engines.on_duckdb(table, current=now, by=("model", "customer")), found)
    assert found.priced > found.rows / 2
