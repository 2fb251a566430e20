"""Shapes joined with their prices: exact totals of any breakdown, under every card compared."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from ratecard.diff.change import percent_text
from ratecard.simulation.allocation import uncollected
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.priced_shape import PricedShape, Vector
from ratecard.simulation.roll_up import Counted, RollUp
from ratecard.simulation.roll_up_sql import QUANTITIES
from ratecard.simulation.side_prices import SidePrices
from ratecard.words.money import EXACT, total
from ratecard.words.suggest import did_you_mean

# Rows can be broken down by it whether it is a key or not: a shape has one.
MODEL = "model"
# The quantities of a report, each with the types that it is of, and its number among the sums of that type.
QUANTITY_NAMES: Mapping[str, tuple[tuple[str, ...], int]] = {
    "uncached_tokens": (("text", "embedding"), 0),
    "cached_tokens": (("text", "embedding"), 1),
    "cache_write_tokens": (("text", "embedding"), 2),
    "completion_tokens": (("text", "embedding"), 3),
    "characters": (("speech",), 0),
    "seconds": (("transcription",), 0),
}


_ZERO = Decimal(0)


class Row(NamedTuple):
    """One group: its key, its requests and quantities, and its exact amount under each card, the current one first."""

    key: tuple[str | None, ...]
    requests: int
    quantities: tuple[Decimal, ...]
    amounts: tuple[Decimal, ...]

    def difference(self, candidate: int = 1) -> Decimal:
        """What a candidate adds; negative: what it takes."""
        return EXACT.subtract(self.amounts[candidate], self.amounts[0])

    def percent(self, candidate: int = 1) -> str:
        """The change in percent of the current amount, rounded to two places; empty where that is zero."""
        return percent_text(self.amounts[0], self.amounts[candidate])


class Comparison:
    """The shapes of a roll-up that every side prices; amounts are integers of 10^-`scale` in the engine."""

    def __init__(self, roll_up: RollUp, sides: Sequence[SidePrices]) -> None:
        self.roll_up, self.sides, self.amounts = roll_up, tuple(sides), len(sides)
        self.scale = max(side.scale for side in sides)
        for side in sides:
            side.prove_at(self.scale)

    @cached_property
    def priced(self) -> list[tuple[int, Counted, tuple[PricedShape, ...]]]:
        """Every shape that all sides price, with its number and its prices."""
        found = []
        for number in sorted(frozenset.intersection(*(side.priced for side in self.sides))):
            prices = [side.outcomes[number] for side in self.sides]
            found.append(
                (number, self.roll_up.shapes[number], tuple(each for each in prices if isinstance(each, PricedShape)))
            )
        return found

    def rows(self, keys: Sequence[str]) -> tuple[Row, ...]:
        """The breakdown by keys of the roll-up, or by `model`, in their order; by none: the whole, as one row."""
        names = list(map(self.name, keys))
        chosen = "".join(f"{name}, " for name in names)
        grouping = f" GROUP BY {', '.join(names)} ORDER BY {', '.join(names)}" if names else ""
        found = self.roll_up.workspace.connection.execute(f"SELECT {chosen}{self.sums()} {self.source(keys)}{grouping}")
        with uncollected():
            return tuple(self._row(row, len(names)) for row in found.fetchall())

    def count(self, keys: Sequence[str]) -> int:
        """How many rows a breakdown has."""
        chosen = ", ".join(map(self.name, keys)) or "1"
        query = f"SELECT count(*) FROM (SELECT DISTINCT {chosen} {self.source()})"
        found: Any = self.roll_up.workspace.connection.execute(query).fetchall()[0]
        return int(found[0])

    def name(self, key: str) -> str:
        """The column of a key. Raises `SimulationError` for one that the usage was not grouped by."""
        own = self.roll_up.plan.keys
        if key in own:
            return f"key{own.index(key)}"
        if key != MODEL:
            known = tuple(dict.fromkeys((*own, MODEL)))
            words = f"the usage is not grouped by '{key}'.{did_you_mean(key, known)}"
            raise SimulationError(f"{words} It is by: {', '.join(known)}")
        return key

    def sums(self) -> str:
        """The aggregates of a group: requests, quantities, and the amount under each card."""
        quantities = (
            f"coalesce(sum(CASE WHEN type IN ({', '.join(map(repr, types))}) THEN q{number} END), 0)"
            for types, number in QUANTITY_NAMES.values()
        )
        amounts = (f"coalesce(sum({self._amount(side)}), 0)" for side in range(self.amounts))
        return ", ".join(("coalesce(sum(requests), 0)", *quantities, *amounts))

    def source(self, keys: Sequence[str] | None = None) -> str:
        """The facts with their prices; for a breakdown by some keys, no finer facts than it needs."""
        facts = self.roll_up.facts if keys is None else self.roll_up.facts_by(keys)
        tables = "".join(f" JOIN {each.table} AS side{side} USING (shape)" for side, each in enumerate(self.sides))
        return f"FROM {facts}{tables}"

    def _amount(self, side: int) -> str:
        terms = [f"requests * side{side}.p0"]
        terms += [f"q{number} * side{side}.p{number + 1}" for number in range(QUANTITIES)]
        return f"({' + '.join(terms)}) * {10 ** (self.scale - self.sides[side].scale)}"

    def _row(self, row: Sequence[Any], keys: int) -> Row:
        values = zip(row[keys + 1 :], self.row_places, strict=True)
        found = tuple(EXACT.scaleb(Decimal(value), -places) if value else _ZERO for value, places in values)
        split = len(QUANTITY_NAMES)
        return Row(tuple(row[:keys]), int(row[keys]), found[:split], found[split:])

    @cached_property
    def row_places(self) -> tuple[int, ...]:
        """How many decimals the quantities of a row have in the engine, and then its amounts."""
        places = self.roll_up.places
        quantities = (max(places.get(type_, 0) for type_ in types) for types, _ in QUANTITY_NAMES.values())
        return (*quantities, *[self.scale] * self.amounts)

    def charge(self, counted: Counted, amounts: Vector) -> Decimal:
        """What all rows of a shape come to at these amounts, exactly, whatever decimals they have."""
        fixed, *rates = amounts
        rated = total([EXACT.multiply(Decimal(count), rate) for count, rate in zip(counted.sums, rates, strict=True)])
        places = self.roll_up.places_of(counted)
        return EXACT.add(EXACT.multiply(Decimal(counted.requests), fixed), EXACT.scaleb(rated, -places))
