"""Spark writes the same roll-ups as DuckDB, and both engines read them."""

from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet
import pytest
from kept_roll_ups import answers
from storages import in_memory, new_address

from ratecard import rollup
from ratecard.review.sides import Side
from ratecard.simulation.demo_usage import demo_usage
from shipped import FEW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = Side("now", FEW)
DEARER = Side("then", FEW.with_candidate(Path(__file__).parent / "dearer.yaml"))


def test_spark_writes_reads_and_updates_the_same(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = tmp_path / "usage it is"
    usage.mkdir()
    demo_usage(tmp_path / "all.parquet", 3_000, seed=4, card=FEW)
    rows = pyarrow.parquet.read_table(tmp_path / "all.parquet")
    for number in range(3):
        pyarrow.parquet.write_table(rows.slice(number * 1_000, 1_000), usage / f"u {number}.parquet")
    by = ["model", "customer"]
    kept = {engine: tmp_path / engine for engine in ("duckdb", "spark")}
    done = {engine: rollup(usage, folder, NOW, by=by, engine=engine) for engine, folder in kept.items()}  # type: ignore[arg-type]
    assert {(each.rows, each.groups) for each in done.values()} == {(3_000, done["spark"].groups)}
    assert done["duckdb"].changes == done["spark"].changes
    expected = answers(usage, NOW, DEARER, by=["model", "day", "customer"])
    for folder in kept.values():
        assert answers(folder, NOW, DEARER, by=["model", "day", "customer"]) == expected
    on_spark = answers(kept["duckdb"], NOW, DEARER, by=["model", "day", "customer"], engine="spark")
    assert on_spark == expected
    in_memory(monkeypatch)
    stored = new_address()
    assert rollup(usage, stored, NOW, by=by, engine="spark").groups == done["spark"].groups
    assert answers(stored, NOW, DEARER, by=["model", "day", "customer"]) == expected
    (usage / "u 1.parquet").unlink()
    pyarrow.parquet.write_table(rows.slice(0, 500), usage / "u 2.parquet")
    again = rollup(usage, kept["spark"], NOW, by=by, engine="spark")
    assert rollup(usage, stored, NOW, by=by, engine="spark").changes == again.changes
    assert answers(stored, NOW, by=by) == answers(usage, NOW, by=by)
    assert [[Path(file).stem for file in each] for each in astuple(again.changes)] == [[], ["u 2"], ["u 1"], ["u 0"]]
    assert answers(kept["spark"], NOW, by=by) == answers(usage, NOW, by=by)
    assert rollup(usage, kept["spark"], NOW, by=by).anew.startswith("the arguments")
