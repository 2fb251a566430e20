"""Nothing that anybody sends costs more than its size: every entry point is given inputs of n and 4n.

`make test-hostile` runs it by itself, as it measures CPU time; `make test` does not.
"""

import json
from datetime import UTC, datetime

import pytest
from growth import Entry, check_growth

from shipped import CARD

PRICES = CARD.at(datetime(2026, 10, 1, tzinfo=UTC))
VIDEO = {"model": "kling-o3-pro-text-to-video", "duration": "5s"}


def body(**fields: object) -> bytes:
    return json.dumps({**VIDEO, **fields}).encode()


ENTRIES = (Entry("a quote with unknown keys", lambda n: body(**{f"k{i}": 1 for i in range(n)}), PRICES.quote_video),)


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_four_times_the_input_costs_about_four_times_as_much(entry: Entry) -> None:
    check_growth(entry)
