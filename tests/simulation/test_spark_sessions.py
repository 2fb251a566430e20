"""Whose session it is: ours is stopped, another's is left as it is; and what is said where none can be had."""

import sys
from collections.abc import Mapping

import pytest
from engines_agree import Engines, usage_of
from test_spark_failures import alone

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.spark_session import spark_session
from ratecard.simulation.simulate import simulate

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
    # The new session is the active one now.
    with pytest.raises(SimulationError, match=r"spark.sql.ansi.enabled = false"):
        simulate("usage.csv", engine="spark")
    assert loose.conf.get("spark.sql.ansi.enabled") == "false"
    engines.spark.createDataFrame(USAGE)


def test_a_session_that_runs_is_used_and_goes_on(engines: Engines, master: str) -> None:
    with spark_session() as found:
        assert found.sparkContext is engines.spark.sparkContext
    with spark_session(master) as found:
        assert found.sparkContext is engines.spark.sparkContext
    assert engines.spark.range(3).count() == 3
    with pytest.raises(SimulationError, match=r"runs already. Stop it, or leave out the master local\[7\]"):
        simulate("usage.csv", engine="spark", master="local[7]")
    assert engines.spark.range(3).count() == 3


def test_the_driver_of_a_cluster_has_little_memory_unless_told_otherwise(settings: Mapping[str, str]) -> None:
    launched = """
from ratecard.simulation.groups.engines.spark_session import _launched
for alone, options in ((False, ""), (False, "--driver-memory 300m"), (True, "")):
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{options} pyspark-shell"
    print(_launched(alone=alone).jvm.System.getProperty("spark.driver.memory"))
"""
    unless_told, told, as_by_spark = alone(settings, code=f"import os{launched}").stdout.splitlines()
    assert (unless_told, told) == ("512m", "300m")
    assert as_by_spark in ("None", "1g")


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
