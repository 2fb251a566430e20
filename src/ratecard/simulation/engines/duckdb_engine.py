"""DuckDB, embedded: reads usage from files and frames, bound in memory, and spills to a folder of its own."""

import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any

import duckdb

from ratecard.simulation.columns import COLUMNS, LEDGER
from ratecard.simulation.engines.csv_table import csv_query, quoted
from ratecard.simulation.engines.duckdb_sql import DuckDbSql, column_type
from ratecard.simulation.engines.unreadable import readable
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.ledger_pages import are_pages, pages_to_parquet
from ratecard.simulation.ledger_usage import Export, ledger_view
from ratecard.simulation.plan import Plan, Usage
from ratecard.simulation.progress import Progress, silent
from ratecard.simulation.roll_up_sql import Grouping, RollUpSql
from ratecard.tables.limits import Limits

DEFAULT_MEMORY = "1GB"
_READERS = {
    ".parquet": "read_parquet({files}, union_by_name = true)",
    ".jsonl": "read_json({files}, union_by_name = true, format = 'newline_delimited'{columns})",
}
_ENDINGS = {".parquet": ".parquet", ".pq": ".parquet", ".csv": ".csv", ".tsv": ".csv"}
_ENDINGS |= dict.fromkeys((".jsonl", ".ndjson", ".json"), ".jsonl")
ALLOWED = "Allowed: .parquet, .csv, .jsonl, each also as .gz, a folder or a pattern of them"
# What the columns of our own may be.
_FITTING = {
    "number": ("integer", "decimal", "double", "text"),
    "flag": ("boolean", "text"),
    "text": ("text",),
    "url": ("text",),
}


class Workspace:
    """One connection with its settings and a folder to spill to; closing it leaves nothing behind."""

    def __init__(self, memory: str = DEFAULT_MEMORY) -> None:
        self._tables = 0
        self._folder = tempfile.TemporaryDirectory(prefix="ratecard-")
        self.connection = duckdb.connect()
        settings: dict[str, object] = {
            "TimeZone": "UTC",
            "memory_limit": memory,
            "temp_directory": self._folder.name,
            "preserve_insertion_order": False,
            # Nothing is kept: the work of a checkpoint would be for nobody.
            "checkpoint_threshold": "1TB",
            # So that the engine can be asked how far it is; it prints nothing.
            "enable_progress_bar": True,
            "enable_progress_bar_print": False,
        }
        try:
            for name, value in settings.items():
                self.connection.execute(f"SET {name} = {value!r}")
        except duckdb.Error as error:
            self.close()
            raise SimulationError(f"{name} {value!r} is not possible: {error}") from None

    def another(self) -> duckdb.DuckDBPyConnection:
        """One more connection, for what is done while this one reads. A time zone is of one connection only."""
        connection = self.connection.cursor()
        connection.execute("SET TimeZone = 'UTC'")
        return connection

    def new_table(self, name: str) -> str:
        """A name for a table that nobody else has."""
        self._tables += 1
        return f"{name}{self._tables}"

    @property
    def folder(self) -> Path:
        """Where this workspace may keep files, until it is closed."""
        return Path(self._folder.name)

    def close(self) -> None:
        """Free the memory and remove what was spilled."""
        self.connection.close()
        self._folder.cleanup()


def read_integers(
    connection: duckdb.DuckDBPyConnection, names: Sequence[str], integers: Sequence[str], source: str
) -> list[tuple[Any, ...]]:
    """Rows of columns and of integers. These fit 64 bits nearly always, and are then read in a third of the time."""
    try:
        short = (f"CAST({each} AS BIGINT)" for each in integers)
        return connection.execute(f"SELECT {', '.join((*names, *short))} {source}").fetchall()
    except duckdb.ConversionException:
        return connection.execute(f"SELECT {', '.join((*names, *integers))} {source}").fetchall()


def open_usage(workspace: Workspace, usage: Any, names: Mapping[str, str], limits: Sequence[Limits]) -> Usage:
    """Make the view `usage` of files or a frame; `names` says where a column of ours has another name.

    `limits` are those of the tables under which a billing export was billed.

    Raises `SimulationError` with the file or the column, and what is allowed.
    """
    connection = workspace.connection
    if isinstance(usage, (str, Path)) or (isinstance(usage, (list, tuple)) and usage):
        given = [usage] if isinstance(usage, (str, Path)) else list(usage)
        with readable():
            connection.execute(f"CREATE OR REPLACE VIEW usage AS {_reading(workspace, [str(each) for each in given])}")
    else:
        _register(connection, usage)
    declared, table = _described(connection, "usage"), "usage"
    if export := Export.of(tuple(declared), names):
        when, table = export.named["timestamp"], LEDGER
        dialect = DuckDbSql()
        day = dialect.day(dialect.quoted(when), column_type(declared[when])[0])
        view = ledger_view(connection, export, "usage", day, limits)
        connection.execute(f"CREATE OR REPLACE VIEW {table} AS {view}")
        declared = _described(connection, table)
    found = {name: column_type(type_) for name, type_ in declared.items()}
    return checked_usage(found, declared, names)._replace(table=table)


def checked_usage(found: Mapping[str, tuple[Any, int]], declared: Mapping[str, str], names: Mapping[str, str]) -> Usage:
    """Which column of a table is which of ours, each of a type that it can have. Raises `SimulationError`."""
    for name, theirs in names.items():
        if theirs not in found:
            raise SimulationError(f"the usage has no column '{theirs}' (for {name}). It has: {', '.join(found)}")
    columns = {name: name for name in found} | dict(names)
    if "type" not in columns:
        raise SimulationError(f"the usage has no column 'type'. It has: {', '.join(found)}. Name it: --map type=COLUMN")
    for name, theirs in columns.items():
        expected = _FITTING[COLUMNS[name].kind] if name in COLUMNS else ()
        expected = ("timestamp", "date", "text") if name == "timestamp" else expected
        expected = ("text",) if name in ("type", "model") else expected
        if expected and found[theirs][0] not in expected:
            words = f"column '{theirs}' is {declared[theirs]}, and {name} can be {' or '.join(expected)}"
            raise SimulationError(words)
    return Usage(
        columns, {name: type_ for name, (type_, _) in found.items()}, {name: s for name, (_, s) in found.items()}
    )


def groups(
    workspace: Workspace, usage: Usage, plan: Plan, progress: Progress = silent
) -> Generator[tuple[Grouping, str]]:
    """Each grouping with the table of its groups, in the order of the plan; the next is read while one is worked on."""
    connection = workspace.connection

    def group(grouping: Grouping) -> str:
        progress(f"Reading usage: {grouping.name}", connection.query_progress)
        table = workspace.new_table("groups")
        with readable():
            connection.execute(f"CREATE TABLE {table} AS {grouping.query}")
        return table

    groupings = tuple(RollUpSql(usage, plan, DuckDbSql(), DuckDbSql()).groupings())
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(group, groupings[0])
        try:
            for grouping, following in zip_longest(groupings, groupings[1:]):
                table = running.result()
                if following:
                    running = pool.submit(group, following)
                yield grouping, table
        except BaseException:
            connection.interrupt()
            raise


def _described(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """The columns of a table with their types."""
    with readable():
        return {name: type_ for name, type_, *_ in connection.execute(f"DESCRIBE {table}").fetchall()}


def _reading(workspace: Workspace, given: Sequence[str]) -> str:
    connection, files = workspace.connection, [file for each in given for file in files_of(each)]
    kinds = {kind_of(file) for file in files}
    if len(kinds) > 1:
        raise SimulationError(f"the usage has files of {len(kinds)} kinds: {', '.join(sorted(kinds))}. Give one kind")
    kind = kinds.pop()
    if kind == ".jsonl" and are_pages(files[0]):
        kind, files = ".parquet", pages_to_parquet(files, workspace.folder)
    if kind == ".csv":
        return csv_query(connection, files)
    listed = "[" + ", ".join(map(quoted, files)) + "]"
    columns = ""
    if kind == ".jsonl":  # numbers keep their digits: every value is read as the text that it is written as
        query = f"DESCRIBE SELECT * FROM {_READERS[kind].format(files=listed, columns='')}"
        words = (f"{quoted(name)}: 'VARCHAR'" for name, *_ in connection.execute(query).fetchall())
        columns = f", columns = {{{', '.join(words)}}}"
    return f"SELECT * FROM {_READERS[kind].format(files=listed, columns=columns)}"


def files_of(given: str) -> Iterator[str]:
    """The files that a file, a folder or a pattern means; an address of a remote storage as it is."""
    path = Path(given)
    if "://" in given:
        yield given
    elif path.is_dir():
        found = sorted(str(each) for each in path.rglob("*") if each.is_file() and not each.name.startswith((".", "_")))
        if not found:
            raise SimulationError(f"the folder {given} holds no files. {ALLOWED}")
        yield from found
    elif path.is_file():
        yield given
    else:
        anchor = Path(path.anchor)
        pattern = str(path.relative_to(anchor)) if path.anchor else given
        found = sorted(str(each) for each in anchor.glob(pattern)) if any(mark in given for mark in "*?[") else []
        if not found:
            raise SimulationError(f"there is no file {given}")
        yield from found


def kind_of(file: str) -> str:
    """What a file is by its ending. Raises `SimulationError` for an ending that no usage has."""
    suffixes = [suffix for suffix in Path(file.partition("?")[0]).suffixes if suffix not in (".gz", ".zst")]
    kind = _ENDINGS.get(suffixes[-1].lower() if suffixes else "")
    if kind is None:
        raise SimulationError(f"{file} is not a usage table. {ALLOWED}")
    return kind


def _register(connection: duckdb.DuckDBPyConnection, frame: Any) -> None:
    """A DuckDB relation, a Polars, pandas or PyArrow frame; anything with the Arrow stream interface."""
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):
        frame = frame.collect() if type(frame).__name__ == "LazyFrame" else frame
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.to_arrow_table()
    try:
        connection.register("usage", frame)
    except (duckdb.Error, TypeError) as error:
        kinds = "a path, or a DuckDB, Polars, pandas, PyArrow or Spark frame"
        raise SimulationError(f"usage is {type(frame).__name__}, not {kinds}: {error}") from None
