"""Both engines on the same usage: whatever Spark says, DuckDB says too, to the last digit."""

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow

from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Engines:
    """Simulates on both, and closes what it made."""

    def __init__(self, spark: "SparkSession", stack: ExitStack) -> None:
        self.spark, self._stack = spark, stack

    def on_spark(self, usage: Any, **how: Any) -> Simulation:
        """The simulation of what Spark reads, or of an Arrow table as its frame."""
        usage = self.spark.createDataFrame(usage) if isinstance(usage, pyarrow.Table) else usage
        return self._stack.enter_context(simulate(usage, engine="spark", **how))

    def on_duckdb(self, usage: Any, **how: Any) -> Simulation:
        return self._stack.enter_context(simulate(usage, **how))

    def agree(self, table: pyarrow.Table, *by: str) -> Simulation:
        """The simulation of a table, which must be the same on both."""
        found = self.on_spark(table, by=by)
        same(self.on_duckdb(table, by=by), found)
        return found


def same(one: Simulation, other: Simulation) -> None:
    assert one.rows == other.rows
    assert Counter(one.comparison.roll_up.shapes) == Counter(other.comparison.roll_up.shapes)
    assert one.total == other.total
    assert one.groups == other.groups
    differing = set(map(repr, one.unpriced)) ^ set(map(repr, other.unpriced))
    assert not differing, sorted(differing)


def reasons(found: Simulation) -> Mapping[tuple[str, str, str], int]:
    """Return the number of rows without a price, by side, type and reason."""
    return {(each.side, each.type, each.reason): each.rows for each in found.unpriced}


def usage_of(type_: str, name: str, **columns: Any) -> pyarrow.Table:
    """Rows of one model, at noon of a day where no timestamps are given."""
    rows = len(next(iter(columns.values())))
    noon = pyarrow.array([datetime(2026, 10, 1, 12, tzinfo=UTC)] * rows, pyarrow.timestamp("us", "UTC"))
    return pyarrow.table({"type": [type_] * rows, "model": [name] * rows, "timestamp": noon} | columns)
