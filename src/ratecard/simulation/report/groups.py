"""The groups of a simulation as one query, and as CSV, Parquet or a table in a storage of Spark.

The engine writes them, so a large result does not pass through Python; its integers become decimals, never floats.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb
import pyarrow

from ratecard.base.csv_text import FORMULA, MARK
from ratecard.base.errors import SimulationError
from ratecard.base.money import nearest, text
from ratecard.simulation.amounts import QUANTITY_COLUMNS, QUANTITY_NAMES
from ratecard.simulation.answers.comparison import Comparison
from ratecard.simulation.report.figures import FRACTION_PLACES
from ratecard.simulation.report.report import Report
from ratecard.simulation.sql import DECIMAL_DIGITS, DuckDbSql

_PERCENT_PLACES = 2
# Greater amounts, multiplied for a percentage, would not fit in 128 bits.
_MOST_EXACT = 10**33
# The divisor of amounts that are greater.
_COARSE = 10**6


class GroupField(NamedTuple):
    """A column of the groups: its name, its integer expression, its number of decimals (None for text), and its kind.

    An `amount` is what one side charges; a `part` is lost, new, a cost or a margin; other kinds are made of these.
    """

    name: str
    expression: str
    places: int | None
    kind: Literal["key", "count", "quantity", "amount", "part", "derived"]


def groups_query(report: Report, part: str | None = None) -> tuple[str, tuple[GroupField, ...]]:
    """Return the source of the groups (a subquery, ordered by their keys), and the columns to choose from it.

    Every column of a candidate begins with its name. `part` is one of `Comparison.ranges`.
    """
    simulation, comparison = report.simulation, report.simulation.comparison
    keys, prices = comparison.roll_up.plan.by, simulation.cost_prices if simulation.costs else ()
    names = [f"key{number}" for number in range(len(keys))]
    amounts = [f"amount{side}" for side in range(comparison.amounts)]
    lost_and_new = [f"{word}{side}" for side in range(1, comparison.amounts) for word in ("lost", "new")]
    further = [prices_of for pair in prices for prices_of in pair]
    costs = [f"{word}{side}" for side in range(len(prices)) for word in ("cost", "margin")]
    costs += ["unknown"] if costs else []
    columns = ", ".join((*names, "requests", *QUANTITY_COLUMNS, *amounts, *lost_and_new, *costs))
    groups = f"({comparison.groups(*further, part=part)}) AS groups({columns})"
    ordered = f"{groups} ORDER BY {', '.join(f'{name} NULLS LAST' for name in names)}" if names else groups
    sides = side_names(report)
    numbers = list(_numbers(comparison, sides))
    for side, pair in enumerate(prices):
        for word, prices_of in zip(("cost", "margin"), pair, strict=True):
            numbers.append(GroupField(f"{sides[side]} {word}", f"{word}{side}", prices_of.scale, "part"))
    if prices:
        numbers.append(GroupField("requests_without_cost", "unknown", 0, "count"))
    names_used = {number.name for number in numbers}
    named = (f"by_{key}" if key in names_used else key for key in keys)
    return ordered, (*(GroupField(name, f"key{at}", None, "key") for at, name in enumerate(named)), *numbers)


def side_names(report: Report) -> list[str]:
    """Return `current`, and the name of each candidate."""
    return ["current", *report.names[1:]]


def _numbers(comparison: Comparison, names: Sequence[str]) -> Iterator[GroupField]:
    yield GroupField("requests", "requests", 0, "count")
    for name, column, places in zip(QUANTITY_NAMES, QUANTITY_COLUMNS, comparison.places, strict=True):
        yield GroupField(name, column, places, "quantity")
    yield GroupField(names[0], "amount0", comparison.scale, "amount")
    for side, name in enumerate(names[1:], 1):
        difference = f"(amount{side} - amount0)"
        yield GroupField(name, f"amount{side}", comparison.scale, "amount")
        yield GroupField(f"{name} difference", difference, comparison.scale, "derived")
        yield GroupField(f"{name} percent", _percent(difference, "amount0"), _PERCENT_PLACES, "derived")
        yield GroupField(f"{name} lost", f"lost{side}", comparison.scale, "part")
        yield GroupField(f"{name} new", f"new{side}", comparison.scale, "part")


def _percent(difference: str, current: str) -> str:
    """Return the change in hundredths of a percent, rounded half-up; null where the current amount is zero."""

    def rounded(change: str, base: str) -> str:
        return f"({change} * {2 * 100 * 10**_PERCENT_PLACES} + {base}) // (2 * {base})"

    sign = f"CASE WHEN ({difference} < 0) = ({current} < 0) THEN 1 ELSE -1 END"
    exact = rounded(f"abs({difference})", f"nullif(abs({current}), 0)")
    change, base = (f"abs({amount}) // {_COARSE}" for amount in (difference, current))
    coarse = rounded(f"({change})", f"nullif({base}, 0)")
    fits = f"greatest(abs({difference}), abs({current})) < CAST({_MOST_EXACT} AS HUGEINT)"
    return f"({sign}) * (CASE WHEN {fits} THEN {exact} ELSE {coarse} END)"


# A function that makes the expression of a column.
_Value = Callable[[GroupField], str]
# The number of rows that Spark writes at once.
_ROWS_AT_ONCE = 200_000


def write_csv(report: Report, path: Path) -> None:
    """Write every group on a line, its amounts with all of their digits.

    A key that a spreadsheet would run as a formula has an apostrophe before it; Parquet and JSON do not need one.
    """
    _copy(report, path, "FORMAT csv, HEADER", _csv_value)


def write_parquet(report: Report, path: Path) -> None:
    """Write every group as a row, its amounts as decimals with all of their digits.

    Raises `SimulationError` for amounts of more than 38 digits, which Parquet cannot hold.
    """
    try:
        _copy(report, path, "FORMAT parquet", parquet_value)
    except duckdb.ConversionException:
        words = f"the amounts have more than {DECIMAL_DIGITS} digits at {report.simulation.comparison.scale} decimals"
        raise SimulationError(f"{words}, and Parquet holds no more; write .csv or .json") from None


def _copy(report: Report, path: Path, options: str, value: _Value) -> None:
    """Write the groups, range by range."""
    workspace, ranges = report.simulation.comparison.roll_up.workspace, report.simulation.comparison.ranges()
    files = [workspace.folder / f"range-{number}.parquet" for number in range(len(ranges))]
    for part, file in zip(ranges, files, strict=True):
        target = DuckDbSql.literal(str(file))
        workspace.connection.execute(f"COPY ({_query(report, value, part)}) TO {target} (FORMAT parquet)")
    listed = ", ".join(DuckDbSql.literal(str(file)) for file in files)
    # As in `parquet_value`: the CASE keeps DuckDB from marking columns as required by the statistics of the files.
    names = (DuckDbSql.quoted(field.name) for field in groups_query(report)[1])
    columns = ", ".join(f"CASE WHEN file_row_number >= 0 THEN {name} END AS {name}" for name in names)
    source = f"SELECT {columns} FROM read_parquet([{listed}], file_row_number = true)"
    with workspace.another() as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(f"COPY ({source}) TO {DuckDbSql.literal(str(path))} ({options})")
    for file in files:
        file.unlink()


def _csv_value(field: GroupField) -> str:
    if field.places is not None:
        return DuckDbSql().decimal_text(field.expression, field.places)
    guarded = f"CASE WHEN {DuckDbSql().matches(field.expression, FORMULA)} THEN {DuckDbSql.literal(MARK)} ELSE '' END"
    return f"{guarded} || {field.expression}"


def json_value(field: GroupField) -> str:
    """Return the expression of a value in JSON: an amount is text, a count is a number."""
    if field.places is None:
        return field.expression
    if field.kind == "count":
        return f"CAST({field.expression} AS BIGINT)"
    return DuckDbSql().decimal_text(field.expression, field.places)


def json_plain(value: Any) -> Any:
    """Convert a value that JSON lacks: an amount to text with all digits, a date to text, a record to an object."""
    if isinstance(value, Decimal):
        return text(value)
    if isinstance(value, Fraction):
        return text(nearest(value, FRACTION_PLACES))
    if isinstance(value, date):
        return value.isoformat()
    record: dict[str, Any] = asdict(value)
    return record


def parquet_value(field: GroupField) -> str:
    """Return the expression of a value in Parquet: an amount is a decimal."""
    value = field.expression if field.places is None else DuckDbSql().decimal(field.expression, field.places)
    # Without the CASE, DuckDB marks a column as required in those files of which it knows that no row lacks it.
    return f"CASE WHEN requests >= 0 THEN {value} END"


def write_groups(report: Report, place: str, master: str | None = None) -> None:
    """Write every group as a row: Parquet, CSV or JSON lines, by the ending; in Parquet, amounts are decimals.

    The place becomes a folder, whole or not at all. Raises `SimulationError`, also if the place exists.
    """
    from ratecard.simulation.groups.engines.engine import write_table

    comparison = report.simulation.comparison
    queries = (_query(report, parquet_value, part) for part in comparison.ranges())
    parts = (comparison.roll_up.workspace.connection.sql(query).to_arrow_reader(_ROWS_AT_ONCE) for query in queries)
    first = next(parts)
    batches = chain(first, chain.from_iterable(parts))
    write_table(pyarrow.RecordBatchReader.from_batches(first.schema, batches), place, master)


def _query(report: Report, value: _Value, part: str | None = None) -> str:
    """Return the query of the groups, each column as the expression that `value` makes of it."""
    source, fields = groups_query(report, part)
    columns = ", ".join(f"{value(field)} AS {DuckDbSql.quoted(field.name)}" for field in fields)
    return f"SELECT {columns} FROM {source}"
