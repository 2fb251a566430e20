"""Usage grouped by shape, which is kept, so that a further candidate costs a fraction of the first."""

import gc
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import duckdb

from ratecard.base.instants import utc
from ratecard.card import RateCard
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.usage.columns import DAY, LAYOUTS
from ratecard.simulation.usage.engines.duckdb_engine import Workspace, is_unique
from ratecard.simulation.usage.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.usage.files import Reading
from ratecard.simulation.usage.plan import EARLIEST, PREDICATES, SUMMED, Plan
from ratecard.simulation.usage.predicates import BY_BUCKET, Predicates
from ratecard.simulation.usage.roll_up_sql import Grouping, period
from ratecard.simulation.usage.shape import UsageShape
from ratecard.simulation.usage.shapes import Counted, Shapes, UsageFamily
from ratecard.tables.windows import open_at


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector, which takes a third of the time while many small values without cycles are made."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


# What tells one family of shapes from another.
_FAMILY = ("type", "model", "attributes")
_SHAPE = ("family", "length", "moment")
# How many more facts than shapes there have to be for a table by fewer keys: it has each shape once, at least.
_WORTH_A_TABLE = 4


class Taken(NamedTuple):
    """A grouping, the table of its groups, that of its cells (each group with the number of its shape), and that of
    its facts where other keys are read apart: these name their cell.
    """

    grouping: Grouping
    groups: str
    cells: str
    facts: str = ""


class RollUp:
    """One usage as shapes (each once, numbered) and facts (number, keys, requests, sums), a view of the engine.

    `places` says how many decimals each sum of a type has.
    """

    def __init__(self, workspace: Workspace, plan: Plan, places: Mapping[str, tuple[int, ...]]) -> None:
        self.workspace, self.plan, self.places = workspace, plan, places
        # Every shape, in the order of its number.
        self.shapes = Shapes()
        # What was read, once all of it is.
        self.reading = Reading()
        self._sums = tuple(f"q{number}" for number in range(plan.sums))
        self.taken: list[Taken] = []
        # The facts for some of the keys only: see `facts_by`.
        self._coarser: dict[tuple[str, ...], str] = {}
        # The queries of which a view of facts is made, each with its grouping.
        self._parts: dict[str, list[tuple[str, Grouping | None]]] = {}

    def take(self, grouping: Grouping, groups: str) -> Shapes:
        """Number the shapes of a table of groups, of types that no other table has.

        Gives the shapes. The engine may be reading the next table: this has a connection of its own.
        """
        cells = self.workspace.new_table("cells")
        with self.workspace.another() as connection:
            self._number(connection, grouping, groups, cells)
            shapes = self._shapes(connection, ("requests", *self._sums_of(grouping)))
            self.taken.append(Taken(grouping, groups, self._whole(connection, grouping, cells)))
            if not grouping.facts:
                self._forget(connection, groups)
        self.shapes.extend(shapes)
        return shapes

    def _sums_of(self, grouping: Grouping) -> tuple[str, ...]:
        """The sums that some type of a grouping has; the others are zero."""
        return tuple(self._sums[number] for number in grouping.summed)

    def _told(self, grouping: Grouping) -> dict[str, str]:
        """The keys that other columns of a cell tell, each as that column: the day as a date."""
        own = {"type": "type", grouping.model: "model", DuckDbSql().text(grouping.day): "day"}
        return {name: own[key] for key, name in zip(grouping.keys, self.plan.key_columns, strict=True) if key in own}

    def _columns_of(self, grouping: Grouping) -> tuple[str, ...]:
        """The columns of the table of cells, beside the shape with its type and model."""
        keys = [key for key in self.plan.key_columns if key not in (*grouping.others, *self._told(grouping))]
        return ("day", "requests", *self._sums_of(grouping), *keys, *(("cell",) if grouping.facts else ()))

    def _whole(self, connection: duckdb.DuckDBPyConnection, grouping: Grouping, cells: str) -> str:
        """The view of a table of cells with all keys and sums."""
        none = (f"CAST(0 AS HUGEINT) AS {name}" for name in self._sums if name not in self._sums_of(grouping))
        told = (f"{column} AS {key}" for key, column in self._told(grouping).items())
        view = self.workspace.new_table("cells")
        connection.execute(f"CREATE VIEW {view} AS SELECT {', '.join(('*', *told, *none))} FROM {cells}")
        return view

    def _number(self, connection: duckdb.DuckDBPyConnection, grouping: Grouping, groups: str, cells: str) -> None:
        """Make the tables of families, lengths and numbered shapes, and that of the cells.

        The `place` of a shape is the number of its family, times how many lengths there are, and that of its length.
        """
        run, kept = connection.execute, (*self._columns_of(grouping), "moment")
        run(f"CREATE TEMP VIEW dated AS {self._dated(connection, grouping, groups)}")
        source, names = f"(SELECT * REPLACE ({grouping.model} AS model) FROM {groups})", grouping.family
        length, attributes = (
            f"{grouping.length or 'CAST(NULL AS VARCHAR)'} AS length",
            f"{grouping.attributes} AS attributes",
        )
        if grouping.numbered:  # a number stands for all that decides a shape
            numbers = f"SELECT DISTINCT type, model, {', '.join(grouping.shape)} FROM {source}"
            run(f"CREATE TEMP TABLE numbers AS SELECT *, {length}, {attributes} FROM ({numbers})")
            source, names, length, attributes = "numbers", _FAMILY, "length", "*"
        hashed = DuckDbSql().hashed(names)
        found = f"SELECT DISTINCT {', '.join(names)} FROM {source}"
        written = found if grouping.numbered else f"SELECT *, {attributes} FROM ({found})"
        # In one order, whatever engine grouped them: what is said of several shapes is said of the first.
        ordered = f"CAST(row_number() OVER (ORDER BY {', '.join(_FAMILY)}) - 1 AS INTEGER) AS family"
        run(f"CREATE TEMP TABLE families AS SELECT *, {ordered}, {hashed} AS hashed FROM ({written})")
        ordered = "CAST(row_number() OVER (ORDER BY length) - 1 AS INTEGER) AS nth"
        run(f"CREATE TEMP TABLE lengths AS SELECT *, {ordered} FROM (SELECT DISTINCT {length} FROM {source})")
        ((lengths,),) = run("SELECT count(*) FROM lengths").fetchall()
        # Joined by one number; by all columns where two families have the same.
        joined = " AND ".join(f"source.{name} IS NOT DISTINCT FROM families.{name}" for name in names)
        if is_unique(connection, "hashed", "families"):
            joined = "source.hashed = families.hashed"
        of, columns = ("numbers", grouping.shape) if grouping.numbered else ("dated", kept)
        chosen = ", ".join(
            (*(f"source.{name}" for name in columns), f"CAST(family AS BIGINT) * {lengths} + nth AS place")
        )
        named = ", ".join(dict.fromkeys((*columns, *names)))
        found = f"SELECT {chosen} FROM (SELECT {named}, {length}, {hashed} AS hashed FROM {of}) AS source"
        found += f" JOIN families ON {joined} JOIN lengths ON source.length IS NOT DISTINCT FROM lengths.length"
        if grouping.numbered:
            found = (
                f"SELECT {', '.join((*kept, 'place'))} FROM dated JOIN ({found}) USING ({', '.join(grouping.shape)})"
            )
        run(f"CREATE TEMP TABLE found AS {found}")
        total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in ("requests", *self._sums_of(grouping)))
        in_order = f"{len(self.shapes)} + row_number() OVER (ORDER BY place, moment) - 1"
        by_shape = f"SELECT place, moment, {total} FROM found GROUP BY place, moment"
        run(f"CREATE TEMP TABLE numbered AS SELECT CAST({in_order} AS INTEGER) AS shape, * FROM ({by_shape})")
        of_family = (
            f"SELECT shape, type, model, place, moment FROM numbered JOIN families ON family = place // {lengths}"
        )
        listed = ", ".join(("shape", "type", "model", *(f"found.{name}" for name in kept if name != "moment")))
        joined = "found.place = numbered.place AND found.moment IS NOT DISTINCT FROM numbered.moment"
        run(f"CREATE TABLE {cells} AS SELECT {listed} FROM found JOIN ({of_family}) AS numbered ON {joined}")
        run("DROP TABLE found")

    def _shapes(self, connection: duckdb.DuckDBPyConnection, counted: Sequence[str]) -> Shapes:
        """The shapes that are numbered."""
        run = connection.execute
        fit = " AND ".join(f"coalesce(max(abs({name})), 0) < {2**63}" for name in counted)
        ((short,),) = run(f"SELECT {fit} FROM numbered").fetchall()
        integers = ", ".join(f"CAST({name} AS {'BIGINT' if short else 'VARCHAR'}) AS {name}" for name in counted)
        own, in_order = f"shape - {len(self.shapes)}", "row_number() OVER (ORDER BY moment) - 1 AS nth"
        run(f"CREATE TEMP TABLE instants AS SELECT *, {in_order} FROM (SELECT DISTINCT moment FROM numbered)")
        joined = "numbered JOIN instants ON numbered.moment IS NOT DISTINCT FROM instants.moment"
        table = connection.sql(
            f"SELECT {own} AS shape, place, nth AS moment, {integers} FROM {joined}"
        ).to_arrow_table()
        families = run(f"SELECT {', '.join(_FAMILY)} FROM families ORDER BY family").fetchall()
        lengths = run(f"SELECT {DuckDbSql().text('length')} FROM lengths ORDER BY nth").fetchall()
        moments = run("SELECT moment FROM instants ORDER BY nth").fetchall()
        same = dict[Any, Any]().setdefault
        return Shapes.read(
            [UsageFamily(same(type_, type_), same(model, model), words) for type_, model, words in families],
            [length for (length,) in lengths],
            [moment for (moment,) in moments],
            table,
            self._sums,
        )

    def take_facts(self, groups: str, facts: str) -> None:
        """Keep the facts of a table of groups whose shapes were taken.

        Raises `SimulationError` where they are not of the same rows.
        """
        at = next(at for at, each in enumerate(self.taken) if each.groups == groups)
        self.taken[at] = taken = self.taken[at]._replace(facts=facts)
        totals = ", ".join(f"sum({name})" for name in ("requests", *self._sums))
        with self.workspace.another() as connection:
            counted, added = (
                connection.execute(f"SELECT {totals} FROM {each}").fetchall() for each in (taken.cells, facts)
            )
            self._forget(connection, groups)
        if counted != added:
            raise SimulationError("the usage changed while it was read: other rows came the second time")

    def _forget(self, connection: duckdb.DuckDBPyConnection, groups: str) -> None:
        """Drop groups that are of no use for other days: see `serving`."""
        if DAY not in self.plan.keys:
            connection.execute(f"DROP TABLE {groups}")

    def _dated(self, connection: duckdb.DuckDBPyConnection, grouping: Grouping, groups: str) -> str:
        """Groups as rows of facts, with the first day of the period that holds them: of their model, if it is known."""
        named = zip(grouping.keys, self.plan.key_columns, strict=True)
        keys = [f"{key} AS {name}" for key, name in named if name not in grouping.others]
        sums = [f"{total} AS {name}" for total, name in zip(grouping.sums, self._sums, strict=True)]
        day = grouping.day or "CAST(NULL AS DATE)"
        cell = [f"{grouping.cell} AS cell"] if grouping.facts else []
        own = [f"{grouping.model} AS model", *grouping.shape, f"{day} AS day"]
        columns = ["type", *own, *keys, *cell, "requests", *sums]
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
        within = f"named = {self._priced_model(grouping)} AND {grouping.day} >= first AND {grouping.day} < next"
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
        return f"LEFT JOIN clocks ON named = {self._priced_model(grouping)} LEFT JOIN moments ON {of_groups}"

    def _priced_model(self, grouping: Grouping) -> str:
        """The model whose prices a group has: rows of RPC take those of RPC, whatever model they name."""
        return f"CASE WHEN type = 'rpc' THEN {DuckDbSql.literal(self.plan.rpc_model)} ELSE {grouping.model} END"

    def facts_by(self, keys: Collection[str]) -> str:
        """The facts by these keys, or by more where a table of fewer, which is made once, would save little."""
        asked = {DAY if self.plan.is_period(key) else key for key in keys}
        wanted = tuple(key for key in self.plan.keys if key in asked)
        if wanted == self.plan.keys:
            return self.facts
        if wanted not in self._coarser:
            source = self.cells if set(wanted).isdisjoint(self.plan.others.values()) else self.facts
            ((count,),) = self.workspace.connection.execute(f"SELECT count(*) FROM {source}").fetchall()
            if count < _WORTH_A_TABLE * len(self.shapes):
                self._coarser[wanted] = source
                return source
            table = self.workspace.new_table("facts")
            same = "".join(f", key{self.plan.keys.index(key)}" for key in wanted)
            total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in self._sums)
            added = f"SELECT shape, type, model{same}, CAST(sum(requests) AS BIGINT) AS requests, {total}"
            grouped = f"FROM {source} GROUP BY shape, type, model{same}"
            self.workspace.connection.execute(f"CREATE TABLE {table} AS {added} {grouped}")
            self._coarser[wanted] = table
        return self._coarser[wanted]

    @cached_property
    def facts(self) -> str:
        """The view of the facts: shape, type, model, day, keys, requests and sums."""
        return self._view(lambda taken: taken.facts)

    @cached_property
    def cells(self) -> str:
        """The view of the facts without the keys that were read apart."""
        return self._view(lambda _: "")

    def _view(self, facts_of: "Callable[[Taken], str]") -> str:
        parts = list[tuple[str, Grouping | None]]()
        for taken in self.taken:
            facts, others = facts_of(taken), taken.grouping.others
            keys = [
                f"{'facts' if key in others else 'cells'}.{key}"
                for key in self.plan.key_columns
                if facts or key not in others
            ]
            counted = [f"{'facts' if facts else 'cells'}.{name}" for name in ("requests", *self._sums)]
            listed = ", ".join(("cells.shape", "cells.type", "cells.model", "cells.day", *keys, *counted))
            joined = f" JOIN {facts} AS facts USING (cell)" if facts else ""
            parts.append((f"SELECT {listed} FROM {taken.cells} AS cells{joined}", taken.grouping))
        if not parts:  # a roll-up that was kept of no rows
            named = {"shape": "INTEGER", "type": "VARCHAR", "model": "VARCHAR", "day": "DATE"}
            named |= dict.fromkeys(self.plan.key_columns, "VARCHAR")
            named |= dict.fromkeys(("requests", *self._sums), "HUGEINT")
            empty = ", ".join(f"CAST(NULL AS {type_}) AS {name}" for name, type_ in named.items())
            parts = [(f"SELECT {empty} WHERE false", None)]
        view = self.workspace.new_table("facts")
        union = " UNION ALL BY NAME ".join(query for query, _ in parts)
        self.workspace.connection.execute(f"CREATE VIEW {view} AS {union}")
        self._parts[view] = parts
        return view

    def queries_of(self, facts: str) -> Sequence[tuple[str, Grouping | None]]:
        """The queries of which facts are made, each with its grouping; None where there may be all types."""
        return self._parts.get(facts) or [(f"FROM {facts}", None)]

    def places_of(self, shape: UsageShape | UsageFamily) -> tuple[int, ...]:
        """How many decimals each sum of a shape has."""
        return self.places.get(shape.type or "", ())

    @cached_property
    def rows(self) -> int:
        """Every row of the usage."""
        return sum(self.shapes.requests.tolist())

    def words(self, counted: Counted) -> Iterator[str]:
        """Describe a shape: its values, and the tier and buckets of its quantities."""
        shape = counted.shape
        yield from (f"{name} {value}" for name, value in shape.row().items() if name not in ("type", "model"))
        tier, used = self.plan.predicates.split(shape.type or "", int(shape.values().get(PREDICATES, 0)))
        if tier:
            yield f"prompt above {self.plan.predicates.thresholds[tier - 1]:,} tokens"
        yield from (f"tokens {bucket}" for bucket in sorted(used - {BY_BUCKET}))
        summed = int(shape.values().get(SUMMED, 0))
        yield from (name for number, name in enumerate(self.plan.predicates.counts) if summed >> number & 1)

    @cached_property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day, where days are kept apart."""
        if DAY not in self.plan.keys:
            return None
        query = f"SELECT min(day), max(day) FROM {self.cells}"
        ((first, last),) = self.workspace.connection.execute(query).fetchall()
        if odd := [each for each in (first, last) if isinstance(each, str)]:  # Python has no date for it
            raise SimulationError(f"the usage has rows of the day {odd[0]}. Allowed: {date.min} to {date.max}")
        return (first, last) if first else None

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
        for taken in self.taken:
            found.take(taken.grouping, taken.groups)
            if taken.facts:
                found.take_facts(taken.groups, taken.facts)
        return found
