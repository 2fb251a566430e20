"""A real Spark session, and real servers of object storages, for the tests that need one."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
import storages
from engines_agree import Engines

from ratecard.simulation.groups.engines.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="package")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment of a Spark of this machine that starts soon."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: make test-spark installs it")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java 17 or newer: there is no java on the PATH, and no JAVA_HOME")
    from spark_cluster import settings_of

    folder = tmp_path_factory.mktemp("spark")
    return settings_of(folder / "driver", folder / "local")


@pytest.fixture(scope="module")
def master() -> str:
    """This process, unless a module has a cluster: each process of that would compile the same again."""
    return "local[2]"


@pytest.fixture(scope="module")
def spark(settings: Mapping[str, str], master: str) -> Iterator["SparkSession"]:
    """A session that runs already, as that of a notebook does; its Java serves the next module too."""
    with patch.dict(os.environ, settings), spark_session(master) as session:
        yield session


@pytest.fixture(scope="module")
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
