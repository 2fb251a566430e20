"""The outcomes of all shapes as columns: each distinct outcome once, and for each shape the number of its outcome."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy

from ratecard.simulation.groups.shapes import Shapes
from ratecard.simulation.prices.outcome import Outcome
from ratecard.simulation.prices.shape_price import has_wrong_tokens


class Outcomes:
    """The outcome of each shape under one side.

    `of` has for each shape the number of its outcome in `distinct`. The outcomes of a candidate begin as a copy of the
    current ones, so that shapes with another outcome are found by comparing numbers.
    """

    def __init__(self, shapes: Shapes, distinct: Sequence[Outcome], of: Any) -> None:
        self.shapes, self.distinct, self.of = shapes, list(distinct), of
        self._numbers = {id(outcome): number for number, outcome in enumerate(self.distinct)}
        self._known: dict[Hashable, dict[Hashable, int]] = {}
        # For each template by number: True if every card refuses its shapes, so that they are not priced again.
        self._incomplete: dict[int, bool] = {}

    @classmethod
    def listed(cls, shapes: Shapes, outcomes: Iterable[Outcome]) -> "Outcomes":
        """Return outcomes made from the outcome of each shape, in order."""
        made = cls(shapes, [], None)
        made.of = numpy.fromiter(map(made.number, outcomes), numpy.int32, len(shapes))
        return made

    @classmethod
    def joined(cls, shapes: Shapes, chunks: Sequence[Sequence["Outcomes"]], sides: int) -> "list[Outcomes]":
        """Return the outcomes under each side, joined from chunks of shapes that were priced one after another."""
        distinct = list[Outcome]()
        columns: list[list[Any]] = [[numpy.empty(0, numpy.int32)] for _ in range(sides)]
        for chunk in chunks:
            start, common = len(distinct), len(chunk[0].distinct)
            distinct += chunk[0].distinct
            for column, outcomes in zip(columns, chunk, strict=True):
                offset = len(distinct) - common
                numbers = numpy.where(outcomes.of < common, outcomes.of + start, outcomes.of + offset)
                column.append(numbers.astype(numpy.int32))
                distinct += outcomes.distinct[common:]
        return [cls(shapes, distinct, numpy.concatenate(column)) for column in columns]

    def number(self, outcome: Outcome) -> int:
        """Return the number of an outcome, a new number for a new object."""
        number = self._numbers.setdefault(id(outcome), len(self.distinct))
        if number == len(self.distinct):
            self.distinct.append(outcome)
        return number

    def numbers(self, place: Hashable, values: Iterable[Hashable], outcome_of: Callable[[Any], Outcome]) -> list[int]:
        """Return the numbers of the outcomes of values; in one `place`, equal values have the same outcome."""
        known, numbers = self._known.setdefault(place, {}), list[int]()
        for value in values:
            number = known.get(value)
            if number is None:
                number = known[value] = self.number(outcome_of(value))
            numbers.append(number)
        return numbers

    def __len__(self) -> int:
        return len(self.of)

    def __getitem__(self, number: int) -> Outcome:
        outcome: Outcome = self.distinct[self.of[number]]
        return outcome.of_shape(self.shapes[number].shape) if outcome.price else outcome

    def changed(self, base: "Outcomes") -> Any:
        """Return the numbers of the shapes whose outcome differs from that of the base."""
        return numpy.flatnonzero(self.of != base.of)

    def charge_like(self, base: "Outcomes") -> bool:
        """Return True if all rows are charged the same by both, or have no price under either."""
        numbers = self.changed(base)
        pairs = set(zip(base.of[numbers].tolist(), self.of[numbers].tolist(), strict=True))
        both = ((base.distinct[one], self.distinct[other]) for one, other in pairs)
        return all(bool(one.price) == bool(other.price) and one.amounts == other.amounts for one, other in both)

    def complete(self, numbers: Any) -> Any:
        """Return the numbers of shapes that some card may price; the others lack a quantity, or have a wrong one."""
        templates, of = numpy.unique(self.shapes.template[numbers], return_inverse=True)
        for at in (at for at in templates.tolist() if at not in self._incomplete):
            shape = self.shapes.templates[at].shape(None, None)
            self._incomplete[at] = shape.incomplete or has_wrong_tokens(shape)
        lacking = numpy.array([self._incomplete[at] for at in templates.tolist()], bool)
        return numbers[~lacking[of]]

    def __iter__(self) -> Iterator[Outcome]:
        return (self[number] for number in range(len(self)))

    @cached_property
    def priced(self) -> Any:
        """Mark each shape that has a price."""
        return numpy.array([bool(outcome.price) for outcome in self.distinct] or [False])[self.of]

    @cached_property
    def not_offered(self) -> Any:
        """Mark each shape that the side does not offer."""
        return numpy.array([outcome.not_offered for outcome in self.distinct] or [False])[self.of]
