"""The prices of one side for every shape: outcomes, and a table of integers that the engine joins."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from operator import mul
from typing import Any

import duckdb
import pyarrow

from ratecard.base.money import EXACT, places_of
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.pricing.outcome import Outcome, Refused, Vector
from ratecard.simulation.usage.roll_up import RollUp

# What an engine's 128-bit integers hold, halved: an amount and what a candidate adds to it are summed side by side.
_MOST = 2**126 - 1


class SidePrices:
    """The prices of a side as integers of 10^-`scale`: of a request, and of the smallest unit of each quantity.

    `table` has those of every shape; beside a `base`, which prices most shapes alike, what is added to its prices of
    the others. Raises `SimulationError` where a sum of the engine could overflow.
    """

    def __init__(self, roll_up: RollUp, outcomes: Sequence[Outcome], base: "SidePrices | None" = None) -> None:
        self.roll_up, self.outcomes, self.base = roll_up, outcomes, base
        self._numbers = tuple(f"p{number}" for number in range(1 + roll_up.plan.sums))
        known: Sequence[Outcome | None] = base.outcomes if base else [None] * len(outcomes)
        self._changed = [at for at, pair in enumerate(zip(outcomes, known, strict=True)) if pair[0] is not pair[1]]
        there: frozenset[int] = base.priced if base else frozenset()
        # What only the base prices is taken away from it.
        numbers = [number for number in self._changed if outcomes[number].price or number in there]
        # Many shapes have the same amounts.
        unique: dict[tuple[Vector, int], int] = {}
        places = ((outcomes[number].amounts, roll_up.places_of(roll_up.shapes[number])) for number in numbers)
        vectors = [unique.setdefault(amounts, len(unique)) for amounts in places]
        self.scale: int = max([base.scale if base else 0, *(_places(*amounts) for amounts in unique)])
        whole = [self._integers(*amounts) for amounts in unique]
        self._prove(numbers, (whole[vector] for vector in vectors))
        self.table = self._keep(numbers, vectors, whole)
        # What has been added up at these prices alone, by keys: further candidates are compared with the same.
        self.breakdowns: dict[tuple[object, ...], Any] = {}

    @cached_property
    def priced(self) -> frozenset[int]:
        """The numbers of the shapes that have a price."""
        found = frozenset(number for number in self._changed if self.outcomes[number].price)
        return found | self.base.priced.difference(self._changed) if self.base else found

    def refusal(self, number: int) -> Refused | None:
        """Why a shape has no price here; None where it has one."""
        return self.outcomes[number].refusal

    def drop(self) -> None:
        """Drop the table."""
        self.roll_up.workspace.connection.execute(f"DROP TABLE IF EXISTS {self.table}")

    def _integers(self, amounts: Vector, of_sums: int) -> tuple[int, ...]:
        fixed, *rates = amounts
        scale = self.scale - of_sums
        found = (_integer(fixed, self.scale), *(_integer(rate, scale) if rate else 0 for rate in rates))
        return (*found, *(0,) * (len(self._numbers) - len(found)))

    def _prove(self, numbers: Iterable[int], vectors: Iterable[tuple[int, ...]]) -> None:
        """Prove that no sum, product or part of one can overflow: together they are at most `most`."""
        shapes, most = self.roll_up.shapes, 0
        for number, (fixed, *rates) in zip(numbers, vectors, strict=True):
            _, requests, sums = shapes[number]
            most += requests * abs(fixed)
            if any(rates):
                most = max(most + sum(map(mul, map(abs, sums), map(abs, rates))), *map(abs, rates))
        self.most: int = most + (self.base.most * 10 ** (self.scale - self.base.scale) if self.base else 0)
        self.prove_at(self.scale)

    def prove_at(self, scale: int) -> None:
        """Prove that no sum overflows at `scale` decimals, which another side may need. Raises `SimulationError`."""
        if self.most * 10 ** (scale - self.scale) > _MOST:
            words = f"the amounts have more than 38 digits at {scale} decimals"
            raise SimulationError(f"{words}; split the usage, or write rates with fewer decimals")

    def _keep(self, shapes: Sequence[int], vectors: Sequence[int], whole: Sequence[tuple[int, ...]]) -> str:
        workspace = self.roll_up.workspace
        connection, name = workspace.connection, workspace.new_table("prices")
        columns = list(zip(*whole, strict=True)) if whole else [()] * len(self._numbers)
        _register(connection, "given_shapes", {"shape": shapes, "vector": vectors})
        prices = dict(zip(self._numbers, columns, strict=True))
        _register(connection, "given_prices", {"vector": range(len(whole)), **prices})
        given = "given_shapes JOIN given_prices AS given USING (vector)"
        numbers, joined = (f"CAST(given.{number} AS HUGEINT)" for number in self._numbers), ""
        if self.base:
            finer, joined = 10 ** (self.scale - self.base.scale), f" LEFT JOIN {self.base.table} AS known USING (shape)"
            known = (f"coalesce(known.{number}, 0)" for number in self._numbers)
            pairs = zip(self._numbers, known, strict=True)
            numbers = (f"CAST(given.{number} AS HUGEINT) - {each} * {finer}" for number, each in pairs)
        chosen = ", ".join(("shape", *(f"{each} AS {name}" for each, name in zip(numbers, self._numbers, strict=True))))
        connection.execute(f"CREATE TABLE {name} AS SELECT {chosen} FROM {given}{joined}")
        connection.unregister("given_shapes")
        connection.unregister("given_prices")
        return name


def _register(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Sequence[int]]) -> None:
    arrays = list(map(_array, columns.values()))
    connection.register(name, pyarrow.Table.from_arrays(arrays, list(columns)))


def _array(column: Sequence[int]) -> Any:
    """Integers as the engine reads them, of 64 bits where they fit."""
    try:
        # By way of a buffer: `pyarrow.array` would import pandas first where there is one.
        buffer = pyarrow.py_buffer(array("q", column))
    except OverflowError:
        return pyarrow.array(map(Decimal, column), pyarrow.decimal128(38))
    return pyarrow.Array.from_buffers(pyarrow.int64(), len(column), [None, buffer])


def _places(amounts: Vector, of_sums: int) -> int:
    """How many decimals amounts have, for sums that have some themselves."""
    fixed, *rates = amounts
    return max([places_of(fixed), *(places_of(rate) + of_sums for rate in rates if rate)])


def _integer(amount: Decimal, places: int) -> int:
    # Raises where a digit would be lost.
    return int(EXACT.to_integral_exact(EXACT.scaleb(amount, places)))
