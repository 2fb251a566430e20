"""Usages as rows of a table, and what `prices.rate` says of each row: what every simulation has to equal."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from decimal import Decimal
from typing import Any

import pyarrow

from ratecard import Quote, QuoteError, RateCard, SourceVideo
from ratecard.simulation.demo_usage import quote_row
from ratecard.simulation.rows.columns import LAYOUTS, USAGE_COLUMNS

Row = dict[str, Any]
# The other names of counts in usage objects of clients.
_SAME = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "input_tokens_details": "prompt_tokens_details",
    "cache_write_tokens": "cache_creation_input_tokens",
}
_KINDS = {
    "number": pyarrow.decimal128(38, 12),
    "flag": pyarrow.bool_(),
    "text": pyarrow.string(),
    "url": pyarrow.string(),
}
_MEASURED = ("characters", "seconds")
_COUNTS = {column.name for layout in LAYOUTS.values() for column in layout.quantities if not layout.places}


def rows_of(usage: Mapping[str, Any], source: SourceVideo | None, **more: Any) -> Iterator[Row]:
    """A usage as rows, one for every call of RPC; fields that price nothing are left out."""
    head = {"type": usage["type"], "model": usage.get("model"), **more}
    if usage["type"] == "rpc":
        for call in usage["calls"]:
            yield head | {"network": usage["network"]} | dict(call)
        return
    known = {column.name for column in (*LAYOUTS[usage["type"]].attributes, *LAYOUTS[usage["type"]].quantities)}
    flat = {name: value for name, value in _leaves(usage) if name in known and value is not None}
    if source is not None:
        parts = {name: getattr(source, name) for name in ("seconds", "width", "height", "fps")}
        flat |= {f"source_{name}": str(value) for name, value in parts.items() if value is not None}
    yield head | flat


def _leaves(usage: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in usage.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield _SAME.get(name, name), value


def table_of(rows: Iterable[Row], extra: Sequence[str] = ("customer",)) -> pyarrow.Table:
    """The rows as an Arrow table with every column of ours."""
    fields = [("type", pyarrow.string()), ("model", pyarrow.string()), ("timestamp", pyarrow.timestamp("us", "UTC"))]
    fields += [(name, pyarrow.string()) for name in extra]
    # A value that no decimal holds, such as 30000/1001 frames per second, is written as a fraction.
    types = {
        name: pyarrow.int64() if name in _COUNTS else _KINDS[column.kind] for name, column in USAGE_COLUMNS.items()
    }
    fields += [(name, pyarrow.string() if name.startswith("source_") else type_) for name, type_ in types.items()]
    return pyarrow.Table.from_pylist(list(rows), schema=pyarrow.schema(fields))


def with_column(table: pyarrow.Table, name: str, values: Any, type_: Any = None) -> pyarrow.Table:
    """The table with other values in one of its columns."""
    return table.set_column(table.column_names.index(name), name, pyarrow.array(values, type_))


def expected(card: RateCard, rows: Iterable[Row], keys: Sequence[str]) -> tuple[dict[tuple[Any, ...], Decimal], int]:
    """The sum of what each row is charged, by its keys, and how many rows have no price: with no roll-up."""
    sums: dict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
    refused = 0
    for row in rows:
        try:
            amount = charge(card, row)
        except QuoteError:
            refused += 1
        else:
            sums[tuple(key_of(row, key) for key in keys)] += amount
    return dict(sums), refused


def charge(card: RateCard, row: Row) -> Decimal:
    """Return the charge for one row at its own timestamp."""
    quote = quote_of(card, row)
    if quote.currency != "USD":
        raise QuoteError(f"charged in {quote.currency}")
    return quote.total


def quantities(row: Row) -> list[Decimal]:
    """The quantities of a report that are in the flat columns of a row."""
    names = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_creation_input_tokens")
    prompt, made, cached, written, characters, seconds = (row.get(name) or 0 for name in (*names, *_MEASURED))
    return list(map(Decimal, (prompt - cached - written, cached, written, made, characters, seconds)))


def quote_of(card: RateCard, row: Row) -> Quote:
    """The quote of one row at its own timestamp."""
    return quote_row(card.at(row["timestamp"]), row)


def key_of(row: Row, key: str) -> Any:
    if key == "day":
        return row["timestamp"].astimezone(UTC).date().isoformat()
    return row[key] if row[key] is not None or key != "model" else "rpc"
