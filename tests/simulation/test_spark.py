"""Spark on 20,000 mixed rows: every group equals the sum of the scalar code row by row, and what DuckDB says."""

from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from engines_agree import Engines, reasons, same, usage_of
from rows import charge

from ratecard import QuoteError, RateCard
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.groups.engines import spark_engine
from ratecard.simulation.result import Simulation

ROWS = 20_000
BY = ("model", "day", "customer")


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("usage") / "usage.parquet"
    demo_usage(path, ROWS, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    return path


@pytest.fixture(scope="module")
def on_spark(engines: Engines, usage: Path) -> Simulation:
    """As if the usage were large: its groups come in parts."""
    with pytest.MonkeyPatch.context() as large:
        large.setattr(spark_engine, "ROWS_AT_ONCE", ROWS // 20)
        large.setattr(spark_engine, "MOST_PARTITION_ROWS", ROWS // 4)
        return engines.on_spark(engines.spark.read.parquet(str(usage)), by=BY)


def test_every_group_is_the_sum_of_its_rows(on_spark: Simulation, usage: Path, card: RateCard) -> None:
    groups: dict[tuple[Any, ...], list[Decimal]] = defaultdict(lambda: [Decimal(0)] * (2 + len(QUANTITY_NAMES)))
    refused: Counter[str] = Counter()
    for row in pyarrow.parquet.read_table(usage).to_pylist():
        try:
            amount = charge(card, row)
        except QuoteError as error:
            refused[row["type"]] += 1
            assert error.error
            continue
        key = (row["model"], row["timestamp"].date().isoformat(), row["customer"])
        for number, value in enumerate((Decimal(1), amount, *quantities(row))):
            groups[key][number] += value
    assert sum(refused.values()) > ROWS / 100
    found = {row.key: [Decimal(row.requests), *row.amounts, *row.quantities] for row in on_spark.groups}
    assert found == groups
    unpriced: Counter[str] = Counter()
    for (_, type_, _), rows in reasons(on_spark).items():
        unpriced[type_] += rows
    assert unpriced == refused
    assert on_spark.rows == ROWS


def test_duckdb_says_the_same(engines: Engines, on_spark: Simulation, usage: Path) -> None:
    same(engines.on_duckdb(usage, by=BY), on_spark)


def test_seconds_that_are_doubles_come_with_their_customers(engines: Engines) -> None:
    seconds = [0.1 + 0.2, 4.35, 100 / 3, 12.0] * 5
    customers = [str(number % 7) for number in range(len(seconds))]
    usage = usage_of("transcription", "openai/whisper-large-v3", seconds=seconds, customer=customers)
    found = engines.agree(usage, "customer")
    assert found.total.quantities[-1] == sum(Decimal(repr(each)) for each in seconds)


def quantities(row: dict[str, Any]) -> list[Decimal]:
    prompt, made, cached, written = (
        row[name] or 0
        for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_creation_input_tokens")
    )
    counts = (prompt - cached - written, cached, written, made, row["characters"] or 0, row["seconds"] or 0)
    return [Decimal(count) for count in counts]
