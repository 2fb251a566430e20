"""Groups joined with prices as exact integers: the one relation that every answer queries.

DuckDB holds it, and spills it to disk.
"""

from collections.abc import Mapping, Sequence

from ratecard.simulation.groups.grouped_usage import RollUp
from ratecard.simulation.groups.plan import token_types
from ratecard.simulation.prices.price_table import LOST, NEITHER, NEW, Coverage, SidePrices
from ratecard.simulation.rows.columns import BUCKETS, LAYOUTS

_TOKEN_TYPES = token_types(LAYOUTS)
# The quantities of a report, each with its types and its number among the sums of these types. Tokens of
# further buckets are counted in the bucket that they are part of.
QUANTITY_NAMES: Mapping[str, tuple[tuple[str, ...], int]] = {
    "uncached_tokens": (_TOKEN_TYPES, 0),
    "cached_tokens": (_TOKEN_TYPES, 1),
    "cache_write_tokens": (_TOKEN_TYPES, 2),
    "completion_tokens": (_TOKEN_TYPES, 3),
    "characters": (("speech",), 0),
    "seconds": (("transcription",), 0),
}
QUANTITY_COLUMNS = tuple(f"quantity{at}" for at in range(len(QUANTITY_NAMES)))
# The token quantities.
TOKEN_QUANTITIES = tuple(name for name, (types, _) in QUANTITY_NAMES.items() if types == _TOKEN_TYPES)
# The columns with sums of what only one of two sides prices; each name ends in the number of the candidate.
LOST_AND_NEW = ("lost_requests", "lost", "new_requests", "new", "neither")


class GroupAmounts:
    """The groups of a roll-up with their amounts under each side.

    The columns of a group are its keys, `requests`, the quantities of a report (`quantity0`, ...), `amount0` at the
    current prices, what each candidate adds to that (`amount1`, ...), and for a candidate those of `LOST_AND_NEW` and
    the kind of its shape (`kind1`, ...).
    """

    def __init__(self, roll_up: RollUp, sides: Sequence[SidePrices], coverage: Coverage) -> None:
        self.roll_up, self.sides, self.coverage = roll_up, sides, coverage

    def query(
        self, groups: str, *sides: int, lost_and_new: Sequence[int] = (), further: Sequence[SidePrices] = ()
    ) -> str:
        """Return the query of groups with these columns at the prices of some sides; shapes in no figure are left out.

        `lost_and_new` are the candidates whose lost and new requests are columns too. The amounts at `further` prices
        are numbered after those of all sides.
        """
        columns, joins = self._quantities(), []
        prices = {side: self._priced_at(side) for side in sides}
        prices |= {len(self.sides) + number: side_prices.table for number, side_prices in enumerate(further)}
        for number, (side, table) in enumerate(prices.items()):
            columns[f"amount{side}"] = self._amount(side)
            joins.append(f"{'LEFT JOIN' if number else 'JOIN'} {table} AS side{side} USING (shape)")
        for side in lost_and_new:
            if table := self.coverage.lost_and_new[side]:
                columns |= self._lost_and_new(side)
                joins.append(f"LEFT JOIN {table} AS lost_and_new{side} USING (shape)")
        if self.coverage.left_out:
            joins.append(f"ANTI JOIN {self.coverage.left_out} USING (shape)")
        listed = "".join(f", {expression} AS {name}" for name, expression in columns.items())
        return f"(SELECT groups.*{listed} FROM {groups} AS groups {' '.join(joins)}) AS amounts"

    def _amount(self, side: int) -> str:
        """Return the expression of the amount of a group at the prices of a side."""
        counts = {"requests": 0} | {f"q{number}": number + 1 for number in range(self.roll_up.plan.sums)}
        # Prices may have 64 bits, and products need more.
        return " + ".join(f"CAST({count} AS HUGEINT) * side{side}.p{number}" for count, number in counts.items())

    def _lost_and_new(self, side: int) -> dict[str, str]:
        """Return the columns of what only the current side or only a candidate prices, by the kind of the shape."""
        now, then, kind = f"({self._amount(0)})", f"({self._amount(side)})", f"lost_and_new{side}.kind"
        values = ((LOST, "requests"), (LOST, now), (NEW, "requests"), (NEW, then), (NEITHER, "requests"))
        named = zip(LOST_AND_NEW, values, strict=True)
        return {f"kind{side}": kind} | {
            f"{name}{side}": f"CASE WHEN {kind} = {of} THEN {value} END" for name, (of, value) in named
        }

    def _quantities(self) -> dict[str, str]:
        """Return the expressions of the quantities of a report."""
        buckets, columns = self.roll_up.plan.predicates.buckets, {}
        for column, (types, number) in zip(QUANTITY_COLUMNS, QUANTITY_NAMES.values(), strict=True):
            kind = BUCKETS[number] if types == _TOKEN_TYPES else None
            numbers = [at for at, name in enumerate(buckets.names) if buckets.kind(name) == kind] if kind else [number]
            total = " + ".join(f"q{index}" for index in numbers)
            columns[column] = f"CASE WHEN type IN ({', '.join(map(repr, types))}) THEN {total} END"
        return columns

    def _priced_at(self, side: int) -> str:
        """Return the table of the prices of a side; the current ones are zero for shapes that only candidates price."""
        table = self.sides[side].table
        if side or not self.coverage.only_candidates:
            return table
        nothing = ", ".join(["shape", *["CAST(0 AS HUGEINT)"] * (1 + self.roll_up.plan.sums)])
        return f"(FROM {table} UNION ALL SELECT {nothing} FROM {self.coverage.only_candidates})"
