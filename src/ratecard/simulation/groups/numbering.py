"""The numbering of shapes in the groups that an engine has read, each at the moments between which prices change."""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import duckdb

from ratecard.base.instants import utc
from ratecard.simulation.groups.plan import EARLIEST, Plan
from ratecard.simulation.groups.predicates import Parties, parties_of
from ratecard.simulation.groups.queries import SLOT, Grouping, boundary_days
from ratecard.simulation.groups.shapes import Shapes, ShapeTemplate
from ratecard.simulation.rows.columns import ACCOUNT_COLUMN, DAY
from ratecard.simulation.sql import DuckDbSql
from ratecard.simulation.workspace import Workspace
from ratecard.tables.windows import open_at

_TEMPLATE = "type, model, attributes"


class PlacedGroups(NamedTuple):
    """The groups of one query in a table, with the templates and lengths that their numbers mean.

    The table has `place` (the number of the template x the number of lengths + the number of the length), type, model,
    requests, day, perhaps `slot`, all other keys, perhaps `account`, and the sums that some type has; once the shapes
    are numbered, also `shape`.
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
    """Return the groups of a table that an engine has read, with the places of their shapes, and drop that table."""
    run, template = connection.execute, ", ".join(grouping.template)
    # Rows of RPC name no model.
    model = f"CASE WHEN type = 'rpc' THEN coalesce(model, {DuckDbSql.literal(plan.rpc_model)}) ELSE model END"
    named = f"(SELECT * REPLACE ({model} AS model) FROM {read})"
    # The order is the same for every engine, because a message about several shapes names the first one.
    run(f"""
        CREATE TEMP TABLE templates AS
        SELECT *, CAST(row_number() OVER (ORDER BY {_TEMPLATE}) - 1 AS INTEGER) AS template
        FROM (
            SELECT *, {grouping.attributes} AS attributes
            FROM (SELECT DISTINCT {template} FROM {named}))""")
    rows = run(f"SELECT {_TEMPLATE} FROM templates ORDER BY template").fetchall()
    shared = dict[Any, Any]().setdefault
    templates = [
        ShapeTemplate(shared(type_, type_), shared(model, model), attributes) for type_, model, attributes in rows
    ]
    joined = f"JOIN templates ON {_same('read', 'templates', template)}"
    lengths, nth, its_length = [None], "0", ""
    if grouping.length:
        run(f"""
            CREATE TEMP TABLE lengths AS
            SELECT length, CAST(row_number() OVER (ORDER BY length) - 1 AS INTEGER) AS nth
            FROM (SELECT DISTINCT {grouping.length} AS length FROM {read})""")
        lengths = [text for (text,) in run(f"SELECT {DuckDbSql().text('length')} FROM lengths ORDER BY nth").fetchall()]
        nth, its_length = "nth", f"{grouping.length} AS its_length, "
        joined += " JOIN lengths ON its_length IS NOT DISTINCT FROM length"
    keys = {f"key{at}": key if key in ("type", "model", DAY) else f"key{at}" for at, key in enumerate(plan.keys)}
    texts = [*plan.others, *([ACCOUNT_COLUMN] if plan.account_column == ACCOUNT_COLUMN else [])]
    columns = {DAY: _day_of_group(plan)} | ({SLOT: SLOT} if plan.cuts else {})
    columns |= {name: DuckDbSql().text(name) for name in texts} | dict(grouping.sums)
    table = workspace.new_table("placed")
    run(f"""
        CREATE TABLE {table} AS
        SELECT CAST(template AS BIGINT) * {len(lengths)} + {nth} AS place, templates.type, templates.model, requests,
            {", ".join(columns)}
        FROM (
            SELECT {template}, {its_length}requests,
                {", ".join(f"{expression} AS {name}" for name, expression in columns.items())}
            FROM {named}) AS read
        {joined}""")
    run(f"DROP TABLE {read}")
    return PlacedGroups(table, templates, lengths, tuple(grouping.sums), keys)


def _day_of_group(plan: Plan) -> str:
    """Return the day of a group as the engine has read it, or the first day of its period."""
    if plan.by_day or not plan.dated:
        return DAY if plan.by_day else "CAST(NULL AS DATE)"
    starts = enumerate((EARLIEST, *boundary_days(plan.predicates.boundaries)))
    whens = "".join(f" WHEN {number} THEN DATE '{start}'" for number, start in starts)
    return f"CASE {DAY}{whens} END"


def number(
    connection: duckdb.DuckDBPyConnection, workspace: Workspace, plan: Plan, placed: PlacedGroups, first: int
) -> tuple[PlacedGroups, Shapes]:
    """Number the shapes of groups from `first` on. Return the same groups with these numbers, and the shapes."""
    run, sums = connection.execute, ("requests", *placed.sums)
    slot, party = ([SLOT] if plan.cuts else []), (["party"] if plan.account else [])
    parts, of_shape = ", ".join(("place", "day", *slot, *party)), ", ".join(("place", "moment", *party))
    parties = parties_of(plan.predicates.contracts)
    groups = f"{placed.table} AS placed"
    if plan.account:
        _make_table(connection, "parties", {"of_account": "VARCHAR", "party": "INTEGER"}, [*parties.numbers.items()])
        named = f"LEFT JOIN parties ON {plan.account_column} = of_account"
        groups = f"(SELECT placed.*, coalesce(party, 0) AS party FROM {groups} {named}) AS placed"
    total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in sums)
    run(f"""
        CREATE TEMP TABLE parts AS
        SELECT any_value(type) AS type, any_value(model) AS model, {parts}, {total}
        FROM {groups} GROUP BY {parts}""")
    models = {template.model for template in placed.templates} | {plan.rpc_model}
    run(f"CREATE TEMP TABLE dated AS {_dated(connection, plan, parties, models)}")
    run(f"""
        CREATE TEMP TABLE shapes AS
        SELECT CAST({first} + row_number() OVER (ORDER BY {of_shape}) - 1 AS INTEGER) AS shape, *
        FROM (SELECT {of_shape}, {total} FROM dated GROUP BY {of_shape})""")
    table = workspace.new_table("numbered")
    same_group = _same("placed", "dated", parts)
    dropped_columns = ", ".join(["shape"] * placed.is_numbered + party)
    run(f"""
        CREATE TABLE {table} AS
        SELECT dated.shape, placed.* {f"EXCLUDE ({dropped_columns})" if dropped_columns else ""}
        FROM {groups}
        JOIN (
            SELECT shape, {", ".join(f"dated.{name}" for name in parts.split(", "))}
            FROM dated JOIN shapes ON {_same("dated", "shapes", of_shape)}
        ) AS dated ON {same_group}""")
    return placed._replace(table=table, is_numbered=True), _shapes(connection, plan, placed, parties, first)


def _same(one: str, other: str, columns: str) -> str:
    """Return the condition that two tables have the same values in these columns."""
    return " AND ".join(f"{one}.{name} IS NOT DISTINCT FROM {other}.{name}" for name in columns.split(", "))


def _shapes(
    connection: duckdb.DuckDBPyConnection, plan: Plan, placed: PlacedGroups, parties: Parties, first: int
) -> Shapes:
    sums = ("requests", *placed.sums)
    fits = " AND ".join(f"coalesce(max(abs({name})), 0) < {2**63}" for name in sums)
    rows = connection.execute(f"SELECT moment, {fits} FROM shapes GROUP BY moment ORDER BY moment").fetchall()
    integer = "BIGINT" if all(short for _, short in rows) else "VARCHAR"
    integers = ", ".join(f"CAST({name} AS {integer}) AS {name}" for name in sums)
    table = connection.sql(f"""
        SELECT shape - {first} AS shape, place, dense_rank() OVER (ORDER BY moment) - 1 AS moment,
            {"party, " if plan.account else ""}{integers}
        FROM shapes""").to_arrow_table()
    moments = [moment for moment, _ in rows]
    sums_of_plan = [f"q{at}" for at in range(plan.sums)]
    return Shapes.read(placed.templates, placed.lengths, moments, parties.accounts, table, sums_of_plan)


def _dated(connection: duckdb.DuckDBPyConnection, plan: Plan, parties: Parties, models: Collection[str | None]) -> str:
    """Return the query that adds to each part of a shape the beginning of its model's period that contains its day.

    `models`: all models that the parts name.
    """
    if not plan.dated:
        return "SELECT *, CAST(NULL AS DATE) AS moment FROM parts"
    # Rows of RPC have the prices of RPC, whatever model they name.
    priced_model = f"CASE WHEN type = 'rpc' THEN {DuckDbSql.literal(plan.rpc_model)} ELSE model END"
    terms = ""
    if plan.account:
        # The periods in which a party has the same contract; contracts begin and end with a UTC day.
        held = [(party, *pair) for party, edges in enumerate(parties.boundaries) if edges for pair in _periods(edges)]
        _make_table(connection, "terms", {"of_party": "INTEGER", "begins": "DATE", "ends": "DATE"}, held)
        terms = "LEFT JOIN terms ON of_party = party AND day >= begins AND day < ends"
    if plan.cuts:
        _make_moments(connection, plan, models)
        moment = "moment"
        if plan.account:  # the first instant with the same hours of the rates and the same terms of the party
            moment = "min(instant) OVER (PARTITION BY clock, moment, of_party, begins)"
            moment = f"CASE WHEN begins IS NULL THEN moment ELSE {moment} END"
        return f"""
            SELECT parts.*, {moment} AS moment FROM parts
            {terms}
            LEFT JOIN clocks ON named = {priced_model}
            LEFT JOIN moments ON on_day = day AND in_slot = slot AND clock = coalesce(its_clock, 0)"""
    of_model = plan.predicates.of_model.items()
    rows = [(name, *pair) for name, changes in of_model if name in models for pair in _periods(changes)]
    _make_table(connection, "periods", {"named": "VARCHAR", "first": "DATE", "next": "DATE"}, rows)
    edges = reversed(boundary_days(plan.predicates.boundaries))
    begun = (f" WHEN day >= DATE '{edge}' THEN DATE '{edge}'" for edge in edges)
    moment = f"coalesce(first, CASE{''.join(begun)} WHEN day IS NOT NULL THEN DATE '{EARLIEST}' END)"
    return f"""
        SELECT parts.*, {f"greatest({moment}, begins)" if terms else moment} AS moment FROM parts
        {terms}
        LEFT JOIN periods ON named = {priced_model} AND day >= first AND day < next"""


def _periods(changes: Sequence[datetime]) -> list[tuple[date, date]]:
    """Return the first day of each period between changes, with the first day of the next period."""
    return list(pairwise((EARLIEST, *(change.date() for change in changes), date.max)))


def _make_moments(connection: duckdb.DuckDBPyConnection, plan: Plan, models: Collection[str | None]) -> None:
    """Make the tables that give, for a model and a part of a day, the first instant of the usage with the same prices.

    If prices change within a day, groups have the part of the day between two changes of any card.
    """
    predicates, clocks = plan.predicates, dict[tuple[Any, ...], int]()
    cuts = predicates.cuts
    clocks[predicates.boundaries, predicates.windows.get("", ())] = 0
    model_clocks = {
        name: clocks.setdefault((changes, predicates.windows.get(name, ())), len(clocks))
        for name, changes in predicates.of_model.items()
        if name in models
    }
    day_slots = connection.execute("SELECT DISTINCT day, slot FROM parts WHERE day IS NOT NULL").fetchall()
    parts = sorted((utc(day) + timedelta(seconds=cuts[slot - 1]), day, slot) for day, slot in day_slots)
    rows = []
    for (changes, windows), clock in clocks.items():
        first: dict[tuple[object, ...], datetime] = {}
        for instant, day, slot in parts:
            state = (bisect_right(changes, instant), open_at(windows, instant))
            moments = (moment.replace(tzinfo=None) for moment in (first.setdefault(state, instant), instant))
            rows.append((clock, day, slot, *moments))
    types = {"clock": "INTEGER", "on_day": "DATE", "in_slot": "INTEGER", "moment": "TIMESTAMP", "instant": "TIMESTAMP"}
    _make_table(connection, "moments", types, rows)
    _make_table(connection, "clocks", {"named": "VARCHAR", "its_clock": "INTEGER"}, list(model_clocks.items()))


def _make_table(
    connection: duckdb.DuckDBPyConnection, name: str, types: dict[str, str], rows: Sequence[tuple[Any, ...]]
) -> None:
    columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in types]
    unnested = ", ".join(f"unnest(?::{type_}[]) AS {column}" for column, type_ in types.items())
    connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {unnested}", columns)
