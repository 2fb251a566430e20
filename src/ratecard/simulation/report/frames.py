"""The answers of a simulation as tables of PyArrow, with decimals and never a float."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

import pyarrow

from ratecard.base.errors import SimulationError
from ratecard.base.money import from_fraction, places_of
from ratecard.base.suggestions import did_you_mean
from ratecard.simulation.answers.attribution import Part
from ratecard.simulation.answers.customers import rise_of
from ratecard.simulation.answers.rows import Unpriced
from ratecard.simulation.report.groups import groups_query, parquet_value, side_names
from ratecard.simulation.report.report import CUSTOMER, Report
from ratecard.simulation.report.table import unlike
from ratecard.simulation.sql import DuckDbSql

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
    digits = max(1, *(len(str(int(abs(value)))) for value in amounts)) + places
    if digits > _WIDE:
        raise SimulationError(f"an amount has {digits} digits, and a table holds {_WIDE}; write .csv or .json")
    return pyarrow.decimal128(_NARROW, places) if digits <= _NARROW else pyarrow.decimal256(_WIDE, places)


def _records(rows: Sequence[Any], kind: Any) -> _Columns:
    """Return the fields of records as columns."""
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
