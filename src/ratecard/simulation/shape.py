"""A shape of usage: everything that decides the rates of a row, and a usage of the scalar code that has it."""

import json
from collections.abc import Mapping
from datetime import date
from decimal import InvalidOperation
from typing import Any, NamedTuple

from ratecard.rating.source_video import SourceVideo
from ratecard.simulation.columns import COLUMNS, LAYOUTS, LEDGER_LAYOUTS, Column
from ratecard.simulation.roll_up_sql import ASKED, GIVEN
from ratecard.words.money import READING

_COLUMNS = {
    type_: {GIVEN, ASKED, *(column.name for column in layout.attributes)}
    for type_, layout in (LAYOUTS | LEDGER_LAYOUTS).items()
}
_FLAGS = {"true": True, "false": False}


class Shape(NamedTuple):
    """A type, a model and attributes as the roll-up wrote them, in the period from `moment` on (None: no instant)."""

    type: str | None
    model: str | None
    attributes: str
    moment: date | None

    def values(self) -> Mapping[str, Any]:
        """What the rows of this shape have in the columns of their type; other columns mean nothing of them."""
        found, own = json.loads(self.attributes), _COLUMNS.get(self.type or "", ())
        return {name: value for name, value in found.items() if value is not None and name in own}


class Asked(NamedTuple):
    """A usage for `prices.rate` or, of a video, a body for `prices.quote_video`, and what is known of its source."""

    usage: dict[str, Any]
    source: SourceVideo | None
    # What tables ask of its quantities; None: the shape has quantities as they are.
    predicates: int | None = 0


def asked(shape: Shape) -> Asked:
    """The usage of a shape, without quantities that are summed. Raises `ValueError` for a source that is none."""
    values = dict(shape.values())
    given, predicates = values.pop(GIVEN, None), int(values.pop(ASKED, 0))
    if given is not None:
        values |= {name: value for name, value in json.loads(given).items() if value is not None}
    usage: dict[str, Any] = {"type": shape.type} if shape.type is not None else {}
    if shape.model is not None and shape.type != "rpc":
        usage["model"] = shape.model
    for name, value in values.items():
        place(usage, COLUMNS[name], value)
    if shape.type == "rpc":
        usage["calls"] = [usage.pop("call", {})]
    source = usage.pop("source", None)
    return Asked(usage, SourceVideo(**source) if source else None, None if given is not None else predicates)


def place(usage: dict[str, Any], column: Column, value: str) -> None:
    """Put a value where it belongs in a usage."""
    *way, name = column.path
    for part in way:
        usage = usage.setdefault(part, {})
    usage[name] = _read(column, value)


def _read(column: Column, value: str) -> Any:
    """A value as JSON would hold it; what does not read as its kind stays text, for the scalar code to refuse."""
    if column.kind == "flag":
        return _FLAGS.get(value.lower(), value)
    if column.kind != "number":
        return value
    try:
        number = READING.create_decimal(value)
    except InvalidOperation:
        return value
    return value if number.is_nan() else number
