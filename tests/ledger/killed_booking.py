"""Books in a process of its own: `python killed_booking.py URL KIND` stops in the midst of it, says so, and waits."""

import sys
import time
from decimal import Decimal
from typing import Any

from kept import WHEN, Card, quote_of

from ratecard.ledger import NewCharge, append_many, booking, charge, open_ledger, refund

WHO: dict[str, Any] = {"account": "a", "timestamp": WHEN}


def book(ledger: Any, kind: str) -> Any:
    if kind == "charge":
        return charge(ledger, Card(), {"amounts": ["1", "2"]}, request_id="r-2", **WHO)
    if kind == "refund":
        return refund(ledger, request_id="r-1", refund_id="f", sku="m-0", amount=Decimal("0.5"), **WHO)
    return append_many(ledger, [NewCharge(quote_of("1"), account, "r-2", WHEN) for account in "ab"])


def stop(*_: Any) -> Any:
    """Instead of the last statement: everything before it is written and not committed."""
    sys.stdout.write("in the midst\n")
    sys.stdout.flush()
    time.sleep(1_000_000)


if __name__ == "__main__":
    with open_ledger(sys.argv[1]) as opened:
        setattr(booking, "row_of", stop)  # noqa: B010
        book(opened, sys.argv[2])
