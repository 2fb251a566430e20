"""A failure of Spark is one sentence with its cause, whether its processes live or not, and nothing beside it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from engines_agree import Engines, same
from killed_executors import killing_always, killing_once

from ratecard.simulation.demo.usage import demo_usage
from ratecard.simulation.errors import SimulationError

if TYPE_CHECKING:
    from spark_cluster import Cluster

USAGE = "type,model,timestamp,characters\nspeech,tts-kokoro,2026-10-01,5\n"
# In a process of its own: one that says why not, after another.
ALONE = """
import sys
from pyspark.sql import SparkSession
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.simulate import simulate
from ratecard.simulation.usage.engines.spark_session import spark_session

def said(usage, master="local[1]"):
    try:
        with simulate(usage, engine="spark", master=master, by=()) as found:
            return found.total.requests
    except SimulationError as error:
        return error

usage = sys.argv[1]
print(said(usage, "nonsense"))
print(said(usage, "spark://127.0.0.1:1"))
print(said(f"{usage}.csv"))
with spark_session("local[1]") as session:
    long = "repeat(CAST(id AS STRING), 1500000000)"
    frame = session.range(1).selectExpr("'speech' AS type", f"{long} AS model", "DATE '2026-10-01' AS timestamp")
    print(said(frame, None))
print(said(usage))
"""


def test_each_failure_is_one_sentence(cluster: "Cluster", tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(USAGE)
    done = alone(path, PYSPARK_SUBMIT_ARGS="--driver-memory 512m pyspark-shell")
    nonsense, unreached, missing, memory, again = done.stdout.splitlines()
    assert nonsense == "no Spark session can be had of the master nonsense: Could not parse Master URL: 'nonsense'"
    assert unreached == "no master of Spark answers at spark://127.0.0.1:1: Connection refused"
    assert missing == f"the usage cannot be read: Path does not exist: file:{path}.csv"
    assert memory.startswith("the usage cannot be read: the driver of Spark ran out of memory. Give it more: ")
    assert again == "1"
    assert done.stderr == ""


def test_a_java_that_does_not_start_gives_its_last_words(cluster: "Cluster", tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    for words, said in (
        (
            "UnsupportedClassVersionError: class file version 61.0",
            "Spark needs Java 17 or newer, and found an older one",
        ),
        ("the disk is full", "the Java process of Spark ended: the disk is full"),
    ):
        java.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
        java.chmod(0o755)
        code = ALONE.partition("print(said(f")[0].replace("nonsense", "local[1]")
        done = alone(tmp_path / "usage.csv", code, JAVA_HOME=str(tmp_path))
        assert said in done.stdout.splitlines()[0]
        assert done.stderr == ""


def test_the_log_is_shown_where_it_is_asked_for(cluster: "Cluster", tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(USAGE)
    code = ALONE.partition("usage = sys")[0] + "print(said(sys.argv[1]))\n"
    done = alone(path, code, PYSPARK_SUBMIT_ARGS="--conf spark.log.level=INFO pyspark-shell")
    assert done.stdout == "1\n"
    assert 'Setting Spark log level to "INFO"' in done.stderr


def test_a_cluster_that_has_too_little_is_said(cluster: "Cluster", tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(USAGE)
    code = ALONE.partition("usage = sys")[0] + f"said(sys.argv[1], {cluster.master!r})\n"
    settings = {"PYSPARK_SUBMIT_ARGS": "--conf spark.executor.memory=64g pyspark-shell"}
    command, environment = [sys.executable, "-c", code, str(path)], os.environ | settings
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as waiting:
        assert waiting.stderr
        assert waiting.stderr.readline().startswith("Spark waits: no worker is free, or none has what an executor asks")
        waiting.kill()


def alone(usage: Path, code: str = ALONE, **settings: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, str(usage)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings, check=False)
    assert not done.returncode, done.stderr
    return done


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
