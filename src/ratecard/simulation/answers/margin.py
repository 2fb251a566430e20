"""Margins: the charges for requests, and our costs of the same requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce

from ratecard.base.money import EXACT
from ratecard.review.sides import Side
from ratecard.simulation.answers.comparison import Comparison
from ratecard.simulation.prices.outcome import NOTHING, Vector
from ratecard.simulation.prices.pricer import Pricer
from ratecard.simulation.prices.sides import Costs, SoldShape


def known_costs(
    comparison: Comparison, sides: Sequence[Side], pricer: Pricer, costs: Costs
) -> dict[int, tuple[Vector, ...]]:
    """Return what a row of each shape in the figures costs under each side; zero where the side has no price.

    A shape whose cost is not known under a side that sells it is left out under all sides: cost and revenue alike.
    """
    known = dict[int, tuple[Vector, ...]]()
    for number, counted, prices in comparison.priced:
        vectors = list[Vector]()
        for side, price in zip(sides, prices, strict=True):
            vector = costs.of(SoldShape(counted, side, price, prices[0]), pricer) if price else NOTHING
            if vector is None:
                break
            vectors.append(vector)
        else:
            known[number] = tuple(vectors)
    return known


@dataclass(frozen=True, slots=True)
class Cost:
    """One model, or all: each side's charges for its requests, and our costs of those that the side offers.

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
        """Return our cost of the requests that the current prices offer."""
        return self.costs[0]

    def margin(self, side: int) -> Decimal:
        """Return revenue less cost under a side, exactly."""
        return EXACT.subtract(self.revenues[side], self.costs[side])

    def plus(self, other: "Cost") -> "Cost":
        """Return the sum of this cost and another."""
        return Cost(
            self.model,
            self.requests + other.requests,
            self.unknown + other.unknown,
            tuple(map(EXACT.add, self.costs, other.costs)),
            tuple(map(EXACT.add, self.revenues, other.revenues)),
            tuple(map(EXACT.add, self.unknown_revenues, other.unknown_revenues)),
        )


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
        nothing = (Decimal(0),) * len(self.below)
        return reduce(Cost.plus, self.models, Cost("", 0, 0, nothing, nothing, nothing))


def margin_of(comparison: Comparison, known: Mapping[int, Sequence[Vector]]) -> Margin:
    """Add up the margin of every side, exactly; `known` are the costs of shapes."""
    nothing = (Decimal(0),) * len(comparison.sides)
    models, cells = dict[str, Cost](), dict[tuple[str, str], Cost]()
    for number, counted, prices in comparison.priced:
        model, requests = counted.shape.model or "", counted.requests
        none = Cost(model, 0, 0, nothing, nothing, nothing)
        revenues = tuple(comparison.charge(counted, price.amounts) if price else Decimal(0) for price in prices)
        if number in known:
            paid = tuple(comparison.charge(counted, vector) for vector in known[number])
            cost = Cost(model, requests, 0, paid, revenues, nothing)
            cell = model, ", ".join(comparison.roll_up.words(counted))
            cells[cell] = cells.get(cell, none).plus(cost)
        else:
            cost = Cost(model, 0, requests, nothing, nothing, revenues)
        models[model] = models.get(model, none).plus(cost)
    below = []
    for side in range(len(comparison.sides)):
        losing = [(sold.margin(side), *cell, sold) for cell, sold in cells.items() if sold.margin(side) < 0]
        below_cost = (
            BelowCost(model, words, sold.requests, sold.revenues[side], sold.costs[side])
            for _, model, words, sold in sorted(losing, key=lambda cell: cell[:3])
        )
        below.append(tuple(below_cost))
    return Margin(tuple(models[name] for name in sorted(models)), tuple(below))
