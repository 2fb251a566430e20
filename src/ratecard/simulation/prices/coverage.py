"""Which shapes are in the figures, and which of them only some sides price."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy

from ratecard.simulation.prices.price_table import SidePrices
from ratecard.simulation.workspace.workspace import Workspace

# A shape is priced by the current side only, by the candidate only, or by neither.
LOST, NEW, NEITHER = 1, 2, 3


class Coverage:
    """The shapes that some side prices, by their numbers.

    A side that does not offer a model, value or rate charges nothing for its shapes. A side that refuses a shape for
    another reason keeps it out of the figures of all sides, because what it would charge is not known.
    """

    def __init__(self, workspace: Workspace, sides: Sequence[SidePrices]) -> None:
        self._workspace, self._sides = workspace, sides

    @cached_property
    def _one_sided(self) -> tuple[Any, Any]:
        """Mark the shapes that only some sides price: those in the figures, and those left out."""
        priced = [side.priced for side in self._sides]
        one_sided = numpy.logical_or.reduce(priced) & ~numpy.logical_and.reduce(priced)
        known = numpy.logical_and.reduce([side.priced | side.outcomes.not_offered for side in self._sides])
        return one_sided & known, one_sided & ~known

    @cached_property
    def in_figures(self) -> Any:
        """Mark each shape that is in the figures."""
        return numpy.logical_and.reduce([side.priced for side in self._sides]) | self._one_sided[0]

    def lost(self, candidate: int) -> Any:
        """Return the numbers of the shapes that the current prices have, and a candidate has not."""
        return numpy.flatnonzero(self._one_sided[0] & self._sides[0].priced & ~self._sides[candidate].priced)

    def new(self, candidate: int) -> Any:
        """Return the numbers of the shapes that a candidate prices, and the current prices do not."""
        return numpy.flatnonzero(self._one_sided[0] & self._sides[candidate].priced & ~self._sides[0].priced)

    @cached_property
    def left_out(self) -> str:
        """Return the table of shapes that some side prices and that are in no figure; empty without any."""
        return self._table("left_out", {0: numpy.flatnonzero(self._one_sided[1])})

    @cached_property
    def only_candidates(self) -> str:
        """Return the table of shapes that only candidates price; empty without any."""
        return self._table("only_candidates", {0: numpy.flatnonzero(self._one_sided[0] & ~self._sides[0].priced)})

    @cached_property
    def lost_and_new(self) -> tuple[str, ...]:
        """Return, by side, the table of shapes that only it or only the current side prices; empty without any."""
        tables = [""]
        for side, prices in enumerate(self._sides[1:], 1):
            neither = numpy.flatnonzero(self._one_sided[0] & ~self._sides[0].priced & ~prices.priced)
            tables.append(self._table("lost_and_new", {LOST: self.lost(side), NEW: self.new(side), NEITHER: neither}))
        return tuple(tables)

    def drop(self) -> None:
        """Drop the tables."""
        for table in filter(None, (self.left_out, self.only_candidates, *self.lost_and_new)):
            self._workspace.connection.execute(f"DROP TABLE IF EXISTS {table}")

    def _table(self, name: str, kinds: Mapping[int, Any]) -> str:
        """Return a table of shapes, each with the number of its kind; empty without any."""
        rows = sorted((number, kind) for kind, numbers in kinds.items() for number in numbers.tolist())
        if not rows:
            return ""
        table, columns = self._workspace.new_table(name), list(map(list, zip(*rows, strict=True)))
        query = f"CREATE TABLE {table} AS SELECT unnest(?::BIGINT[]) AS shape, unnest(?::TINYINT[]) AS kind"
        self._workspace.connection.execute(query, columns)
        return table
