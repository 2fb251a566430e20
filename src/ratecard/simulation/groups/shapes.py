"""The shapes of usage: everything that decides the rates of a row, each shape once, and the request of a shape.

There may be millions of shapes, so they are kept as columns of numbers, and become objects only when needed.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy
import pyarrow
from pydantic_core import from_json

from ratecard.base.errors import QuoteError
from ratecard.line_items.source_video import SourceVideo
from ratecard.requests.body import INVALID
from ratecard.requests.text_body import flag_of_text, number_of_cell
from ratecard.requests.token_usage import read_tokens
from ratecard.simulation.groups.plan import PREDICATES, RAW_QUANTITIES, SUMMED
from ratecard.simulation.rows.columns import (
    LAYOUTS,
    LEDGER_LAYOUTS,
    LENGTH,
    OF_BUCKETS,
    USAGE_COLUMNS,
    ColumnKind,
    column_of,
)
from ratecard.simulation.workspace import integers_of

# The number of shapes that are objects at the same time during a loop.
_AT_ONCE = 10_000
_RPC = "rpc"
_COLUMNS = {
    type_: {RAW_QUANTITIES, PREDICATES, SUMMED, *(column.name for column in layout.attributes)}
    for type_, layout in (LAYOUTS | LEDGER_LAYOUTS).items()
}
# The types charged by tokens are grouped together, each with the columns of the others; columns of no type at all are
# conditions or counts.
_OF_TOKENS = [name for name, layout in LAYOUTS.items() if layout.buckets]
_OTHERS = {name: set().union(*(_COLUMNS[type_] for type_ in _OF_TOKENS)) - _COLUMNS[name] for name in _OF_TOKENS}


class UsageShape(NamedTuple):
    """A type, a model and attributes as the roll-up wrote them, in the period from `moment` on (None: no instant).

    `account` has the same contracts as the accounts of the rows; None if the rows have list prices.
    """

    type: str | None
    model: str | None
    attributes: str
    moment: date | None
    account: str | None = None

    @property
    def refused(self) -> bool:
        """Return True if every card refuses its rows: they lack a quantity, or their counts of tokens are wrong."""
        if not self.irregular or not (layout := LAYOUTS.get(self.type or "")):
            return False
        raw = from_json(from_json(self.attributes)[RAW_QUANTITIES])
        present_names = {name for name, value in raw.items() if value is not None}
        names = {column.name for column in layout.quantities}
        by_bucket = any(name.startswith(f"{OF_BUCKETS}.") for name in present_names)
        # Without any quantity a row may be complete.
        if names & present_names and not by_bucket and not names - {*layout.optional} <= present_names:
            return True
        if not layout.buckets:
            return False
        usage, problems = request_of(self).usage, list[Any]()
        if "usage" in usage:  # it has only flat counts, so that no condition of a model is in it
            read_tokens(usage["usage"], problems, self.type == "text", {}, {})
        return bool(problems)

    @property
    def irregular(self) -> bool:
        """Return True if it has raw quantities. A text search is safe: a quote in a value would be escaped."""
        return f'"{RAW_QUANTITIES}":' in self.attributes

    def values(self) -> dict[str, Any]:
        """Return the values of the rows in the columns of their type; in other columns, values have no meaning."""
        names, others = _COLUMNS.get(self.type or "", ()), _OTHERS.get(self.type or "", USAGE_COLUMNS)
        pairs = from_json(self.attributes).items()
        return {name: value for name, value in pairs if value is not None and (name in names or name not in others)}

    def row(self) -> dict[str, Any]:
        """Return a row that has this shape, in the columns of a usage table."""
        values = self.values()
        quantities = from_json(values.pop(RAW_QUANTITIES, "{}"))
        for name in (PREDICATES, SUMMED):
            values.pop(name, None)
        row = {"type": self.type, "model": self.model, **values, **quantities}
        return {name: value for name, value in row.items() if value is not None}


class ShapeRequest(NamedTuple):
    """A usage for `prices.rate` (for a video, a body for `prices.quote_video`), and the facts of its source video."""

    usage: dict[str, Any]
    source: SourceVideo | None
    # The number for `Predicates.split`; None: the shape has raw quantities.
    predicates: int | None = 0
    # The counts by meter that are summed: the number of the column among the columns of counts, and the meter.
    counted: tuple[tuple[int, str], ...] = ()


def request_of(shape: UsageShape, counts: Sequence[str] = ()) -> ShapeRequest:
    """Return the request of a shape without its sums; `counts` are the columns of counts by meter.

    Raises `QuoteError` for an invalid source video.
    """
    usage: dict[str, Any] = {"type": shape.type} if shape.type is not None else {}
    if shape.model is not None and shape.type != "rpc":
        usage["model"] = shape.model
    values = shape.values()
    raw, predicates = values.pop(RAW_QUANTITIES, None), values.pop(PREDICATES, 0)
    if raw is not None:
        values |= {name: value for name, value in from_json(raw).items() if value is not None}
    summed, counted = int(values.pop(SUMMED, 0)), []
    for number, name in enumerate(counts):
        if summed >> number & 1:
            values[name] = "0"
            counted.append((number, name.partition(".")[2]))
        elif name in values:  # it is inserted again, so that all counts keep the order of the row
            values[name] = values.pop(name)
    for name, value in values.items():
        column = column_of(name)
        column.put(usage, _READERS[column.kind](value))
    if shape.type == "rpc":
        usage["calls"] = [usage.pop("call", {})]
    try:
        source = SourceVideo(**known) if (known := usage.pop("source", None)) else None
    except ValueError as error:
        raise QuoteError(INVALID, [(("source",), str(error))]) from None
    return ShapeRequest(usage, source, None if raw is not None else int(predicates), tuple(counted))


# The readers of values as JSON would hold them; a value that does not fit its kind stays text, which pricing refuses.
_READERS: Mapping[ColumnKind, Callable[[str], Any]] = {
    **dict.fromkeys(("text", "url", "condition"), str),
    "flag": flag_of_text,
    "number": number_of_cell,
}


class Counted(NamedTuple):
    """A shape, how many requests have it, and the sums of its quantities in their smallest unit."""

    shape: UsageShape
    requests: int
    sums: tuple[int, ...]


class ShapeTemplate(NamedTuple):
    """The common part of shapes that differ only in their length, moment and account."""

    type: str | None
    model: str | None
    attributes: str

    def shape(self, length: str | None, moment: date | None, account: str | None = None) -> UsageShape:
        """Return the shape of this template with a length."""
        attributes = self.attributes
        if length is not None:
            beginning = attributes[:-1] + "," * (len(attributes) > len("{}"))
            attributes = f'{beginning}"{LENGTH}":{json.dumps(length, ensure_ascii=False)}}}'
        return UsageShape(self.type, self.model, attributes, moment, account)


class Shapes:
    """Shapes by their number, with the requests and sums of each.

    `template`, `length`, `moment` and `party` have, for each shape, an index into `templates`, `lengths`, `moments` and
    `accounts`; a length of -1 means no length. `sums` has a column for each quantity, with integers of Python if 64
    bits are too few.
    """

    def __init__(
        self,
        templates: Sequence[ShapeTemplate] = (),
        lengths: Sequence[str] = (),
        moments: Sequence[date | None] = (),
        accounts: Sequence[str | None] = (None,),
        columns: "tuple[Any, ...] | None" = None,
        sums: Sequence[Any] = (),
    ) -> None:
        self.templates, self.lengths, self.moments = list(templates), list(lengths), list(moments)
        self.accounts = list(accounts)
        numbers: tuple[Any, ...] = columns or (numpy.empty(0, numpy.int32),) * 5
        self.template, self.length, self.moment, self.party, self.requests = numbers
        self.sums = tuple(sums)

    @classmethod
    def read(
        cls,
        templates: Sequence[ShapeTemplate],
        lengths: Sequence[str | None],
        moments: Sequence[date | None],
        accounts: Sequence[str | None],
        table: pyarrow.Table,
        sums: Sequence[str],
    ) -> "Shapes":
        """Return the shapes of a table with the columns shape, place, moment, perhaps party, requests and sums.

        The place is the number of the template x the number of lengths + the number of the length. The last length and
        the last moment may be null. A sum without a column is 0.
        """
        shape = integers_of(table["shape"])

        def in_order(name: str) -> Any:
            ordered = numpy.zeros(len(shape), numpy.int64)
            if name in table.column_names:
                column = integers_of(table[name])
                ordered = numpy.empty_like(column)
                ordered[shape] = column  # an engine may give the rows in any order
            return ordered

        template, length = numpy.divmod(in_order("place"), max(1, len(lengths)))
        known_lengths = [text for text in lengths if text is not None]
        length[length == len(known_lengths)] = -1
        dated = [moment.replace(tzinfo=UTC) if isinstance(moment, datetime) else moment for moment in moments if moment]
        numbers = (part.astype(numpy.int32) for part in (template, length, in_order("moment"), in_order("party")))
        columns = (*numbers, in_order("requests"))
        return cls(templates, known_lengths, [*dated, None], accounts, columns, list(map(in_order, sums)))

    @cached_property
    def numbers(self) -> list[int | Decimal | str]:
        """Return the lengths as a request has them."""
        return list(map(number_of_cell, self.lengths))

    @property
    def undated(self) -> bool:
        """Return True if some shape has no moment."""
        return any(self.moments[number] is None for number in numpy.unique(self.moment).tolist())

    @cached_property
    def model_moments(self) -> tuple[list[UsageShape], Any]:
        """Return each combination of type, model, moment and account as a shape, and for each shape here its index.

        Attributes are left out, because they do not decide which version prices a shape. Usage of RPC names no model.
        """
        models = dict[tuple[bool, str | None], int]()
        of_template = [
            models.setdefault((template.type == _RPC, template.model), len(models)) for template in self.templates
        ]
        model = numpy.array(of_template or [0], numpy.int64)[self.template]
        # Only the combinations that occur: all models times all moments may be far more.
        moments = model * max(1, len(self.moments)) + self.moment
        numbers, of_shape = numpy.unique(moments * len(self.accounts) + self.party, return_inverse=True)
        first_templates = {number: self.templates[at] for at, number in reversed(list(enumerate(of_template)))}
        shapes = []
        for number in numbers.tolist():
            rest, party = divmod(number, len(self.accounts))
            model_number, moment = divmod(rest, len(self.moments))
            shapes.append(first_templates[model_number].shape(None, self.moments[moment], self.accounts[party]))
        return shapes, of_shape.astype(numpy.int32)

    def without_accounts(self) -> "Shapes":
        """Return the same shapes as if no account had a contract."""
        other = copy(self)
        other.__dict__.pop("model_moments", None)
        other.accounts = [None] * len(self.accounts)
        return other

    def extend(self, other: "Shapes") -> None:
        """Append further shapes, numbered after these."""
        self.__dict__.pop("numbers", None)
        self.__dict__.pop("model_moments", None)
        length = numpy.where(other.length < 0, other.length, other.length + len(self.lengths))
        self.length = numpy.concatenate((self.length, length))
        self.template = numpy.concatenate((self.template, other.template + len(self.templates)))
        self.moment = numpy.concatenate((self.moment, other.moment + len(self.moments)))
        self.party, self.accounts = numpy.concatenate((self.party, other.party)), other.accounts
        self.requests = numpy.concatenate((self.requests, other.requests))
        self.sums = tuple(
            map(numpy.concatenate, zip(self.sums or [self.requests[:0]] * len(other.sums), other.sums, strict=True))
        )
        self.templates += other.templates
        self.lengths += other.lengths
        self.moments += other.moments

    def __len__(self) -> int:
        return len(self.template)

    def __getitem__(self, number: int) -> Counted:
        return next(self.among(numpy.array([range(len(self))[number]])))

    def __iter__(self) -> Iterator[Counted]:
        return self.among(numpy.arange(len(self)))

    def among(self, numbers: Any) -> Iterator[Counted]:
        """Yield the shapes with these numbers, in this order."""
        for first in range(0, len(numbers), _AT_ONCE):
            chunk = numbers[first : first + _AT_ONCE]
            of_shapes = (self.template, self.length, self.moment, self.party, self.requests)
            sums = zip(*(column[chunk].tolist() for column in self.sums), strict=True)
            columns = (column[chunk].tolist() for column in of_shapes)
            for template, length, moment, party, requests, sums_of_shape in zip(*columns, sums, strict=True):
                length_text = self.lengths[length] if length >= 0 else None
                shape = self.templates[template].shape(length_text, self.moments[moment], self.accounts[party])
                yield Counted(shape, requests, sums_of_shape)
