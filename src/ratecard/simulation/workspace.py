"""One connection of DuckDB with its settings, within a bound on memory; it spills to a folder of its own.

Errors name file, line and reason, without the engine's SQL.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import finalize

import duckdb
import numpy
import pyarrow

from ratecard.base.errors import SimulationError
from ratecard.simulation.spill import (
    DEFAULT_GROUPS,
    DEFAULT_MEMORY,
    GROUPS_BESIDE_SPARK,
    MEMORY_BESIDE_SPARK,
    SpillFolder,
)


def check_column_names(names: Iterable[str]) -> None:
    """Raise `SimulationError` for two columns of one name, and for one without a name.

    Of two, engines would take only one, or rename the other.
    """
    known: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        if not name:
            raise SimulationError(f"column {number} of the usage has no name. Name it, or leave it out")
        if (other := known.get(name.casefold())) is not None:
            raise SimulationError(_one_name(other, name))
        known[name.casefold()] = name


def _one_name(name: str, other: str) -> str:
    return f"the columns '{name}' and '{other}' have one name, or differ in capitals alone: give them two names"


_CSV = re.compile(r"CSV Error on Line: (\d+)\nOriginal Line: .*?\n([^\n]+)\s+Possible ", re.DOTALL)
# The engine's words for a file whose lines do not all end like its first lines.
_ENDS = "reached an invalid state"
_JSON = re.compile(r'Malformed JSON in file "([^"\n]+)", at byte \d+ in line (\d+): ([^\n]+)')
_BOM = "byte order mark"
_TWICE = re.compile(r'has duplicate key "([^"\n]+)"')
_FILE = re.compile(r"^  file = (.*)$", re.MULTILINE)
_NO_PARQUET = re.compile("magic bytes|too small to be a Parquet file")
_LIMIT = re.compile(r"/([\d.]+ \w+) used")
_COLUMNS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")


@contextmanager
def enough_memory() -> Iterator[None]:
    """Turn an engine's lack of memory into a `SimulationError` that says what to do."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise SimulationError(too_little(error)) from error


def too_little(error: duckdb.OutOfMemoryException) -> str:
    """Return the message that the engine needs more memory than it may use, and what to do."""
    may_use = f" than the {limit[1]} that it may use" if (limit := _LIMIT.search(str(error))) else ""
    return f"DuckDB needs more memory{may_use}. Give it more, such as --memory 4GB, or group by fewer keys"


@contextmanager
def readable() -> Iterator[None]:
    """Turn the engine's errors in reading usage into a `SimulationError`."""
    try:
        with enough_memory():
            yield
    except duckdb.Error as error:
        raise SimulationError(f"the usage cannot be read: {_reason(str(error))}") from error


def _reason(words: str) -> str:
    if twice := _TWICE.search(words):
        return _one_name(twice[1], twice[1])
    if broken := _JSON.search(words):
        if _BOM in broken[3]:
            return f"{broken[1]}, line 1: begins with a {_BOM}. Save it as UTF-8 without one"
        return f"{broken[1]}, line {_broken_line(broken[1], int(broken[2]))}: {broken[3].rstrip(' .')}"
    if _ENDS in words:
        return "lines of a CSV file end in different ways (\\n, \\r\\n or \\r). Save it again, with one of them"
    line, file = _CSV.search(words), _FILE.search(words)
    if line is None:
        reason = words.splitlines()[0].partition(" Error: ")[2].rstrip(" .") or words
        return f"{reason}: it is truncated, or not a Parquet file" if _NO_PARQUET.search(reason) else reason
    where = f"{file[1] if file else 'CSV'}, line {line[1]}"
    if counts := _COLUMNS.search(words):
        return f"{where} has {counts[2]} columns, and the heading {counts[1]}: it may be cut off"
    return f"{where}: {line[2].rstrip('.')}"


def _broken_line(file: str, line: int) -> int:
    """Return the line of a file that is not JSON: DuckDB may name the one after it."""
    with suppress(OSError, UnicodeDecodeError), Path(file).open("rb") as opened:
        before = next(islice(opened, max(line - 2, 0), None), b"")
        if line > 1 and before.strip():
            try:
                json.loads(before)
            except (ValueError, RecursionError):
                return line - 1
    return line


class Workspace:
    """One connection with its settings and a folder to spill to; closing it leaves nothing behind."""

    def __init__(self, memory: str | None = None) -> None:
        self._tables, self._memory = 0, memory
        self.groups_at_once = DEFAULT_GROUPS
        # The statements that ran before the log of the engine was emptied.
        self._statements: tuple[str, ...] = ()
        # The callbacks for when it is closed or forgotten, or the process ends. All run, even if one of them fails.
        self.at_end = ExitStack()
        self._end = finalize(self, self.at_end.close)
        self._folder = SpillFolder()
        self.at_end.callback(self._folder.remove)
        self._connection: duckdb.DuckDBPyConnection | None = self.at_end.enter_context(duckdb.connect())
        settings: dict[str, object] = {
            "TimeZone": "UTC",
            "memory_limit": memory or DEFAULT_MEMORY,
            "temp_directory": str(self._folder.path),
            "preserve_insertion_order": False,
            # DuckDB 2.0 can wait for ever where a file that its threads of this kind write is given up (its #23885).
            "async_threads": 0,
            # Nothing is kept, so a checkpoint would be wasted work.
            "checkpoint_threshold": "1TB",
            # Without a cache, each query would read the footers of the same files again.
            "parquet_metadata_cache": True,
        }
        try:
            for name, value in settings.items():
                self.connection.execute(f"SET {name} = {value!r}")
        except duckdb.Error:
            self.close()
            if name != "memory_limit":
                raise
            words = "is not an amount of memory that can be held. Allowed: such as 4GB, 500MB or 80%"
            raise SimulationError(f"memory: '{value}' {words}") from None
        self.connection.execute("CALL enable_logging('QueryLog')")
        # The progress bar lets the engine say how far it is; it prints nothing. In Jupyter it needs ipywidgets.
        with suppress(duckdb.InvalidInputException):
            self.connection.execute("SET enable_progress_bar = true")
            self.connection.execute("SET enable_progress_bar_print = false")

    @property
    def statements(self) -> tuple[str, ...]:
        """Return the SQL statements that have run here, in order; a mark `?` stands for a value that was bound."""
        logged = "SELECT message FROM duckdb_logs WHERE type = 'QueryLog' AND message NOT ILIKE '%duckdb_logs%'"
        messages = self.connection.execute(f"{logged} ORDER BY timestamp").fetchall()
        return (*self._statements, *(message for (message,) in messages))

    @contextmanager
    def forgetting_statements(self) -> Iterator[None]:
        """Keep no statement that runs meanwhile: a process that tries prices all day runs many."""
        before = self._statements = self.statements
        self.connection.execute("CALL truncate_duckdb_logs()")
        try:
            yield
        finally:
            self._statements = before
            if self._connection is not None:
                self._connection.execute("CALL truncate_duckdb_logs()")

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Return the connection. Raises `SimulationError` once the workspace is closed."""
        if self._connection is None:
            raise SimulationError("the simulation is closed: ask it before its `with` block ends, or before close()")
        return self._connection

    def make_room(self) -> None:
        """Use less memory from now on, next to the processes of Spark, unless a limit was set."""
        if self._memory is None:
            self.connection.execute(f"SET memory_limit = '{MEMORY_BESIDE_SPARK}'")
            self.groups_at_once = GROUPS_BESIDE_SPARK

    def another(self) -> duckdb.DuckDBPyConnection:
        """Return one more connection, to be used while this one reads. Each connection has a time zone of its own."""
        connection = self.connection.cursor()
        connection.execute("SET TimeZone = 'UTC'")
        return connection

    def new_table(self, name: str) -> str:
        """Return an unused name for a table."""
        self._tables += 1
        return f"{name}{self._tables}"

    @property
    def folder(self) -> Path:
        """Return the folder for files of this workspace, which is removed when it is closed."""
        return self._folder.path

    def close(self) -> None:
        """Free the memory and remove the spilled files."""
        self._connection = None
        self._end()


def integers_of(column: pyarrow.ChunkedArray) -> Any:
    """Return a column of integers as an array; the engine gives it as text where some do not fit 64 bits."""
    if pyarrow.types.is_integer(column.type):
        # The buffers are read directly, because `to_numpy` would import pandas where it is installed.
        parts = [numpy.from_dlpack(chunk) for chunk in column.chunks]
        return numpy.concatenate(parts or [numpy.empty(0, numpy.int64)]).astype(numpy.int64)
    integers = numpy.empty(len(column), object)
    integers[:] = list(map(int, column.to_pylist()))
    return integers
