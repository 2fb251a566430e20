"""Usage rolled up: what a simulation keeps, so that a further candidate costs a fraction of the first."""

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import duckdb
import pyarrow

from ratecard.simulation.allocation import uncollected
from ratecard.simulation.engines.duckdb_engine import Workspace
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.predicates import Predicates
from ratecard.simulation.roll_up_sql import ASKED, DAY, EARLIEST, GIVEN, QUANTITIES, Plan, period
from ratecard.simulation.shape import Shape

_SUMS = tuple(f"q{number}" for number in range(QUANTITIES))
_SAME = ("type", "model", "attributes", "moment")


class Counted(NamedTuple):
    """A shape, how many requests have it, and the sums of its quantities in their smallest unit."""

    shape: Shape
    requests: int
    sums: tuple[int, ...]


class RollUp:
    """One usage as shapes (each once, numbered) and facts (number, keys, requests, sums), two tables of the engine.

    `places` says how many decimals the sums of a type have.
    """

    def __init__(self, workspace: Workspace, plan: Plan, places: Mapping[str, int]) -> None:
        self.workspace, self.plan, self.places = workspace, plan, places
        self._shapes, self.facts = workspace.new_table("shapes"), workspace.new_table("facts")
        grouped, of_shape = _dated(workspace, workspace.connection, plan), ", ".join(_SAME)
        keys = "".join(f", key{number}" for number in range(len(plan.keys)))
        total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in _SUMS)
        shapes = (
            f"SELECT {of_shape}, CAST(sum(requests) AS BIGINT) AS requests, {total} FROM {grouped} GROUP BY {of_shape}"
        )
        same = " AND ".join(f"rows.{name} IS NOT DISTINCT FROM numbered.{name}" for name in _SAME)
        sums = ", ".join(f"rows.{name}" for name in _SUMS)
        chosen = f"shape, rows.type, rows.model{keys}, rows.requests, {sums}"
        facts = f"SELECT {chosen} FROM {grouped} AS rows JOIN {self._shapes} AS numbered ON {same}"
        run = workspace.connection.execute
        # In one order, whatever engine grouped them: what is said of several shapes is said of the first.
        numbered = f"row_number() OVER (ORDER BY {of_shape}) - 1 AS shape"
        run(f"CREATE TABLE {self._shapes} AS SELECT {numbered}, * FROM ({shapes})")
        run(f"CREATE TABLE {self.facts} AS {facts}")
        # The same for some of the keys only: see `facts_by`.
        self._coarser: dict[tuple[str, ...], str] = {plan.keys: self.facts}

    def facts_by(self, keys: Collection[str]) -> str:
        """The facts, telling apart no more than these keys: a table made once, whatever it is then priced at."""
        wanted = tuple(key for key in self.plan.keys if key in keys)
        if wanted not in self._coarser:
            table = self.workspace.new_table("facts")
            same = "".join(f", key{self.plan.keys.index(key)}" for key in wanted)
            total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in _SUMS)
            added = f"SELECT shape, type, model{same}, CAST(sum(requests) AS BIGINT) AS requests, {total}"
            grouped = f"FROM {self.facts} GROUP BY shape, type, model{same}"
            self.workspace.connection.execute(f"CREATE TABLE {table} AS {added} {grouped}")
            self._coarser[wanted] = table
        return self._coarser[wanted]

    def places_of(self, counted: Counted) -> int:
        """How many decimals the sums of a shape have."""
        return self.places.get(counted.shape.type or "", 0)

    @cached_property
    def shapes(self) -> tuple[Counted, ...]:
        """Every shape, in the order of its number."""
        columns = ", ".join((*_SAME, "requests", *_SUMS))
        found = self.workspace.connection.execute(f"SELECT {columns} FROM {self._shapes} ORDER BY shape")
        with uncollected():
            return tuple(
                Counted(Shape(*row[: len(_SAME)]), row[len(_SAME)], row[len(_SAME) + 1 :]) for row in found.fetchall()
            )

    @cached_property
    def rows(self) -> int:
        """Every row of the usage."""
        return sum(each.requests for each in self.shapes)

    def words(self, counted: Counted) -> Iterator[str]:
        """What a person reads of a shape: its values, and what tables ask of its quantities."""
        values = dict(counted.shape.values())
        given, asked = values.pop(GIVEN, "{}"), int(values.pop(ASKED, 0))
        yield from (f"{name} {value}" for name, value in (values | json.loads(given)).items() if value is not None)
        tier, used = self.plan.predicates.split(counted.shape.type or "", asked)
        if tier:
            yield f"prompt above {self.plan.predicates.thresholds[tier - 1]:,} tokens"
        yield from (f"tokens {bucket}" for bucket in sorted(used))

    def days(self) -> tuple[date, date] | None:
        """The first and the last day, where days are kept apart."""
        if DAY not in self.plan.keys:
            return None
        key = f"key{self.plan.keys.index(DAY)}"
        found: Any = self.workspace.connection.execute(f"SELECT min({key}), max({key}) FROM {self.facts}").fetchall()[0]
        return (date.fromisoformat(found[0]), date.fromisoformat(found[1])) if found and found[0] else None

    def serving(self, predicates: Predicates) -> "RollUp":
        """This roll-up, or one of the same groups with further boundaries, that tells apart what other cards ask.

        Raises `SimulationError` where only the usage itself could tell that apart.
        """
        own = self.plan.predicates
        if own.covers(predicates):
            return self
        if not own.groups(predicates) or DAY not in self.plan.keys:
            words = "has other thresholds or days of change than the usage was rolled up for; simulate it anew"
            raise SimulationError(f"the candidate {words}")
        return RollUp(self.workspace, self.plan._replace(predicates=own.joined(predicates)), self.places)


def shapes_so_far(workspace: Workspace, plan: Plan) -> tuple[Shape, ...]:
    """The shapes of what has been grouped already, while the rest still is."""
    with workspace.connection.cursor() as connection:
        query = f"SELECT DISTINCT {', '.join(_SAME)} FROM {_dated(workspace, connection, plan)} ORDER BY ALL"
        return tuple(Shape(*row) for row in connection.execute(query).fetchall())


def _dated(workspace: Workspace, connection: duckdb.DuckDBPyConnection, plan: Plan) -> str:
    """The groups with the first day of the period that holds them: of their model, where its days are known."""
    if not plan.dated:
        return "grouped"
    # Where days are kept apart, other boundaries than those of the first roll-up need no other groups.
    day = f"CAST(key{plan.keys.index(DAY)} AS DATE)" if DAY in plan.keys else "moment"
    edges = {name: (EARLIEST, *days, date.max) for name, days in plan.predicates.of_model.items()}
    rows = [(name, *pair) for name, days in edges.items() for pair in pairwise(days)]
    types = {"model": pyarrow.string(), "first": pyarrow.date32(), "next": pyarrow.date32()}
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    arrays = [pyarrow.array(column, type_) for column, type_ in zip(columns, types.values(), strict=True)]
    periods = workspace.new_table("periods")
    connection.register("given_periods", pyarrow.table(arrays, list(types)))
    connection.execute(f"CREATE TABLE {periods} AS SELECT * FROM given_periods")
    connection.unregister("given_periods")
    moment = f"coalesce(first, {period(day, plan.predicates.boundaries)})"
    joined = f"LEFT JOIN {periods} AS p ON g.model = p.model AND {day} >= p.first AND {day} < p.next"
    return f"(SELECT g.* REPLACE ({moment} AS moment) FROM grouped AS g {joined})"
