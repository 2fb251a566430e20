"""A real Spark session for the tests that need one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from engines_agree import Engines

from ratecard.simulation.usage.engines.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="package")
def spark() -> Iterator["SparkSession"]:
    """A session on this machine that runs already, as that of a notebook does."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: make test-spark installs it")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java 17 or newer: there is no java on the PATH, and no JAVA_HOME")
    with spark_session("local[2]") as session:
        session.conf.set("spark.sql.shuffle.partitions", 2)
        yield session


@pytest.fixture(scope="package")
def engines(spark: "SparkSession") -> Iterator[Engines]:
    with ExitStack() as stack:
        yield Engines(spark, stack)
