"""Shapes joined with their prices: exact totals of any breakdown, under every card compared."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from operator import mul
from typing import Any, NamedTuple

import pyarrow

from ratecard.diff.change import percent_text
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.priced_shape import PricedShape, Vector
from ratecard.simulation.pricer import Outcome
from ratecard.simulation.roll_up import Counted, RollUp
from ratecard.simulation.roll_up_sql import QUANTITIES
from ratecard.words.money import EXACT, places_of, total

# What an engine's 128-bit integers hold.
_MOST = 2**127 - 1
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
    """The shapes of a roll-up that every card prices, with their prices as integers of 10^-`scale`."""

    def __init__(self, roll_up: RollUp, counted: Sequence[Counted], sides: Sequence[Sequence[Outcome]]) -> None:
        self.roll_up = roll_up
        self.amounts = len(sides)
        self.priced: list[tuple[int, Counted, tuple[PricedShape, ...]]] = []
        for number, (each, *found) in enumerate(zip(counted, *sides, strict=True)):
            prices = tuple(outcome for outcome in found if isinstance(outcome, PricedShape))
            if len(prices) == self.amounts:
                self.priced.append((number, each, prices))
        unique = {id(price): (counted, price) for _, counted, found in self.priced for price in found}
        self.scale = max((_places(price, roll_up.places_of(counted)) for counted, price in unique.values()), default=0)
        self._known: dict[int, tuple[int, ...]] = {}
        self.prices = roll_up.workspace.new_table("prices")
        self.totals = self._add()
        self._keep()

    def rows(self, keys: Sequence[str]) -> tuple[Row, ...]:
        """The breakdown by keys of the roll-up, or by `model`, in their order; by none: the whole, as one row."""
        names = list(map(self.name, keys))
        chosen = "".join(f"{name}, " for name in names)
        grouping = f" GROUP BY {', '.join(names)} ORDER BY {', '.join(names)}" if names else ""
        found = self.roll_up.workspace.connection.execute(f"SELECT {chosen}{self.sums()} {self.source()}{grouping}")
        return tuple(self._row(row, len(names)) for row in found.fetchall())

    def count(self, keys: Sequence[str]) -> int:
        """How many rows a breakdown has."""
        chosen = ", ".join(map(self.name, keys)) or "1"
        query = f"SELECT count(*) FROM (SELECT DISTINCT {chosen} {self.source()})"
        found: Any = self.roll_up.workspace.connection.execute(query).fetchall()[0]
        return int(found[0])

    def name(self, key: str) -> str:
        """The column of a key."""
        own = self.roll_up.plan.keys
        return f"key{own.index(key)}" if key in own else {MODEL: MODEL}[key]

    def sums(self) -> str:
        """The aggregates of a group: requests, quantities, and the amount under each card."""
        quantities = (
            f"coalesce(sum(CASE WHEN type IN ({', '.join(map(repr, types))},'') THEN q{number} END), 0)"
            for types, number in QUANTITY_NAMES.values()
        )
        amounts = (f"coalesce(sum({self._amount(side)}), 0)" for side in range(self.amounts))
        return ", ".join(("coalesce(sum(requests), 0)", *quantities, *amounts))

    def source(self) -> str:
        """The facts with their prices."""
        return f"FROM {self.roll_up.facts} JOIN {self.prices} USING (shape)"

    def _amount(self, side: int) -> str:
        terms = [f"requests * p{side}_0"]
        terms += [f"q{number} * p{side}_{number + 1}" for number in range(QUANTITIES)]
        return " + ".join(terms)

    def _row(self, row: Sequence[Any], keys: int) -> Row:
        found = tuple(
            EXACT.scaleb(Decimal(value), -places)
            for value, places in zip(row[keys + 1 :], self.row_places, strict=True)
        )
        split = len(QUANTITY_NAMES)
        return Row(tuple(row[:keys]), int(row[keys]), found[:split], found[split:])

    @cached_property
    def row_places(self) -> tuple[int, ...]:
        """How many decimals the quantities of a row have in the engine, and then its amounts."""
        places = self.roll_up.places
        quantities = (max(places.get(type_, 0) for type_ in types) for types, _ in QUANTITY_NAMES.values())
        return (*quantities, *[self.scale] * self.amounts)

    def decimal(self, value: int) -> Decimal:
        """A sum of the engine as an amount."""
        return EXACT.scaleb(Decimal(value), -self.scale)

    def charge(self, counted: Counted, amounts: Vector) -> Decimal:
        """What all rows of a shape come to at these amounts, exactly, whatever decimals they have."""
        fixed, *rates = amounts
        rated = total([EXACT.multiply(Decimal(count), rate) for count, rate in zip(counted.sums, rates, strict=True)])
        places = self.roll_up.places_of(counted)
        return EXACT.add(EXACT.multiply(Decimal(counted.requests), fixed), EXACT.scaleb(rated, -places))

    def _integers(self, counted: Counted, price: PricedShape) -> tuple[int, ...]:
        """A price as integers of 10^-scale: of a request, and of the smallest unit of each quantity."""
        if id(price) not in self._known:
            fixed, *rates = price.amounts
            scale = self.scale - self.roll_up.places_of(counted)
            numbers = (_integer(rate, scale) if rate else 0 for rate in rates)
            self._known[id(price)] = (_integer(fixed, self.scale), *numbers)
        return self._known[id(price)]

    def _add(self) -> tuple[Decimal, ...]:
        """The total under each card, in plain integers, and the proof that no sum of the engine can overflow."""
        totals, most = [0] * self.amounts, 0
        self._prices: list[list[int]] = []
        for number, counted, found in self.priced:
            line = [number]
            numbers = (counted.requests, *counted.sums)
            for side, price in enumerate(found):
                values = self._integers(counted, price)
                totals[side] += sum(map(mul, numbers, values))
                line += values
            most = max(most, *line)
            self._prices.append(line)
        if max([most, *(abs(value) for value in totals)]) > _MOST:
            raise SimulationError(f"the amounts have more than 38 digits at {self.scale} decimals; split the usage")
        return tuple(map(self.decimal, totals))

    def _keep(self) -> None:
        """The prices as a table beside the facts."""
        names = ["shape", *(f"p{side}_{number}" for side in range(self.amounts) for number in range(1 + QUANTITIES))]
        columns = list(zip(*self._prices, strict=True)) if self._prices else [()] * len(names)
        types = [_arrow_type(column) for column in columns]
        arrays = [
            pyarrow.array(map(Decimal, column) if pyarrow.types.is_decimal(type_) else column, type_)
            for column, type_ in zip(columns, types, strict=True)
        ]
        named = ("type", "model")
        arrays += [
            pyarrow.array([getattr(each.shape, name) for _, each, _ in self.priced], pyarrow.string()) for name in named
        ]
        connection = self.roll_up.workspace.connection
        connection.register("given_prices", pyarrow.table(arrays, [*names, *named]))
        casts = ", ".join(f"CAST({name} AS HUGEINT) AS {name}" for name in names[1:])
        connection.execute(f"CREATE TABLE {self.prices} AS SELECT shape, type, model, {casts} FROM given_prices")
        connection.unregister("given_prices")


def _arrow_type(column: Iterable[int]) -> Any:
    return pyarrow.int64() if max(map(abs, column), default=0) < 2**63 else pyarrow.decimal128(38)


def _places(price: PricedShape, of_sums: int) -> int:
    """How many decimals the amounts of a price have, for sums that have some themselves."""
    fixed, *rates = price.amounts
    return max(places_of(fixed), *(places_of(rate) + of_sums if rate else 0 for rate in rates))


def _integer(amount: Decimal, places: int) -> int:
    # Raises where a digit would be lost.
    return int(EXACT.to_integral_exact(EXACT.scaleb(amount, places)))
