"""A failure of Spark is one sentence with its cause, whether its processes live or not, and nothing beside it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from engines_agree import Engines, same
from functions_of_executors import failing, killing_always, killing_once

from ratecard.base.errors import SimulationError
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.groups.engines.spark_session import failures

if TYPE_CHECKING:
    from spark_cluster import Cluster

USAGE = "type,model,timestamp,characters\nspeech,tts-kokoro,2026-10-01,5\n"
# What a process of its own begins with.
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
# One that says why not, after another.
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
"""
# One whose context ends in Java while parts of it are asked for, which fail in words of their own.
STOPPED = """
from ratecard.simulation.groups.engines.spark_session import failures

with spark_session("local[1]") as session:
    session._jsc.sc().stop()
    try:
        with failures("it failed"):
            session._jsc.sc().cancelJob(1)
    except SimulationError as error:
        print(error, "|", error.__cause__)
"""
# The homes of Java in turn, with none on the PATH.
WITHOUT_JAVA = """
path = os.environ["PATH"]
for home in sys.argv[1:]:
    os.environ |= {"JAVA_HOME": home, "PATH": path if home else "/none"}
    print(said("usage.csv", "local[1]"))
"""


def test_each_failure_is_one_sentence_and_no_session_stays(cluster: "Cluster", tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(USAGE)
    done = alone(cluster, str(path), options="--driver-memory 512m")
    nonsense, unreached, missing, memory, again, left = done.stdout.splitlines()
    assert nonsense == "no Spark session can be had of the master nonsense: Could not parse Master URL: 'nonsense'"
    assert unreached == "no master of Spark answers at spark://127.0.0.1:1: Connection refused"
    assert missing == f"the usage cannot be read: Path does not exist: file:{path}.csv"
    assert memory.startswith("the usage cannot be read: the driver of Spark ran out of memory. Give it more: ")
    assert (again, left) == ("1", "None None")
    assert done.stderr == ""


def test_no_java_and_one_that_does_not_start_are_said(cluster: "Cluster", tmp_path: Path) -> None:
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
    done = alone(cluster, *homes, code=BEGIN + WITHOUT_JAVA)
    for line, said in zip(done.stdout.splitlines(), homes.values(), strict=True):
        assert said in line
    assert done.stderr == ""


def test_whatever_a_stopped_context_says_its_end_is_the_cause(cluster: "Cluster") -> None:
    done = alone(cluster, code=BEGIN + STOPPED)
    said, spark = done.stdout.split(" | ", 1)
    assert said == "it failed: the cluster of Spark was lost. Look whether its master runs, and try again"
    assert "dagScheduler" in spark
    assert done.stderr == ""


def test_the_log_is_shown_where_it_is_asked_for(cluster: "Cluster") -> None:
    code = f"{BEGIN}with spark_session('local[1]') as session:\n    print(session.range(3).count())\n"
    done = alone(cluster, code=code, options="--conf spark.log.level=INFO")
    assert done.stdout == "3\n"
    assert 'Setting Spark log level to "INFO"' in done.stderr


def test_a_cluster_that_has_too_little_is_said_and_one_that_is_lost(cluster: "Cluster", tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(USAGE)
    command = [sys.executable, "-c", f"{BEGIN}print(said(sys.argv[1], {cluster.master!r}))", str(path)]
    environment, pipe = submitting(cluster, "--conf spark.executor.memory=64g"), subprocess.PIPE
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
    cluster: "Cluster", *arguments: str, code: str = BEGIN + EACH, options: str = ""
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, *arguments]
    environment = submitting(cluster, options)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert not done.returncode, done.stderr
    return done


def submitting(cluster: "Cluster", options: str) -> dict[str, str]:
    """The environment of a process whose Spark has the settings of a cluster, and these."""
    return {**os.environ, **cluster.for_driver, "PYSPARK_SUBMIT_ARGS": f"{options} pyspark-shell"}


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
