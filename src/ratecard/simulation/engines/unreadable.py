"""What is wrong with a usage that the engine cannot read: file, line and reason, without the engine's SQL."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from ratecard.simulation.failure import SimulationError

_CSV = re.compile(r"CSV Error on Line: (\d+)\nOriginal Line: .*?\n([^\n]+)\s+Possible ", re.DOTALL)
_FILE = re.compile(r"^  file = (.*)$", re.MULTILINE)
_NO_PARQUET = re.compile("magic bytes|too small to be a Parquet file")
_COLUMNS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")


@contextmanager
def readable() -> Iterator[None]:
    """Turn what the engine cannot read into a `SimulationError`."""
    try:
        yield
    except duckdb.Error as error:
        raise SimulationError(f"the usage cannot be read: {_reason(str(error))}") from error


def _reason(words: str) -> str:
    line, file = _CSV.search(words), _FILE.search(words)
    if line is None:
        reason = words.splitlines()[0].partition(" Error: ")[2].rstrip(" .") or words
        return f"{reason}: it is cut off, or no Parquet" if _NO_PARQUET.search(reason) else reason
    where = f"{file[1] if file else 'CSV'}, line {line[1]}"
    if counts := _COLUMNS.search(words):
        return f"{where} has {counts[2]} columns, and the heading {counts[1]}: it may be cut off"
    return f"{where}: {line[2].rstrip('.')}"
