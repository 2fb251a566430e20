"""The answers of a simulation as tables: the groups as one query, as CSV, Parquet or Arrow, or in a storage of Spark.

The engine writes them, so a large result does not pass through Python; its integers become decimals, never floats.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
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
from ratecard.base.money import from_fraction, nearest, places_of, text
from ratecard.base.suggestions import did_you_mean
from ratecard.simulation.amounts import QUANTITY_COLUMNS, QUANTITY_NAMES
from ratecard.simulation.answers.attribution import Part
from ratecard.simulation.answers.comparison import Comparison
from ratecard.simulation.answers.customers import rise_of
from ratecard.simulation.answers.rows import Unpriced
from ratecard.simulation.report.figures import FRACTION_PLACES, unlike
from ratecard.simulation.report.report import CUSTOMER, Report
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
    amounts = [f"amount{side}" for side in range(len(comparison.sides))]
    lost_and_new = [f"{word}{side}" for side in range(1, len(comparison.sides)) for word in ("lost", "new")]
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
    # The engine does not distinguish names by their capitals.
    names_used = [number.name for number in numbers]
    named = (f"by_{key}" if key.casefold() in map(str.casefold, names_used) else key for key in keys)
    named_apart = unlike((*names_used, *named), str.casefold)[len(numbers) :]
    return ordered, (*(GroupField(name, f"key{at}", None, "key") for at, name in enumerate(named_apart)), *numbers)


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
    # Without the CASE, DuckDB marks a column as required in files in which it knows no empty value.
    return f"CASE WHEN requests >= 0 THEN {value} END"


def write_groups(report: Report, place: str, master: str | None = None) -> None:
    """Write every group as a row: Parquet, CSV or JSON lines, by the ending; in Parquet, amounts are decimals.

    The place becomes a folder, whole or not at all. Raises `SimulationError`, also if the place exists.
    """
    from ratecard.simulation.groups.engines import write_table

    comparison = report.simulation.comparison
    queries = (_query(report, parquet_value, part) for part in comparison.ranges())
    parts = (comparison.roll_up.workspace.connection.sql(query).to_arrow_reader(_ROWS_AT_ONCE) for query in queries)
    first = next(parts)
    batches = chain(first, chain.from_iterable(parts))
    write_table(pyarrow.RecordBatchReader.from_batches(first.schema, batches), place, master)


def _query(report: Report, value: _Value, part: str) -> str:
    """Return the query of the groups, each column as the expression that `value` makes of it."""
    source, fields = groups_query(report, part)
    columns = ", ".join(f"{value(field)} AS {DuckDbSql.quoted(field.name)}" for field in fields)
    return f"SELECT {columns} FROM {source}"


_Columns = dict[str, Sequence[Any]]
# The digits of a decimal of Arrow: the narrow one, which most programs read, and the wide one for longer amounts.
_NARROW, _WIDE = 38, 76
_SHARE_PLACES = 6


def arrow_of(report: Report, answer: str) -> pyarrow.Table:
    """Return one answer as a table: keys first, then `current` and each candidate by its name.

    Raises `SimulationError` for an unknown answer.
    """
    if answer not in ANSWERS:
        near = did_you_mean(answer, ANSWERS)
        raise SimulationError(f"there is no answer '{answer}'.{near} There are: {', '.join(ANSWERS)}")
    return ANSWERS[answer](report)


def _groups(report: Report) -> pyarrow.Table:
    """Return every group, read from the engine: the memory of Python does not grow with their number."""
    connection = report.simulation.comparison.roll_up.workspace.connection
    source, group_fields = groups_query(report)
    ordered = (("key",), ("amount",), ("count", "quantity", "part"))
    columns = [field for kinds in ordered for field in group_fields if field.kind in kinds]
    chosen = (
        f"{parquet_value(field)} AS {DuckDbSql.quoted(name)}"
        for field, name in zip(columns, unlike(field.name for field in columns), strict=True)
    )
    query = f"SELECT {', '.join(chosen)} FROM {source}"
    return connection.sql(query).to_arrow_table()


def _customers(report: Report) -> pyarrow.Table:
    """Return every customer: each side's charges; each candidate's change by prices, rise, lost and new amount."""
    if not report.has(CUSTOMER):
        raise SimulationError(f"the usage is not grouped by '{CUSTOMER}'. Add it: by=[..., '{CUSTOMER}']")
    rows = report.simulation.table(CUSTOMER)
    columns: _Columns = {CUSTOMER: [row.key[0] for row in rows]}
    columns |= {name: [row.amounts[side] for row in rows] for side, name in enumerate(side_names(report))}
    columns["requests"] = [row.requests for row in rows]
    for candidate in report.candidates:
        name = report.names[candidate]
        columns[f"{name} change"] = [row.change(candidate) for row in rows]
        columns[f"{name} rise"] = [from_fraction(rise_of(row, candidate), _SHARE_PLACES) for row in rows]
        columns[f"{name} lost"] = [row.beside(candidate).lost for row in rows]
        columns[f"{name} new"] = [row.beside(candidate).new for row in rows]
    return table_of(columns)


def _attribution(report: Report) -> pyarrow.Table:
    """Return every part of every candidate's difference."""
    parts = [
        (report.names[candidate], part)
        for candidate in report.candidates
        for part in report.attribution(candidate).parts
    ]
    columns: _Columns = {"candidate": [name for name, _ in parts]}
    return table_of(columns | _records([part for _, part in parts], Part))


def _margin(report: Report) -> pyarrow.Table:
    """Return revenue, cost and margin of every model under each side."""
    margin = report.simulation.margin()
    models = margin.models
    columns: _Columns = {
        "model": [model.model for model in models],
        "requests": [model.requests for model in models],
        "without cost": [model.unknown for model in models],
    }
    for side, name in enumerate(side_names(report)):
        columns[f"{name} revenue"] = [model.revenues[side] for model in models]
        columns[f"{name} cost"] = [model.costs[side] for model in models]
        columns[f"{name} margin"] = [model.margin(side) for model in models]
    return table_of(columns)


def _discounts(report: Report) -> pyarrow.Table:
    """Return list, discount and net of every customer under each side, and its margin where costs are given."""
    customers = report.simulation.discounts()
    columns: _Columns = {
        report.simulation.by_account: [customer.customer for customer in customers],
        "requests": [customer.requests for customer in customers],
    }
    for side, name in enumerate(side_names(report)):
        columns[f"{name} list"] = [customer.lists[side] for customer in customers]
        columns[f"{name} discount"] = [customer.discount(side) for customer in customers]
        columns[f"{name} net"] = [customer.nets[side] for customer in customers]
        if report.margin:
            columns[f"{name} margin"] = [customer.margins[side] for customer in customers]
    return table_of(columns)


def _unpriced(report: Report) -> pyarrow.Table:
    """Return the rows without a price, by side and reason, with examples as the usage has them."""
    rows = report.without_price
    columns = _records(rows, Unpriced)
    columns["examples"] = [
        [[(name, str(value)) for name, value in example.items()] for example in row.examples] for row in rows
    ]
    return table_of(columns, {"examples": pyarrow.list_(pyarrow.map_(pyarrow.string(), pyarrow.string()))})


ANSWERS: Mapping[str, Callable[[Report], pyarrow.Table]] = {
    "groups": _groups,
    "attribution": _attribution,
    "customers": _customers,
    "margin": _margin,
    "discounts": _discounts,
    "unpriced": _unpriced,
}


def table_of(columns: _Columns, kinds: Mapping[str, Any] | None = None) -> pyarrow.Table:
    """Make a table of columns; all amounts of a column have as many decimals as its longest one."""
    known = kinds or {}
    names = unlike(columns)
    arrays = [pyarrow.array(values, known.get(name) or _kind(values)) for name, values in columns.items()]
    return pyarrow.table(dict(zip(names, arrays, strict=True)))


def _kind(values: Sequence[Any]) -> Any:
    amounts = [value for value in values if isinstance(value, Decimal)]
    if not amounts:
        integers = any(isinstance(value, int) for value in values)
        return pyarrow.int64() if integers else pyarrow.string()
    places = max(0, *map(places_of, amounts))
    digits = max(1, *(len(str(int(value.copy_abs()))) for value in amounts)) + places
    if digits > _WIDE:
        raise SimulationError(f"an amount has {digits} digits, and a table holds {_WIDE}; write .csv or .json")
    return pyarrow.decimal128(_NARROW, places) if digits <= _NARROW else pyarrow.decimal256(_WIDE, places)


def _records(rows: Sequence[Any], kind: Any) -> _Columns:
    return {field.name: [getattr(row, field.name) for row in rows] for field in fields(kind)}


def polars_of(table: pyarrow.Table) -> Any:
    """Convert a table to Polars. Raises `SimulationError` if Polars is not installed or cannot hold a column."""
    try:
        import polars
    except ModuleNotFoundError as error:
        raise SimulationError("polars is not installed. Install it: pip install polars") from error
    for field in table.schema:
        if pyarrow.types.is_decimal256(field.type):
            words = f"'{field.name}' has more than {_NARROW} digits, and Polars holds no more"
            raise SimulationError(f"{words}; use to_arrow or to_pandas, or write .csv or .json")
    return polars.from_arrow(table)
