"""Whose session it is: ours is stopped, another's is left as it is; and what is said where none can be had."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from engines_agree import Engines, usage_of

from ratecard.simulation.errors import SimulationError
from ratecard.simulation.simulate import simulate
from ratecard.simulation.usage.engines.spark_session import spark_session

if TYPE_CHECKING:
    from spark_cluster import Cluster

USAGE = usage_of("speech", "tts-kokoro", characters=[5])
# A process of its own, in which no session runs.
ALONE = """
import sys
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.simulate import simulate

def said(master):
    try:
        with simulate(sys.argv[1], engine="spark", master=master) as found:
            return found.total
    except SimulationError as error:
        return error

print(said("nonsense"))
print(said("local[1]").requests)
from pyspark import SparkContext
from pyspark.sql import SparkSession
print(SparkSession.getActiveSession(), SparkContext._active_spark_context)
"""


def test_our_session_is_stopped(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text("type,model,timestamp,characters\nspeech,tts-kokoro,2026-10-01,5\n")
    lines = alone(str(path)).splitlines()
    assert lines[0].startswith("no Spark session can be had of the master nonsense: ")
    assert lines[1:] == ["1", "None None"]


def test_without_java_the_error_says_so(engines: Engines, tmp_path: Path) -> None:
    said = "Spark needs Java 17 or newer, and there is none. Install it, or set JAVA_HOME"
    code = ALONE.partition('print(said("local')[0]
    for home in (None, str(tmp_path)):
        assert alone("usage.csv", code, PATH=str(tmp_path), JAVA_HOME=home) == f"{said}\n"


def alone(usage: str, code: str = ALONE, **settings: str | None) -> str:
    environment = {name: value for name, value in (os.environ | settings).items() if value is not None}
    environment["PYSPARK_SUBMIT_ARGS"] = "--conf spark.sql.shuffle.partitions=2 pyspark-shell"
    command = [sys.executable, "-c", code, usage]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


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
