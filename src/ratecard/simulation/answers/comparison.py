"""Shapes joined with their prices: exact totals of any breakdown, under every card compared."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy

from ratecard.base.money import EXACT, step, total
from ratecard.base.suggestions import did_you_mean
from ratecard.simulation.amounts import QUANTITY_COLUMNS, QUANTITY_NAMES, UNEVEN, GroupAmounts
from ratecard.simulation.answers.key_sums import KeySums, Scales, of_integer
from ratecard.simulation.answers.rows import EVEN, ModelSums, Row, Since, Uneven, made_rows
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.groups.plan import MONTH, WEEK
from ratecard.simulation.groups.roll_up import RollUp, uncollected
from ratecard.simulation.groups.shapes import Counted
from ratecard.simulation.prices.coverage import NEW, Coverage
from ratecard.simulation.prices.outcome import PricedShape, Vector
from ratecard.simulation.prices.price_table import SidePrices
from ratecard.simulation.rows.columns import DAY
from ratecard.simulation.workspace.duckdb_sql import DuckDbSql
from ratecard.simulation.workspace.workspace import each_once, read_columns

# Rows can be broken down by it whether it is a key or not: a shape has one.
MODEL = "model"
# A week is named by its Monday, a month as `2026-10`; all are text.
_DAY = "CAST({day} AS VARCHAR(100))"
_PERIOD_OF = {
    DAY: _DAY,
    WEEK: "CAST(CAST(date_trunc('week', CAST({day} AS DATE)) AS DATE) AS VARCHAR(100))",
    MONTH: f"substr({_DAY}, 1, 7)",
}
# Of so many groups the sums are made at once.
_MOST_AT_ONCE = 1_000_000
_REQUESTS = "CAST(coalesce(sum(requests), 0) AS BIGINT)"
_QUANTITIES = tuple(f"coalesce(sum({name}), 0)" for name in QUANTITY_COLUMNS)
_ZERO = Decimal(0)
_NOTHING = (0, _ZERO, _ZERO, _ZERO)
_NO_QUANTITIES = (_ZERO,) * len(QUANTITY_NAMES)
_KeyValues = tuple[str | None, ...]
# A shape with its number and its price under each side; None under one that does not offer it.
_Priced = tuple[int, Counted, tuple[PricedShape | None, ...]]


class _Groups(NamedTuple):
    """The groups of a breakdown in order, as columns, with the current amounts; and the place of each by its key."""

    keys: Sequence[_KeyValues]
    requests: Sequence[int]
    quantities: Sequence[tuple[Decimal, ...]]
    amounts: Sequence[Decimal]
    places: Mapping[_KeyValues, int]

    def rows(self, at: Sequence[int], *others: Iterable[Decimal], uneven: Iterable[tuple[Uneven, ...]]) -> list[Row]:
        """The rows of the groups at some places, with these amounts beside the current ones."""
        return made_rows(
            map(self.keys.__getitem__, at),
            map(self.requests.__getitem__, at),
            map(self.quantities.__getitem__, at),
            zip(map(self.amounts.__getitem__, at), *others, strict=True),
            uneven,
        )


class Comparison:
    """The shapes of a roll-up that some side prices; amounts are integers of 10^-`scale` in the engine."""

    def __init__(self, roll_up: RollUp, sides: Sequence[SidePrices]) -> None:
        self.roll_up, self.sides, self.amounts = roll_up, tuple(sides), len(sides)
        self.scale = max(side.scale for side in sides)
        for side in sides:
            side.prove_at(self.scale)
        self.coverage = Coverage(roll_up.workspace, self.sides)
        self._amounts = GroupAmounts(roll_up, self.sides, self.coverage)
        self._sums_of_keys: dict[str, KeySums] = {}
        self._forgotten = False
        # Charts and tables ask for the same breakdowns: the engine adds each up once.
        self._breakdowns: dict[tuple[str, ...], tuple[Row, ...]] = {}

    @cached_property
    def priced(self) -> list[_Priced]:
        """Every shape in the figures."""
        return list(self._among(numpy.flatnonzero(self.coverage.in_figures)))

    def changed(self, candidate: int) -> Iterator[_Priced]:
        """The shapes in the figures that a candidate may price in another way."""
        changed = self.sides[candidate].outcomes.changed(self.sides[0].outcomes)
        return self._among(changed[self.coverage.in_figures[changed]])

    def _among(self, numbers: Any) -> Iterator[_Priced]:
        known, *others = (side.outcomes for side in self.sides)
        for number, counted in zip(numbers.tolist(), self.roll_up.shapes.among(numbers), strict=True):
            now = known[number].price
            then = (now if each.of[number] == known.of[number] else each[number].price for each in others)
            yield number, counted, (now, *then)

    def rows(self, keys: Sequence[str]) -> tuple[Row, ...]:
        """The breakdown by keys of the roll-up, or by `model`, in their order; without keys all usage as one row.

        A candidate's amount is the current one and what it adds: no more than its changes is added up for it.
        """
        keys = tuple(keys)
        if keys not in self._breakdowns:
            with uncollected():
                self._breakdowns[keys] = self._rows(keys)
        return self._breakdowns[keys]

    def by_key(self, key: str) -> KeySums:
        """What each value of a key comes to, in the engine.

        Raises `SimulationError` for a key that the usage was not grouped by.
        """
        if key not in self._sums_of_keys:
            sides = range(1, self.amounts)
            uneven = tuple(side for side in sides if self.coverage.uneven[side])
            scales = Scales(self.places, tuple(side.scale for side in self.sides), uneven)
            self._sums_of_keys[key] = KeySums(self._summed(key, uneven), scales, self._asked)
        return self._sums_of_keys[key]

    def _asked(self, query: str) -> list[Any]:
        if self._forgotten:
            raise SimulationError("what was tried is forgotten: ask before its `with` block ends")
        return self.roll_up.workspace.connection.execute(query).fetchall()

    def _summed(self, key: str, uneven: Sequence[int]) -> str:
        """A table here of what each value of a key comes to.

        What it comes to at the current prices is kept for further candidates.
        """
        workspace, name, known = self.roll_up.workspace, self.name(key), self.sides[0].sums

        def summed(columns: Sequence[str], *sides: int, uneven: int | None = None) -> str:
            sums = ", ".join(f"sum({each}) AS {each}" for each in columns)
            return f"SELECT {name} AS name, {sums} {self._of_keys((key,), *sides, uneven=uneven)}"

        current = summed(("requests", *QUANTITY_COLUMNS, "amount0"), 0)
        if self._whole:
            if key not in known:
                table = workspace.new_table("sums")
                workspace.connection.execute(f"CREATE TABLE {table} AS {current}")
                known[key] = table
            current = f"FROM {known[key]}"
        parts, added = [current], list[str]()
        for side in range(1, self.amounts):
            added.append(f"amount{side}")
            parts.append(summed(added[-1:], side))
        for side in uneven:
            columns = [f"{column}{side}" for column in UNEVEN]
            added += columns
            parts.append(summed(columns, 0, side, uneven=side))
        requests = "CAST(coalesce(sum(requests), 0) AS BIGINT) AS requests"
        sums = ", ".join(f"coalesce(sum({each}), 0) AS {each}" for each in (*QUANTITY_COLUMNS, "amount0", *added))
        table, union = workspace.new_table("sums"), " UNION ALL BY NAME ".join(parts)
        query = f"SELECT name, {requests}, {sums} FROM ({union}) GROUP BY name"
        workspace.connection.execute(f"CREATE TABLE {table} AS {query}")
        return table

    def sums_of(self, prices: SidePrices, keys: Sequence[str]) -> dict[_KeyValues, Decimal]:
        """Add up other prices of the same shapes, by keys."""
        source = GroupAmounts(self.roll_up, (prices,), Coverage(self.roll_up.workspace, (prices,)))
        sums = ("coalesce(sum(amount0), 0)",)
        query = f"FROM {source.query(self.roll_up.groups_by(keys), 0)}{self._grouped_by(keys)}"
        found, (amounts,) = self._added_up(keys, sums, query)
        return dict(zip(found, _decimals(amounts.tolist(), prices.scale), strict=True))

    def cells(
        self, marks: Mapping[str, Sequence[str]], since: date | None, costs: Sequence[tuple[SidePrices, SidePrices]]
    ) -> list[ModelSums]:
        """What each side charges by model, and by the values of keys that `marks` names; with `since`, from a day on.

        `costs` are cost and margin as prices, for each side; or empty.
        """
        candidates = range(1, self.amounts)
        uneven = [side for side in candidates if self.coverage.uneven[side]]
        keys = ["coalesce(model, '')"]
        for key, values in marks.items():
            keys.append(
                f"CASE WHEN {self.name(key)} IN ({', '.join(map(DuckDbSql.literal, values))}) THEN {self.name(key)} END"
            )
        paid = [
            (f"amount{self.amounts + 2 * side}", f"amount{self.amounts + 2 * side + 1}") for side in range(len(costs))
        ]
        sums = [f"amount{side}" for side in range(self.amounts)] + [each for pair in paid for each in pair]
        for side in uneven:
            sums += [f"{name}{side}" for name in UNEVEN]
            sums += [f"CASE WHEN kind{side} = {NEW} THEN {each} END" for pair in paid[side : side + 1] for each in pair]
        further = [prices for pair in costs for prices in pair]
        source = self._amounts.query(self.roll_up.groups, 0, *candidates, uneven=uneven, further=further)
        chosen = ", ".join((*keys, _REQUESTS, *(f"coalesce(sum({each}), 0)" for each in sums)))
        where = "" if since is None else f" WHERE day >= DATE '{since}'"
        grouped = ", ".join(str(number) for number in range(1, len(keys) + 1))
        found = self.roll_up.workspace.connection.execute(f"SELECT {chosen} FROM {source}{where} GROUP BY {grouped}")
        return [self._cell(list(marks), values, uneven, costs) for values in found.fetchall()]

    def _cell(
        self,
        marks: Sequence[str],
        values: Sequence[Any],
        uneven: Sequence[int],
        costs: Sequence[tuple[SidePrices, SidePrices]],
    ) -> ModelSums:
        (model, *named, requests), rest = values[: len(marks) + 2], iter(values[len(marks) + 2 :])
        now, *added = [of_integer(next(rest), side.scale) for side in self.sides]
        paid = [tuple(of_integer(next(rest), each.scale) for each in pair) for pair in costs] or [
            (_ZERO, _ZERO)
        ] * self.amounts
        sides: list[tuple[int | Decimal, ...]] = [(requests, now, *paid[0])]
        new: list[tuple[int | Decimal, ...]] = [_NOTHING]
        before = [now]
        for side, more in enumerate(added, 1):
            lost_requests, lost, new_requests, brought, neither = (
                [next(rest) for _ in UNEVEN] if side in uneven else [0] * 5
            )
            costing = (
                [of_integer(next(rest), each.scale) for each in costs[side]]
                if costs and side in uneven
                else [_ZERO] * 2
            )
            sides.append((requests - lost_requests - neither, EXACT.add(now, more), *paid[side]))
            new.append((new_requests, of_integer(brought, self.sides[side].scale), *costing))
            before.append(EXACT.subtract(now, of_integer(lost, self.sides[0].scale)))
            sides[0] = (requests - new_requests - neither, now, *paid[0])
        return ModelSums(model, dict(zip(marks, named, strict=True)), tuple(sides), tuple(new), tuple(before))

    def since(self, day: date, candidate: int) -> Since:
        """How many requests lie before a day, and what those of that day and after it come to on both sides."""
        groups, from_then = self.roll_up.groups, f"FILTER (day >= DATE '{day}')"
        query = f"""
            SELECT CAST(coalesce(sum(requests) FILTER (day < DATE '{day}'), 0) AS BIGINT), {_REQUESTS},
                coalesce(sum(amount0) {from_then}, 0), coalesce(sum(amount{candidate}) {from_then}, 0)
            FROM {self._amounts.query(groups, 0, candidate)}"""
        before, requests, current, added = self.roll_up.workspace.connection.execute(query).fetchall()[0]
        now, more = of_integer(current, self.sides[0].scale), of_integer(added, self.sides[candidate].scale)
        return Since(day, before, requests, now, EXACT.add(now, more))

    def count(self, keys: Sequence[str]) -> int:
        """Count the rows of a breakdown."""
        chosen = ", ".join(map(self.name, keys)) or "1"
        source = self._amounts.query(self.roll_up.groups_by(keys), 0)
        query = f"SELECT count(*) FROM (SELECT DISTINCT {chosen} FROM {source})"
        found: list[Any] = self.roll_up.workspace.connection.execute(query).fetchall()
        return int(found[0][0])

    def name(self, key: str) -> str:
        """The column of a key, or the expression that makes it.

        Raises `SimulationError` for a key that the usage was not grouped by.
        """
        own, plan = self.roll_up.plan.keys, self.roll_up.plan
        if key in own and key != DAY:
            return f"key{own.index(key)}"
        if (key == DAY or plan.is_period(key)) and DAY in own:
            return _PERIOD_OF[key].format(day=f"key{own.index(DAY)}")
        if key != MODEL:
            known = tuple(dict.fromkeys((*plan.by, *own, MODEL)))
            words = f"the usage is not grouped by '{key}'.{did_you_mean(key, known)}"
            raise SimulationError(f"{words} It is by: {', '.join(known)}")
        return key

    def _grouped_by(self, keys: Sequence[str]) -> str:
        """How rows are grouped by keys: by the day as it is, which is quicker than by its text."""
        own = self.roll_up.plan.keys
        columns = [f"key{own.index(key)}" if key in own else self.name(key) for key in keys]
        return f" GROUP BY {', '.join(columns)}" if columns else ""

    def ranges(self) -> list[str]:
        """Conditions that divide the groups by their first key, in its order.

        The engine holds the sums of so many groups at once; of all millions of them it cannot.
        """
        if not self.roll_up.plan.by:
            return ["TRUE"]
        name, edges, held = self.name(self.roll_up.plan.by[0]), list[str](), 0
        query = f"SELECT {name}, count(*) FROM {self.roll_up.groups} WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY 1"
        for key, count in self.roll_up.workspace.connection.execute(query).fetchall():
            if held and held + count > _MOST_AT_ONCE:
                edges.append(DuckDbSql.literal(key))
                held = 0
            held += count
        firsts, lasts = ["TRUE", *(f"{name} >= {edge}" for edge in edges)], [f"{name} < {edge}" for edge in edges]
        found = [f"{first} AND {last}" for first, last in zip(firsts, lasts, strict=False)]
        return [*found, f"({firsts[-1]} OR {name} IS NULL)"]  # rows without a key come last

    def groups(self, *further: SidePrices, within: str = "TRUE") -> str:
        """The query of the groups in one of the `ranges`: keys, requests, quantities, and each amount, at one scale.

        Then what is lost and what is new under each candidate. Of `further` prices, the sum of each at its own scale,
        and last how many requests the first of them leaves out.
        """
        scales, zero = [10 ** (self.scale - side.scale) for side in self.sides], "CAST(0 AS HUGEINT)"
        current, *others = (f"coalesce(amount{side}, 0) * {scale}" for side, scale in enumerate(scales))
        sums, sides = [current, *(f"{current} + {other}" for other in others)], range(self.amounts)
        uneven = [side for side in sides[1:] if self.coverage.uneven[side]]
        for side in sides[1:]:
            sums += [f"lost{side} * {scales[0]}", f"new{side} * {scales[side]}"] if side in uneven else [""] * 2
        sums += [f"amount{self.amounts + number}" for number in range(len(further))]
        if further:
            sums.append(f"CASE WHEN amount{self.amounts} IS NULL THEN requests END")
        source = self._amounts.query(self.roll_up.groups, *sides, uneven=uneven, further=further)
        amounts = (f"coalesce(sum({amount}), 0)" if amount else zero for amount in sums)
        names = map(self.name, self.roll_up.plan.by)
        chosen = ", ".join((*names, _REQUESTS, *_QUANTITIES, *amounts))
        return f"SELECT {chosen} FROM {source} WHERE {within}{self._grouped_by(self.roll_up.plan.by)}"

    def _current(self, keys: tuple[str, ...]) -> _Groups:
        """The breakdown under the current prices alone, kept for further candidates that leave nothing out."""
        known = self._breakdowns_of_current
        if keys not in known:
            sums = (_REQUESTS, *_QUANTITIES, "coalesce(sum(amount0), 0)")
            of_keys, (requests, *counted, amounts) = self._sums(keys, sums, 0, ordered=True)
            # Most rows are of models that have none of these.
            some, quantities = sum(column != 0 for column in counted).nonzero()[0], [_NO_QUANTITIES] * len(of_keys)
            columns = zip(counted, self.places, strict=True)
            in_units = (_decimals(column[some].tolist(), each) for column, each in columns)
            for place, each in zip(some.tolist(), zip(*in_units, strict=True), strict=True):
                quantities[place] = each
            places = dict(zip(of_keys, range(len(of_keys)), strict=True))
            current = _decimals(amounts.tolist(), self.sides[0].scale)
            known[keys] = _Groups(of_keys, requests.tolist(), quantities, current, places)
        groups: _Groups = known[keys]
        return groups

    @cached_property
    def _breakdowns_of_current(self) -> dict[tuple[object, ...], Any]:
        """What has been added up at the current prices; of a candidate that leaves something out, for it alone."""
        return self.sides[0].breakdowns if self._whole else {}

    @property
    def _whole(self) -> bool:
        """Whether all that the current prices price is in the figures, and no more."""
        return not self.coverage.left_out and not self.coverage.only_candidates

    def _rows(self, keys: tuple[str, ...]) -> tuple[Row, ...]:
        """The groups with the amounts of the candidates beside the current ones."""
        groups, candidates = self._current(keys), range(1, self.amounts)
        added = [self._added(side, keys, groups.places) for side in candidates]
        uneven = [self._uneven_by(side, keys, groups.places) for side in candidates]
        some = any(uneven)
        # Of what no candidate changes, all have the same rows.
        same: list[Row | None] = self._breakdowns_of_current.setdefault(
            (keys, len(added), some), [None] * len(groups.keys)
        )
        found, changed = same.copy(), list(set[int]().union(*added, *uneven))
        known = [groups.amounts[place] for place in changed]
        others = [
            [EXACT.add(now, each[place]) if place in each else now for place, now in zip(changed, known, strict=True)]
            for each in added
        ]
        own = [tuple(each.get(place, EVEN) for each in uneven) if some else () for place in changed]
        for place, row in zip(changed, groups.rows(changed, *others, uneven=own), strict=True):
            found[place] = row
        alike = [place for place, row in enumerate(found) if row is None]
        known = [groups.amounts[place] for place in alike]
        even = [(EVEN,) * len(uneven) if some else ()] * len(alike)
        for place, row in zip(alike, groups.rows(alike, *[known] * len(added), uneven=even), strict=True):
            found[place] = same[place] = row
        return tuple(found)  # type: ignore[arg-type]

    def _added(self, side: int, keys: Sequence[str], places: Mapping[_KeyValues, int]) -> dict[int, Decimal]:
        """What a candidate adds to the groups at these places, where it changes something."""
        found, (amounts,) = self._sums(keys, (f"coalesce(sum(amount{side}), 0)",), side)
        pairs = zip(found, _decimals(amounts.tolist(), self.sides[side].scale), strict=True)
        return {places[key]: amount for key, amount in pairs if amount}

    def _uneven_by(self, side: int, keys: Sequence[str], places: Mapping[_KeyValues, int]) -> dict[int, Uneven]:
        """What only one of the current prices and a candidate prices, of the groups at these places."""
        if not self.coverage.uneven[side]:
            return {}
        sums = [f"coalesce(sum({name}{side}), 0)" for name in UNEVEN]
        found, columns = self._sums(keys, sums, 0, side, uneven=side)
        scales = self.sides[0].scale, self.sides[side].scale
        by_place, of_keys = {}, zip(*(column.tolist() for column in columns), strict=True)
        for key, (lost_requests, lost, new_requests, new, neither) in zip(found, of_keys, strict=True):
            amounts = of_integer(lost, scales[0]), of_integer(new, scales[1])
            by_place[places[key]] = Uneven(lost_requests, amounts[0], new_requests, amounts[1], neither)
        return by_place

    def _sums(
        self, keys: Sequence[str], sums: Sequence[str], *sides: int, uneven: int | None = None, ordered: bool = False
    ) -> tuple[list[_KeyValues], list[Any]]:
        """Keys, and a column of each sum by them; `ordered`: in the order of the keys."""
        return self._added_up(keys, sums, self._of_keys(keys, *sides, uneven=uneven), ordered=ordered)

    def _added_up(
        self, keys: Sequence[str], sums: Sequence[str], source: str, *, ordered: bool = False
    ) -> tuple[list[_KeyValues], list[Any]]:
        texts, integers = read_columns(self.roll_up.workspace.connection, list(map(self.name, keys)), sums, source)
        if not texts:
            return [()] * len(integers[0]), integers
        # Each different value is made once; ordering those is quicker than ordering all groups by text.
        columns = list(map(each_once, texts))
        if ordered:
            order = numpy.lexsort([_ranks(values)[at] for values, at in reversed(columns)])
            columns = [(values, at[order]) for values, at in columns]
            integers = [each[order] for each in integers]
        found = (map(values.__getitem__, at.tolist()) for values, at in columns)
        return list(zip(*found, strict=True)), integers

    def _of_keys(self, keys: Sequence[str], *sides: int, uneven: int | None = None) -> str:
        """The amounts by keys at the prices of some sides.

        With `uneven`, a candidate, only of what it or the current side alone prices.
        """
        amounts = self._amounts.query(self.roll_up.groups_by(keys), *sides, uneven=() if uneven is None else (uneven,))
        where = "" if uneven is None else f" WHERE kind{uneven} IS NOT NULL"
        return f"FROM {amounts}{where}{self._grouped_by(keys)}"

    def forget(self) -> None:
        """Drop what only the candidates need."""
        self._forgotten = True
        self._breakdowns.clear()
        for sums in self._sums_of_keys.values():
            self.roll_up.workspace.connection.execute(f"DROP TABLE IF EXISTS {sums.table}")
        for side in self.sides[1:]:
            side.drop()
        self.coverage.drop()
        self.roll_up.workspace.forget_statements()

    @cached_property
    def places(self) -> tuple[int, ...]:
        """How many decimals the quantities of a row have in the engine."""
        places = self.roll_up.places
        return tuple(
            max((*places.get(type_, ()), *(0,) * (number + 1))[number] for type_ in types)
            for types, number in QUANTITY_NAMES.values()
        )

    def charge(self, counted: Counted, amounts: Vector) -> Decimal:
        """What all rows of a shape come to at these amounts, exactly, whatever decimals they have."""
        fixed, *rates = amounts
        each = zip(counted.sums, rates, self.roll_up.places_of(counted.shape), strict=False)
        rated = [EXACT.scaleb(EXACT.multiply(Decimal(count), rate), -places) for count, rate, places in each]
        return total([EXACT.multiply(Decimal(counted.requests), fixed), *rated])


def _ranks(values: Sequence[str | None]) -> Any:
    """The place of each text in their order, as the engine has it: what is absent comes last."""
    places = {value: place for place, value in enumerate(sorted(value for value in values if value is not None))}
    return numpy.array([len(places) if value is None else places[value] for value in values], numpy.int64)


def _decimals(values: Sequence[int], places: int) -> list[Decimal]:
    """Integers of 10^-`places` as what they are."""
    unit = step(places)
    return [EXACT.multiply(value, unit) if value else _ZERO for value in values]
