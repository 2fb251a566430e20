"""Ledger rows that do not agree with the prices under which they were billed: counted, never mended."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ratecard.simulation.ledger_pricer import LedgerPricer
from ratecard.simulation.pricer import Pricer
from ratecard.simulation.roll_up import Counted

_EXAMPLES = 3


class Disputed(NamedTuple):
    """Rows whose amount or price is not what it should have been: how many, why, and a few of their shapes."""

    reason: str
    rows: int
    examples: tuple[dict[str, Any], ...]


def disputes(counted: Sequence[Counted], pricer: Pricer) -> tuple[Disputed, ...]:
    """The disputed rows of a billing export by reason, the most first; none of any other usage."""
    found: dict[str, list[Counted]] = {}
    if not isinstance(pricer, LedgerPricer):
        return ()
    for each in counted:
        if reason := pricer.dispute(each.shape):
            found.setdefault(reason, []).append(each)
    rows = (
        Disputed(reason, sum(each.requests for each in shapes), tuple(each.shape.row() for each in shapes[:_EXAMPLES]))
        for reason, shapes in found.items()
    )
    return tuple(sorted(rows, key=lambda row: (-row.rows, row.reason)))
