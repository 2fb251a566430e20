"""What customers pay by their contracts, and what they would at list prices, under each side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ratecard.base.money import EXACT
from ratecard.simulation.answers.rows import Row

_KeyValues = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Discounted:
    """A customer: its requests at list prices and by its contract, and what we pay for them.

    Each has an amount for every side; `costs` and `margins` are of the requests whose cost is known, and are empty
    where no costs are given. What only a contract offers has the list price of the tables.
    """

    customer: str | None
    requests: int
    lists: tuple[Decimal, ...]
    nets: tuple[Decimal, ...]
    costs: tuple[Decimal, ...] = ()
    margins: tuple[Decimal, ...] = ()

    def discount(self, side: int) -> Decimal:
        """Return the list less what is charged, exactly: below zero where a contract is dearer."""
        return EXACT.subtract(self.lists[side], self.nets[side])

    def below_cost(self, side: int) -> bool:
        """Return True if its requests together bring less than they cost us."""
        return bool(self.margins) and self.margins[side] < 0


def discounts_of(
    rows: Sequence[Row],
    lists: Sequence[Mapping[_KeyValues, Decimal]],
    costs: Mapping[_KeyValues, Sequence[tuple[Decimal, Decimal]]],
) -> tuple[Discounted, ...]:
    """Put what each customer is charged beside the list and, where there are any, its costs and margins."""
    zero, customers = Decimal(0), []
    for row in rows:
        paid = costs.get(row.key, ())
        listed = tuple(amounts.get(row.key, zero) for amounts in lists)
        both = tuple(cost for cost, _ in paid), tuple(margin for _, margin in paid)
        customers.append(Discounted(row.key[0] if row.key else None, row.requests, listed, row.amounts, *both))
    return tuple(customers)
