"""A shape of usage: all that decides the rates of a row; and a usage of that shape to be priced."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, NamedTuple

from pydantic_core import from_json

from ratecard.base.money import READING
from ratecard.rating.source_video import SourceVideo
from ratecard.simulation.groups.plan import PREDICATES, RAW_QUANTITIES, SUMMED
from ratecard.simulation.rows.columns import LAYOUTS, LEDGER_LAYOUTS, OF_BUCKETS, USAGE_COLUMNS, ColumnKind, column_of

_COLUMNS = {
    type_: {RAW_QUANTITIES, PREDICATES, SUMMED, *(column.name for column in layout.attributes)}
    for type_, layout in (LAYOUTS | LEDGER_LAYOUTS).items()
}
# Types by tokens are grouped together, each with the columns of the others. What is nobody's is a condition or a count.
_OF_TOKENS = [name for name, layout in LAYOUTS.items() if layout.buckets]
_OTHERS = {name: set().union(*(_COLUMNS[each] for each in _OF_TOKENS)) - _COLUMNS[name] for name in _OF_TOKENS}
_FLAGS = {"true": True, "false": False}
# Longer numbers stay decimals: they exceed every bound, and may be too long for an integer.
_DIGITS = 100


class UsageShape(NamedTuple):
    """A type, a model and attributes as the roll-up wrote them, in the period from `moment` on (None: no instant)."""

    type: str | None
    model: str | None
    attributes: str
    moment: date | None

    @property
    def incomplete(self) -> bool:
        """Whether it lacks a quantity without which every card refuses its rows; one that has none may need none."""
        if not self.irregular or not (layout := LAYOUTS.get(self.type or "")):
            return False
        given = {
            name for name, value in from_json(from_json(self.attributes)[RAW_QUANTITIES]).items() if value is not None
        }
        if any(name.startswith(f"{OF_BUCKETS}.") for name in given):
            return False
        own = {column.name for column in layout.quantities}
        return bool(own & given) and not own - {*layout.optional} <= given

    @property
    def irregular(self) -> bool:
        """Whether it has quantities as they are. Safe as a text search: a quote inside a value would be escaped."""
        return f'"{RAW_QUANTITIES}":' in self.attributes

    def values(self) -> dict[str, Any]:
        """What the rows of this shape have in the columns of their type; other columns mean nothing of them."""
        own, others = _COLUMNS.get(self.type or "", ()), _OTHERS.get(self.type or "", USAGE_COLUMNS)
        given = from_json(self.attributes).items()
        return {name: value for name, value in given if value is not None and (name in own or name not in others)}

    def row(self) -> dict[str, Any]:
        """A row that has this shape, in the columns of a usage table."""
        values = self.values()
        given = from_json(values.pop(RAW_QUANTITIES, "{}"))
        for name in (PREDICATES, SUMMED):
            values.pop(name, None)
        found = {"type": self.type, "model": self.model, **values, **given}
        return {name: value for name, value in found.items() if value is not None}


class ShapeRequest(NamedTuple):
    """A usage for `prices.rate` or, of a video, a body for `prices.quote_video`, and what is known of its source."""

    usage: dict[str, Any]
    source: SourceVideo | None
    # The number for `Predicates.split`; None: the shape has quantities as they are.
    predicates: int | None = 0
    # The counts by meter that are summed: their numbers among the columns of these, and their meters.
    counted: tuple[tuple[int, str], ...] = ()


def request_of(shape: UsageShape, counts: Sequence[str] = ()) -> ShapeRequest:
    """Make the request of a shape, with none of what is summed; `counts` are the columns of counts by meter.

    Raises `ValueError` for an invalid source video.
    """
    usage: dict[str, Any] = {"type": shape.type} if shape.type is not None else {}
    if shape.model is not None and shape.type != "rpc":
        usage["model"] = shape.model
    values = shape.values()
    given, predicates = values.pop(RAW_QUANTITIES, None), values.pop(PREDICATES, 0)
    if given is not None:
        values |= {name: value for name, value in from_json(given).items() if value is not None}
    summed, counted = int(values.pop(SUMMED, 0)), []
    for number, name in enumerate(counts):
        if summed >> number & 1:
            values[name] = "0"
            counted.append((number, name.partition(".")[2]))
        elif name in values:  # all of them in the order of the row
            values[name] = values.pop(name)
    for name, value in values.items():
        way, own, read = _place(name)
        within = usage
        for part in way:
            within = within.setdefault(part, {})
        within[own] = read(value)
    if shape.type == "rpc":
        usage["calls"] = [usage.pop("call", {})]
    source = usage.pop("source", None)
    return ShapeRequest(
        usage,
        SourceVideo(**source) if source else None,
        None if given is not None else int(predicates),
        tuple(counted),
    )


def _flag(value: str) -> bool | str:
    return _FLAGS.get(value.lower(), value)


def number_as_given(value: str) -> int | Decimal | str:
    """A number as JSON would hold it; what is none stays text."""
    if value.isascii() and value.isdigit() and len(value) <= _DIGITS:
        return int(value)
    try:
        number = READING.create_decimal(value)
    except InvalidOperation:
        return value
    return value if number.is_nan() else number


@cache
def _place(name: str) -> tuple[tuple[str, ...], str, Callable[[str], Any]]:
    """Where the value of a column belongs in a usage, and how it is read."""
    column = column_of(name)
    return column.path[:-1], column.path[-1], _READERS[column.kind]


# A value as JSON would hold it; what does not read as its kind stays text, for the scalar code to refuse.
_READERS: Mapping[ColumnKind, Callable[[str], Any]] = {
    **dict.fromkeys(("text", "url", "condition"), str),
    "flag": _flag,
    "number": number_as_given,
}
