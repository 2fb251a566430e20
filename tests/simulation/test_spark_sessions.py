"""Whose session it is, and what is said where none can be had or one fails: one sentence, and nothing beside it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from engines_agree import Engines, usage_of

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.spark_session import failures, spark_session
from ratecard.simulation.simulate import simulate

FRAME = usage_of("speech", "tts-kokoro", characters=[5])


def test_without_pyspark_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SimulationError, match=r"pip install 'ratecard\[spark\]'"):
        simulate("usage.csv", engine="spark")


def test_a_session_that_lets_sums_wrap_is_refused_and_left_as_it_is(engines: Engines) -> None:
    loose = engines.spark.newSession()
    loose.conf.set("spark.sql.ansi.enabled", False)
    loose.createDataFrame(FRAME).createOrReplaceTempView("requests")
    with pytest.raises(SimulationError, match=r"spark.conf.set\('spark.sql.ansi.enabled', True\)"):
        simulate(loose.table("requests"))
    # The new session is the active one now.
    with pytest.raises(SimulationError, match=r"spark.sql.ansi.enabled = false"):
        simulate("usage.csv", engine="spark")
    assert loose.conf.get("spark.sql.ansi.enabled") == "false"
    engines.spark.createDataFrame(FRAME)


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
    frame = engines.spark.createDataFrame(FRAME)
    with simulate(frame) as found:
        assert found.total.requests == 1
    with pytest.raises(SimulationError, match="leave out engine"):
        simulate(frame, engine="duckdb")
    with pytest.raises(SimulationError, match="leave out the master"):
        simulate(frame, master="local[2]")


def test_wrong_choices() -> None:
    with pytest.raises(SimulationError, match="Allowed: duckdb, spark"):
        simulate(FRAME, engine="sparc")  # type: ignore[arg-type]
    with pytest.raises(SimulationError, match="add engine spark"):
        simulate(FRAME, master="local[2]")
    with pytest.raises(SimulationError, match="Spark reads paths"):
        simulate(FRAME, engine="spark")


def test_a_billing_export_is_not_for_spark(engines: Engines) -> None:
    columns = ("timestamp", "sku", "pricePerUnitUsd", "unit", "amount", "currency")
    row = dict(zip(columns, ("2026-10-01", "x", "1", "1", "-1", "USD"), strict=True))
    with pytest.raises(SimulationError, match="a billing export is rated by DuckDB"):
        simulate(engines.spark.createDataFrame([row]))


USAGE = "type,model,timestamp,characters\nspeech,tts-kokoro,2026-10-01,5\n"
# The beginning of the code for a process of its own.
BEGIN = """
import os, sys
from pyspark.sql import SparkSession
from ratecard.base.errors import SimulationError
from ratecard.simulation.simulate import simulate
from ratecard.simulation.groups.engines.spark_session import spark_session

def said(usage, master="local[1]"):
    try:
        with simulate(usage, engine="spark", master=master, by=()) as found:
            return found.total.requests
    except SimulationError as error:
        return error

"""
# One failure after another, each with its reason. The driver ends for lack of memory; in the next Java, a context ends
# while its parts are used, which fail with messages of their own; and at last the log is read.
EACH = """
usage = sys.argv[1]
print(said(usage, "nonsense"))
print(said(usage, "spark://127.0.0.1:1"))
print(said(f"{usage}.csv"))
with spark_session("local[1]") as session:
    long = "repeat(CAST(id AS STRING), 1500000000)"
    frame = session.range(1).selectExpr("'speech' AS type", f"{long} AS model", "DATE '2026-10-01' AS timestamp")
    print(said(frame, None))
print(said(usage))
from pyspark import SparkContext
from pyspark.sql import SparkSession
print(SparkSession.getActiveSession(), SparkContext._active_spark_context)

from ratecard.simulation.groups.engines.spark_session import failures

with spark_session("local[1]") as session:
    session._jsc.sc().stop()
    try:
        with failures("it failed"):
            session._jsc.sc().cancelJob(1)
    except SimulationError as error:
        print(str(error), repr(str(error.__cause__)), sep="\\n")
SparkContext._jvm.System.setProperty("spark.log.level", "INFO")
print("asked for", file=sys.stderr)
with spark_session("local[1]") as session:
    print(session.range(3).count())
"""
# Several homes of Java are tried in turn, with no Java on the PATH.
WITHOUT_JAVA = """
path = os.environ["PATH"]
for home in sys.argv[1:]:
    os.environ |= {"JAVA_HOME": home, "PATH": path if home else "/none"}
    print(said("usage.csv", "local[1]"))
"""


def test_each_failure_is_one_sentence_and_no_session_stays(settings: Mapping[str, str], tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(USAGE)
    done = alone(settings, str(path), options="--driver-memory 512m")
    nonsense, unreached, missing, memory, again, left, stopped, words, counted = done.stdout.splitlines()
    assert nonsense == "no Spark session can be had of the master nonsense: Could not parse Master URL: 'nonsense'"
    assert unreached == "no master of Spark answers at spark://127.0.0.1:1: Connection refused"
    assert missing == f"the usage cannot be read: Path does not exist: file:{path}.csv"
    assert memory.startswith("the usage cannot be read: the driver of Spark ran out of memory. Give it more: ")
    assert (again, left) == ("1", "None None")
    assert stopped == "it failed: the cluster of Spark was lost. Look whether its master runs, and try again"
    assert "dagScheduler" in words
    assert counted == "3"
    before, log = done.stderr.split("asked for\n")
    assert before == ""
    assert 'Setting Spark log level to "INFO"' in log


def test_no_java_and_one_that_does_not_start_are_said(settings: Mapping[str, str], tmp_path: Path) -> None:
    missing = "Spark needs Java 17 or newer, and there is none. Install it, or set JAVA_HOME"
    homes = {"": missing, str(tmp_path / "empty"): missing}
    for words, said in (
        (
            "UnsupportedClassVersionError: class file version 61.0",
            "Spark needs Java 17 or newer, and found an older one",
        ),
        ("the disk is full", "the Java process of Spark ended: the disk is full"),
    ):
        java = tmp_path / words / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
        java.chmod(0o755)
        homes[str(tmp_path / words)] = said
    done = alone(settings, *homes, code=BEGIN + WITHOUT_JAVA)
    for line, said in zip(done.stdout.splitlines(), homes.values(), strict=True):
        assert said in line
    assert done.stderr == ""


def test_of_what_waited_in_vain_the_cause_is_said(engines: Engines) -> None:
    from py4j.protocol import Py4JJavaError

    java = engines.spark._jvm
    assert java
    error = java.java.lang.IllegalStateException("the disk is full")
    for _ in range(2):
        error = java.org.apache.spark.SparkException("Exception thrown in awaitResult: ", error)
    with pytest.raises(SimulationError, match=r"^it failed: the disk is full$"), failures("it failed"):
        raise Py4JJavaError("it ended", error)


def alone(
    settings: Mapping[str, str], *arguments: str, code: str = BEGIN + EACH, options: str = ""
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, *arguments]
    environment = submitting(settings, options)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert not done.returncode, done.stderr
    return done


def submitting(settings: Mapping[str, str], options: str) -> dict[str, str]:
    """The environment of a process whose Spark has these settings and options."""
    return {**os.environ, **settings, "PYSPARK_SUBMIT_ARGS": f"{options} pyspark-shell"}
