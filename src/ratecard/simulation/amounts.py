"""Prices as exact integers, and groups joined with them: the one relation that every answer queries.

DuckDB holds it, and spills it to disk.
"""

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
from ratecard.simulation.groups.plan import token_types
from ratecard.simulation.prices.outcome import Outcomes, Vector
from ratecard.simulation.rows.columns import BUCKETS, LAYOUTS
from ratecard.simulation.workspace import Workspace

# Half of what an engine's 128-bit integers hold, because an amount and its change under a candidate are added up.
_MOST = 2**126 - 1

# The amounts of a request and of each quantity, and the number of decimals of the sum of each quantity.
_Amounts = tuple[Vector, tuple[int, ...]]
# The decimals of the sums of each type, and for each template of shapes the number of its type.
_Places = tuple[list[tuple[int, ...]], Any]


class TooManyDigitsError(SimulationError):
    """The refusal of amounts whose sums could overflow."""


class SidePrices:
    """The prices of a side as integers of 10^-`scale`: of a request, and of the smallest unit of each quantity.

    `table` has the prices of every shape, in 64 bits where they fit. With a `base` that has the same prices for most
    shapes, it has only the differences from these. Raises `SimulationError` where a sum of the engine could overflow.
    """

    def __init__(self, roll_up: RollUp, outcomes: Outcomes, base: "SidePrices | None" = None) -> None:
        self.roll_up, self.outcomes, self.base = roll_up, outcomes, base
        self._numbers = tuple(f"p{number}" for number in range(1 + roll_up.plan.sums))
        mask = outcomes.priced
        if base:  # prices that only the base has are subtracted from it
            mask = (mask | base.outcomes.priced) & (outcomes.of != base.outcomes.of)
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
        sums = (shapes.requests, *shapes.sums)
        counted = zip(sums, columns[: len(sums)], strict=True)  # a usage without rows has no sums
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
            is_short = (max(map(abs, column), default=0) < 2**63 for column in columns)
            types, joined = ("BIGINT" if short else "HUGEINT" for short in is_short), ""
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


# The kinds of shapes: priced by the current side only, by the candidate only, or by neither.
LOST, NEW, NEITHER = 1, 2, 3


class Coverage:
    """The shapes that some side prices, by their numbers.

    A side that does not offer a model, value or rate charges nothing for its shapes. A side that refuses a shape for
    another reason keeps it out of the figures of all sides, because what it would charge is not known.
    """

    def __init__(self, workspace: Workspace, sides: Sequence[Outcomes]) -> None:
        self._workspace, self._sides = workspace, sides

    @cached_property
    def _one_sided(self) -> tuple[Any, Any]:
        """Mark the shapes that only some sides price: those in the figures, and those left out."""
        priced = [side.priced for side in self._sides]
        one_sided = numpy.logical_or.reduce(priced) & ~numpy.logical_and.reduce(priced)
        known = numpy.logical_and.reduce([side.priced | side.not_offered for side in self._sides])
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
        for side, outcomes in enumerate(self._sides[1:], 1):
            neither = numpy.flatnonzero(self._one_sided[0] & ~self._sides[0].priced & ~outcomes.priced)
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
            columns |= self._lost_and_new(side)
            joins.append(f"LEFT JOIN {self.coverage.lost_and_new[side]} AS lost_and_new{side} USING (shape)")
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
