"""Usage that DuckDB reads from files and frames, within a bound on memory; it spills to a temporary folder.

CSV is read by its heading, not by guesses: a value is the text of its cell, and a truncated row is an error. Errors
name file, line and reason, without the engine's SQL.
"""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from ratecard.base.errors import SimulationError
from ratecard.base.suggestions import did_you_mean
from ratecard.ledger.files import REQUEST_DETAILS
from ratecard.requests.counters import UsageDialect
from ratecard.simulation.groups.plan import Usage
from ratecard.simulation.groups.queries import RESERVED_COLUMNS, OpenUsage
from ratecard.simulation.progress import Progress
from ratecard.simulation.rows.billing_export import (
    EXPORT_NAMES,
    Export,
    are_pages,
    ledger_view,
    pages_to_parquet,
)
from ratecard.simulation.rows.columns import COUNTED, LEDGER, LEDGER_LAYOUTS, USAGE_COLUMNS, LayoutsOf
from ratecard.simulation.rows.duckdb_responses import usage_view
from ratecard.simulation.rows.files import (
    FILE,
    Stamp,
    Stamps,
    files_of,
    is_pattern,
    is_remote,
    local_stamps,
    named_once,
    one_kind,
    pattern_escaped,
    unchanged,
)
from ratecard.simulation.sql import DECIMAL_DIGITS, DuckDbSql, column_type
from ratecard.simulation.workspace import Workspace, check_column_names, readable
from ratecard.tables.limits import Limits

_DELIMITERS = (",", ";", "\t", "|")
# These options read the first line of a file as one text: they name a delimiter that no text has, and no quote. Only
# one thread reads, because several threads without an order would each give the first line of their part.
_FIRST_LINE = (
    "SELECT line FROM read_csv({file}, auto_detect = false, header = false, columns = {{'line': 'VARCHAR'}},"
    " delim = '\x01', quote = '', escape = '', strict_mode = false, parallel = false) LIMIT 1"
)
_READ = (
    "SELECT * FROM read_csv([{files}], auto_detect = false, header = true, columns = {{{columns}}},"
    " delim = {delimiter}, quote = '\"', escape = '\"', null_padding = false{named})"
)


def csv_query(connection: duckdb.DuckDBPyConnection, files: Sequence[str], named: str = "") -> str:
    """Return a query of CSV files, all columns text; files may have columns that others lack. Raises `SimulationError`.

    `named`: a further option of the reader.
    """
    files_by_heading: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for file in files:
        files_by_heading.setdefault(_heading(connection, file), []).append(file)
    check_column_names(dict.fromkeys(name for _, names in files_by_heading for name in names))
    return " UNION ALL BY NAME ".join(
        _READ.format(
            files=", ".join(DuckDbSql.literal(pattern_escaped(file)) for file in files_alike),
            columns=", ".join(f"{DuckDbSql.literal(name)}: 'VARCHAR'" for name in names),
            delimiter=DuckDbSql.literal(delimiter),
            named=named,
        )
        for (delimiter, names), files_alike in files_by_heading.items()
    )


def _heading(connection: duckdb.DuckDBPyConnection, file: str) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter of a file, and the names of its columns."""
    line = connection.execute(_FIRST_LINE.format(file=DuckDbSql.literal(pattern_escaped(file)))).fetchone()
    if line is None or not line[0]:
        raise SimulationError(f"{file} is empty, without a heading")
    words = str(line[0]).removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    delimiter = max(_DELIMITERS, key=words.count)
    names = tuple(next(csv.reader([words], delimiter=delimiter)))
    check_column_names(names)
    return delimiter, names


# The column types that each kind of usage column can have.
_FITTING = {
    "number": ("integer", "decimal", "double", "text"),
    "flag": ("boolean", "text"),
    **dict.fromkeys(("text", "url", "condition"), ("text",)),
}
# The number of bytes of a file that show how long its lines are.
_BEGINNING = 2**18
_NANOSECONDS = ("TIMESTAMP_NS", "TIMESTAMPTZ_NS")
_CONVERTED = "docs/simulation.md says how to convert it"


class DuckDbUsage(OpenUsage):
    """A usage as a view of a workspace; `written` means that it is read from text, of about `lines` lines if known."""

    written = False
    lines: int | None = None

    def rows(self) -> int | None:
        """Return about how many rows it has; None where that is not known."""
        return self.lines if self.written else int(self.ask("SELECT count(*) FROM usage")[0][0])


@contextmanager
def open_usage(
    workspace: Workspace,
    usage: Any,
    names: Mapping[str, str],
    limits: Sequence[Limits],
    progress: Progress,
    layouts: LayoutsOf,
    dialect: UsageDialect | None,
    *,
    by_file: bool,
) -> Iterator[DuckDbUsage]:
    """Open files or a frame as the view `usage`; `names` maps known columns to their names in it.

    `limits` are those of the tables under which a billing export was billed, `layouts` says what its columns are. With
    a `dialect`, the rows are responses. With `by_file`, the view has a column `FILE` with the file of each row. Raises
    `SimulationError` with the file or the column, and what is allowed; at the end also if a file changed meanwhile.
    """
    if not isinstance(usage, (str, Path)) and not (isinstance(usage, (list, tuple)) and usage):
        _register(workspace.connection, usage)
        yield _opened(workspace, names, {}, limits, layouts, dialect, written=False)
        return
    paths = [str(place) for place in ([usage] if isinstance(usage, (str, Path)) else usage)]
    files = named_once(file for path in paths for file in _files(workspace, path))
    kind, look = one_kind(files), partial(_stamps, workspace, files)
    before = look()
    with unchanged(before, look):
        progress("Reading usage: columns", workspace.connection.query_progress)
        with readable():
            query, rows = _reading(workspace, kind, files, f", filename = '{FILE}'" if by_file else "")
            workspace.connection.execute(f"CREATE OR REPLACE VIEW usage AS {query}")
        opened = _opened(workspace, names, before, limits, layouts, dialect, written=kind != ".parquet")
        opened.lines = rows
        yield opened


def _opened(
    workspace: Workspace,
    names: Mapping[str, str],
    stamps: Stamps,
    limits: Sequence[Limits],
    layouts_of: LayoutsOf,
    dialect: UsageDialect | None,
    *,
    written: bool,
) -> DuckDbUsage:
    """Return the view `usage` as a usage; `written`: each query reads it from text."""
    connection = workspace.connection
    declared, table = _described(connection, "usage"), "usage"
    if dialect:
        with readable():
            view = usage_view(connection, dialect, declared, table)
        connection.execute(f"CREATE OR REPLACE VIEW responses AS {view}")
        declared, table = _described(connection, "responses"), "responses"
    if (instant := names.get("timestamp", "timestamp")) in declared and declared[instant] in _NANOSECONDS:
        source, table, name = table, "instants", DuckDbSql().quoted(instant)
        micros = f"make_timestamp(epoch_ns({name}) // 1000)"  # a cast would round up, perhaps to the next day
        connection.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT * REPLACE ({micros} AS {name}) FROM {source}")
    booked = table
    if Export.of(tuple(declared), names):
        booked = _flat(connection, REQUEST_DETAILS, declared, table)
        declared = _described(connection, booked)
        in_details = {name: f"{REQUEST_DETAILS}.{name}" for name in EXPORT_NAMES if name not in declared}
        names = {name: column for name, column in in_details.items() if column in declared} | dict(names)
    if export := Export.of(tuple(declared), names):
        timestamp, table, sql = export.named["timestamp"], LEDGER, DuckDbSql()
        day = sql.day(sql.quoted(timestamp), column_type(declared[timestamp])[0])
        view = ledger_view(connection, export, booked, day, limits)
        connection.execute(f"CREATE OR REPLACE VIEW {table} AS {view}")
    for outer in COUNTED if table != LEDGER else ():
        table = _flat(connection, outer, declared, table)
    declared = _described(connection, table)
    types = {name: column_type(type_) for name, type_ in declared.items()}
    known = checked_usage(types, declared, names, layouts_of)._replace(table=table, booked=booked)
    if table == LEDGER:
        known = known._replace(layouts=LEDGER_LAYOUTS)
    else:
        known = known._replace(untyped=written or _lacks_type(connection, known))
    usage = DuckDbUsage(workspace, known, stamps)
    usage.written = written
    return usage


def _flat(connection: duckdb.DuckDBPyConnection, outer: str, declared: Mapping[str, str], table: str) -> str:
    """Return the name of a table in which each part of the column `outer` is a column; the table itself without it."""
    if outer not in declared:
        return table
    kind = declared[outer].partition("(")[0]
    if kind not in ("STRUCT", "MAP"):
        with readable():
            given = connection.execute(f"SELECT 1 FROM {table} WHERE {outer} IS NOT NULL LIMIT 1").fetchall()
        if given:
            raise no_object(outer, declared[outer])
        return table
    fields = f"DESCRIBE SELECT {outer}.* FROM {table}"
    if kind == "MAP":
        fields = f"SELECT DISTINCT unnest(map_keys({outer})) AS name FROM {table} ORDER BY name"
    with readable():
        counts = [str(name) for name, *_ in connection.execute(fields).fetchall()]
    value = "map_extract_value({}, {})" if kind == "MAP" else "{}[{}]"
    parts = {name: value.format(outer, DuckDbSql.literal(name)) for name in counts}
    query = _with_counts(outer, parts, declared, f"SELECT * FROM {table}")
    connection.execute(f"CREATE OR REPLACE VIEW flat_{outer} AS {query}")
    return f"flat_{outer}"


def no_object(outer: str, kind: str) -> SimulationError:
    """Return the error of a column that must be an object, and has other values."""
    words = f"column '{outer}' is {kind}, and must be an object"
    return SimulationError(f"{words}. In CSV, give each of its parts a column, like {outer}.NAME")


def _with_counts(outer: str, parts: Mapping[str, str], names: Collection[str], query: str) -> str:
    """Return a query that has each count in the column `outer` as a column of its own."""
    columns = {f"{outer}.{name}": expression for name, expression in parts.items()}
    check_column_names(columns)
    if duplicate := next((name for name in columns if name in names), None):
        raise SimulationError(f"the usage has '{duplicate}' as a column, and within the column '{outer}'. Give it once")
    count_columns = (f"{expression} AS {DuckDbSql().quoted(name)}" for name, expression in columns.items())
    return f"SELECT {', '.join((f'* EXCLUDE ({outer})', *count_columns))} FROM ({query})"


def _lacks_type(connection: duckdb.DuckDBPyConnection, known: Usage) -> bool:
    """Return True if some row has no type; the metadata of Parquet answers that without reading rows."""
    if not known.has("type"):
        return True
    with readable():
        type_ = DuckDbSql().quoted(known.columns["type"])
        return bool(connection.execute(f"SELECT 1 FROM {known.table} WHERE {type_} IS NULL LIMIT 1").fetchall())


def checked_usage(
    found: Mapping[str, tuple[Any, int]],
    declared: Mapping[str, str],
    names: Mapping[str, str],
    layouts_of: LayoutsOf,
) -> Usage:
    """Return a table as a usage with its known columns, each of an allowed type. Raises `SimulationError`."""
    for name, column in names.items():
        if column not in found:
            hint = did_you_mean(column, found)
            raise SimulationError(f"the usage has no column '{column}' (for {name}).{hint} It has: {', '.join(found)}")
    if reserved := next((name for name in found if name.casefold() in RESERVED_COLUMNS), None):
        raise SimulationError(f"the usage has a column '{reserved}', a name that a simulation uses itself. Rename it")
    columns = {name: name for name in found} | dict(names)
    if "type" not in columns and "model" not in columns:
        words = "and none 'model', whose type a row without one has"
        hint = next(filter(None, (did_you_mean(name, found) for name in ("type", "model"))), "")
        words = f"{words}.{hint} It has: {', '.join(found)}. Name one: --map type=COLUMN or --map model=COLUMN"
        raise SimulationError(f"the usage has no column 'type', {words}")
    layouts = layouts_of(columns)
    kinds = {name: column.kind for name, column in USAGE_COLUMNS.items()}
    kinds |= {column.name: column.kind for layout in layouts.values() for column in layout.columns}
    for name, column in columns.items():
        expected = _FITTING[kinds[name]] if name in kinds else ()
        expected = ("timestamp", "date", "text") if name == "timestamp" else expected
        expected = ("text",) if name in ("type", "model") else expected
        if expected and found[column][0] not in expected:
            words = f"column '{column}' is {declared[column]}, and {name} can be {' or '.join(expected)}"
            words += f". Seconds since 1970 are not read: {_CONVERTED}" if name == "timestamp" else ""
            raise SimulationError(words)
    types = {name: type_ for name, (type_, _) in found.items()}
    scales = {name: scale for name, (_, scale) in found.items()}
    return Usage(columns, types, scales, layouts=layouts, declared=declared)


def _described(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Return the columns of a table with their types."""
    with readable():
        return {name: type_ for name, type_, *_ in connection.execute(f"DESCRIBE {table}").fetchall()}


def _files(workspace: Workspace, path: str) -> Iterator[str]:
    """Yield the files of a path or an address; the storage finds those of a pattern, other addresses are one file."""
    if not is_remote(path):
        yield from files_of(path)
    elif not is_pattern(path):
        yield path
    else:
        with readable():
            matches = workspace.connection.execute("SELECT file FROM glob(?) ORDER BY file", [path]).fetchall()
        if not matches:
            raise SimulationError(f"there is no file {path}")
        yield from (file for (file,) in matches)


def _stamps(workspace: Workspace, files: Sequence[str]) -> Stamps:
    """Return the stamps of files; in a storage only size and time of the last change, because DuckDB gives no more."""
    stamps = local_stamps(file for file in files if not is_remote(file))
    if remote := sorted({file for file in files if is_remote(file)}):
        query = f"SELECT filename, size, last_modified::VARCHAR FROM read_blob({_listed(remote)})"
        with readable():
            for file, size, changed in workspace.connection.execute(query).fetchall():
                stamps[file] = Stamp(size, changed or "", "")
    return stamps


def _listed(files: Sequence[str]) -> str:
    return "[" + ", ".join(DuckDbSql.literal(pattern_escaped(file)) for file in files) + "]"


def _reading(workspace: Workspace, kind: str, files: Sequence[str], named: str = "") -> tuple[str, int | None]:
    """Return the query that reads files of a kind, and about how many rows it gives; None if that is unknown.

    `named`: a further option of the reader.
    """
    connection = workspace.connection
    if kind == ".jsonl" and not is_remote(files[0]) and are_pages(files[0]):
        kind, files = ".parquet", pages_to_parquet(files, workspace.folder)
    if kind == ".csv":
        return csv_query(connection, files, named), _lines(files)
    if kind == ".parquet":
        _check_parquet(connection, files)
        return f"SELECT * FROM read_parquet({_listed(files)}, union_by_name = true, can_have_nan = true{named})", None
    counts = _names_in_json(connection, files)
    # Every value is read as its text, so that numbers keep their digits.
    columns = ", ".join(f"{DuckDbSql.literal(name)}: 'VARCHAR'" for name in counts)
    how = f"format = 'newline_delimited', records = true, columns = {{{columns}}}"
    query = f"SELECT * FROM read_json({_listed(files)}, {how}{named})"
    for outer in (*COUNTED, REQUEST_DETAILS):
        if outer in counts:
            counted = _counted(connection, files, outer)
            paths = {name: '$."{}"'.format(name.replace('"', '\\"')) for name in counted}
            parts = {name: f"json_extract_string({outer}, {DuckDbSql.literal(path)})" for name, path in paths.items()}
            query = _with_counts(outer, parts, counts, query)
    return query, max(counts.values())


def _check_parquet(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> None:
    """Raise `SimulationError` for two columns of one name in a file, and for decimals that are too long.

    DuckDB would rename the second column, and read such decimals as doubles.
    """
    query = f"SELECT file_name, name, coalesce(num_children, 0), precision FROM parquet_schema({_listed(files)})"
    within, file, columns, every = 0, "", list[str](), dict[str, None]()
    for place, name, children, precision in connection.execute(query).fetchall():
        if (precision or 0) > DECIMAL_DIGITS:
            raise _too_long(name)
        if place != file:  # a file begins with its root, whose children are the columns
            check_column_names(columns)
            file, within, columns = place, 0, []
            continue
        if not within:
            columns.append(name)
            every[name] = None
        within += children - (within > 0)
    check_column_names(columns)
    check_column_names(every)  # files are read as one table, in which names differ by more than capitals


def _too_long(name: str) -> SimulationError:
    words = f"decimals of more than {DECIMAL_DIGITS} digits, or beside floats, which would be read as floats"
    return SimulationError(f"column '{name}' has {words}. Write it as text")


def _counted(connection: duckdb.DuckDBPyConnection, files: Sequence[str], outer: str) -> list[str]:
    """Return every name in the objects `outer` of JSON lines. Raises `SimulationError` where one is not an object."""
    source = f"FROM (SELECT json_extract(json, '$.{outer}') AS given FROM read_ndjson_objects({_listed(files)}))"
    odd_rows = f"SELECT given {source} WHERE json_type(given) NOT IN ('OBJECT', 'NULL') LIMIT 1"
    if types := connection.execute(odd_rows).fetchall():
        raise SimulationError(f"'{outer}' is {types[0][0]} in some line, and must be an object")
    names = f"SELECT DISTINCT unnest(json_keys(given)) AS name {source} WHERE json_type(given) = 'OBJECT' ORDER BY name"
    return [name for (name,) in connection.execute(names).fetchall()]


def _names_in_json(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> dict[str, int]:
    """Return every name in JSON lines, and how many rows have it. Raises `SimulationError`."""
    query = f"SELECT unnest(json_keys(json)) AS name, count(*) FROM read_ndjson_objects({_listed(files)}) GROUP BY 1"
    names = dict(sorted(connection.execute(query).fetchall()))
    if not names:
        raise SimulationError(f"{files[0]}: no line holds an object")
    check_column_names(names)
    return names


def _lines(files: Sequence[str]) -> int | None:
    """Return about how many lines files have, estimated from the length of the first lines; None if it is unknown."""
    first_file = Path(files[0])
    if is_remote(files[0]) or first_file.suffix in (".gz", ".zst"):
        return None
    with first_file.open("rb") as stream:
        beginning = stream.read(_BEGINNING)
    total = sum(stamp.bytes for stamp in local_stamps(files).values())
    return total * beginning.count(b"\n") // max(len(beginning), 1)


def _register(connection: duckdb.DuckDBPyConnection, frame: Any) -> None:
    """Register a DuckDB relation, a Polars, pandas or PyArrow frame, or anything with the Arrow stream interface."""
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):
        frame = frame.collect() if type(frame).__name__ == "LazyFrame" else frame
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.to_arrow_table()
    names = getattr(getattr(frame, "schema", None), "names", None)
    check_column_names(map(str, names if isinstance(names, list) else getattr(frame, "columns", ())))
    try:
        connection.register("usage", frame)
    except (duckdb.Error, TypeError) as error:
        kinds = "a path, or a DuckDB, Polars, pandas, PyArrow or Spark frame"
        raise SimulationError(f"usage is {type(frame).__name__}, not {kinds}: {error}") from None
    if hasattr(frame, "iloc"):  # of pandas, where decimals are objects
        for (name, column), type_ in zip(frame.items(), _described(connection, "usage").values(), strict=True):
            if type_ == "DOUBLE" and column.dtype == object and Decimal in map(type, column):
                raise _too_long(name)
