"""A table of responses in a provider's dialect (spans, spend logs) as a table of usage, by a view of DuckDB.

What each count is comes from `requests.dialects`. A count is a column of its own, or a place in a column of objects: a
struct, a map, or JSON as text. A counter that the dialect does not know is refused for the whole table.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import duckdb

from ratecard.base.suggestions import did_you_mean
from ratecard.requests.dialects import DIALECTS, TABLE_DIALECTS, UsageDialect, Way
from ratecard.requests.token_usage import NO_PRICE
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.rows.columns import BUCKET_OF, OF_BUCKETS, OF_METERS
from ratecard.simulation.workspace.duckdb_sql import DuckDbSql

_SIMPLE = re.compile(r"[A-Za-z_]\w*")
_NUMBERS = "('BIGINT', 'UBIGINT', 'HUGEINT', 'UHUGEINT', 'DOUBLE', 'DECIMAL')"


def table_dialect(name: str) -> UsageDialect:
    """A dialect of tables by its name. Raises `SimulationError` for any other."""
    if name not in TABLE_DIALECTS:
        allowed = ", ".join(TABLE_DIALECTS)
        raise SimulationError(f"dialect is '{name}'. Allowed for a table: {allowed}; others are read by usage_from")
    return DIALECTS[name]


def requests_only(dialect: UsageDialect, columns: Iterable[str]) -> str:
    """The condition that holds for rows which are requests, and not of a kind that counts those of others again."""
    name = next((way[-1] for way in dialect.kinds if way[-1] in columns), None)
    if name is None:
        return ""
    kinds = ", ".join(f"'{kind}'" for kind in sorted(dialect.read_kinds))
    return f'("{name}" is missing or "{name}" in ({kinds}))'


def usage_view(
    connection: duckdb.DuckDBPyConnection, dialect: UsageDialect, declared: Mapping[str, str], table: str
) -> str:
    """The query that shows a table of responses as one of usage. Raises `SimulationError` for an unknown counter."""
    found = _Table(dialect, declared)
    flat = dialect.prefix and any(name.startswith(dialect.prefix) for name in declared)
    if not (found.nested or flat):
        places = ", ".join(".".join(way) for way in dialect.usage)
        raise SimulationError(f"the usage has none of the counts of its dialect. They are in {places}")
    found.refuse_unknown(connection, table)
    made, quoted = found.columns(), DuckDbSql().quoted
    replaced = {*BUCKET_OF, *made, *found.counted()} & declared.keys()
    others = f"* EXCLUDE ({', '.join(map(quoted, sorted(replaced)))})" if replaced else "*"
    named = (f"{expression} AS {quoted(name)}" for name, expression in made.items())
    return f"SELECT {', '.join((others, *named))} FROM {table}"


class _Table:
    """Where a table has what its dialect counts."""

    def __init__(self, dialect: UsageDialect, declared: Mapping[str, str]) -> None:
        self._dialect, self._declared = dialect, declared
        self._quoted = DuckDbSql().quoted
        # The ways to a usage within a column of the table.
        self.nested = [way for way in dialect.usage if way[0] in declared]

    def columns(self) -> dict[str, str]:
        """The columns of a usage table that this one lacks, and how each is made of this one's."""
        dialect, counts = self._dialect, dict[str, str]()
        for counter in dialect.counters:
            if given := self._first(self._ways(counter.paths)):
                if counter.bucket:
                    counts[f"{OF_BUCKETS}.{counter.bucket}"] = given
                if counter.meter:  # no calls of a tool need no price
                    counts[f"{OF_METERS}.{counter.meter}"] = f"nullif({given}, '0')"
        # A row that lacks a count which all have counts nothing: it has no price, and is not charged as if it were 0.
        needed = [self._first(self._ways(each.paths)) for each in dialect.counters if each.name in dialect.required]
        whole = " AND ".join(f"{each} IS NOT NULL" for each in needed if each)
        found = {name: f"CASE WHEN {whole} THEN {each} END" for name, each in counts.items()}
        for name, ways in {"model": dialect.model, "timestamp": dialect.moment, **dialect.conditions}.items():
            if name not in self._declared and (given := self._first(ways)):
                found[name] = given
        for way in dialect.kinds:
            if way[-1] not in self._declared and (given := self._first([way])):
                found[way[-1]] = given
        return found

    def counted(self) -> Iterator[str]:
        """The columns that hold its counts, which nothing else of a simulation reads."""
        yield from (way[0] for each in self._dialect.counters for way in self._ways(each.paths))

    def refuse_unknown(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        """Raise `SimulationError` for a counter above 0 that the dialect does not know."""
        known = [path for each in self._dialect.counters for path in each.paths]
        names = [".".join(path) for path in known]
        for name in self._declared:
            if self._dialect.prefix and name.startswith(self._dialect.prefix) and name not in names:
                self._refuse(name, names)
        for column, *within in self.nested:
            place = _path(within)
            is_number = f"(found.type IN {_NUMBERS} OR {len(self._dialect.prefix)} > 0)"
            query = (
                f"SELECT DISTINCT found.fullkey FROM {table}, json_tree({self._object(column)}, '{place}') AS found"
                f" WHERE {is_number} AND TRY_CAST(json_extract_string(found.atom, '$') AS DOUBLE) <> 0 ORDER BY 1"
            )
            allowed = {_path((*within, *path)) for path in known}
            for (key,) in connection.execute(query).fetchall():
                own = key.removeprefix(f"{place}.").strip('"')
                priced = own.startswith(self._dialect.prefix) and "cost" not in own
                if (
                    key not in allowed
                    and priced
                    and own.partition(".")[0].partition("[")[0] not in self._dialect.no_price
                ):
                    self._refuse(own, names)

    def _refuse(self, name: str, known: Iterable[str]) -> None:
        near = did_you_mean(name, known, slip=True)
        raise SimulationError(f"{name}: {NO_PRICE}.{near} Leave the column out, if it has none")

    def _ways(self, paths: Iterable[Way]) -> Iterator[Way]:
        """Every way to a count: in a column of objects, or, where names say that they are counts, as a column."""
        for path in paths:
            yield from ((*way, *path) for way in self.nested)
            if self._dialect.prefix:
                yield path

    def _first(self, ways: Iterable[Way]) -> str:
        """The first value that a row has at the end of one of these ways, as text; empty if the table has none."""
        found = [each for way in ways if (each := self._at(way))]
        return f"coalesce({', '.join(found)})" if found else ""

    def _at(self, way: Way) -> str:
        column, *within = way
        if column not in self._declared:
            return ""
        if within:
            return f"json_extract_string({self._object(column)}, '{_path(within)}')"
        return f"CAST({self._quoted(column)} AS VARCHAR)"

    def _object(self, column: str) -> str:
        """A column of objects as JSON."""
        quoted = self._quoted(column)
        return quoted if self._declared[column] in ("VARCHAR", "JSON") else f"to_json({quoted})"


def _path(names: Iterable[str]) -> str:
    """The place of a value in an object, as DuckDB writes it."""
    return "".join(("$", *(f".{name}" if _SIMPLE.fullmatch(name) else f'."{name}"' for name in names)))
