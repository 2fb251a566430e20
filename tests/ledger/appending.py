"""Appends to a ledger in a process of its own: `python appending.py URL WHO REQUESTS` prints which were new."""

import json
import sys

from kept import WHEN, quote_of

from ratecard.ledger import open_ledger


def append_all(url: str, who: str, requests: int) -> list[bool]:
    """Append the requests of every process, each with three rows, and one of its own; return which were new."""
    with open_ledger(url) as ledger:
        shared = [
            ledger.append(quote_of("1", "2", "3"), account="a", request_id=f"r-{number}", timestamp=WHEN)
            for number in range(requests)
        ]
        ledger.append(quote_of("4"), account="a", request_id=who, timestamp=WHEN)
        return shared


if __name__ == "__main__":
    json.dump(append_all(sys.argv[1], sys.argv[2], int(sys.argv[3])), sys.stdout)
