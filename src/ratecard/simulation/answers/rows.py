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
