"""What one side charges for every shape of a roll-up: the outcomes, and a table of integers for the engine's joins."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property
from operator import mul
from typing import Any

import pyarrow

from ratecard.simulation.failure import SimulationError
from ratecard.simulation.priced_shape import PricedShape
from ratecard.simulation.pricer import Outcome
from ratecard.simulation.roll_up import Counted, RollUp
from ratecard.simulation.roll_up_sql import QUANTITIES
from ratecard.words.money import EXACT, places_of

# What an engine's 128-bit integers hold, halved: an amount and what a candidate adds to it are summed side by side.
_MOST = 2**126 - 1
_NO_RATES = (0,) * QUANTITIES
_NUMBERS = tuple(f"p{number}" for number in range(1 + QUANTITIES))


class SidePrices:
    """The prices of a side as integers of 10^-`scale`: of a request, and of the smallest unit of each quantity.

    `table` has those of every shape; beside a `base`, which prices most shapes alike, what is added to its prices of
    the others. Raises `SimulationError` where a sum of the engine could overflow.
    """

    def __init__(self, roll_up: RollUp, outcomes: Sequence[Outcome], base: "SidePrices | None" = None) -> None:
        self.roll_up, self.outcomes, self.base = roll_up, outcomes, base
        known: Sequence[Outcome | None] = base.outcomes if base else [None] * len(outcomes)
        self._changed = [at for at, pair in enumerate(zip(outcomes, known, strict=True)) if pair[0] is not pair[1]]
        priced = [(number, price) for number in self._changed if isinstance(price := outcomes[number], PricedShape)]
        unique = {id(price): (number, price) for number, price in priced}
        places = (_places(price, roll_up.places_of(roll_up.shapes[number])) for number, price in unique.values())
        self.scale: int = max([base.scale if base else 0, *places])
        whole = {each: self._integers(roll_up.shapes[number], price) for each, (number, price) in unique.items()}
        rows = [(number, *whole[id(price)]) for number, price in priced]
        self._prove(rows)
        self.table = self._keep(rows)
        # What has been added up at these prices alone, by keys: further candidates are compared with the same.
        self.breakdowns: dict[tuple[str, ...], Any] = {}

    @cached_property
    def priced(self) -> frozenset[int]:
        """The numbers of the shapes that have a price."""
        found = frozenset(number for number in self._changed if isinstance(self.outcomes[number], PricedShape))
        return found | self.base.priced.difference(self._changed) if self.base else found

    def drop(self) -> None:
        """Forget the table."""
        self.roll_up.workspace.connection.execute(f"DROP TABLE {self.table}")

    def _integers(self, counted: Counted, price: PricedShape) -> tuple[int, ...]:
        fixed, *rates = price.amounts
        whole = _integer(fixed, self.scale)
        if not any(rates):
            return (whole, *_NO_RATES)
        scale = self.scale - self.roll_up.places_of(counted)
        return (whole, *(_integer(rate, scale) if rate else 0 for rate in rates))

    def _prove(self, rows: Iterable[tuple[int, ...]]) -> None:
        """That no sum, product or part of one can overflow: together they are at most this much."""
        shapes, most = self.roll_up.shapes, 0
        for number, *values in rows:
            counted = shapes[number]
            most += sum(map(mul, (counted.requests, *counted.sums), map(abs, values)))
            most = max(most, *values)
        self.most: int = most + (self.base.most * 10 ** (self.scale - self.base.scale) if self.base else 0)
        self.prove_at(self.scale)

    def prove_at(self, scale: int) -> None:
        """That no sum overflows at so many decimals, which another side may need. Raises `SimulationError`."""
        if self.most * 10 ** (scale - self.scale) > _MOST:
            raise SimulationError(f"the amounts have more than 38 digits at {scale} decimals; split the usage")

    def _keep(self, rows: Sequence[tuple[int, ...]]) -> str:
        workspace = self.roll_up.workspace
        connection, name = workspace.connection, workspace.new_table("prices")
        columns = list(zip(*rows, strict=True)) if rows else [()] * (1 + len(_NUMBERS))
        connection.register("given_prices", pyarrow.table(list(map(_array, columns)), ["shape", *_NUMBERS]))
        numbers, joined = (f"CAST(given.{number} AS HUGEINT)" for number in _NUMBERS), ""
        if self.base:
            finer, joined = 10 ** (self.scale - self.base.scale), f" JOIN {self.base.table} AS known USING (shape)"
            numbers = (f"CAST(given.{number} AS HUGEINT) - known.{number} * {finer}" for number in _NUMBERS)
        chosen = ", ".join(("shape", *(f"{each} AS {name}" for each, name in zip(numbers, _NUMBERS, strict=True))))
        connection.execute(f"CREATE TABLE {name} AS SELECT {chosen} FROM given_prices AS given{joined}")
        connection.unregister("given_prices")
        return name


def _array(column: Sequence[int]) -> Any:
    """Integers as the engine reads them, of 64 bits where they fit."""
    if max(map(abs, column), default=0) < 2**63:
        return pyarrow.array(column, pyarrow.int64())
    return pyarrow.array(map(Decimal, column), pyarrow.decimal128(38))


def _places(price: PricedShape, of_sums: int) -> int:
    """How many decimals the amounts of a price have, for sums that have some themselves."""
    fixed, *rates = price.amounts
    found = places_of(fixed)
    return max(found, *(places_of(rate) + of_sums for rate in rates if rate)) if any(rates) else found


def _integer(amount: Decimal, places: int) -> int:
    # Raises where a digit would be lost.
    return int(EXACT.to_integral_exact(EXACT.scaleb(amount, places)))
