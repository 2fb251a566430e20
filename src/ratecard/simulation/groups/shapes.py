"""The shapes of a roll-up as columns of numbers: of a million shapes, objects are made of those that are asked for."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy
import pyarrow

from ratecard.simulation.groups.shape import UsageShape, number_as_given
from ratecard.simulation.rows.columns import LENGTH
from ratecard.simulation.workspace.workspace import integers_of

# Of how many shapes objects are made at once while they are gone through.
_AT_ONCE = 10_000
_RPC = "rpc"


class Counted(NamedTuple):
    """A shape, how many requests have it, and the sums of its quantities in their smallest unit."""

    shape: UsageShape
    requests: int
    sums: tuple[int, ...]


class ShapeTemplate(NamedTuple):
    """Shapes of a type and a model that have the same attributes but for their length, at whatever moments."""

    type: str | None
    model: str | None
    attributes: str

    def shape(self, length: str | None, moment: date | None) -> UsageShape:
        """The shape of this template with a length."""
        attributes = self.attributes
        if length is not None:
            before = attributes[:-1] + "," * (len(attributes) > len("{}"))
            attributes = f'{before}"{LENGTH}":{json.dumps(length, ensure_ascii=False)}}}'
        return UsageShape(self.type, self.model, attributes, moment)


class Shapes(Sequence[Counted]):
    """Shapes by their number, with the requests and sums of each.

    `template`, `length` and `moment` have a number for each shape: that of its part in `templates`, `lengths` and
    `moments`; -1 where it has no length. `sums` has a column for each quantity, of integers of Python where 64 bits
    are too few.
    """

    def __init__(
        self,
        templates: Sequence[ShapeTemplate] = (),
        lengths: Sequence[str] = (),
        moments: Sequence[date | None] = (),
        columns: "tuple[Any, Any, Any, Any] | None" = None,
        sums: Sequence[Any] = (),
    ) -> None:
        self.templates, self.lengths, self.moments = list(templates), list(lengths), list(moments)
        nothing = numpy.empty(0, numpy.int32)
        own: tuple[Any, ...] = columns or (nothing, nothing, nothing, nothing)
        self.template, self.length, self.moment, self.requests = own
        self.sums = tuple(sums)

    @classmethod
    def read(
        cls,
        templates: Sequence[ShapeTemplate],
        lengths: Sequence[str | None],
        moments: Sequence[date | None],
        table: pyarrow.Table,
        sums: Sequence[str],
    ) -> "Shapes":
        """The shapes of a table with the columns shape, place, moment and requests, and those of sums, or zeros.

        The place is the number of the template, times how many lengths there are, and that of the length. What is
        absent is the last length and the last moment.
        """
        shape = integers_of(table["shape"])

        def in_order(name: str) -> Any:
            found = numpy.zeros(len(shape), numpy.int64)
            if name in table.column_names:
                column = integers_of(table[name])
                found = numpy.empty_like(column)
                found[shape] = column  # an engine need not give them in their order
            return found

        template, length = numpy.divmod(in_order("place"), max(1, len(lengths)))
        known = [each for each in lengths if each is not None]
        length[length == len(known)] = -1
        found = [each.replace(tzinfo=UTC) if isinstance(each, datetime) else each for each in moments if each]
        numbers = (each.astype(numpy.int32) for each in (template, length, in_order("moment")))
        return cls(templates, known, [*found, None], (*numbers, in_order("requests")), list(map(in_order, sums)))

    @cached_property
    def numbers(self) -> list[int | Decimal | str]:
        """The lengths as a request has them."""
        return list(map(number_as_given, self.lengths))

    @cached_property
    def standing(self) -> tuple[list[UsageShape], Any]:
        """Whatever differs in type, model or moment, and for each shape the number of its own.

        What decides the price of a shape's model does not depend on its attributes; usage of RPC does not name its
        model.
        """
        models = dict[tuple[bool, str | None], int]()
        of_template = [models.setdefault((each.type == _RPC, each.model), len(models)) for each in self.templates]
        model = numpy.array(of_template or [0], numpy.int64)[self.template]
        # As many as there are: models times moments may be far more.
        numbers, own = numpy.unique(model * max(1, len(self.moments)) + self.moment, return_inverse=True)
        first = {number: self.templates[at] for at, number in reversed(list(enumerate(of_template)))}
        pairs = (divmod(number, len(self.moments)) for number in numbers.tolist())
        return [first[model].shape(None, self.moments[moment]) for model, moment in pairs], own.astype(numpy.int32)

    def extend(self, other: "Shapes") -> None:
        """Number further shapes after these."""
        self.__dict__.pop("numbers", None)
        self.__dict__.pop("standing", None)
        length = numpy.where(other.length < 0, other.length, other.length + len(self.lengths))
        self.length = numpy.concatenate((self.length, length))
        self.template = numpy.concatenate((self.template, other.template + len(self.templates)))
        self.moment = numpy.concatenate((self.moment, other.moment + len(self.moments)))
        self.requests = numpy.concatenate((self.requests, other.requests))
        self.sums = tuple(
            map(numpy.concatenate, zip(self.sums or [self.requests[:0]] * len(other.sums), other.sums, strict=True))
        )
        self.templates += other.templates
        self.lengths += other.lengths
        self.moments += other.moments

    def __len__(self) -> int:
        return len(self.template)

    @overload
    def __getitem__(self, number: int) -> Counted: ...
    @overload
    def __getitem__(self, number: slice) -> list[Counted]: ...
    def __getitem__(self, number: int | slice) -> Counted | list[Counted]:
        if isinstance(number, slice):
            return list(self.among(numpy.arange(len(self))[number]))
        return next(self.among(numpy.array([range(len(self))[number]])))

    def __iter__(self) -> Iterator[Counted]:
        return self.among(numpy.arange(len(self)))

    def among(self, numbers: Any) -> Iterator[Counted]:
        """The shapes of these numbers, one after the other."""
        for first in range(0, len(numbers), _AT_ONCE):
            some = numbers[first : first + _AT_ONCE]
            of_shapes = (self.template, self.length, self.moment, self.requests)
            sums = zip(*(column[some].tolist() for column in self.sums), strict=True)
            columns = (column[some].tolist() for column in of_shapes)
            for template, length, moment, requests, added in zip(*columns, sums, strict=True):
                length_text = self.lengths[length] if length >= 0 else None
                yield Counted(self.templates[template].shape(length_text, self.moments[moment]), requests, added)
