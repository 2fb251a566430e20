"""A failure of Spark is one sentence with its cause, whether its processes live or not, and nothing beside it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from engines_agree import Engines

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.spark_session import failures

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
