"""Which shapes are in the figures, and which of them only some sides offer: as numbers, and as tables of the engine."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from ratecard.simulation.pricing.price_table import SidePrices
from ratecard.simulation.usage.engines.duckdb_engine import Workspace

# How a shape is uneven: only the current side prices it, only the candidate, or neither of them.
LOST, NEW, NEITHER = 1, 2, 3


class Offered:
    """The shapes that some side prices.

    A side that offers no such model, value or rate charges nothing for a shape. One that refuses it for any other
    reason keeps it out of the figures of all sides: what it would charge cannot be said.
    """

    def __init__(self, workspace: Workspace, sides: Sequence[SidePrices]) -> None:
        self._workspace, self._sides = workspace, sides

    @cached_property
    def _apart(self) -> tuple[frozenset[int], frozenset[int]]:
        """The numbers of the shapes that some sides price and others do not: in the figures, and left out of them."""
        priced = [side.priced for side in self._sides]
        apart = frozenset[int]().union(*priced) - frozenset.intersection(*priced)
        refusals = ((number, [side.refusal(number) for side in self._sides]) for number in apart)
        kept = frozenset(number for number, each in refusals if all(why is None or why.not_offered for why in each))
        return kept, apart - kept

    @cached_property
    def figured(self) -> frozenset[int]:
        """The numbers of the shapes that are in the figures."""
        return frozenset.intersection(*(side.priced for side in self._sides)) | self._apart[0]

    def lost(self, candidate: int) -> frozenset[int]:
        """The numbers of the shapes that the current prices have, and a candidate has not."""
        return (self._apart[0] & self._sides[0].priced) - self._sides[candidate].priced

    def new(self, candidate: int) -> frozenset[int]:
        """The numbers of the shapes that a candidate prices, and the current prices do not."""
        return (self._apart[0] & self._sides[candidate].priced) - self._sides[0].priced

    @cached_property
    def left_out(self) -> str:
        """The table of shapes that some side prices, and that are in no figure; empty: there are none."""
        return self._table("left_out", ((number, 0) for number in self._apart[1]))

    @cached_property
    def coming(self) -> str:
        """The table of shapes that only candidates price; empty: there are none."""
        return self._table("coming", ((number, 0) for number in self._apart[0] - self._sides[0].priced))

    @cached_property
    def uneven(self) -> tuple[str, ...]:
        """For each side, the table of shapes that only one of it and the current one prices; empty: there are none."""
        found = [""]
        for side, prices in enumerate(self._sides[1:], 1):
            neither = self._apart[0] - self._sides[0].priced - prices.priced
            kinds = ((LOST, self.lost(side)), (NEW, self.new(side)), (NEITHER, neither))
            found.append(self._table("uneven", ((number, kind) for kind, numbers in kinds for number in numbers)))
        return tuple(found)

    def drop(self) -> None:
        """Forget the tables."""
        for table in filter(None, (self.left_out, self.coming, *self.uneven)):
            self._workspace.connection.execute(f"DROP TABLE IF EXISTS {table}")

    def _table(self, name: str, rows: Iterable[tuple[int, int]]) -> str:
        """A table of shapes, each with a number; empty: there are none."""
        if not (numbers := sorted(rows)):
            return ""
        table, columns = self._workspace.new_table(name), list(map(list, zip(*numbers, strict=True)))
        query = f"CREATE TABLE {table} AS SELECT unnest(?::BIGINT[]) AS shape, unnest(?::TINYINT[]) AS kind"
        self._workspace.connection.execute(query, columns)
        return table
