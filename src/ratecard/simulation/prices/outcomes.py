"""The outcomes of all shapes as columns: each different outcome once, and for each shape the number of its own."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy

from ratecard.simulation.groups.shapes import Shapes
from ratecard.simulation.prices.outcome import Outcome
from ratecard.simulation.prices.shape_price import has_wrong_tokens


class Outcomes(Sequence[Outcome]):
    """The outcome of each shape under one side.

    `of` has for each shape the number of its outcome in `distinct`. What is priced beside other outcomes has the same
    number as they for what is the same, so that what differs is found by comparing numbers.
    """

    def __init__(self, shapes: Shapes, distinct: list[Outcome], of: Any) -> None:
        self.shapes, self.distinct, self.of = shapes, distinct, of
        # Of families of shapes, whether every card refuses them: found once for all that are priced beside these.
        self._incomplete: dict[int, bool] = {}

    @classmethod
    def listed(cls, shapes: Shapes, outcomes: Iterable[Outcome]) -> "Outcomes":
        """Outcomes that are given one by one."""
        distinct = Distinct([])
        of = numpy.fromiter(map(distinct.number, outcomes), numpy.int32, len(shapes))
        return cls(shapes, distinct.outcomes, of)

    def __len__(self) -> int:
        return len(self.of)

    @overload
    def __getitem__(self, number: int) -> Outcome: ...
    @overload
    def __getitem__(self, number: slice) -> list[Outcome]: ...
    def __getitem__(self, number: int | slice) -> Outcome | list[Outcome]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        found: Outcome = self.distinct[self.of[number]]
        return found.of_shape(self.shapes[number].shape) if found.price else found

    def changed(self, base: "Outcomes") -> Any:
        """The numbers of the shapes whose outcome is not that of the base, beside which these were priced."""
        return numpy.flatnonzero(self.of != base.of)

    def charge_like(self, base: "Outcomes") -> bool:
        """Whether all rows are charged the same by both, or have no price under either."""
        numbers = self.changed(base)
        pairs = set(zip(base.of[numbers].tolist(), self.of[numbers].tolist(), strict=True))
        return all(base.distinct[one].charges_like(self.distinct[other]) for one, other in pairs)

    def complete(self, numbers: Any) -> Any:
        """Those of these numbers of shapes that some card may price: others lack a quantity, or have wrong ones."""
        numbers_of, of = numpy.unique(self.shapes.family[numbers], return_inverse=True)
        for each in (each for each in numbers_of.tolist() if each not in self._incomplete):
            shape = self.shapes.families[each].shape(None, None)
            self._incomplete[each] = shape.incomplete or has_wrong_tokens(shape)
        lacking = numpy.array([self._incomplete[each] for each in numbers_of.tolist()], bool)
        return numbers[~lacking[of]]

    def __iter__(self) -> Iterator[Outcome]:
        return (self[number] for number in range(len(self)))

    @cached_property
    def priced(self) -> Any:
        """For each shape, whether it has a price."""
        return numpy.array([bool(each.price) for each in self.distinct] or [False])[self.of]

    @cached_property
    def not_offered(self) -> Any:
        """For each shape, whether the side does not offer what it asks for."""
        return numpy.array([each.not_offered for each in self.distinct] or [False])[self.of]


class Distinct:
    """Outcomes that are numbered once each."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = list(outcomes)
        self._numbers = {id(outcome): number for number, outcome in enumerate(self.outcomes)}
        self._known: dict[Hashable, dict[Hashable, int]] = {}

    def number(self, outcome: Outcome) -> int:
        """The number of an outcome, which is told from others by identity."""
        found = self._numbers.setdefault(id(outcome), len(self.outcomes))
        if found == len(self.outcomes):
            self.outcomes.append(outcome)
        return found

    def numbers(self, place: Hashable, values: Iterable[Hashable], outcome_of: Callable[[Any], Outcome]) -> list[int]:
        """The numbers of the outcomes of values, each of which has the same wherever the place is the same."""
        known, found = self._known.setdefault(place, {}), list[int]()
        for value in values:
            number = known.get(value)
            if number is None:
                number = known[value] = self.number(outcome_of(value))
            found.append(number)
        return found


def of_chunks(shapes: Shapes, chunks: Sequence[Sequence[Outcomes]], sides: int) -> list[Outcomes]:
    """The outcomes of shapes that were priced in chunks, for each of the sides."""
    distinct = list[Outcome]()
    columns: list[list[Any]] = [[numpy.empty(0, numpy.int32)] for _ in range(sides)]
    for chunk in chunks:
        start, common = len(distinct), len(chunk[0].distinct)
        distinct += chunk[0].distinct
        for column, each in zip(columns, chunk, strict=True):
            own = len(distinct) - common
            column.append(numpy.where(each.of < common, each.of + start, each.of + own).astype(numpy.int32))
            distinct += each.distinct[common:]
    return [Outcomes(shapes, distinct, numpy.concatenate(column)) for column in columns]
