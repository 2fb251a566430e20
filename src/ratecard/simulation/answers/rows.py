"""The rows of an answer: groups with their amounts, what only one side prices, and what cannot be priced."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from ratecard.base.money import EXACT
from ratecard.review.difference import percent_text

_ZERO = Decimal(0)


def remaining(one: Decimal, other: Decimal) -> Decimal:
    """Return what is left of an amount; a zero without decimals, as sums have it."""
    return EXACT.subtract(one, other) or _ZERO


@dataclass(frozen=True, slots=True)
class LostAndNew:
    """What only one of two sides prices: requests that are lost, or new, and what they bring on the side that does.

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

    What a side does not price adds nothing to its amount; `lost_and_new` has, for each candidate, what that leaves out.
    It is empty where every side prices all of the requests.
    """

    key: tuple[str | None, ...]
    requests: int
    quantities: tuple[Decimal, ...]
    amounts: tuple[Decimal, ...]
    lost_and_new: tuple[LostAndNew, ...] = ()

    def beside(self, candidate: int = 1) -> LostAndNew:
        """Return what only one side prices, the current one or a candidate (by its number, from 1)."""
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
        """Return the difference on the requests that both sides price, which other prices make; exact."""
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

    `sides` and `new`, the part that the current prices do not offer, are requests, revenue, cost and margin. `before`
    is what the requests that a side and the current one offer bring at the current prices.
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
    """The requests in the figures before a day, and all of them; the amounts of those after, on two sides."""

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
    """Requests that only the current prices or only a candidate offers: of which model, and why the other does not.

    `amount` is what the side charges that offers them.
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
