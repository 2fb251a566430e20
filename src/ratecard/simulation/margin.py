"""What is left after cost: the same shapes under a card of what we pay."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from ratecard.diff.side import Side
from ratecard.simulation.comparison import Comparison
from ratecard.simulation.priced_shape import PricedShape
from ratecard.simulation.pricer import Pricer
from ratecard.words.money import EXACT, total


class Cost(NamedTuple):
    """One model: what we pay for its usage, and what each side charges for just that usage.

    `unknown` counts requests whose cost the card of costs does not have: they are in no figure here.
    """

    model: str
    requests: int
    unknown: int
    cost: Decimal
    revenues: tuple[Decimal, ...]

    def margin(self, side: int) -> Decimal:
        """What is left under a side."""
        return EXACT.subtract(self.revenues[side], self.cost)


class BelowCost(NamedTuple):
    """A shape that a side sells for less than it costs: all of its requests together."""

    model: str
    asked: str
    requests: int
    revenue: Decimal
    cost: Decimal


class Margin(NamedTuple):
    """Cost and margin by model, and the cells below cost under each side, the greatest loss first."""

    models: tuple[Cost, ...]
    below: tuple[tuple[BelowCost, ...], ...]

    @property
    def total(self) -> Cost:
        """All models together."""
        sides = range(len(self.below))
        return Cost(
            "",
            sum(each.requests for each in self.models),
            sum(each.unknown for each in self.models),
            total([each.cost for each in self.models]),
            tuple(total([each.revenues[side] for each in self.models]) for side in sides),
        )


class _Sums:
    def __init__(self, sides: int) -> None:
        self.requests = self.unknown = 0
        self.cost = Decimal(0)
        self.revenues = [Decimal(0)] * sides

    def add(self, requests: int, cost: Decimal, revenues: Sequence[Decimal]) -> None:
        self.requests += requests
        self.cost = EXACT.add(self.cost, cost)
        self.revenues = [EXACT.add(one, other) for one, other in zip(self.revenues, revenues, strict=True)]


def margin_of(comparison: Comparison, pricer: Pricer, costs: Side) -> Margin:
    """The margin of every side over one card of costs, exactly."""
    models: dict[str, _Sums] = {}
    cells: dict[tuple[str, str], _Sums] = {}
    for _, counted, found in comparison.priced:
        model = counted.shape.model or ""
        sums = models.setdefault(model, _Sums(comparison.amounts))
        cost = pricer.price(costs, counted.shape)
        if not isinstance(cost, PricedShape):
            sums.unknown += counted.requests
            continue
        paid = comparison.charge(counted, cost.amounts)
        revenues = [comparison.charge(counted, price.amounts) for price in found]
        asked = ", ".join(comparison.roll_up.words(counted))
        sums.add(counted.requests, paid, revenues)
        cells.setdefault((model, asked), _Sums(comparison.amounts)).add(counted.requests, paid, revenues)
    below = tuple(
        tuple(
            sorted(
                (
                    BelowCost(*cell, sums.requests, sums.revenues[side], sums.cost)
                    for cell, sums in cells.items()
                    if sums.revenues[side] < sums.cost
                ),
                key=lambda cell: (cell.revenue - cell.cost, cell),
            )
        )
        for side in range(comparison.amounts)
    )
    named = sorted(models.items())
    found_models = (Cost(name, each.requests, each.unknown, each.cost, tuple(each.revenues)) for name, each in named)
    return Margin(tuple(found_models), below)
