"""What a provider counts as a search differs: the unit of its table says it, so nothing is off by a thousand."""

from decimal import Decimal
from pathlib import Path

import pytest
from metered_answers import amounts, made_up

TOKENS = "{charge: tokens, method: tokens, unit: mtoken, rates: [{tokens: [input, output], rate: 1}]}"
SEARCH = """
  - {model: search, name: Search, type: surcharge, currency: USD, versions: [{effective: 2026-01-01,
    checked: 2026-01-02, source: made up, charges: [{charge: search, method: surcharge, unit: %s, rates: [{rate: %s}]}],
    rounding: none, examples: [{usage: {count: 0}, total: 0}]}]}
"""


@pytest.mark.parametrize(
    ("unit", "rate", "count", "total"),
    [
        ("krequest", "10", 3, "0.03"),
        ("kquery", "14", 3, "0.042"),
        ("kresult", "10", 250, "2.5"),
        ("kurl", "10", 5, "0.05"),
        ("prompt", "0.035", 1, "0.035"),
        ("prompt", "0.035", 7, "0.035"),  # once, however often the model searched for the prompt
    ],
)
def test_a_search_costs_what_its_unit_says(tmp_path: Path, unit: str, rate: str, count: int, total: str) -> None:
    searches = "surcharges: {web_search: search},"
    prices = made_up(tmp_path, "text", TOKENS, more=searches, surcharges=SEARCH % (unit, rate))
    tokens = {"prompt_tokens": 0, "completion_tokens": 0}
    quote = prices.rate({"type": "text", "model": "m", "usage": tokens, "web_search_requests": count})
    assert amounts(quote) == {f"search-{unit}": Decimal(total)}
    assert prices.surcharge("search", count).total == Decimal(total)
    none = prices.rate({"type": "text", "model": "m", "usage": tokens, "web_search_requests": 0})
    assert none.lines == ()
