"""The prices of one side for every shape: outcomes, the integers that the engine joins, and which shapes count."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from operator import mul
from typing import Any

import duckdb
import numpy
import pyarrow

from ratecard.base.errors import SimulationError
from ratecard.base.money import EXACT, places_of
from ratecard.simulation.groups.grouped_usage import RollUp
from ratecard.simulation.prices.outcome import Refused, Vector
from ratecard.simulation.prices.outcomes import Outcomes
from ratecard.simulation.workspace import Workspace

# Half of what an engine's 128-bit integers hold, because an amount and what a candidate adds to it are added up.
_MOST = 2**126 - 1

# The amounts of a request and of each quantity, and the number of decimals of the sum of each quantity.
_Amounts = tuple[Vector, tuple[int, ...]]
# The decimals of the sums of each type, and for each template of shapes the number of its type.
_Places = tuple[list[tuple[int, ...]], Any]


class TooManyDigitsError(SimulationError):
    """The refusal of amounts whose sums could overflow."""


class SidePrices:
    """The prices of a side as integers of 10^-`scale`: of a request, and of the smallest unit of each quantity.

    `table` has the prices of every shape, in 64 bits where they fit. With a `base`, which prices most shapes alike, it
    has only the differences from its prices. Raises `SimulationError` where a sum of the engine could overflow.
    """

    def __init__(self, roll_up: RollUp, outcomes: Outcomes, base: "SidePrices | None" = None) -> None:
        self.roll_up, self.outcomes, self.base = roll_up, outcomes, base
        self._numbers = tuple(f"p{number}" for number in range(1 + roll_up.plan.sums))
        mask = outcomes.priced
        if base:  # prices that only the base has are subtracted from it
            mask = (mask | base.priced) & (outcomes.of != base.outcomes.of)
        numbers = numpy.flatnonzero(mask)
        # Many shapes share their amounts.
        self._places: _Places = base._places if base else _places_of_templates(roll_up)
        of_sums, of_templates = self._places
        kinds = len(of_sums)
        both = outcomes.of[numbers].astype(numpy.int64) * kinds + of_templates[roll_up.shapes.template[numbers]]
        both, vectors = numpy.unique(both, return_inverse=True)
        pairs = (divmod(code, kinds) for code in both.tolist())
        unique = [(outcomes.distinct[one].amounts, of_sums[at]) for one, at in pairs]
        self.scale: int = max(base.scale if base else 0, _places(unique))
        columns = self._integers(unique)
        self._prove(numbers, vectors, columns)
        self.table = self._keep(numbers, vectors, columns)
        # The tables of sums at these prices alone, by keys: further candidates are compared with them.
        self.sums: dict[tuple[str, ...], str] = {}

    @property
    def priced(self) -> Any:
        """Mark each shape that has a price."""
        return self.outcomes.priced

    def refusal(self, number: int) -> Refused | None:
        """Return why a shape has no price here; None where it has one."""
        return self.outcomes[number].refusal

    def drop(self) -> None:
        """Drop the tables."""
        for table in (self.table, *self.sums.values()):
            self.roll_up.workspace.connection.execute(f"DROP TABLE IF EXISTS {table}")

    def _integers(self, unique: Sequence[_Amounts]) -> list[list[int]]:
        """Return the prices of a request and of each quantity as columns of integers; most shapes have only one."""
        columns = [[_integer(amounts[0], self.scale) for amounts, _ in unique]]
        for at in range(1, len(self._numbers)):
            columns.append(
                [
                    _integer(rate, self.scale - of[at - 1])
                    if len(amounts) > at and len(of) >= at and (rate := amounts[at])
                    else 0
                    for amounts, of in unique
                ]
            )
        return columns

    def _prove(self, numbers: Any, vectors: Any, columns: Sequence[Sequence[int]]) -> None:
        """Prove that no sum, product or partial sum can overflow: together they are at most `most`."""
        shapes, order = self.roll_up.shapes, numpy.argsort(vectors, kind="stable")
        starts = numpy.flatnonzero(numpy.diff(vectors[order], prepend=-1))
        most = greatest = 0
        counted = zip((shapes.requests, *shapes.sums), columns, strict=False)  # a usage without rows has no sums
        for at, (counts, column) in enumerate(counted):
            if any(column):
                prices = list(map(abs, column))
                most += sum(map(mul, _added(counts[numbers[order]], starts), prices))
                greatest = max(greatest, *prices) if at else 0
        self.most: int = max(most, greatest)
        self.most += self.base.most * 10 ** (self.scale - self.base.scale) if self.base else 0
        self.prove_at(self.scale)

    def prove_at(self, scale: int) -> None:
        """Prove that no sum overflows at `scale` decimals, which another side may need. Raises `TooManyDigitsError`."""
        if self.most * 10 ** (scale - self.scale) > _MOST:
            words = f"the amounts have more than 38 digits at {scale} decimals"
            raise TooManyDigitsError(f"{words}; split the usage, or write rates with fewer decimals")

    def _keep(self, shapes: Any, vectors: Any, columns: Sequence[Sequence[int]]) -> str:
        workspace = self.roll_up.workspace
        connection, name = workspace.connection, workspace.new_table("prices")
        _register(connection, "given_shapes", {"shape": shapes, "vector": vectors})
        prices = dict(zip(self._numbers, columns, strict=True))
        _register(connection, "given_prices", {"vector": numpy.arange(len(columns[0])), **prices})
        source = "given_shapes JOIN given_prices AS given USING (vector)"
        if not self.base:
            types, joined = ("BIGINT" if _short(column) else "HUGEINT" for column in columns), ""
            numbers = [f"CAST(given.{number} AS {type_})" for number, type_ in zip(self._numbers, types, strict=True)]
        else:
            finer, joined = 10 ** (self.scale - self.base.scale), f" LEFT JOIN {self.base.table} AS known USING (shape)"
            known = (f"CAST(coalesce(known.{number}, 0) AS HUGEINT)" for number in self._numbers)
            pairs = zip(self._numbers, known, strict=True)
            numbers = [f"CAST(given.{number} AS HUGEINT) - {base_price} * {finer}" for number, base_price in pairs]
        named = (f"{price} AS {name}" for price, name in zip(numbers, self._numbers, strict=True))
        chosen = ", ".join(("CAST(shape AS INTEGER) AS shape", *named))
        connection.execute(f"CREATE TABLE {name} AS SELECT {chosen} FROM {source}{joined}")
        connection.unregister("given_shapes")
        connection.unregister("given_prices")
        return name


def _places_of_templates(roll_up: RollUp) -> _Places:
    """Return the decimals of the sums of each type, and for each template of shapes the number of its type."""
    templates, types = roll_up.shapes.templates, dict[str | None, int]()
    of_templates = [types.setdefault(template.type, len(types)) for template in templates]
    return [roll_up.places.get(type_ or "", ()) for type_ in types] or [()], numpy.array(of_templates or [0])


def _register(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Any]) -> None:
    arrays = list(map(_array, columns.values()))
    connection.register(name, pyarrow.Table.from_arrays(arrays, list(columns)))


def _added(column: Any, starts: Any) -> Iterable[int]:
    """Return the exact sums of the absolute values of integers, from each start to the next."""
    sizes = abs(column)
    if len(sizes) and int(sizes.max()) * len(sizes) >= 2**63:
        sizes = sizes.astype(object)
    sums: list[int] = numpy.add.reduceat(sizes, starts).tolist() if len(sizes) else []
    return sums


def _short(integers: Sequence[int]) -> bool:
    """Return True if all integers fit 64 bits with a sign."""
    return max(map(abs, integers), default=0) < 2**63


def _array(column: Any) -> Any:
    """Return integers as the engine reads them, of 64 bits where they fit."""
    try:
        # A buffer is used, because `pyarrow.array` would import pandas where it is installed.
        buffer = pyarrow.py_buffer(numpy.ascontiguousarray(column, numpy.int64))
    except OverflowError:
        return pyarrow.array(map(Decimal, column), pyarrow.decimal128(38))
    return pyarrow.Array.from_buffers(pyarrow.int64(), len(column), [None, buffer])


def _places(unique: Sequence[_Amounts]) -> int:
    """Return the most decimals of amounts per request, and of products of rates with sums of quantities."""
    fixed = (places_of(amounts[0]) for amounts, _ in unique)
    products = (zip(amounts[1:], of, strict=False) for amounts, of in unique)
    return max([0, *fixed, *(places_of(rate) + of for pairs in products for rate, of in pairs if rate)])


def _integer(amount: Decimal, places: int) -> int:
    # This raises where a digit would be lost.
    return int(EXACT.to_integral_exact(EXACT.scaleb(amount, places)))


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
        """Return the numbers of the shapes that the current side prices, and a candidate does not."""
        return numpy.flatnonzero(self._one_sided[0] & self._sides[0].priced & ~self._sides[candidate].priced)

    def new(self, candidate: int) -> Any:
        """Return the numbers of the shapes that a candidate prices, and the current side does not."""
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
