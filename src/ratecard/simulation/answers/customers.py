"""The effect of a candidate on each customer: who wins and who loses, and the discounts of their contracts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from ratecard.base.money import EXACT
from ratecard.simulation.answers.rows import BY_NAME, OF_ALIKE, KeySums, Row

SHOWN = 20
# The edges of the distribution, in percent of what a customer pays now.
_EDGES = (-50, -20, -10, -5, -1, 0, 1, 5, 10, 20, 50)
_FALLS, _RISES = [edge for edge in _EDGES if edge <= 0], [edge for edge in _EDGES if edge >= 0]
_KEPT, _LOSING = "shared <> 0", "lost_requests <> 0"
_BY_LOSS = f"lost DESC, {OF_ALIKE}"


@dataclass(frozen=True, slots=True)
class Band:
    """The number of customers whose change in percent is between two edges; an open end is None, no change is 0, 0."""

    least: int | None
    most: int | None
    customers: int

    @property
    def label(self) -> str:
        """Name the band: `-5 to -1 %`, `unchanged`, `above +50 %`."""
        if self.least == self.most == 0:
            return "unchanged"
        if self.least is None:
            return f"below {self.most} %"
        if self.most is None:
            return f"above +{self.least} %"
        return " to ".join(f"{edge:+d}" if edge else "0" for edge in (self.least, self.most)) + " %"

    @property
    def falls(self) -> bool:
        """Return True if its customers pay less."""
        return self.most is not None and self.most <= 0 and (self.least, self.most) != (0, 0)


@dataclass(frozen=True, slots=True)
class Customers:
    """The customers, by the change on the requests that both sides price.

    `less` customers pay less, `more` pay more; `winners` and `losers` are the first of them, by the largest change. For
    `same` nothing changes. `losing` counts customers with requests that the candidate does not offer; customers without
    requests that both sides price are in no other count. `rows`, `kept` and `lost` load a row for each customer.
    """

    candidate: int
    winners: tuple[Row, ...]
    losers: tuple[Row, ...]
    distribution: tuple[Band, ...]
    less: int
    more: int
    same: int
    losing: int
    sums: KeySums = field(repr=False, compare=False)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return all customers, in their order."""
        return tuple(self.sums.each())

    @property
    def kept(self) -> tuple[Row, ...]:
        """Return the customers with requests that both sides price."""
        return self.sums.rows(_KEPT, candidate=self.candidate)

    @property
    def lost(self) -> tuple[Row, ...]:
        """Return the customers with requests that the candidate does not offer, by the current revenue of these."""
        return self.first_lost()

    def first_lost(self, most: int | None = None) -> tuple[Row, ...]:
        """Return the customers who lose requests, by the current revenue of these; with `most`, only the first."""
        return self.sums.rows(_LOSING, _BY_LOSS, most, self.candidate) if self.losing else ()

    def apportioned(self, rows: Sequence[Row], amount: str, places: int, whole: Decimal) -> list[Decimal]:
        """Round an amount of some customers so that those of all add up to `whole`: see `report.figures.apportion`.

        `amount` is a column of `KeySums.compared`.
        """
        lost = amount == "lost"
        where, order = (_LOSING, _BY_LOSS) if lost else ("TRUE", BY_NAME)
        names = [row.key[0] for row in rows]
        ranks, every = self.sums.ranked(amount, self.candidate, places, names, where, order)
        missing = int(EXACT.scaleb(whole, places)) - every
        ranked = (ranks[name] for name in names)
        return [EXACT.scaleb(Decimal(units + (rank <= missing)), -places) for units, rank in ranked]

    def above(self, rise: Fraction) -> int:
        """Count the customers whose charges rise by more than a share (`Fraction(1, 10)`: by more than 10 %)."""
        return self.sums.counts([f"{_KEPT} AND {self.sums.above('move', 'paid', rise)}"], self.candidate)[0]

    def beyond(self, rise: Fraction) -> tuple[int, tuple[Row, ...]]:
        """Count the customers whose charges rise by more than a share of the current ones, and return the first.

        They are in the order of their rise (to nine decimals), then of its amount, the greatest first; customers who
        paid nothing come before all others.
        """
        where = f"{_KEPT} AND {self.sums.above('change', 'size', rise)}"
        (count,) = self.sums.counts([where], self.candidate)
        shares = self.sums.falling_share("change", "size")
        order = f"CASE WHEN size = 0 THEN 0 ELSE 1 END, {shares}, change DESC, {OF_ALIKE}"
        return count, self.sums.rows(where, order, SHOWN, self.candidate) if count else ()


def customers_of(sums: KeySums, candidate: int) -> Customers:
    """Return the customers by their change under a candidate."""
    winners = sums.rows("change < 0", f"change, {OF_ALIKE}", SHOWN, candidate)
    losers = sums.rows("change > 0", f"change DESC, {OF_ALIKE}", SHOWN, candidate)
    falls = [f"{_KEPT} AND {sums.above('-move', 'paid', Fraction(-edge, 100))}" for edge in _FALLS]
    rises = [f"{_KEPT} AND {sums.above('move', 'paid', Fraction(edge, 100))}" for edge in _RISES]
    conditions = (_KEPT, f"{_KEPT} AND change < 0", f"{_KEPT} AND change > 0", _LOSING, *falls, *rises)
    kept, less, more, losing, *counts = sums.counts(conditions, candidate)
    below, above = counts[: len(falls)], counts[len(falls) :]
    distribution = tuple(_distribution(kept, below, above))
    return Customers(candidate, winners, losers, distribution, less, more, kept - less - more, losing, sums)


def rise_of(row: Row, candidate: int) -> Fraction:
    """Return the change as a share of current charges for requests that both sides price; 1 for a change from zero."""
    current, difference = Fraction(row.both(candidate)[0]), Fraction(row.change(candidate))
    return difference / current if current else Fraction(1 if difference else 0)


def _distribution(kept: int, below: Sequence[int], above: Sequence[int]) -> Iterator[Band]:
    """Yield every band between two edges: falls include their lower edge, rises their upper one."""
    yield Band(None, _FALLS[0], below[0])
    for (least, first), (most, second) in pairwise(zip(_FALLS, below, strict=True)):
        yield Band(least, most, second - first)
    yield Band(0, 0, kept - below[-1] - above[0])
    for (least, first), (most, second) in pairwise(zip(_RISES, above, strict=True)):
        yield Band(least, most, first - second)
    yield Band(_RISES[-1], None, above[-1])


_KeyValues = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Discounted:
    """A customer: its requests at list prices and by its contract, and what we pay for them.

    Each has an amount for every side; `costs` and `margins` are of the requests whose cost is known, and are empty
    where no costs are given. A model that only a contract offers has the list price of the tables.
    """

    customer: str | None
    requests: int
    lists: tuple[Decimal, ...]
    nets: tuple[Decimal, ...]
    costs: tuple[Decimal, ...] = ()
    margins: tuple[Decimal, ...] = ()

    def discount(self, side: int) -> Decimal:
        """Return the list price less the charge, exactly; below zero where a contract is dearer."""
        return EXACT.subtract(self.lists[side], self.nets[side])

    def below_cost(self, side: int) -> bool:
        """Return True if the charges for its requests together are below our costs."""
        return bool(self.margins) and self.margins[side] < 0


def discounts_of(
    rows: Sequence[Row],
    lists: Sequence[Mapping[_KeyValues, Decimal]],
    costs: Mapping[_KeyValues, Sequence[tuple[Decimal, Decimal]]],
) -> tuple[Discounted, ...]:
    """Return each customer's charges and list prices and, where there are any, its costs and margins."""
    zero, customers = Decimal(0), []
    for row in rows:
        paid = costs.get(row.key, ())
        listed = tuple(amounts.get(row.key, zero) for amounts in lists)
        both = tuple(cost for cost, _ in paid), tuple(margin for _, margin in paid)
        customers.append(Discounted(row.key[0] if row.key else None, row.requests, listed, row.amounts, *both))
    return tuple(customers)
