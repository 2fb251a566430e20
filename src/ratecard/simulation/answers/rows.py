"""The rows of an answer: groups with their amounts, what only one side prices, and what cannot be priced.

The sums by keys that rows are read from stay in the engine: of millions, only those that an answer shows are read.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ratecard.base.errors import SimulationError
from ratecard.base.money import EXACT
from ratecard.review.difference import percent_text
from ratecard.simulation.amounts import LOST_AND_NEW, QUANTITY_COLUMNS
from ratecard.simulation.sql import MOST_OF_SHARE, DuckDbSql

_ZERO = Decimal(0)


def remaining(one: Decimal, other: Decimal) -> Decimal:
    """Return the first amount less the second; a zero has no decimals, as in sums."""
    return EXACT.subtract(one, other) or _ZERO


@dataclass(frozen=True, slots=True)
class LostAndNew:
    """What only one of two sides prices: lost or new requests, with their amounts on the side that prices them.

    `neither` counts the requests that only another candidate prices.
    """

    lost_requests: int = 0
    lost: Decimal = _ZERO
    new_requests: int = 0
    new: Decimal = _ZERO
    neither: int = 0

    @property
    def requests(self) -> int:
        """Return the number of requests that only one of the two sides prices."""
        return self.lost_requests + self.new_requests

    def less(self, other: "LostAndNew") -> "LostAndNew":
        """Subtract what another group has lost and gained."""
        return LostAndNew(
            self.lost_requests - other.lost_requests,
            remaining(self.lost, other.lost),
            self.new_requests - other.new_requests,
            remaining(self.new, other.new),
            self.neither - other.neither,
        )


NOTHING_LOST_OR_NEW = LostAndNew()


@dataclass(frozen=True, slots=True)
class Row:
    """One group: its key, its requests and quantities, and its exact amount under each card, the current one first.

    Requests that a side does not price add nothing to its amount; `lost_and_new` has them for each candidate. It is
    empty where every side prices all of the requests.
    """

    key: tuple[str | None, ...]
    requests: int
    quantities: tuple[Decimal, ...]
    amounts: tuple[Decimal, ...]
    lost_and_new: tuple[LostAndNew, ...] = ()

    def beside(self, candidate: int = 1) -> LostAndNew:
        """Return the requests that only the current side prices, or only the candidate of this number (from 1)."""
        return self.lost_and_new[candidate - 1] if self.lost_and_new else NOTHING_LOST_OR_NEW

    def difference(self, candidate: int = 1) -> Decimal:
        """Return the amount under a candidate less the current one, with lost and new requests; exact."""
        return EXACT.subtract(self.amounts[candidate], self.amounts[0])

    def both(self, candidate: int = 1) -> tuple[Decimal, Decimal]:
        """Return the amounts of the requests that both sides price: at the current prices, and under a candidate."""
        lost_and_new = self.beside(candidate)
        return EXACT.subtract(self.amounts[0], lost_and_new.lost), EXACT.subtract(
            self.amounts[candidate], lost_and_new.new
        )

    def change(self, candidate: int = 1) -> Decimal:
        """Return the exact difference on the requests that both sides price, the effect of other prices."""
        before, after = self.both(candidate)
        return EXACT.subtract(after, before)

    def both_requests(self, candidate: int = 1) -> int:
        """Return the number of requests that both sides price."""
        lost_and_new = self.beside(candidate)
        return self.requests - lost_and_new.lost_requests - lost_and_new.new_requests - lost_and_new.neither

    def percent(self, candidate: int = 1) -> str:
        """Return the difference in percent of the current amount, half-up (`+10.39%`); empty where that is zero."""
        return percent_text(self.amounts[0], self.amounts[candidate])


@dataclass(frozen=True, slots=True)
class ModelSums:
    """Requests of one model, with the values of some keys (`marks`), under each side.

    `sides` are requests, revenue, cost and margin; `new` is the part of them that the current prices do not offer.
    `before` is the revenue, at the current prices, of the requests that both a side and the current one offer.
    """

    model: str
    marks: Mapping[str, str | None]
    sides: tuple[tuple[int | Decimal, ...], ...]
    new: tuple[tuple[int | Decimal, ...], ...]
    before: tuple[Decimal, ...]


@dataclass(frozen=True, slots=True)
class OwnDays:
    """The usage at the prices of each row's own day, and the difference to the current prices.

    `without` counts the requests that the current prices offer and those of their own day do not, `only` the opposite.
    """

    amount: Decimal
    difference: Decimal
    without: int
    only: int


@dataclass(frozen=True, slots=True)
class Since:
    """The numbers of requests before a day, and of all; the amounts from that day on, under two sides."""

    day: date
    before: int
    requests: int
    current: Decimal
    candidate: Decimal


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Rows without a price under a side: how many, why, and a few of their shapes."""

    side: str
    type: str
    reason: str
    rows: int
    examples: tuple[dict[str, Any], ...] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Uncommon:
    """Requests that only the current prices or only a candidate offers: their model, and why the other side does not.

    `amount` is the charge of the side that offers them.
    """

    type: str
    model: str
    reason: str
    requests: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Disputed:
    """Billed rows whose amount or price is not what it should have been: how many, why, and a few of their shapes."""

    reason: str
    rows: int
    examples: tuple[dict[str, Any], ...] = field(hash=False)


# The order of the rows of one key, and that of rows with equal amounts.
BY_NAME, OF_ALIKE = "name0 NULLS LAST", "coalesce(name0, ''), name0 NULLS LAST"
# Rises are ordered by integer part and nine decimals. An amount of more than `_LONG` times `_FINE` could overflow.
_FINE, _LONG = 10**9, 10**27


@dataclass(frozen=True, slots=True)
class KeySums:
    """A table of the engine with a row for each combination of values of keys, and the sums of `GroupAmounts`.

    `name0` is the column of the first of its `keys`; without keys there is one row. `quantities` and `amounts` are the
    decimals of each quantity and of the amounts of each side; `lost_and_new` the candidates with columns of
    `LOST_AND_NEW`. `ask` runs a query of the engine, and `stream` gives its rows one at a time.
    """

    table: str
    keys: int
    quantities: tuple[int, ...]
    amounts: tuple[int, ...]
    lost_and_new: tuple[int, ...]
    ask: Callable[[str], list[tuple[Any, ...]]]
    stream: Callable[[str], Iterator[tuple[Any, ...]]]

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return int(self.ask(f"SELECT count(*) FROM {self.table}")[0][0])

    def each(self) -> Iterator[Row]:
        """Yield every row, in the order of the keys; few are in memory at a time."""
        names = self._names()
        order = f" ORDER BY {', '.join(f'{name} NULLS LAST' for name in names)}" if names else ""
        return map(self._row, self.stream(f"{self._selected()} FROM {self.table}{order}"))

    def rows(self, where: str, order: str = BY_NAME, most: int | None = None, candidate: int = 1) -> tuple[Row, ...]:
        """Return the rows of `compared` that meet a condition, in an order; with `most`, only the first of them."""
        limit = "" if most is None else f" LIMIT {most}"
        source = f"{self.compared(candidate)} WHERE {where} ORDER BY {order}{limit}"
        return tuple(map(self._row, self.ask(f"{self._selected()} FROM {source}")))

    def _selected(self) -> str:
        return f"SELECT {', '.join((*self._names(), 'requests', *QUANTITY_COLUMNS, *self._amounts()))}"

    def counts(self, conditions: Sequence[str], candidate: int) -> list[int]:
        """Count the rows of `compared` that meet each of these conditions."""
        sums = (f"coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0)" for condition in conditions)
        return list(self.ask(f"SELECT {', '.join(sums)} FROM {self.compared(candidate)}")[0])

    def compared(self, candidate: int) -> str:
        """Return the query of a candidate's changes, as integers of one scale.

        `before` and `change` are amounts of the requests that both sides price, and `shared` is their number; `lost` is
        the amount that only the current side charges. `size` is `before` without its sign. A rise is the share
        `move` / `paid`, where `paid` is above zero.
        """
        now, then = self._factor(0), self._factor(candidate)
        parts = [f"{name}{candidate}" if candidate in self.lost_and_new else "0" for name in LOST_AND_NEW]
        lost_requests, lost, new_requests, new, neither = parts
        columns = {
            "lost_requests": lost_requests,
            "lost": f"{lost} * {now}",
            "shared": f"requests - {lost_requests} - {new_requests} - {neither}",
            "before": f"(amount0 - {lost}) * {now}",
            "change": f"(amount{candidate} - {new}) * {then} + {lost} * {now}",
        }
        named = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
        # A rise from zero counts as a doubling.
        move = "CASE WHEN before > 0 THEN change WHEN before < 0 THEN -change WHEN change <> 0 THEN 1 ELSE 0 END"
        further = f"abs(before) AS size, {move} AS move, CASE WHEN before = 0 THEN 1 ELSE abs(before) END AS paid"
        return f"(SELECT *, {further} FROM (SELECT *, {named} FROM {self.table}) AS sums) AS compared"

    def above(self, amount: str, of: str, share: Fraction) -> str:
        """Return the condition that an amount is above a share of another one, which is not below zero.

        Raises `SimulationError` for a share of more than `MOST_OF_SHARE` parts.
        """
        if max(abs(share.numerator), share.denominator) > MOST_OF_SHARE:
            raise SimulationError(f"a share of {share} cannot be compared; write it with at most 18 digits")
        if share < 0:
            fall, reached = f"-({amount})", self._exceeds(f"-({amount})", of, -share, 1)
            return f"NOT (({of} = 0 AND {fall} >= 0) OR ({fall} > 0 AND {of} > 0 AND {reached}))"
        return f"({amount} > 0 AND ({of} = 0 OR {self._exceeds(amount, of, share)}))"

    def _exceeds(self, amount: str, of: str, share: Fraction, less: int = 0) -> str:
        """Return the condition that a positive amount is above a share of another (or reaches it, with `less` of 1).

        Integer parts are compared first, so that no product has more digits than the amounts.
        """
        floor, (times, parts) = share // 1, (share % 1).as_integer_ratio()
        divisor = f"greatest({of}, 1)"
        times_of = f"(({of} % {parts}) * {times} + {(parts - 1) * less})"
        edge = f"({of} // {parts}) * {times} + {times_of} // {parts} - {less}"
        every = f"({amount} // {divisor})"
        return f"({every} > {floor} OR ({every} = {floor} AND {amount} % {divisor} > {edge}))"

    def falling_share(self, amount: str, of: str) -> str:
        """Return the order by an amount's share of another, to nine decimals, greatest first; both at least zero."""
        divisor = f"greatest({of}, 1)"
        rest = f"({amount} % {divisor})"
        fine = f"CASE WHEN {of} < {_LONG} THEN ({rest} * {_FINE}) // {divisor}"
        fine += f" ELSE {rest} // greatest({of} // {_FINE}, 1) END"
        return f"{amount} // {divisor} DESC, {fine} DESC"

    def ranked(
        self, amount: str, candidate: int, places: int, names: Collection[str | None], where: str, order: str
    ) -> tuple[dict[str | None, tuple[int, int]], int]:
        """Return an amount by name, in units of the last of `places`, and its sum over all rows; all are rounded down.

        Each has its rank among all rows that meet `where`: the greatest remainder first, then in `order`.
        """
        if not names:
            return {}, 0
        scale = max(self.amounts)
        unit, finer = 10 ** max(scale - places, 0), 10 ** max(places - scale, 0)
        rest = f"(({amount} % {unit}) + {unit}) % {unit}"
        ranks = f"row_number() OVER (ORDER BY rest DESC, {order}) AS place, sum(shown - rest) OVER () AS every"
        every = f"SELECT *, {amount} AS shown, {rest} AS rest FROM {self.compared(candidate)} WHERE {where}"
        listed = ", ".join(DuckDbSql.literal(name) for name in names if name is not None) or "NULL"
        chosen = f"name0 IN ({listed})" + (" OR name0 IS NULL" if None in names else "")
        query = f"SELECT name0, shown - rest, place, every FROM (SELECT *, {ranks} FROM ({every}) AS given) AS ranked"
        answer = self.ask(f"{query} WHERE {chosen}")
        of_all = answer[0][-1] // unit * finer
        return {name: (units // unit * finer, place) for name, units, place, _ in answer}, of_all

    def _names(self) -> list[str]:
        return [f"name{number}" for number in range(self.keys)]

    def _amounts(self) -> list[str]:
        lost_and_new = [f"{name}{side}" for side in self.lost_and_new for name in LOST_AND_NEW]
        return [*(f"amount{side}" for side in range(len(self.amounts))), *lost_and_new]

    def _factor(self, side: int) -> int:
        return int(10 ** (max(self.amounts) - self.amounts[side]))

    def _row(self, values: Sequence[Any]) -> Row:
        """Return a row, its amounts with the decimals of their sides."""
        key, requests, rest = tuple(values[: self.keys]), values[self.keys], iter(values[self.keys + 1 :])
        quantities = tuple(of_integer(next(rest), places) for places in self.quantities)
        now, *scales = self.amounts
        current, *added = (of_integer(next(rest), places) for places in self.amounts)
        amounts = (current, *(EXACT.add(current, addition) if addition else current for addition in added))
        if not self.lost_and_new:
            return Row(key, requests, quantities, amounts)
        beside = []
        for side, then in enumerate(scales, 1):
            if side in self.lost_and_new:
                lost_requests, lost, new_requests, new, neither = (next(rest) for _ in LOST_AND_NEW)
                of_side = of_integer(lost, now), new_requests, of_integer(new, then)
                beside.append(LostAndNew(lost_requests, *of_side, neither))
            else:
                beside.append(NOTHING_LOST_OR_NEW)
        return Row(key, requests, quantities, amounts, tuple(beside))


def of_integer(value: int, places: int) -> Decimal:
    """Convert an integer of 10^-`places` into its decimal value."""
    return EXACT.scaleb(Decimal(value), -places) if value else _ZERO
