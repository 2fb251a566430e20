"""What Spark groups is priced as what DuckDB groups: the same shapes, sums and reasons, to the last digit."""

from dataclasses import astuple
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet
import pytest
from contract_usage import SHOP, row_by_row, table, usage
from counted_rows import counted_table, random_counting_card, random_counting_rows
from engines_agree import Engines, same, usage_of
from kept_roll_ups import DEARER, NOW, answers
from made_up_card import card_of, token_columns
from rows import expected, table_of
from storages import in_memory, new_address
from test_rows_at_their_hours import card as card_of_hours
from test_rows_at_their_hours import rows as rows_at_hours
from uneven import random_card, random_rows

from contract_tables import contract
from ratecard import rollup
from ratecard.review.sides import Side
from ratecard.simulation.demo_usage import demo_usage
from shipped import FEW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BY, CANDIDATE = ("customer",), "2026-10-01"


@pytest.mark.parametrize("by", [BY, ("model", "day", "customer"), ("week", "customer")])
def test_amounts_by_customer_are_those_of_duckdb(engines: Engines, tmp_path: Path, by: tuple[str, ...]) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 4_000, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    found = engines.on_spark(str(path), by=by, candidates=CANDIDATE)
    of_duckdb = engines.on_duckdb(path, by=by, candidates=CANDIDATE)
    assert found.total.lost_and_new
    same(of_duckdb, found)
    assert found.customers() == of_duckdb.customers()
    assert found.against("2026-09-01").groups == of_duckdb.against("2026-09-01").groups
    for ending in ("parquet", "csv"):
        for name, simulation in (("expected", of_duckdb), ("found", found)):
            simulation.write(tmp_path / f"{name}.{ending}")
        assert (tmp_path / f"found.{ending}").read_bytes() == (tmp_path / f"expected.{ending}").read_bytes()


@pytest.mark.parametrize("tokens", [2**59 - 64, 2**47], ids=["all tokens", "tokens of a row"])
def test_amounts_beyond_64_bits_are_exact(engines: Engines, tokens: int) -> None:
    prompts = [tokens + number if number % 3 else 1_000 + number for number in range(40)]
    completions = [each // 2 + 1 for each in prompts]
    usage = usage_of("text", "deepseek-v4-pro-0813", prompt_tokens=prompts, completion_tokens=completions)
    usage = usage.append_column("customer", pyarrow.array([str(number % 7) for number in range(len(prompts))]))
    compared: dict[str, Any] = {"current": "2026-08-20", "candidates": CANDIDATE, "by": BY}
    same(engines.on_duckdb(usage, **compared), engines.on_spark(usage, **compared))


def test_buckets_conditions_counts_by_meter_and_what_is_not_linear(engines: Engines, tmp_path: Path) -> None:
    """Counts that are charged linearly are sums, also of fractions; others are part of the shape."""
    random = Random(1)  # noqa: S311
    card, odd = random_counting_card(random), random_card(tmp_path, random)
    counted, rows = counted_table(random_counting_rows(card, random, 60)), table_of(random_rows(random, 80))
    for columns, prices, key in (
        (token_columns(), card_of(), "service_tier"),
        (counted, card, "model"),
        (rows, odd, "customer"),
    ):
        how = {"current": Side("now", prices), "by": tuple(dict.fromkeys(("model", key)))}
        found = engines.on_spark(columns, **how)
        same(engines.on_duckdb(columns, **how), found)
        assert found.rows / 3 < found.priced


def test_counts_within_an_object(engines: Engines) -> None:
    counts = pyarrow.array([{"input": 300_000, "cache_input": 7, "output": 2}, {"input": 1, "cache_input": 2}, None])
    flat = token_columns().slice(0, 3)
    usage = flat.select(["type", "model", "timestamp", "service_tier"]).append_column("tokens", counts)
    now = Side("now", card_of(), None)
    found = engines.on_spark(usage, current=now, by=("model",))
    same(engines.on_duckdb(usage, current=now, by=("model",)), found)
    assert found.priced == 1


def test_rows_have_the_prices_of_their_accounts(engines: Engines) -> None:
    rows, how = usage(), {"current": Side("now", SHOP), "contracts": True}
    for by in (("account",), ("model", "day")):
        found = engines.on_spark(table(rows), by=by, **how)
        assert {row.key: row.amounts[0] for row in found.groups if row.requests} == row_by_row(SHOP, rows, *by)[0]
        same(engines.on_duckdb(table(rows), by=by, **how), found)


def test_rows_are_priced_at_their_own_hour_and_by_contract(engines: Engines) -> None:
    rows, plain = list(rows_at_hours()), card_of_hours()
    found = engines.on_spark(table_of(rows), current=Side("now", plain), by=("model", "day"))
    assert {row.key: row.amounts[0] for row in found.groups} == expected(plain, rows, ("model", "day"))[0]
    card = card_of_hours(contracts=[contract("- {for: {type: text}, percent: -50%}", "c", "'0'", "2026-10-25")])
    found = engines.on_spark(table_of(rows), current=Side("now", card), by=["customer"], contracts=True)
    of_rows, _ = row_by_row(card, rows, "customer", account="customer")
    assert {row.key: row.amounts[0] for row in found.groups} == of_rows


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
