"""A real Spark session, on a cluster of its own, and real servers of object storages, for the tests that need one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
import storages
from engines_agree import Engines

from ratecard.simulation.groups.engines.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from spark_cluster import Cluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Cluster"]:
    """A master and two workers on this machine."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: make test-spark installs it")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java 17 or newer: there is no java on the PATH, and no JAVA_HOME")
    from spark_cluster import spark_cluster

    with spark_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="package")
def spark(cluster: "Cluster") -> Iterator["SparkSession"]:
    """A session on the cluster that runs already, as that of a notebook does."""
    with patch.dict(os.environ, cluster.for_driver), spark_session(cluster.master) as session:
        yield session


@pytest.fixture(scope="package")
def engines(spark: "SparkSession") -> Iterator[Engines]:
    with ExitStack() as stack:
        yield Engines(spark, stack)


@pytest.fixture(scope="package")
def s3() -> Iterator[storages.Server]:
    """An S3 server on this machine."""
    with storages.server_of("s3") as server:
        yield server


@pytest.fixture(scope="package")
def azure() -> Iterator[storages.Server]:
    """An Azure server on this machine."""
    with storages.server_of("az") as server:
        yield server
