"""Usage grouped by shape, which is kept, so that a further candidate costs a fraction of the first."""

import gc
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from ratecard.simulation.usage.engines.duckdb_engine import Workspace
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


_FAMILY = "type, model, attributes"
# How many more groups than shapes there have to be for a table by fewer keys: it has each shape once, at least.
_WORTH_A_TABLE = 4


class Part(NamedTuple):
    """A grouping, the table of its groups as they were read, and that of the same with the numbers of their shapes."""

    grouping: Grouping
    read: str
    groups: str


class RollUp:
    """One usage as shapes (each once, numbered) and groups (number, keys, requests, sums), a view of the engine.

    `places` says how many decimals each sum of a type has.
    """

    def __init__(self, workspace: Workspace, plan: Plan, places: Mapping[str, tuple[int, ...]]) -> None:
        self.workspace, self.plan, self.places = workspace, plan, places
        # Every shape, in the order of its number.
        self.shapes = Shapes()
        # What was read, once all of it is.
        self.reading = Reading()
        self._sums = tuple(f"q{number}" for number in range(plan.sums))
        self.parts = list[Part]()
        # The groups by some of the keys only: see `groups_by`.
        self._coarser: dict[tuple[str, ...], str] = {}

    def take(self, grouping: Grouping, read: str) -> Shapes:
        """Number the shapes of a table of groups, of types that no other table has.

        Gives the shapes. The engine may be reading the next table: this has a connection of its own.
        """
        numbered = self.workspace.new_table("numbered")
        with self.workspace.another() as connection:
            self._number(connection, grouping, read, numbered)
            shapes = self._shapes(connection, ("requests", *self._sums_of(grouping)))
            self.parts.append(Part(grouping, read, self._with_all_columns(connection, grouping, numbered)))
            if DAY not in self.plan.keys:  # of no use for other days: see `serving`
                connection.execute(f"DROP TABLE {read}")
        self.shapes.extend(shapes)
        return shapes

    def _sums_of(self, grouping: Grouping) -> tuple[str, ...]:
        """The sums that some type of a grouping has; the others are zero."""
        return tuple(self._sums[number] for number in grouping.summed)

    def _same(self, grouping: Grouping) -> dict[str, str]:
        """The keys that other columns of a group have too, each as that column: the day as a date."""
        own = {"type": "type", grouping.model: "model", DuckDbSql().text(grouping.day): "day"}
        return {name: own[key] for key, name in zip(grouping.keys, self.plan.key_columns, strict=True) if key in own}

    def _with_all_columns(self, connection: duckdb.DuckDBPyConnection, grouping: Grouping, numbered: str) -> str:
        """The view of a table of groups with all keys and sums."""
        none = (f"CAST(0 AS HUGEINT) AS {name}" for name in self._sums if name not in self._sums_of(grouping))
        same = (f"{column} AS {key}" for key, column in self._same(grouping).items())
        view, keys = self.workspace.new_table("groups"), ", ".join(("", *self.plan.key_columns))
        connection.execute(f"""
            CREATE VIEW {view} AS
            SELECT shape, type, model, day{keys}, requests, {", ".join(self._sums)}
            FROM (SELECT {", ".join(("*", *same, *none))} FROM {numbered})""")
        return view

    def _number(self, connection: duckdb.DuckDBPyConnection, grouping: Grouping, read: str, numbered: str) -> None:
        """Make the tables of families, lengths and shapes, and that of the groups with the number of their shape.

        The `place` of a shape is the number of its family, times how many lengths there are, and that of its length.
        """
        run, family, sums = connection.execute, ", ".join(grouping.family), self._sums_of(grouping)
        length = grouping.length or "CAST(NULL AS VARCHAR)"
        keys = [key for key in self.plan.key_columns if key not in self._same(grouping)]
        kept = ", ".join(f"placed.{name}" for name in ("day", "requests", *sums, *keys))
        run(f"CREATE TEMP VIEW dated AS {self._dated(connection, grouping, read)}")
        # In one order, whatever engine grouped them: what is said of several shapes is said of the first.
        run(f"""
            CREATE TEMP TABLE families AS
            SELECT *, CAST(row_number() OVER (ORDER BY {_FAMILY}) - 1 AS INTEGER) AS family, hash({family}) AS hashed
            FROM (
                SELECT *, {grouping.attributes} AS attributes
                FROM (SELECT DISTINCT {family} FROM (SELECT * REPLACE ({grouping.model} AS model) FROM {read})))""")
        run(f"""
            CREATE TEMP TABLE lengths AS
            SELECT length, CAST(row_number() OVER (ORDER BY length) - 1 AS INTEGER) AS nth
            FROM (SELECT DISTINCT {length} AS length FROM {read})""")
        ((lengths, unlike),) = run("""
            SELECT (SELECT count(*) FROM lengths), count(*) = count(DISTINCT hashed) FROM families""").fetchall()
        # Joined by one number; by all columns where two families have the same.
        by_columns = " AND ".join(f"placed.{name} IS NOT DISTINCT FROM families.{name}" for name in grouping.family)
        run(f"""
            CREATE TEMP TABLE placed AS
            SELECT {kept}, placed.moment, CAST(family AS BIGINT) * {lengths} + nth AS place
            FROM (SELECT *, {length} AS its_length, hash({family}) AS its_hash FROM dated) AS placed
            JOIN families ON {"its_hash = hashed" if unlike else by_columns}
            JOIN lengths ON its_length IS NOT DISTINCT FROM length""")
        total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in ("requests", *sums))
        run(f"""
            CREATE TEMP TABLE shapes AS
            SELECT CAST({len(self.shapes)} + row_number() OVER (ORDER BY place, moment) - 1 AS INTEGER) AS shape, *
            FROM (SELECT place, moment, {total} FROM placed GROUP BY place, moment)""")
        run(f"""
            CREATE TABLE {numbered} AS
            SELECT shape, type, model, {kept}
            FROM placed
            JOIN (SELECT shape, type, model, place, moment FROM shapes JOIN families ON family = place // {lengths})
                AS own ON placed.place = own.place AND placed.moment IS NOT DISTINCT FROM own.moment""")
        run("DROP TABLE placed")

    def _shapes(self, connection: duckdb.DuckDBPyConnection, counted: Sequence[str]) -> Shapes:
        """The shapes that are numbered."""
        run = connection.execute
        fit = " AND ".join(f"coalesce(max(abs({name})), 0) < {2**63}" for name in counted)
        ((short,),) = run(f"SELECT {fit} FROM shapes").fetchall()
        integers = ", ".join(f"CAST({name} AS {'BIGINT' if short else 'VARCHAR'}) AS {name}" for name in counted)
        own, in_order = f"shape - {len(self.shapes)}", "row_number() OVER (ORDER BY moment) - 1 AS nth"
        run(f"CREATE TEMP TABLE instants AS SELECT *, {in_order} FROM (SELECT DISTINCT moment FROM shapes)")
        joined = "shapes JOIN instants ON shapes.moment IS NOT DISTINCT FROM instants.moment"
        table = connection.sql(
            f"SELECT {own} AS shape, place, nth AS moment, {integers} FROM {joined}"
        ).to_arrow_table()
        families = run(f"SELECT {_FAMILY} FROM families ORDER BY family").fetchall()
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

    def _dated(self, connection: duckdb.DuckDBPyConnection, grouping: Grouping, groups: str) -> str:
        """Groups with their keys and sums, and the first day of the period of their model that holds them."""
        keys = [f"{key} AS {name}" for key, name in zip(grouping.keys, self.plan.key_columns, strict=True)]
        sums = [f"{total} AS {name}" for total, name in zip(grouping.sums, self._sums, strict=True)]
        day = grouping.day or "CAST(NULL AS DATE)"
        own = [f"{grouping.model} AS model", *grouping.shape, f"{day} AS day"]
        columns = ["type", *own, *keys, "requests", *sums]
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

    def groups_by(self, keys: Collection[str]) -> str:
        """The groups by these keys, or by more where a table of fewer, which is made once, would save little."""
        asked = {DAY if self.plan.is_period(key) else key for key in keys}
        wanted = tuple(key for key in self.plan.keys if key in asked)
        if wanted == self.plan.keys:
            return self.groups
        if wanted not in self._coarser:
            ((count,),) = self.workspace.connection.execute(f"SELECT count(*) FROM {self.groups}").fetchall()
            if count < _WORTH_A_TABLE * len(self.shapes):
                self._coarser[wanted] = self.groups
                return self.groups
            table = self.workspace.new_table("coarser")
            same = ", ".join(("shape", "type", "model", *(f"key{self.plan.keys.index(key)}" for key in wanted)))
            total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in self._sums)
            self.workspace.connection.execute(f"""
                CREATE TABLE {table} AS
                SELECT {same}, CAST(sum(requests) AS BIGINT) AS requests, {total}
                FROM {self.groups}
                GROUP BY {same}""")
            self._coarser[wanted] = table
        return self._coarser[wanted]

    @cached_property
    def groups(self) -> str:
        """The view of the groups: shape, type, model, day, keys, requests and sums."""
        named = {"shape": "INTEGER", "type": "VARCHAR", "model": "VARCHAR", "day": "DATE"}
        named |= dict.fromkeys(self.plan.key_columns, "VARCHAR") | {"requests": "BIGINT"}
        named |= dict.fromkeys(self._sums, "HUGEINT")
        # Of a roll-up that was kept of no rows there are no parts.
        nothing = ", ".join(f"CAST(NULL AS {type_}) AS {name}" for name, type_ in named.items())
        queries = [f"FROM {part.groups}" for part in self.parts] or [f"SELECT {nothing} WHERE FALSE"]
        view = self.workspace.new_table("groups")
        self.workspace.connection.execute(f"CREATE VIEW {view} AS {' UNION ALL '.join(queries)}")
        return view

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
        query = f"SELECT min(day), max(day) FROM {self.groups}"
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
        for part in self.parts:
            found.take(part.grouping, part.read)
        return found
