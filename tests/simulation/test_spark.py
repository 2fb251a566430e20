"""Spark on a cluster: every group of 20,000 mixed rows is their sum, and what DuckDB says; then processes of it end."""

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest
from engines_agree import Engines, reasons, same, usage_of
from functions_of_executors import failing, killing_always, killing_once
from rows import charge, quantities
from test_spark_sessions import BEGIN, USAGE, submitting

from ratecard import QuoteError, RateCard
from ratecard.base.errors import SimulationError
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.groups.engines import spark_engine
from ratecard.simulation.result import Simulation

if TYPE_CHECKING:
    from spark_cluster import Cluster

ROWS = 20_000
BY = ("model", "day", "customer")


@pytest.fixture(scope="module")
def cluster(settings: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator["Cluster"]:
    """A master and two workers on this machine."""
    assert settings  # the fixture skips without Spark
    from spark_cluster import spark_cluster

    with spark_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="module")
def master(cluster: "Cluster") -> str:
    return cluster.master


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("usage") / "usage.parquet"
    demo_usage(path, ROWS, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    return path


@pytest.fixture(scope="module")
def on_spark(engines: Engines, usage: Path) -> Simulation:
    """Simulate on Spark as if the usage were large: its groups come in parts."""
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


def test_a_cluster_that_has_too_little_is_said_and_one_that_is_lost(cluster: "Cluster", tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(USAGE)
    command = [sys.executable, "-c", f"{BEGIN}print(said(sys.argv[1], {cluster.master!r}))", str(path)]
    options = "--conf spark.executor.memory=64g --conf spark.starvation.timeout=1s"
    environment, pipe = submitting(cluster.for_driver, options), subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as waiting:
        try:
            assert waiting.stderr
            assert waiting.stderr.readline().startswith("Spark waits: no worker is free, or none has what an executor")
            cluster.remove_waiting()
            said, more = waiting.communicate()
        finally:
            waiting.kill()
    assert said.endswith("the cluster of Spark was lost. Look whether its master runs, and try again\n")
    assert more == ""


def test_of_a_function_in_python_its_own_words_are_said(engines: Engines) -> None:
    usage = "'speech' AS type", "'tts-kokoro' AS model", "DATE '2026-10-01' AS timestamp", "5 AS characters"
    frame = engines.spark.range(1).selectExpr(*usage)
    said = "a Python worker of Spark says: KeyError: 'the tokens of row 7'"
    with pytest.raises(SimulationError, match=f"^the usage cannot be read: {said}$"):
        engines.on_spark(frame.mapInArrow(failing, frame.schema), by=())


def test_a_worker_that_is_killed_meanwhile_changes_nothing(
    engines: Engines, cluster: "Cluster", tmp_path: Path
) -> None:
    path, marker = tmp_path / "usage.parquet", tmp_path / "killed"
    demo_usage(path, 4_000, seed=8)
    frame = engines.spark.read.parquet(str(path)).repartition(4, "request_id")
    found = engines.on_spark(frame.mapInArrow(killing_once(str(marker)), frame.schema), by=("model",))
    assert marker.exists()
    same(engines.on_duckdb(path, by=("model",)), found)
    cluster.add_worker()


def test_executors_that_are_always_killed_are_said(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 200, seed=8)
    frame = engines.spark.read.parquet(str(path))
    with pytest.raises(SimulationError, match="executor of Spark ran out of memory, or was killed") as raised:
        engines.on_spark(frame.mapInArrow(killing_always, frame.schema), by=())
    assert "\n" not in str(raised.value)
    assert engines.spark.range(3).count() == 3
