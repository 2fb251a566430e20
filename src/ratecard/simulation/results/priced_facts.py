"""Facts joined with the prices of the sides, as SQL: what each of them comes to."""

from collections.abc import Iterable, Mapping, Sequence

from ratecard.simulation.pricing.coverage import LOST, NEITHER, NEW, Coverage
from ratecard.simulation.pricing.price_table import SidePrices
from ratecard.simulation.usage.columns import BUCKETS, LAYOUTS
from ratecard.simulation.usage.plan import parts_of, token_types
from ratecard.simulation.usage.roll_up import RollUp

_TOKEN_TYPES = token_types(LAYOUTS)
# The quantities of a report, each with the types that it is of, and its number among the sums of that type. Tokens of
# further buckets are in that of the bucket which they are part of.
QUANTITY_NAMES: Mapping[str, tuple[tuple[str, ...], int]] = {
    "uncached_tokens": (_TOKEN_TYPES, 0),
    "cached_tokens": (_TOKEN_TYPES, 1),
    "cache_write_tokens": (_TOKEN_TYPES, 2),
    "completion_tokens": (_TOKEN_TYPES, 3),
    "characters": (("speech",), 0),
    "seconds": (("transcription",), 0),
}
QUANTITY_COLUMNS = tuple(f"quantity{at}" for at in range(len(QUANTITY_NAMES)))
# Those of them that are tokens.
TOKEN_QUANTITIES = tuple(name for name, (types, _) in QUANTITY_NAMES.items() if types == _TOKEN_TYPES)
# What only one of the current prices and a candidate prices; the number of the candidate is added to the names.
UNEVEN = ("lost_requests", "lost", "new_requests", "new", "neither")


class PricedFacts:
    """The facts of a roll-up at the prices of the sides.

    Beside `requests`, what one comes to has the columns `quantity0` (those of a report), `amount0` (at the current
    prices; of a candidate what it adds to that), and those of `UNEVEN`.
    """

    def __init__(self, roll_up: RollUp, sides: Sequence[SidePrices], coverage: Coverage) -> None:
        self.roll_up, self.sides, self.coverage = roll_up, sides, coverage

    def query(
        self,
        facts: str,
        join: str,
        *sides: int,
        others: Sequence[int] = (),
        uneven: Sequence[int] = (),
        further: str = "",
    ) -> str:
        """Facts with these columns, at the prices of some sides; `further` joins those of `others`, and `uneven`."""
        parts = []
        for part, grouping in self.roll_up.queries_of(facts):
            # What no type of a part has is not computed for its rows.
            types = parts_of(self.roll_up.plan.layouts)[grouping.name] if grouping else None
            summed = grouping.summed if grouping else None
            columns = dict.fromkeys(QUANTITY_COLUMNS, "CAST(NULL AS HUGEINT)") | self.quantities(types)
            columns |= {f"amount{side}": self.terms(side, summed) for side in (*sides, *others)}
            for side in uneven:
                terms = (self.terms(each, summed) for each in (0, side))
                columns |= uneven_columns(side, f"uneven{side}.kind", "requests", *terms)
            listed = "".join(f", {expression} AS {name}" for name, expression in columns.items())
            source = self.source(f"({part})", join, *sides, further=further)
            parts.append(f"SELECT facts.*{listed} {source}")
        return f"({' UNION ALL BY NAME '.join(parts)})"

    def source(self, facts: str, join: str, *sides: int, further: str = "") -> str:
        """Facts with prices of some sides, and further joins; without what is in no figure."""
        first, *others = (f"{self._priced_at(side)} AS side{side} USING (shape)" for side in sides)
        tables = "".join((f" JOIN {first}", *(f" {join} {other}" for other in others)))
        left_out = f" ANTI JOIN {self.coverage.left_out} USING (shape)" if self.coverage.left_out else ""
        return f"FROM {facts} AS facts{tables}{further}{left_out}"

    def uneven(self, side: int, join: str) -> str:
        """The join with what only one of the current prices and a candidate prices; empty where both price all."""
        table = self.coverage.uneven[side]
        return f" {join} {table} AS uneven{side} USING (shape)" if table else ""

    def terms(self, side: int, summed: Iterable[int] | None = None) -> str:
        """What one of the facts comes to at the prices of a side; `summed`: the sums that it can have."""
        numbers = range(self.roll_up.plan.sums) if summed is None else summed
        counts = {"requests": 0} | {f"q{number}": number + 1 for number in numbers}
        # Prices may be of 64 bits, which their products exceed.
        rated = (f"CAST({count} AS HUGEINT) * side{side}.p{number}" for count, number in counts.items())
        return f"({' + '.join(rated)})"

    def quantities(self, of_types: Iterable[str] | None = None) -> dict[str, str]:
        """The quantities of a report; `of_types`: where all facts are of these, those that they can have."""
        buckets, known = self.roll_up.plan.predicates.buckets, set(of_types or ())
        found = {}
        for column, (types, number) in zip(QUANTITY_COLUMNS, QUANTITY_NAMES.values(), strict=True):
            kind = BUCKETS[number] if types == _TOKEN_TYPES else None
            numbers = [at for at, name in enumerate(buckets.names) if buckets.kind(name) == kind] if kind else [number]
            total = " + ".join(f"q{each}" for each in numbers)
            if not known or not known.isdisjoint(types):
                listed = f"type IN ({', '.join(map(repr, types))})"
                found[column] = total if known and known <= {*types} else f"CASE WHEN {listed} THEN {total} END"
        return found

    def _priced_at(self, side: int) -> str:
        """The prices of a side; of the current one, nothing for what only candidates price."""
        table = self.sides[side].table
        if side or not self.coverage.only_candidates:
            return table
        nothing = ", ".join(["shape", *["CAST(0 AS HUGEINT)"] * (1 + self.roll_up.plan.sums)])
        return f"(FROM {table} UNION ALL SELECT {nothing} FROM {self.coverage.only_candidates})"


def uneven_columns(side: int, kind: str, requests: str, current: str, added: str) -> dict[str, str]:
    """What only one of the current prices and a candidate prices, by the kind of a shape."""
    values = ((LOST, requests), (LOST, current), (NEW, requests), (NEW, added), (NEITHER, requests))
    return {
        f"{name}{side}": f"CASE WHEN {kind} = {of} THEN {value} END"
        for name, (of, value) in zip(UNEVEN, values, strict=True)
    }
