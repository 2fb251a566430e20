"""What only one side prices, and what none does: how many rows, and why."""

from decimal import Decimal
from typing import Any, NamedTuple


class Unpriced(NamedTuple):
    """Rows without a price under a side: how many, why, and a few of their shapes."""

    side: str
    type: str
    reason: str
    rows: int
    examples: tuple[dict[str, Any], ...]


class Uncommon(NamedTuple):
    """Requests that only one of the current prices and a candidate offer: of which model, and why the other does not.

    `amount` is what the side charges that offers them.
    """

    type: str
    model: str
    reason: str
    requests: int
    amount: Decimal
