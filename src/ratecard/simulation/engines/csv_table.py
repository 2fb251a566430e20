"""CSV read by its heading, not by guesses: a value is the text that stands there, and a row cut off is an error."""

import csv
from collections.abc import Sequence

import duckdb

from ratecard.simulation.failure import SimulationError
from ratecard.simulation.usage_files import literal

_DELIMITERS = (",", ";", "\t", "|")
# A file's first line as it is: with a delimiter and without a quote that any text has. One thread reads it: where order
# is not kept, several would each give the first line of their part.
_FIRST_LINE = (
    "SELECT line FROM read_csv({file}, auto_detect = false, header = false, columns = {{'line': 'VARCHAR'}},"
    " delim = '\x01', quote = '', escape = '', strict_mode = false, parallel = false) LIMIT 1"
)
_READ = (
    "SELECT * FROM read_csv([{files}], auto_detect = false, header = true, columns = {{{columns}}},"
    " delim = {delimiter}, quote = '\"', escape = '\"', null_padding = false)"
)


def csv_query(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> str:
    """The rows of CSV files, all columns text; files may have columns that others lack. Raises `SimulationError`."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for file in files:
        alike.setdefault(_heading(connection, file), []).append(file)
    return " UNION ALL BY NAME ".join(
        _READ.format(
            files=", ".join(quoted(literal(file)) for file in same),
            columns=", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names),
            delimiter=quoted(delimiter),
        )
        for (delimiter, names), same in alike.items()
    )


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'{}'".format(text.replace("'", "''"))


def _heading(connection: duckdb.DuckDBPyConnection, file: str) -> tuple[str, tuple[str, ...]]:
    """What separates the columns of a file, and their names."""
    line = connection.execute(_FIRST_LINE.format(file=quoted(literal(file)))).fetchone()
    if line is None or not line[0]:
        raise SimulationError(f"{file} is empty, without a heading")
    words = str(line[0]).removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    delimiter = max(_DELIMITERS, key=words.count)
    names = tuple(next(csv.reader([words], delimiter=delimiter)))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SimulationError(f"the heading of {file} names '{twice}' twice")
    return delimiter, names
