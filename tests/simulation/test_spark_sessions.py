"""Whose session it is: ours is stopped, another's is left as it is; and what is said where none can be had."""

import sys
from typing import TYPE_CHECKING

import pytest
from engines_agree import Engines, usage_of
from test_spark_failures import alone

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.spark_session import spark_session
from ratecard.simulation.simulate import simulate

if TYPE_CHECKING:
    from spark_cluster import Cluster

USAGE = usage_of("speech", "tts-kokoro", characters=[5])


def test_without_pyspark_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SimulationError, match=r"pip install 'ratecard\[spark\]'"):
        simulate("usage.csv", engine="spark")


def test_a_session_that_lets_sums_wrap_is_refused_and_left_as_it_is(engines: Engines) -> None:
    loose = engines.spark.newSession()
    loose.conf.set("spark.sql.ansi.enabled", False)
    loose.createDataFrame(USAGE).createOrReplaceTempView("requests")
    with pytest.raises(SimulationError, match=r"spark.conf.set\('spark.sql.ansi.enabled', True\)"):
        simulate(loose.table("requests"))
    with pytest.raises(SimulationError, match=r"spark.sql.ansi.enabled = false"):  # it is now the active one
        simulate("usage.csv", engine="spark")
    assert loose.conf.get("spark.sql.ansi.enabled") == "false"
    engines.spark.createDataFrame(USAGE)


def test_a_session_that_runs_is_used_and_goes_on(engines: Engines, cluster: "Cluster") -> None:
    with spark_session() as found:
        assert found.sparkContext is engines.spark.sparkContext
    with spark_session(cluster.master) as found:
        assert found.sparkContext is engines.spark.sparkContext
    assert engines.spark.range(3).count() == 3
    with pytest.raises(SimulationError, match=r"runs already. Stop it, or leave out the master local\[7\]"):
        simulate("usage.csv", engine="spark", master="local[7]")
    assert engines.spark.range(3).count() == 3


def test_the_driver_of_a_cluster_has_little_memory_unless_told_otherwise(engines: Engines, cluster: "Cluster") -> None:
    assert engines.spark.sparkContext.getConf().get("spark.driver.memory") == "512m"
    launched = "from ratecard.simulation.groups.engines.spark_session import _launched\n"
    told = f"{launched}print(_launched(alone=False).jvm.System.getProperty('spark.driver.memory'))\n"
    assert alone(cluster, code=told, options="--driver-memory 300m").stdout == "300m\n"
    as_by_spark = f"{launched}print(_launched(alone=True).jvm.System.getProperty('spark.driver.memory'))\n"
    assert alone(cluster, code=as_by_spark).stdout in ("None\n", "1g\n")


def test_a_frame_chooses_spark(engines: Engines) -> None:
    frame = engines.spark.createDataFrame(USAGE)
    with simulate(frame) as found:
        assert found.total.requests == 1
    with pytest.raises(SimulationError, match="leave out engine"):
        simulate(frame, engine="duckdb")
    with pytest.raises(SimulationError, match="leave out the master"):
        simulate(frame, master="local[2]")


def test_wrong_choices() -> None:
    with pytest.raises(SimulationError, match="Allowed: duckdb, spark"):
        simulate(USAGE, engine="sparc")  # type: ignore[arg-type]
    with pytest.raises(SimulationError, match="add engine spark"):
        simulate(USAGE, master="local[2]")
    with pytest.raises(SimulationError, match="Spark reads paths"):
        simulate(USAGE, engine="spark")


def test_a_billing_export_is_not_for_spark(engines: Engines) -> None:
    columns = ("timestamp", "sku", "pricePerUnitUsd", "unit", "amount", "currency")
    row = dict(zip(columns, ("2026-10-01", "x", "1", "1", "-1", "USD"), strict=True))
    with pytest.raises(SimulationError, match="a billing export is rated by DuckDB"):
        simulate(engines.spark.createDataFrame([row]))
