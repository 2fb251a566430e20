"""Usage grouped by shape, which is kept, so that a further candidate costs a fraction of the first."""

import gc
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import duckdb

from ratecard.base.instants import utc
from ratecard.card import RateCard
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.usage.columns import DAY, LAYOUTS
from ratecard.simulation.usage.engines.duckdb_engine import Workspace, read_integers
from ratecard.simulation.usage.files import Reading
from ratecard.simulation.usage.plan import EARLIEST, PREDICATES, Plan
from ratecard.simulation.usage.predicates import BY_BUCKET, Predicates
from ratecard.simulation.usage.roll_up_sql import Grouping, period
from ratecard.simulation.usage.shape import UsageShape
from ratecard.tables.windows import open_at


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector, which takes a third of the time while many small values without cycles are made.

    New objects move to the oldest generation afterwards. Objects that a caller has frozen stay frozen.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was:
            gc.enable()


_SAME = ("type", "model", "attributes", "moment")


def _in_utc(shape: UsageShape) -> UsageShape:
    """A shape whose moment the engine has read without a time zone."""
    moment = shape.moment
    return shape._replace(moment=moment.replace(tzinfo=UTC)) if isinstance(moment, datetime) else shape


class Counted(NamedTuple):
    """A shape, how many requests have it, and the sums of its quantities in their smallest unit."""

    shape: UsageShape
    requests: int
    sums: tuple[int, ...]


class RollUp:
    """One usage as shapes (each once, numbered) and facts (number, keys, requests, sums), a table of the engine.

    `places` says how many decimals the sums of a type have.
    """

    def __init__(self, workspace: Workspace, plan: Plan, places: Mapping[str, int]) -> None:
        self.workspace, self.plan, self.places = workspace, plan, places
        # Every shape, in the order of its number.
        self.shapes: list[Counted] = []
        # What was read, once all of it is.
        self.reading = Reading()
        self.facts = workspace.new_table("facts")
        self._sums = tuple(f"q{number}" for number in range(plan.sums))
        keys = "".join(f", {key} VARCHAR" for key in self._keys)
        sums = "".join(f", {name} HUGEINT" for name in self._sums)
        columns = f"shape BIGINT, type VARCHAR, model VARCHAR, day DATE{keys}, requests BIGINT{sums}"
        workspace.connection.execute(f"CREATE TABLE {self.facts} ({columns})")
        self._taken: list[tuple[Grouping, str]] = []
        # The facts for some of the keys only: see `facts_by`.
        self._coarser: dict[tuple[str, ...], str] = {plan.keys: self.facts}

    @property
    def _keys(self) -> tuple[str, ...]:
        return tuple(f"key{number}" for number in range(len(self.plan.keys)))

    def take(self, grouping: Grouping, groups: str) -> Sequence[Counted]:
        """Number the shapes of a table of groups, of types that no other table has, and keep its facts.

        Gives the shapes. The engine may be reading the next table: this has a connection of its own.
        """
        alike, kept = (
            ("type", "model", "moment", *grouping.shape),
            ("type", "model", "day", *self._keys, "requests", *self._sums),
        )
        same = " AND ".join(f"rows.{name} IS NOT DISTINCT FROM numbered.{name}" for name in alike)
        total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in ("requests", *self._sums))
        by_shape = f"SELECT {', '.join(alike)}, {total} FROM dated GROUP BY {', '.join(alike)}"
        # In one order, whatever engine grouped them: what is said of several shapes is said of the first.
        number = f"{len(self.shapes)} + row_number() OVER (ORDER BY {', '.join(_SAME)}) - 1 AS shape"
        with self.workspace.another() as connection:
            run = connection.execute
            run(f"CREATE TEMP VIEW dated AS {self._dated(connection, grouping, groups)}")
            written = f"SELECT *, {grouping.attributes} AS attributes FROM ({by_shape})"
            run(f"CREATE TEMP TABLE numbered AS SELECT {number}, * FROM ({written})")
            facts = ", ".join(("shape", *(f"rows.{name}" for name in kept)))
            run(f"INSERT INTO {self.facts} SELECT {facts} FROM dated AS rows JOIN numbered ON {same}")
            with uncollected():
                found = read_integers(connection, _SAME, ("requests", *self._sums), "FROM numbered ORDER BY shape")
                split = len(_SAME)
                shapes = [Counted(UsageShape(*row[:split]), row[split], row[split + 1 :]) for row in found]
                if grouping.slot:
                    shapes = [each._replace(shape=_in_utc(each.shape)) for each in shapes]
            if DAY in self.plan.keys:
                self._taken.append((grouping, groups))
            else:  # of no use for other days: see `serving`
                run(f"DROP TABLE {groups}")
        self.shapes += shapes
        return shapes

    def _dated(self, connection: duckdb.DuckDBPyConnection, grouping: Grouping, groups: str) -> str:
        """Groups as rows of facts, with the first day of the period that holds them: of their model, if it is known."""
        keys = [f"{key} AS {name}" for key, name in zip(grouping.keys, self._keys, strict=True)]
        sums = [f"{total} AS {name}" for total, name in zip(grouping.sums, self._sums, strict=True)]
        day = grouping.day or "CAST(NULL AS DATE)"
        columns = ["type", f"{grouping.model} AS model", *grouping.shape, f"{day} AS day", *keys, "requests", *sums]
        if not self.plan.dated:
            return f"SELECT {', '.join(columns)}, CAST(NULL AS DATE) AS moment FROM {groups}"
        if grouping.slot:
            return f"SELECT {', '.join(columns)}, moment FROM {groups} {self._moments(connection, grouping, groups)}"
        of_model = self.plan.predicates.of_model.items()
        edges = {name: (EARLIEST, *(each.date() for each in changes), date.max) for name, changes in of_model}
        rows = [(name, *pair) for name, days in edges.items() for pair in pairwise(days)]
        columns_of = list(map(list, zip(*rows, strict=True))) or [[]] * 3
        unnested = "unnest(?::VARCHAR[]) AS named, unnest(?::DATE[]) AS first, unnest(?::DATE[]) AS next"
        connection.execute(f"CREATE TEMP TABLE periods AS SELECT {unnested}", columns_of)
        columns.append(f"coalesce(first, {period(grouping.day, self.plan.predicates.boundaries)}) AS moment")
        within = f"named = {grouping.model} AND {grouping.day} >= first AND {grouping.day} < next"
        return f"SELECT {', '.join(columns)} FROM {groups} LEFT JOIN periods ON {within}"

    def _moments(self, connection: duckdb.DuckDBPyConnection, grouping: Grouping, groups: str) -> str:
        """The join of groups with the first instant of the usage at which the prices of their model are the same.

        Where prices change within a day, groups have the part of the day between two changes of any card.
        """
        predicates, clocks = self.plan.predicates, dict[tuple[Any, ...], int]()
        cuts = predicates.cuts
        clocks[predicates.boundaries, predicates.windows.get("", ())] = 0
        named = {
            name: clocks.setdefault((changes, predicates.windows.get(name, ())), len(clocks))
            for name, changes in predicates.of_model.items()
        }
        there = f"SELECT DISTINCT {grouping.day}, {grouping.slot} FROM {groups} WHERE {grouping.day} IS NOT NULL"
        parts = sorted(
            (utc(day) + timedelta(seconds=cuts[slot - 1]), day, slot)
            for day, slot in connection.execute(there).fetchall()
        )
        rows = []
        for (changes, windows), clock in clocks.items():
            first: dict[tuple[object, ...], datetime] = {}
            for instant, day, slot in parts:
                state = (bisect_right(changes, instant), open_at(windows, instant))
                rows.append((clock, day, slot, first.setdefault(state, instant).replace(tzinfo=None)))
        columns = list(map(list, zip(*rows, strict=True))) or [[]] * 4
        types = {"clock": "INTEGER", "on_day": "DATE", "in_slot": "INTEGER", "moment": "TIMESTAMP"}
        unnested = ", ".join(f"unnest(?::{type_}[]) AS {name}" for name, type_ in types.items())
        connection.execute(f"CREATE TEMP TABLE moments AS SELECT {unnested}", columns)
        listed = [list(named), list(named.values())]
        unnested = "unnest(?::VARCHAR[]) AS named, unnest(?::INTEGER[]) AS its_clock"
        connection.execute(f"CREATE TEMP TABLE clocks AS SELECT {unnested}", listed)
        of_groups = f"on_day = {grouping.day} AND in_slot = {grouping.slot} AND clock = coalesce(its_clock, 0)"
        return f"LEFT JOIN clocks ON named = {grouping.model} LEFT JOIN moments ON {of_groups}"

    def facts_by(self, keys: Collection[str]) -> str:
        """The table of facts by no more than these keys, made once."""
        asked = {DAY if self.plan.is_period(key) else key for key in keys}
        wanted = tuple(key for key in self.plan.keys if key in asked)
        if wanted not in self._coarser:
            table = self.workspace.new_table("facts")
            same = "".join(f", key{self.plan.keys.index(key)}" for key in wanted)
            total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in self._sums)
            added = f"SELECT shape, type, model{same}, CAST(sum(requests) AS BIGINT) AS requests, {total}"
            grouped = f"FROM {self.facts} GROUP BY shape, type, model{same}"
            self.workspace.connection.execute(f"CREATE TABLE {table} AS {added} {grouped}")
            self._coarser[wanted] = table
        return self._coarser[wanted]

    def places_of(self, counted: Counted) -> int:
        """How many decimals the sums of a shape have."""
        return self.places.get(counted.shape.type or "", 0)

    @cached_property
    def rows(self) -> int:
        """Every row of the usage."""
        return sum(each.requests for each in self.shapes)

    def words(self, counted: Counted) -> Iterator[str]:
        """Describe a shape: its values, and the tier and buckets of its quantities."""
        shape = counted.shape
        yield from (f"{name} {value}" for name, value in shape.row().items() if name not in ("type", "model"))
        tier, used = self.plan.predicates.split(shape.type or "", int(shape.values().get(PREDICATES, 0)))
        if tier:
            yield f"prompt above {self.plan.predicates.thresholds[tier - 1]:,} tokens"
        yield from (f"tokens {bucket}" for bucket in sorted(used - {BY_BUCKET}))

    def days(self) -> tuple[date, date] | None:
        """The first and the last day, where days are kept apart."""
        if DAY not in self.plan.keys:
            return None
        key = f"key{self.plan.keys.index(DAY)}"
        found: Any = self.workspace.connection.execute(f"SELECT min({key}), max({key}) FROM {self.facts}").fetchall()[0]
        return (date.fromisoformat(found[0]), date.fromisoformat(found[1])) if found and found[0] else None

    def check_columns(self, cards: Sequence[RateCard]) -> None:
        """Raise `SimulationError` where the columns of buckets and conditions may mean another thing to other cards."""
        plan, meters = self.plan, [card.tables.meters for card in cards]
        known = all(each in plan.meters for each in meters)
        if plan.layouts is not LAYOUTS and not known:
            words = "has other buckets or conditions than the usage was rolled up for; simulate it anew"
            raise SimulationError(f"the candidate {words}")

    def serving(self, predicates: Predicates, *, dated: bool) -> "RollUp":
        """This roll-up, or one of the same groups with further boundaries, that is fine-grained enough for other cards.

        `dated`: some card is read at each row's own time. Raises `SimulationError` where only the usage
        itself could be grouped so.
        """
        own = self.plan.predicates
        if own.covers(predicates) and dated <= self.plan.dated:
            return self
        if not own.groups(predicates) or DAY not in self.plan.keys:
            words = "has other thresholds or days of change than the usage was rolled up for; simulate it anew"
            raise SimulationError(f"the candidate {words}")
        plan = self.plan._replace(predicates=own.joined(predicates), dated=dated or self.plan.dated)
        found = RollUp(self.workspace, plan, self.places)
        found.reading = self.reading
        for grouping, groups in self._taken:
            found.take(grouping, groups)
        return found
