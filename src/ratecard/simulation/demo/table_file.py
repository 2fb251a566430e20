"""A table written to a file: all of it or nothing, by the ending of its name."""

import os
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ratecard.simulation.failure import SimulationError
from ratecard.words.suggest import did_you_mean

if TYPE_CHECKING:
    import duckdb

_ERRNO = re.compile(r'"errno":"(\d+)"')
# How often the progress is told.
_A_SECOND = 5


class Format(NamedTuple):
    """How DuckDB writes a format, and how a timestamp in it is made of microseconds."""

    options: str
    timestamp: str


_TEXT = "strftime(make_timestamp({}), '%Y-%m-%dT%H:%M:%S.%fZ')"
FORMATS = {
    ".parquet": Format("FORMAT parquet, COMPRESSION zstd", "make_timestamptz({})"),
    ".csv": Format("FORMAT csv, HEADER", _TEXT),
    ".jsonl": Format("FORMAT json", _TEXT),
}
Watch = Callable[[], None]


def format_of(path: Path) -> Format:
    """The format by the ending of a name. Raises `ValueError` for another one."""
    ending = path.suffix.lower()
    if ending not in FORMATS:
        near = did_you_mean(ending, FORMATS)
        raise ValueError(f"'{path.name}' ends in no known format.{near} Allowed: {', '.join(FORMATS)}")
    return FORMATS[ending]


def write_table(connection: "duckdb.DuckDBPyConnection", query: str, path: Path, watch: Watch) -> None:
    """Write the rows of a query; `path` is only replaced when all are written. `watch` is called on the way.

    Raises `SimulationError`. An interrupt stops the query, leaves nothing, and goes on.
    """
    import duckdb

    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    target = str(new).replace("'", "''")
    try:
        with ThreadPoolExecutor(1) as worker:
            job = worker.submit(connection.execute, f"COPY ({query}) TO '{target}' ({format_of(path).options})")
            try:
                _wait(job, watch)
            except BaseException:
                connection.interrupt()
                raise
        new.replace(path)
    except (OSError, duckdb.IOException) as error:
        raise SimulationError(f"{path} cannot be written: {_reason(error)}. It is as it was") from None
    finally:
        new.unlink(missing_ok=True)


def _wait(job: "Future[duckdb.DuckDBPyConnection]", watch: Watch) -> None:
    while not wait([job], timeout=1 / _A_SECOND).done:
        watch()
    job.result()
    watch()


def _reason(error: Exception) -> str:
    """What the system said, where it said anything; DuckDB wraps it into its own words."""
    number = _ERRNO.search(str(error))
    return os.strerror(int(number[1])) if number else str(error).splitlines()[0]
