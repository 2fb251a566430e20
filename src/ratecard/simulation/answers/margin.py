"""Margins: the same requests at what is charged and at what we pay for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ratecard.base.money import EXACT, total
from ratecard.review.sides import Side
from ratecard.simulation.answers.comparison import Comparison
from ratecard.simulation.prices.costs import Costs, cost_of
from ratecard.simulation.prices.outcome import Vector
from ratecard.simulation.prices.pricer import Pricer


class Costing:
    """The cost of the rows in the figures under each side, shape by shape.

    A shape whose cost is not known under a side that sells it is left out under all of them: cost and revenue alike.
    """

    def __init__(self, comparison: Comparison, sides: Sequence[Side], pricer: Pricer, costs: Costs) -> None:
        self.known: dict[int, tuple[Vector, ...]] = {}
        self.unknown: set[int] = set()
        for number, counted, prices in comparison.priced:
            vectors = cost_of(counted, prices, sides, pricer, costs)
            if vectors is None:
                self.unknown.add(number)
            else:
                self.known[number] = vectors


@dataclass(frozen=True, slots=True)
class Cost:
    """One model, or all: what each side charges for its requests, and what we pay for those that the side offers.

    `unknown` counts the requests whose cost is not known under some side: neither they nor their `unknown_revenues` are
    in any other figure here.
    """

    model: str
    requests: int
    unknown: int
    costs: tuple[Decimal, ...]
    revenues: tuple[Decimal, ...]
    unknown_revenues: tuple[Decimal, ...]

    @property
    def cost(self) -> Decimal:
        """Return what the requests that the current prices offer cost us."""
        return self.costs[0]

    def margin(self, side: int) -> Decimal:
        """Return revenue less cost under a side, exactly."""
        return EXACT.subtract(self.revenues[side], self.costs[side])


@dataclass(frozen=True, slots=True)
class BelowCost:
    """A shape that a side sells for less than it costs: all of its requests together."""

    model: str
    asked: str
    requests: int
    revenue: Decimal
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Margin:
    """Cost and margin by model, and the cells below cost under each side, the greatest loss first."""

    models: tuple[Cost, ...]
    below: tuple[tuple[BelowCost, ...], ...]

    @property
    def total(self) -> Cost:
        """Return the cost of all models together."""
        sides = range(len(self.below))

        def summed(each: Sequence[tuple[Decimal, ...]]) -> tuple[Decimal, ...]:
            return tuple(total([amounts[side] for amounts in each]) for side in sides)

        return Cost(
            "",
            sum(each.requests for each in self.models),
            sum(each.unknown for each in self.models),
            summed([each.costs for each in self.models]),
            summed([each.revenues for each in self.models]),
            summed([each.unknown_revenues for each in self.models]),
        )


class _Sums:
    def __init__(self, sides: int) -> None:
        self.requests = self.unknown = 0
        self.costs, self.revenues, self.unknown_revenues = ([Decimal(0)] * sides for _ in range(3))

    def add(self, requests: int, costs: Sequence[Decimal], revenues: Sequence[Decimal]) -> None:
        self.requests += requests
        self.costs = list(map(EXACT.add, self.costs, costs))
        self.revenues = list(map(EXACT.add, self.revenues, revenues))

    def leave_out(self, requests: int, revenues: Sequence[Decimal]) -> None:
        self.unknown += requests
        self.unknown_revenues = list(map(EXACT.add, self.unknown_revenues, revenues))


def margin_of(comparison: Comparison, costing: Costing) -> Margin:
    """Add up the margin of every side, exactly."""
    models: dict[str, _Sums] = {}
    cells: dict[tuple[str, str], _Sums] = {}
    for number, counted, prices in comparison.priced:
        model = counted.shape.model or ""
        sums = models.setdefault(model, _Sums(comparison.amounts))
        revenues = [comparison.charge(counted, price.amounts) if price else Decimal(0) for price in prices]
        if (vectors := costing.known.get(number)) is None:
            sums.leave_out(counted.requests, revenues)
            continue
        paid = [comparison.charge(counted, each) for each in vectors]
        words = ", ".join(comparison.roll_up.words(counted))
        sums.add(counted.requests, paid, revenues)
        cells.setdefault((model, words), _Sums(comparison.amounts)).add(counted.requests, paid, revenues)
    below = tuple(
        tuple(
            sorted(
                (
                    BelowCost(*cell, sums.requests, sums.revenues[side], sums.costs[side])
                    for cell, sums in cells.items()
                    if sums.revenues[side] < sums.costs[side]
                ),
                key=lambda cell: (EXACT.subtract(cell.revenue, cell.cost), cell.model, cell.asked),
            )
        )
        for side in range(comparison.amounts)
    )
    found_models = (
        Cost(name, each.requests, each.unknown, tuple(each.costs), tuple(each.revenues), tuple(each.unknown_revenues))
        for name, each in sorted(models.items())
    )
    return Margin(tuple(found_models), below)
