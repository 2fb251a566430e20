"""A table of responses in a provider's dialect (spans, spend logs) as a table of usage, by a view of DuckDB.

`requests.dialects` says what each count means. A count is a column of its own, or a place in a column of objects: a
struct, a map, or JSON as text. A counter that the dialect does not know is refused for the whole table.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import duckdb

from ratecard.base.errors import SimulationError
from ratecard.base.suggestions import did_you_mean
from ratecard.requests.counters import MOST_TOKENS, UsageDialect, Way
from ratecard.requests.dialects import DIALECTS, TABLE_DIALECTS
from ratecard.requests.token_usage import NO_PRICE, UsagePlan, is_counter, usage_plan
from ratecard.simulation.rows.columns import BUCKET_OF, OF_BUCKETS, OF_METERS
from ratecard.simulation.sql import DuckDbSql

_SIMPLE = re.compile(r"[A-Za-z_]\w*")
_NUMBERS = "('BIGINT', 'UBIGINT', 'HUGEINT', 'UHUGEINT', 'DOUBLE', 'DECIMAL')"


def table_dialect(name: str) -> UsageDialect:
    """Return a dialect of tables by its name. Raises `SimulationError` for any other."""
    if name not in TABLE_DIALECTS:
        allowed = ", ".join(TABLE_DIALECTS)
        raise SimulationError(f"dialect is '{name}'. Allowed for a table: {allowed}; others are read by usage_from")
    return DIALECTS[name]


def requests_only(dialect: UsageDialect, columns: Iterable[str], where: str | None) -> str | None:
    """Return a condition that also leaves out rows that count the requests of other rows again."""
    name = next((way[-1] for way in dialect.kinds if way[-1] in columns), None)
    if name is None:
        return where
    kinds = ", ".join(f"'{kind}'" for kind in sorted(dialect.read_kinds))
    return f'("{name}" is missing or "{name}" in ({kinds}))' + (f" and ({where})" if where else "")


def usage_view(
    connection: duckdb.DuckDBPyConnection, dialect: UsageDialect, declared: Mapping[str, str], table: str
) -> str:
    """Return the query that reads a table of responses as usage. Raises `SimulationError` for an unknown counter."""
    reader = _Table(dialect, declared)
    flat = dialect.prefix and any(name.startswith(dialect.prefix) for name in declared)
    if not (reader.nested or flat):
        places = ", ".join(".".join(way) for way in dialect.usage)
        raise SimulationError(f"the usage has none of the counts of its dialect. They are in {places}")
    reader.refuse_unknown(connection, table)
    return reader.view(table)


class _Table:
    """The places of the counts of a dialect in a table."""

    def __init__(self, dialect: UsageDialect, declared: Mapping[str, str]) -> None:
        self._dialect, self._declared = dialect, declared
        self._quoted = DuckDbSql().quoted
        # The paths to a usage inside a column of the table.
        self.nested = [way for way in dialect.usage if way[0] in declared]
        # The places that are read in each column of objects, together, so that each object is parsed once.
        self._places: dict[str, list[str]] = {}
        # For each count that rows may have: its column of text, and the expression that makes this column.
        ways = {counter.name: self._first(self._ways(counter.paths)) for counter in dialect.counters}
        self._read = {f"count {name}": expression for name, expression in ways.items() if expression}
        self._given = {name: self._quoted(f"count {name}") for name, expression in ways.items() if expression}

    def view(self, table: str) -> str:
        """Return the query of the usage table, in steps: places in objects, counts, the check of counts, columns.

        Each step is a subquery, so that an expression is not evaluated again for each column that uses it.
        """
        columns = self._columns()
        sound = " AND ".join(self._sound(usage_plan(self._dialect, self._given))) or "TRUE"
        objects = {
            f"places of {column}": f"json_extract_string({self._object(column)}, {list(places)})"
            for column, places in self._places.items()
        }
        steps = (objects, self._read, {"is sound": sound})
        query = table
        for step in steps:
            query = f"(SELECT {', '.join(('*', *self._named(step)))} FROM {query})"
        replaced = {*BUCKET_OF, *columns, *(way[0] for way in self._counted())} & self._declared.keys()
        replaced |= {name for step in steps for name in step}
        others = f"* EXCLUDE ({', '.join(map(self._quoted, sorted(replaced)))})"
        return f"SELECT {', '.join((others, *self._named(columns)))} FROM {query}"

    def _named(self, columns: Mapping[str, str]) -> Iterator[str]:
        return (f"{expression} AS {self._quoted(name)}" for name, expression in columns.items())

    def _columns(self) -> dict[str, str]:
        """Return the columns of a usage table that this table lacks, as expressions over its columns and counts."""
        dialect, counts = self._dialect, dict[str, str]()
        plan = usage_plan(dialect, self._given)
        for bucket, names in plan.buckets.items():
            if len(names) == 1:
                counts[f"{OF_BUCKETS}.{bucket}"] = self._given[names[0]]
            elif names:
                counts[f"{OF_BUCKETS}.{bucket}"] = f"CAST({self._sum(names)} AS VARCHAR)"
        for counter in dialect.counters:
            if counter.meter and counter.name in self._given:  # a tool that was not called needs no price
                counts[f"{OF_METERS}.{counter.meter}"] = f"nullif({self._given[counter.name]}, '0')"
        # A row without a required count, or with a contradiction, counts nothing, so it has no price; it is not free.
        columns = {name: f'CASE WHEN "is sound" THEN {count} END' for name, count in counts.items()}
        for name, ways in {"model": dialect.model, "timestamp": dialect.moment}.items():
            if name not in self._declared and (value := self._first(ways)):
                columns[name] = value
        for name in dialect.conditions:
            if words := self._words(name):
                columns[name] = f"coalesce({', '.join(words)})"
        for way in dialect.kinds:
            if way[-1] not in self._declared and (value := self._first([way])):
                columns[way[-1]] = value
        return columns

    def _sound(self, plan: UsagePlan) -> Iterator[str]:
        """Yield the conditions of rows that `usage_from` reads: required counts, names that agree, sums, and parts."""
        for name in self._dialect.required:
            yield f"{self._given[name]} IS NOT NULL" if name in self._given else "FALSE"
        # The check of a bucket's column refuses its wrong counts; all others are checked here.
        columns = {names[0] for names in plan.buckets.values() if len(names) == 1}
        for counter in self._dialect.counters:
            values = [value for way in self._ways(counter.paths) if (value := self._at(way))]
            # A column at the top may repeat a count, as spend logs do.
            repeated = [value for way in counter.paths if len(way) == 1 and (value := self._at(way))]
            if values and len(each := dict.fromkeys((*values, *repeated))) > 1:
                every = ", ".join(map(_whole, each))
                yield f"least({every}) IS NOT DISTINCT FROM greatest({every})"
            for value in () if counter.fractions else values[counter.name in columns :]:
                whole = f"{_whole(value)} BETWEEN 0 AND {MOST_TOKENS} AND TRY_CAST({value} AS DOUBLE) = {_whole(value)}"
                yield f"({value} IS NULL OR coalesce({whole}, FALSE))"
        for name in self._dialect.conditions:
            if words := self._words(name):
                every = ", ".join(words)
                yield f"least({every}) IS NOT DISTINCT FROM greatest({every})"
        for check in plan.checks:
            count, limit = _whole(self._given[check.name]), self._sum(check.of)
            limit += f" - {self._sum(check.less)}" if check.less else ""
            # A sum is checked in rows that have its last part.
            last = f" OR {self._given[check.of[-1]]} IS NULL" if check.words and check.of else ""
            holds = f"0 IN ({count}, {limit})" if check.apart else f"{count} {'=' if check.words else '<='} {limit}"
            yield f"({count} IS NULL{last} OR {holds})"

    def _sum(self, names: Iterable[str]) -> str:
        terms = (f"coalesce({_whole(self._given[name])}, 0)" for name in names if name in self._given)
        return f"({' + '.join(terms) or '0'})"

    def _counted(self) -> Iterator[Way]:
        """Yield the paths of the counts, in columns that no other part of a simulation reads."""
        return (way for counter in self._dialect.counters for way in self._ways(counter.paths))

    def refuse_unknown(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        """Raise `SimulationError` for a counter above 0 that the dialect does not know."""
        known = [path for counter in self._dialect.counters for path in counter.paths]
        names = [".".join(path) for path in known]
        for name in self._declared:
            counts = self._dialect.prefix and name.startswith(self._dialect.prefix) and "cost" not in name
            if counts and name not in names:
                self._refuse(name, names)
        for column, *within in self.nested:
            place = _path(within)
            # A prefix says what is a count: there, texts are numbers as exporters write them.
            is_text = "FALSE" if self._dialect.prefix else "found.type IN ('VARCHAR', 'BOOLEAN')"
            is_number = "TRUE" if self._dialect.prefix else f"found.type IN {_NUMBERS}"
            query = (
                f"SELECT DISTINCT found.fullkey, {is_text} AS is_text"
                f" FROM {table}, json_tree({self._object(column)}, '{place}') AS found WHERE {is_text} OR {is_number}"
                f" AND TRY_CAST(json_extract_string(found.atom, '$') AS DOUBLE) <> 0 ORDER BY 1"
            )
            allowed = {_path((*within, *path)) for path in known}
            for key, is_words in connection.execute(query).fetchall():
                leaf = key.removeprefix(f"{place}.").strip('"')
                priced = leaf.startswith(self._dialect.prefix) and "cost" not in leaf
                priced = priced and leaf.partition(".")[0].partition("[")[0] not in self._dialect.no_price
                if is_words and (key in allowed or (priced and any(map(is_counter, leaf.split("."))))):
                    raise SimulationError(f"{leaf}: Expected number, received text or a boolean")
                if not is_words and key not in allowed and priced:
                    self._refuse(leaf, names)

    def _refuse(self, name: str, known: Iterable[str]) -> None:
        hint = did_you_mean(name, known, slip=True)
        raise SimulationError(f"{name}: {NO_PRICE}.{hint} Leave the column out, if it has none")

    def _words(self, condition: str) -> list[str]:
        """Return the words that a row may state for a condition: in its column, which may be empty, and elsewhere."""
        ways = dict.fromkeys(((condition,), *self._dialect.conditions[condition]))
        return [f"nullif({value}, '')" for way in ways if (value := self._at(way))]

    def _ways(self, paths: Iterable[Way]) -> Iterator[Way]:
        """Yield every path to a count: in a column of objects, or, if a prefix marks counts, as a column."""
        for path in paths:
            yield from ((*way, *path) for way in self.nested)
            if self._dialect.prefix:
                yield path

    def _first(self, ways: Iterable[Way]) -> str:
        """Return the first value that a row has at one of these paths, as text; empty if the table has no such path."""
        values = [value for way in ways if (value := self._at(way))]
        return f"coalesce({', '.join(values)})" if values else ""

    def _at(self, way: Way) -> str:
        column, *within = way
        if column not in self._declared:
            return ""
        if within:
            places = self._places.setdefault(column, [])
            if (place := _path(within)) not in places:
                places.append(place)
            return f"{self._quoted(f'places of {column}')}[{places.index(place) + 1}]"
        return f"CAST({self._quoted(column)} AS VARCHAR)"

    def _object(self, column: str) -> str:
        """Return a column of objects as JSON."""
        quoted = self._quoted(column)
        return quoted if self._declared[column] in ("VARCHAR", "JSON") else f"to_json({quoted})"


def _whole(value: str) -> str:
    """Return a count as a number whose sums cannot overflow; null for other text, which the column refuses later."""
    return f"CAST(TRY_CAST({value} AS BIGINT) AS HUGEINT)"


def _path(names: Iterable[str]) -> str:
    """Return the place of a value in an object, as DuckDB writes it."""
    return "".join(("$", *(f".{name}" if _SIMPLE.fullmatch(name) else f'."{name}"' for name in names)))
