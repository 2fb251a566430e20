"""`make test-spark-large`: a month of a company on two workers of 2 GB, and the same of DuckDB, to the last digit."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import duckdb
import pytest

from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.simulate import simulate

if TYPE_CHECKING:
    from spark_cluster import Cluster

ROWS, CUSTOMERS = int(os.environ.get("ROWS", "50000000")), int(os.environ.get("CUSTOMERS", "2000"))
CANDIDATE = "2026-10-01"
# The memory for DuckDB alone, which holds the groups of a query while it makes them; Spark does that on its workers.
MEMORY = "4GB" if ROWS > 50_000_000 else None
# The keys of a report: the default keys, which make as many groups as half of the rows; and customers alone, which
# Spark adds up, as it does any keys of more than 100,000,000 rows.
KEYS = (("model", "day"), ("model", "day", "customer"), ("customer",))


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("usage") / "usage.parquet"
    demo_usage(path, ROWS, seed=1, customers=CUSTOMERS)
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Cluster"]:
    pytest.importorskip("pyspark", reason="pyspark is not installed: make test-spark installs it")
    from spark_cluster import Memory, spark_cluster

    with spark_cluster(tmp_path_factory.mktemp("cluster"), memory=Memory("2g", "2g")) as found:
        yield found


@pytest.mark.parametrize("by", KEYS, ids=["model and day", "default keys", "customer"])
def test_spark_says_what_duckdb_says(large: "Cluster", usage: Path, by: tuple[str, ...], tmp_path: Path) -> None:
    with patch.dict(os.environ, large.for_driver):
        began = monotonic()
        forget_most()
        with simulate(usage, candidates=CANDIDATE, by=by, engine="spark", master=large.master) as of_spark:
            assert of_spark.rows == ROWS
            of_spark.write(tmp_path / "spark.parquet")
            took, most = monotonic() - began, memory_of_driver()
            written = fingerprint(tmp_path / "spark.parquet")
            with simulate(usage, candidates=CANDIDATE, by=by, memory=MEMORY) as of_duckdb:
                of_duckdb.write(tmp_path / "duckdb.parquet")
                assert written == fingerprint(tmp_path / "duckdb.parquet")
                assert of_spark.rows == of_duckdb.rows
                assert of_spark.total == of_duckdb.total
                for key in by:
                    assert of_spark.table(key) == of_duckdb.table(key)
    usage_of = f"{ROWS:,} rows of {CUSTOMERS:,} customers by {', '.join(by)}"
    _, _, [(groups, *_)] = written
    said = f"{usage_of}: {groups:,} groups in {took:.1f} s; at most {most} MB on the driver"
    print(said)  # noqa: T201 (this is what the target is run for)


def fingerprint(written: Path) -> list[Any]:
    """Return the number of rows of a file or folder, its columns, and one number made of all its values."""
    with duckdb.connect() as connection:
        rows = connection.read_parquet(f"{written}/*.parquet" if written.is_dir() else str(written))
        found = rows.set_alias("rows").aggregate("count(*), bit_xor(hash(rows)), sum(hash(rows))").fetchall()
        return [rows.columns, list(map(str, rows.types)), found]


def forget_most() -> None:
    """Count the most memory of this process and its Java from now on: the usage was made here, and DuckDB read it."""
    for process in ("self", *children()):
        Path(f"/proc/{process}/clear_refs").write_text("5")


def children() -> list[str]:
    """The processes that this one has started."""
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()


def memory_of_driver() -> dict[str, int]:
    """The most memory that this process and its Java have had."""
    most = {}
    for process in ("self", *children()):
        status = Path(f"/proc/{process}/status").read_text()
        name, size = (re.search(pattern, status) for pattern in (r"Name:\s+(\S+)", r"VmHWM:\s+(\d+)"))
        if name and size:
            most[name[1]] = int(size[1]) // 1024
    return most
