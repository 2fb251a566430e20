"""Shapes joined with their prices: exact totals of any breakdown, under every compared card."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import product
from typing import Any

import duckdb
import numpy

from ratecard.base.collector import uncollected
from ratecard.base.errors import SimulationError
from ratecard.base.money import EXACT, total
from ratecard.base.suggestions import did_you_mean
from ratecard.simulation.amounts import (
    LOST_AND_NEW,
    NEW,
    QUANTITY_COLUMNS,
    QUANTITY_NAMES,
    Coverage,
    GroupAmounts,
    SidePrices,
)
from ratecard.simulation.answers.rows import KeySums, ModelSums, Row, Since, of_integer
from ratecard.simulation.groups.grouped_usage import RollUp
from ratecard.simulation.groups.plan import MONTH, WEEK
from ratecard.simulation.groups.shapes import Counted
from ratecard.simulation.prices.outcome import PricedShape, Vector
from ratecard.simulation.rows.columns import DAY
from ratecard.simulation.sql import DuckDbSql
from ratecard.simulation.workspace import enough_memory

# Every shape has a model, so that rows can be broken down by it even if it is not a key.
MODEL = "model"
# A week is named by its Monday, a month as `2026-10`; all are text.
_DAY = "CAST({day} AS VARCHAR(100))"
_PERIOD_OF = {
    DAY: _DAY,
    WEEK: "CAST(CAST(date_trunc('week', CAST({day} AS DATE)) AS DATE) AS VARCHAR(100))",
    MONTH: f"substr({_DAY}, 1, 7)",
}
# The rows that are read at once where there may be many.
_BATCH = 1_000
_REQUESTS = "CAST(coalesce(sum(requests), 0) AS BIGINT)"
_QUANTITIES = tuple(f"coalesce(sum({name}), 0)" for name in QUANTITY_COLUMNS)
_ZERO = Decimal(0)
_KeyValues = tuple[str | None, ...]
# A shape with its number and its price under each side; None under one that does not offer it.
_Priced = tuple[int, Counted, tuple[PricedShape | None, ...]]


class Comparison:
    """The shapes of a roll-up that some side prices; amounts are integers of 10^-`scale` in the engine."""

    def __init__(self, roll_up: RollUp, sides: Sequence[SidePrices]) -> None:
        self.roll_up, self.sides = roll_up, tuple(sides)
        self.scale = max(side.scale for side in sides)
        for side in sides:
            side.prove_at(self.scale)
        self.coverage = Coverage(roll_up.workspace, [side.outcomes for side in sides])
        self._amounts = GroupAmounts(roll_up, self.sides, self.coverage)
        self._forgotten = False
        # Charts and tables ask for the same breakdowns, so that each is added up once.
        self._sums: dict[tuple[str, ...], str] = {}
        self._rows: dict[tuple[str, ...], tuple[Row, ...]] = {}

    @cached_property
    def partial(self) -> tuple[int, ...]:
        """Return the candidates that do not offer the same requests as the current prices."""
        return tuple(side for side in range(1, len(self.sides)) if self.coverage.lost_and_new[side])

    @cached_property
    def priced(self) -> list[_Priced]:
        """Return every shape in the figures."""
        return list(self._among(numpy.flatnonzero(self.coverage.in_figures)))

    def changed(self, candidate: int) -> Iterator[_Priced]:
        """Yield the shapes in the figures whose price a candidate may change."""
        changed = self.sides[candidate].outcomes.changed(self.sides[0].outcomes)
        return self._among(changed[self.coverage.in_figures[changed]])

    def _among(self, numbers: Any) -> Iterator[_Priced]:
        known, *others = (side.outcomes for side in self.sides)
        for number, counted in zip(numbers.tolist(), self.roll_up.shapes.among(numbers), strict=True):
            now = known[number].price
            then = (now if other.of[number] == known.of[number] else other[number].price for other in others)
            yield number, counted, (now, *then)

    def rows(self, keys: Sequence[str]) -> tuple[Row, ...]:
        """Return the breakdown by keys of the roll-up, or by `model`, in order; without keys all usage as one row."""
        keys = tuple(keys)
        if keys not in self._rows:
            with uncollected():
                self._rows[keys] = tuple(self.sums(keys).each())
        return self._rows[keys]

    def sums(self, keys: Sequence[str]) -> KeySums:
        """Return the sums by keys, which stay in the engine.

        Raises `SimulationError` for a key that the usage was not grouped by.
        """
        keys = tuple(keys)
        if keys not in self._sums:
            self._sums[keys] = self._summed(keys)
        scales = tuple(side.scale for side in self.sides)
        return KeySums(self._sums[keys], len(keys), self.places, scales, self.partial, self._asked, self._streamed)

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """Return the connection. Raises `SimulationError` once the prices of the candidates are forgotten."""
        if self._forgotten:
            raise SimulationError("this trial is closed; ask inside its `with` block")
        return self.roll_up.workspace.connection

    def _asked(self, query: str) -> list[Any]:
        with enough_memory():
            return self._connection.execute(query).fetchall()

    def _streamed(self, query: str) -> Iterator[Any]:
        # The query has its own connection, so that others can run while it is read.
        with enough_memory(), self._connection.cursor() as connection:
            connection.execute(query)
            while rows := connection.fetchmany(_BATCH):
                yield from rows

    def _summed(self, keys: tuple[str, ...]) -> str:
        """Make a table of sums by keys: the current ones, which any candidate can use, and each candidate's changes."""
        named = [f"{self.name(key)} AS name{number}" for number, key in enumerate(keys)]
        names = [f"name{number}" for number in range(len(keys))]

        def summed(columns: Sequence[str], *sides: int, lost_and_new: Sequence[int] = ()) -> str:
            sums = ", ".join((*named, *(f"sum({column}) AS {column}" for column in columns)))
            source = self._amounts.query(self.roll_up.groups_by(keys), *sides, lost_and_new=lost_and_new)
            where = "".join(f" WHERE kind{side} IS NOT NULL" for side in lost_and_new)
            return f"SELECT {sums} FROM {source}{where}{self._grouped_by(keys)}"

        current = summed(("requests", *QUANTITY_COLUMNS, "amount0"), 0)
        if not self.coverage.left_out and not self.coverage.only_candidates:  # the sums are the same for any candidate
            if keys not in self.sides[0].sums:
                self.sides[0].sums[keys] = self._table(current)
            current = f"FROM {self.sides[0].sums[keys]}"
        parts, added = [current], list[str]()
        for side in range(1, len(self.sides)):
            added.append(f"amount{side}")
            parts.append(summed(added[-1:], side))
        for side in self.partial:
            columns = [f"{column}{side}" for column in LOST_AND_NEW]
            added += columns
            parts.append(summed(columns, 0, side, lost_and_new=(side,)))
        sums = (f"coalesce(sum({column}), 0) AS {column}" for column in (*QUANTITY_COLUMNS, "amount0", *added))
        chosen = ", ".join((*names, f"{_REQUESTS} AS requests", *sums))
        grouped = f" GROUP BY {', '.join(names)}" if names else ""
        return self._table(f"SELECT {chosen} FROM ({' UNION ALL BY NAME '.join(parts)}){grouped}")

    def _table(self, query: str) -> str:
        table = self.roll_up.workspace.new_table("sums")
        with enough_memory():
            self._connection.execute(f"CREATE TABLE {table} AS {query}")
        return table

    def sums_of(self, prices: SidePrices, keys: Sequence[str]) -> dict[_KeyValues, Decimal]:
        """Add up other prices of the same shapes, by keys."""
        source = GroupAmounts(self.roll_up, (prices,), Coverage(self.roll_up.workspace, (prices.outcomes,)))
        chosen = ", ".join((*map(self.name, keys), "coalesce(sum(amount0), 0)"))
        amounts = f"{source.query(self.roll_up.groups_by(keys), 0)}{self._grouped_by(keys)}"
        sums = self._asked(f"SELECT {chosen} FROM {amounts}")
        return {tuple(key): of_integer(amount, prices.scale) for *key, amount in sums}

    def cells(
        self, marks: Mapping[str, Sequence[str]], since: date | None, costs: Sequence[tuple[SidePrices, SidePrices]]
    ) -> list[ModelSums]:
        """Return each side's charges by model and by the values in `marks`; with `since`, from that day on.

        `costs` are cost and margin as prices, for each side; or empty.
        """
        keys = ["coalesce(model, '')"]
        for key, values in marks.items():
            listed = ", ".join(map(DuckDbSql.literal, values))
            keys.append(f"CASE WHEN {self.name(key)} IN ({listed}) THEN {self.name(key)} END")
        # The expression of each sum of a side, and its decimals; the sums of costs follow the amounts of all sides.
        names, further = product(range(len(costs)), ("cost", "margin")), [prices for pair in costs for prices in pair]
        paid = {
            (name, side): (f"amount{number}", prices.scale)
            for number, ((side, name), prices) in enumerate(zip(names, further, strict=True), len(self.sides))
        }
        amounts = {("amount", side): (f"amount{side}", prices.scale) for side, prices in enumerate(self.sides)}
        sums: dict[tuple[str, int], tuple[str, int]] = {("requests", 0): ("requests", 0), **amounts, **paid}
        for side in self.partial:
            scales = (0, self.sides[0].scale, 0, self.sides[side].scale, 0)
            for name, scale in zip(LOST_AND_NEW, scales, strict=True):
                sums[name, side] = f"{name}{side}", scale
            for (name, paid_side), (amount, scale) in paid.items():
                if paid_side == side:
                    sums[f"new {name}", side] = f"CASE WHEN kind{side} = {NEW} THEN {amount} END", scale
        sides = range(len(self.sides))
        source = self._amounts.query(self.roll_up.groups, *sides, lost_and_new=self.partial, further=further)
        chosen = ", ".join((*keys, *(f"coalesce(sum({column}), 0)" for column, _ in sums.values())))
        where = "" if since is None else f" WHERE day >= DATE '{since}'"
        grouped = ", ".join(str(number) for number in range(1, len(keys) + 1))
        cells = []
        for model, *values in self._asked(f"SELECT {chosen} FROM {source}{where} GROUP BY {grouped}"):
            added = map(of_integer, values[len(marks) :], (scale for _, scale in sums.values()))
            marked = dict(zip(marks, values[: len(marks)], strict=True))
            cells.append(self._cell(model, marked, dict(zip(sums, added, strict=True))))
        return cells

    def _cell(self, model: str, marks: Mapping[str, str | None], sums: Mapping[tuple[str, int], Decimal]) -> ModelSums:
        def of_side(side: int, *names: str) -> list[Decimal]:
            return [sums.get((name, side), _ZERO) for name in names]

        sides, new, before = [], [], []
        requests, current = sums["requests", 0], sums["amount", 0]
        for side in range(len(self.sides)):
            # What the current prices do not offer, the first candidate has as new, or does not offer either.
            lacking = of_side(side, "lost_requests", "neither") if side else of_side(1, "new_requests", "neither")
            amount = EXACT.add(current, sums["amount", side]) if side else current
            sides.append((EXACT.subtract(requests, total(lacking)), amount, *of_side(side, "cost", "margin")))
            new.append(tuple(of_side(side, "new_requests", "new", "new cost", "new margin")))
            before.append(EXACT.subtract(current, *of_side(side, "lost")))
        return ModelSums(model, marks, tuple(sides), tuple(new), tuple(before))

    def since(self, day: date, candidate: int) -> Since:
        """Count the requests before a day, and add up both sides from that day on."""
        groups, from_then = self.roll_up.groups, f"FILTER (day >= DATE '{day}')"
        query = f"""
            SELECT CAST(coalesce(sum(requests) FILTER (day < DATE '{day}'), 0) AS BIGINT), {_REQUESTS},
                coalesce(sum(amount0) {from_then}, 0), coalesce(sum(amount{candidate}) {from_then}, 0)
            FROM {self._amounts.query(groups, 0, candidate)}"""
        before, requests, current, added = self._asked(query)[0]
        now, more = of_integer(current, self.sides[0].scale), of_integer(added, self.sides[candidate].scale)
        return Since(day, before, requests, now, EXACT.add(now, more))

    def count(self, keys: Sequence[str]) -> int:
        """Count the rows of a breakdown."""
        chosen = ", ".join(map(self.name, keys)) or "1"
        sources = self.ranges() if set(keys) == set(self.roll_up.plan.by) else [self.roll_up.groups_by(keys)]
        distinct = (f"SELECT DISTINCT {chosen} FROM {self._amounts.query(source, 0)}" for source in sources)
        return sum(int(self._asked(f"SELECT count(*) FROM ({query})")[0][0]) for query in distinct)

    def name(self, key: str) -> str:
        """Return the column of a key, or the expression that makes it.

        Raises `SimulationError` for a key that the usage was not grouped by.
        """
        keys, plan = self.roll_up.plan.keys, self.roll_up.plan
        if key in keys and key != DAY:
            return f"key{keys.index(key)}"
        if (key == DAY or plan.is_period(key)) and DAY in keys:
            return _PERIOD_OF[key].format(day=f"key{keys.index(DAY)}")
        if key != MODEL:
            known = tuple(dict.fromkeys((*plan.by, *keys, MODEL)))
            words = f"the usage is not grouped by '{key}'.{did_you_mean(key, known)}"
            raise SimulationError(f"{words} It is by: {', '.join(known)}")
        return key

    def _grouped_by(self, keys: Sequence[str]) -> str:
        """Return the GROUP BY of keys; it groups by the day itself, which is quicker than by its text."""
        plan_keys = self.roll_up.plan.keys
        columns = [f"key{plan_keys.index(key)}" if key in plan_keys else self.name(key) for key in keys]
        return f" GROUP BY {', '.join(columns)}" if columns else ""

    def ranges(self) -> list[str]:
        """Return the groups as sources of as many as the engine can hold the sums of, in the order of their keys."""
        names = list(map(self.name, self.roll_up.plan.by))
        conditions = self._conditions(names, "TRUE", self.roll_up.workspace.groups_at_once)
        return [f"(FROM {self.roll_up.groups} WHERE {within})" for within in conditions]

    def _conditions(self, names: Sequence[str], within: str, most: int) -> list[str]:
        """Divide groups by the first of these keys, and by the next where one value has too many groups."""
        if not names:
            return [within]
        name, *further = names
        query = f"SELECT {name}, count(*) FROM {self.roll_up.groups} WHERE {within} GROUP BY 1 ORDER BY 1"
        runs, sizes = list[list[str | None]](), list[int]()
        for key, count in self._asked(query):  # rows without a key come last
            if not sizes or sizes[-1] + count > most:
                runs.append([])
                sizes.append(0)
            runs[-1].append(key)
            sizes[-1] += count
        ranges = list[str]()
        for run, size in zip(runs, sizes, strict=True):
            keys = [key for key in run if key is not None]
            between = [f"{name} BETWEEN {DuckDbSql.literal(keys[0])} AND {DuckDbSql.literal(keys[-1])}"] if keys else []
            absent = [f"{name} IS NULL"] if run[-1] is None else []
            condition = f"{within} AND ({' OR '.join(between + absent)})"
            ranges += self._conditions(further, condition, most) if size > most else [condition]
        return ranges or [within]

    def groups(self, *further: SidePrices, part: str | None = None) -> str:
        """Return the query of the groups in one of the `ranges`: keys, requests, quantities and amounts, at one scale.

        Further columns are the lost and the new amounts of each candidate, the sum at each of `further` prices, at its
        own scale, and last the number of requests that the first of these leaves out.
        """
        scales, zero = [10 ** (self.scale - side.scale) for side in self.sides], "CAST(0 AS HUGEINT)"
        current, *others = (f"coalesce(amount{side}, 0) * {scale}" for side, scale in enumerate(scales))
        sums, sides = [current, *(f"{current} + {other}" for other in others)], range(len(self.sides))
        for side in sides[1:]:
            sums += [f"lost{side} * {scales[0]}", f"new{side} * {scales[side]}"] if side in self.partial else [""] * 2
        sums += [f"amount{len(self.sides) + number}" for number in range(len(further))]
        if further:
            sums.append(f"CASE WHEN amount{len(self.sides)} IS NULL THEN requests END")
        groups = part or self.roll_up.groups
        priced = self._amounts.query(groups, *sides, lost_and_new=self.partial, further=further)
        amounts = (f"coalesce(sum({amount}), 0)" if amount else zero for amount in sums)
        names = map(self.name, self.roll_up.plan.by)
        chosen = ", ".join((*names, _REQUESTS, *_QUANTITIES, *amounts))
        return f"SELECT {chosen} FROM {priced}{self._grouped_by(self.roll_up.plan.by)}"

    def forget(self) -> None:
        """Drop the tables that only the candidates need."""
        self._forgotten = True
        self._rows.clear()
        for table in self._sums.values():
            self.roll_up.workspace.connection.execute(f"DROP TABLE IF EXISTS {table}")
        for side in self.sides[1:]:
            side.drop()
        self.coverage.drop()

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Return the number of decimals that each quantity of a row has in the engine."""
        places = self.roll_up.places
        return tuple(
            max((*places.get(type_, ()), *(0,) * (number + 1))[number] for type_ in types)
            for types, number in QUANTITY_NAMES.values()
        )

    def charge(self, counted: Counted, amounts: Vector) -> Decimal:
        """Return the exact charge for all rows of a shape at these amounts, whatever decimals they have."""
        fixed, *rates = amounts
        products = zip(counted.sums, rates, self.roll_up.places.get(counted.shape.type or "", ()), strict=False)
        rated = [EXACT.scaleb(EXACT.multiply(Decimal(count), rate), -places) for count, rate, places in products]
        return total([EXACT.multiply(Decimal(counted.requests), fixed), *rated])
