"""The engines that read and group usage: DuckDB in this process, or Spark, which is loaded only when it is chosen."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Literal

from ratecard.base.errors import SimulationError
from ratecard.card import RateCard
from ratecard.requests.counters import UsageDialect
from ratecard.simulation.groups.engines.duckdb_engine import open_usage
from ratecard.simulation.groups.engines.spark_files import writable as writable
from ratecard.simulation.groups.engines.spark_files import write_table as write_table
from ratecard.simulation.groups.engines.spark_session import is_spark_frame
from ratecard.simulation.groups.queries import OpenUsage
from ratecard.simulation.progress import Progress
from ratecard.simulation.rows.columns import LayoutsOf, layouts_of
from ratecard.simulation.workspace import Workspace

Engine = Literal["duckdb", "spark"]


def opened_usage(
    workspace: Workspace,
    usage: Any,
    names: Mapping[str, str],
    engine: Engine | None,
    master: str | None,
    cards: Sequence[RateCard],
    progress: Progress,
    dialect: UsageDialect | None,
    *,
    by_file: bool = False,
) -> AbstractContextManager[OpenUsage]:
    """Return the usage, opened by an engine; `cards` are all cards that price it, the current one first.

    With `by_file`, each row has the file that it comes from.
    """
    limits = cards[0].tables.limits
    layouts = layouts_for(cards)
    if engine not in (None, "duckdb", "spark"):
        raise SimulationError(f"engine is '{engine}'. Allowed: duckdb, spark")
    if engine == "spark" or is_spark_frame(usage):
        if engine == "duckdb":
            raise SimulationError("engine is duckdb, and a Spark frame is read by Spark; leave out engine")
        if dialect:
            raise SimulationError("responses are read by DuckDB; leave out engine spark, and give their files")
        from ratecard.simulation.groups.engines.spark_engine import open_usage as open_in_spark

        return open_in_spark(workspace, usage, names, master, progress, layouts, by_file=by_file)
    if master:
        raise SimulationError(f"the master {master} is of Spark; add engine spark")
    return open_usage(workspace, usage, names, limits, progress, layouts, dialect, by_file=by_file)


def layouts_for(cards: Sequence[RateCard]) -> LayoutsOf:
    """Return the function from the columns of a table to its layouts, as all of these cards understand them."""
    return partial(layouts_of, [card.tables.meters for card in cards])
