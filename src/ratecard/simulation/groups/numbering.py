"""Numbers the shapes of groups as an engine has read them, each at the moments between which its prices change."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import duckdb

from ratecard.base.instants import utc
from ratecard.simulation.groups.plan import EARLIEST, Plan
from ratecard.simulation.groups.roll_up_sql import Grouping, period
from ratecard.simulation.groups.shapes import Shapes, ShapeTemplate
from ratecard.simulation.workspace.duckdb_sql import DuckDbSql
from ratecard.simulation.workspace.workspace import Workspace
from ratecard.tables.windows import open_at

_TEMPLATE = "type, model, attributes"


class PlacedGroups(NamedTuple):
    """The groups of one query in a table, and what their numbers mean.

    The table has `place` (the number of the template of a shape, times how many lengths there are, and that of its
    length), type, model, requests, day, perhaps `slot`, the keys that none of these is, and the sums that some type
    has; once the shapes are numbered also `shape`.
    """

    table: str
    templates: Sequence[ShapeTemplate]
    lengths: Sequence[str | None]
    sums: tuple[str, ...]
    # Every key, and the column that has it.
    keys: Mapping[str, str]
    is_numbered: bool = False


def place(
    connection: duckdb.DuckDBPyConnection, workspace: Workspace, plan: Plan, grouping: Grouping, read: str
) -> PlacedGroups:
    """Give the groups that an engine has read in a table the places of their shapes, and drop that table."""
    run, template = connection.execute, ", ".join(grouping.template)
    length = grouping.length or "CAST(NULL AS VARCHAR)"
    # In one order, whatever engine grouped them: what is said of several shapes is said of the first.
    run(f"""
        CREATE TEMP TABLE templates AS
        SELECT *, CAST(row_number() OVER (ORDER BY {_TEMPLATE}) - 1 AS INTEGER) AS template, hash({template}) AS hashed
        FROM (
            SELECT *, {grouping.attributes} AS attributes
            FROM (SELECT DISTINCT {template} FROM (SELECT * REPLACE ({grouping.model} AS model) FROM {read})))""")
    run(f"""
        CREATE TEMP TABLE lengths AS
        SELECT length, CAST(row_number() OVER (ORDER BY length) - 1 AS INTEGER) AS nth
        FROM (SELECT DISTINCT {length} AS length FROM {read})""")
    ((count, unlike),) = run("""
        SELECT (SELECT count(*) FROM lengths), count(*) = count(DISTINCT hashed) FROM templates""").fetchall()
    own = {"type": "type", grouping.model: "model", DuckDbSql().text(grouping.day): "day"}
    keys = {name: own.get(key, name) for key, name in zip(grouping.keys, plan.key_columns, strict=True)}
    sums = {f"q{number}": grouping.sums[number] for number in grouping.summed}
    columns = {"day": grouping.day or "CAST(NULL AS DATE)"} | ({"slot": "slot"} if grouping.slot else {})
    columns |= {
        name: key for key, name in zip(grouping.keys, plan.key_columns, strict=True) if keys[name] == name
    } | sums
    # Joined by one number; by all columns where two templates have the same.
    by_columns = " AND ".join(f"read.{name} IS NOT DISTINCT FROM templates.{name}" for name in grouping.template)
    table = workspace.new_table("placed")
    run(f"""
        CREATE TABLE {table} AS
        SELECT CAST(template AS BIGINT) * {count} + nth AS place, templates.type, templates.model, requests,
            {", ".join(columns)}
        FROM (
            SELECT {template}, hash({template}) AS its_hash, {length} AS its_length, requests,
                {", ".join(f"{expression} AS {name}" for name, expression in columns.items())}
            FROM (SELECT * REPLACE ({grouping.model} AS model) FROM {read})) AS read
        JOIN templates ON {"its_hash = hashed" if unlike else by_columns}
        JOIN lengths ON its_length IS NOT DISTINCT FROM length""")
    run(f"DROP TABLE {read}")
    same = dict[Any, Any]().setdefault
    templates = [
        ShapeTemplate(same(type_, type_), same(model, model), attributes)
        for type_, model, attributes in run(f"SELECT {_TEMPLATE} FROM templates ORDER BY template").fetchall()
    ]
    texts = run(f"SELECT {DuckDbSql().text('length')} FROM lengths ORDER BY nth").fetchall()
    return PlacedGroups(table, templates, [text for (text,) in texts], tuple(sums), keys)


def number(
    connection: duckdb.DuckDBPyConnection, workspace: Workspace, plan: Plan, placed: PlacedGroups, first: int
) -> tuple[PlacedGroups, Shapes]:
    """Number the shapes of groups from `first` on. Gives the same groups with these numbers, and the shapes."""
    run, sums = connection.execute, ("requests", *placed.sums)
    parts = ", ".join(("place", "day", *(["slot"] if plan.dated and plan.predicates.cuts else [])))
    total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in sums)
    run(f"""
        CREATE TEMP TABLE parts AS
        SELECT any_value(type) AS type, any_value(model) AS model, {parts}, {total}
        FROM {placed.table} GROUP BY {parts}""")
    run(f"CREATE TEMP TABLE dated AS {_dated(connection, plan)}")
    run(f"""
        CREATE TEMP TABLE shapes AS
        SELECT CAST({first} + row_number() OVER (ORDER BY place, moment) - 1 AS INTEGER) AS shape, *
        FROM (SELECT place, moment, {total} FROM dated GROUP BY place, moment)""")
    table = workspace.new_table("numbered")
    own = " AND ".join(f"placed.{name} IS NOT DISTINCT FROM dated.{name}" for name in parts.split(", "))
    run(f"""
        CREATE TABLE {table} AS
        SELECT dated.shape, placed.* {"EXCLUDE (shape)" if placed.is_numbered else ""}
        FROM {placed.table} AS placed
        JOIN (
            SELECT shape, {", ".join(f"dated.{name}" for name in parts.split(", "))}
            FROM dated JOIN shapes ON dated.place = shapes.place AND dated.moment IS NOT DISTINCT FROM shapes.moment
        ) AS dated ON {own}""")
    return placed._replace(table=table, is_numbered=True), _shapes(connection, plan, placed, first)


def _shapes(connection: duckdb.DuckDBPyConnection, plan: Plan, placed: PlacedGroups, first: int) -> Shapes:
    """Return the shapes that are numbered."""
    run, sums = connection.execute, ("requests", *placed.sums)
    fit = " AND ".join(f"coalesce(max(abs({name})), 0) < {2**63}" for name in sums)
    ((short,),) = run(f"SELECT {fit} FROM shapes").fetchall()
    integers = ", ".join(f"CAST({name} AS {'BIGINT' if short else 'VARCHAR'}) AS {name}" for name in sums)
    run("""
        CREATE TEMP TABLE instants AS
        SELECT moment, row_number() OVER (ORDER BY moment) - 1 AS nth FROM (SELECT DISTINCT moment FROM shapes)""")
    table = connection.sql(f"""
        SELECT shape - {first} AS shape, place, nth AS moment, {integers}
        FROM shapes JOIN instants ON shapes.moment IS NOT DISTINCT FROM instants.moment""").to_arrow_table()
    moments = [moment for (moment,) in run("SELECT moment FROM instants ORDER BY nth").fetchall()]
    return Shapes.read(placed.templates, placed.lengths, moments, table, [f"q{at}" for at in range(plan.sums)])


def _dated(connection: duckdb.DuckDBPyConnection, plan: Plan) -> str:
    """Return the query of the parts of shapes with the beginning of the period of their model that holds their day."""
    if not plan.dated:
        return "SELECT *, CAST(NULL AS DATE) AS moment FROM parts"
    # Rows of RPC take the prices of RPC, whatever model they name.
    priced_model = f"CASE WHEN type = 'rpc' THEN {DuckDbSql.literal(plan.rpc_model)} ELSE model END"
    if plan.predicates.cuts:
        _make_moments(connection, plan)
        return f"""
            SELECT parts.*, moment FROM parts
            LEFT JOIN clocks ON named = {priced_model}
            LEFT JOIN moments ON on_day = day AND in_slot = slot AND clock = coalesce(its_clock, 0)"""
    of_model = plan.predicates.of_model.items()
    edges = {name: (EARLIEST, *(each.date() for each in changes), date.max) for name, changes in of_model}
    rows = [(name, *pair) for name, days in edges.items() for pair in pairwise(days)]
    _make_table(connection, "periods", {"named": "VARCHAR", "first": "DATE", "next": "DATE"}, rows)
    return f"""
        SELECT parts.*, coalesce(first, {period("day", plan.predicates.boundaries)}) AS moment FROM parts
        LEFT JOIN periods ON named = {priced_model} AND day >= first AND day < next"""


def _make_moments(connection: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """Make the tables of the first instant of the usage at which the prices of a model are the same.

    Where prices change within a day, groups have the part of the day between two changes of any card.
    """
    predicates, clocks = plan.predicates, dict[tuple[Any, ...], int]()
    cuts = predicates.cuts
    clocks[predicates.boundaries, predicates.windows.get("", ())] = 0
    named = {
        name: clocks.setdefault((changes, predicates.windows.get(name, ())), len(clocks))
        for name, changes in predicates.of_model.items()
    }
    there = connection.execute("SELECT DISTINCT day, slot FROM parts WHERE day IS NOT NULL").fetchall()
    parts = sorted((utc(day) + timedelta(seconds=cuts[slot - 1]), day, slot) for day, slot in there)
    rows = []
    for (changes, windows), clock in clocks.items():
        first: dict[tuple[object, ...], datetime] = {}
        for instant, day, slot in parts:
            state = (bisect_right(changes, instant), open_at(windows, instant))
            rows.append((clock, day, slot, first.setdefault(state, instant).replace(tzinfo=None)))
    types = {"clock": "INTEGER", "on_day": "DATE", "in_slot": "INTEGER", "moment": "TIMESTAMP"}
    _make_table(connection, "moments", types, rows)
    _make_table(connection, "clocks", {"named": "VARCHAR", "its_clock": "INTEGER"}, list(named.items()))


def _make_table(
    connection: duckdb.DuckDBPyConnection, name: str, types: dict[str, str], rows: Sequence[tuple[Any, ...]]
) -> None:
    columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in types]
    unnested = ", ".join(f"unnest(?::{type_}[]) AS {column}" for column, type_ in types.items())
    connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {unnested}", columns)
