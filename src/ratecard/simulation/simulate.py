"""`simulate`: recorded usage under the current prices and under candidates."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ratecard.diff.side import Side
from ratecard.simulation.as_billed import AS_BILLED, AsBilled
from ratecard.simulation.effect import check_effect
from ratecard.simulation.engines.duckdb_engine import DEFAULT_MEMORY, Workspace, groups, open_usage
from ratecard.simulation.engines.spark_session import is_spark_frame
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.ledger_pricer import LedgerPricer
from ratecard.simulation.plan import DAY, Plan, Usage, places_of_type
from ratecard.simulation.predicates import Predicates
from ratecard.simulation.pricer import Outcome, Pricer
from ratecard.simulation.progress import Progress, silent
from ratecard.simulation.result import Simulation
from ratecard.simulation.roll_up import RollUp
from ratecard.simulation.roll_up_sql import Grouping
from ratecard.simulation.specification import Specification, sides
from ratecard.tables.limits import Limits
from ratecard.words.suggest import did_you_mean

Engine = Literal["duckdb", "spark"]


def simulate(
    usage: Any,
    current: Specification | None = None,
    candidates: Specification | Sequence[Specification] = (),
    *,
    by: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    tables: str | Path | None = None,
    strict: bool = False,
    currency: str = "USD",
    memory: str = DEFAULT_MEMORY,
    engine: Engine | None = None,
    master: str | None = None,
    costs: Specification | None = None,
    progress: Progress = silent,
) -> Simulation:
    """Price usage under the current prices and under each candidate, exactly.

    `usage` is a path (or paths, a folder, a pattern) of Parquet, CSV or JSON lines, or a DuckDB, Polars, pandas,
    PyArrow or Spark frame. `current` and `candidates` are folders, git revisions, dates ("as of"), candidate overlays
    or cards; without `current`, each row is priced at its own timestamp by `tables`, the shipped ones by default. `by`
    names columns to group by, and `day`; `columns` maps names of ours to those of the usage.

    `engine` is "duckdb", or "spark" for what outgrows a machine; a Spark frame chooses Spark by itself. `master` is
    where Spark runs, by default on this machine.

    Amounts are exact sums, in one `currency`, of what each request is charged, its rounding included. Raises
    `SimulationError`; with `strict` also for rows that cannot be priced, which otherwise are counted by reason in
    `unpriced`.
    """
    several = isinstance(candidates, (list, tuple)) and not isinstance(candidates, Side)
    listed: Sequence[Any] = candidates if several else [candidates]  # type: ignore[assignment]
    folder = Path(tables) if tables else None
    compared = sides(current, listed, folder)
    paid = sides(costs, (), folder)[0] if costs is not None else None
    workspace = Workspace(memory)
    try:
        limits = compared[0].card.tables.limits
        with _opened(workspace, usage, columns or {}, engine, master, limits) as (known, read):
            plan = plan_of((*compared, *filter(None, [paid])), keys_of(known) if by is None else by, known)
            usual = Pricer(plan.predicates, currency)
            pricer = LedgerPricer(plan.predicates, compared[0].card, currency) if known.is_ledger else usual
            places = {type_: places_of_type(known, layout) for type_, layout in known.layouts.items()}
            rolled = RollUp(workspace, plan, places)
            outcomes: list[list[Outcome]] = [[] for _ in compared]
            with closing(read(plan, progress)) as tables_of_groups:
                # What has been read is priced while the engine reads on.
                for grouping, groups_of in tables_of_groups:
                    shapes = rolled.take(grouping, groups_of)
                    for found_of, more in zip(outcomes, pricer.outcomes(compared, shapes), strict=True):
                        found_of += more
        progress("Pricing", None)
        found = Simulation(rolled, compared, pricer, outcomes, paid)
        check_effect(found)
    except BaseException:
        workspace.close()
        raise
    if strict and found.unpriced:
        workspace.close()
        raise SimulationError(found.unpriced_text())
    return found


@contextmanager
def _opened(
    workspace: Workspace,
    usage: Any,
    names: Mapping[str, str],
    engine: Engine | None,
    master: str | None,
    limits: Sequence[Limits],
) -> Iterator[tuple[Usage, Callable[[Plan, Progress], Generator[tuple[Grouping, str]]]]]:
    """What the usage has, and the function that makes its groups, table by table, by an engine."""
    if engine not in (None, "duckdb", "spark"):
        raise SimulationError(f"engine is '{engine}'. Allowed: duckdb, spark")
    if engine == "spark" or is_spark_frame(usage):
        if engine == "duckdb":
            raise SimulationError("engine is duckdb, and a Spark frame is read by Spark; leave out engine")
        from ratecard.simulation.engines import spark_engine

        with spark_engine.open_usage(usage, names, master) as opened:
            yield opened.known, partial(opened.groups, workspace)
    elif master:
        raise SimulationError(f"the master {master} is of Spark; add engine spark")
    else:
        known = open_usage(workspace, usage, names, limits)
        yield known, partial(groups, workspace, known)


def keys_of(usage: Usage) -> tuple[str, ...]:
    """What usage is grouped by where nobody says: model, day and customer, as far as it has them."""
    needed = {"model": "model", DAY: "timestamp", "customer": "customer"}
    return tuple(key for key, column in needed.items() if usage.has(column))


def plan_of(compared: Sequence[Side], by: Sequence[str], usage: Usage) -> Plan:
    """What has to be rolled up for these sides and keys. Raises `SimulationError` for a key that there is not."""
    for key in by:
        if key != DAY and not usage.has(key):
            near = did_you_mean(key, (DAY, *usage.columns))
            raise SimulationError(
                f"the usage has no column '{key}' to group by.{near} It has: {', '.join(usage.columns)}"
            )
    if not usage.is_ledger and any(isinstance(side, AsBilled) for side in compared):
        raise SimulationError(f"{AS_BILLED}: the usage is no billing export, and does not say what was charged")
    dated = usage.is_ledger or any(side.at is None for side in compared)
    if (dated or DAY in by) and not usage.has("timestamp"):
        words = "Name it: --map timestamp=COLUMN, or compare dates and leave out day"
        raise SimulationError(f"the usage has no column 'timestamp', and rows are priced at their own. {words}")
    predicates = Predicates.of((side.card for side in compared), dated=dated, by_model=not usage.is_ledger)
    rpc = next(
        (model.model for side in compared for model in side.card.tables.models.values() if model.type == "rpc"), "rpc"
    )
    return Plan(tuple(dict.fromkeys(by)), predicates, dated, rpc)
