"""Rows that name a model by an alias, by what an open pattern matches, or with a `:` in its name."""

from datetime import UTC, datetime

import pyarrow
import pytest

from ratecard import RateCard
from ratecard.changes.sides import Side
from ratecard.load.folder import tables_from
from ratecard.simulation.simulate import simulate
from token_tables import by_tokens, family, text_model

RATES = """
- {tokens: [input, output], rate: 1}
- {tokens: input, weekdays: [thu], zone: UTC, rate: 2}
"""
ALIASES = 'aliases: [llama3, "llama3:latest"]\npatterns: ["llama3-20*"]'
TABLE = family(text_model("llama3:8b", by_tokens(RATES), further=ALIASES))
NAMES = ("llama3:8b", "llama3", "llama3:latest", "llama3-2024-10", "llama4")


@pytest.fixture(scope="module")
def prices() -> RateCard:
    return RateCard(tables_from({"names.yaml": b"patterns: true\n", "models.yaml": TABLE.encode()})).unproved


@pytest.mark.parametrize(("typed", "priced"), [(True, 4), (False, 3)])
def test_rows_are_priced_by_the_model_that_their_name_means(prices: RateCard, typed: bool, priced: int) -> None:
    """Without a type, a row has that of its model, which only a listed name says."""
    rows = {
        "model": [*NAMES, *NAMES],
        "timestamp": [datetime(2026, 10, day, tzinfo=UTC) for day in (1, 2) for _ in NAMES],
        "prompt_tokens": [1_000_000] * 10,
        "completion_tokens": [0] * 10,
    }
    table = pyarrow.table(rows | ({"type": ["text"] * 10} if typed else {}))
    with simulate(table, Side("now", prices), by=("model",)) as simulation:
        found = {group.key: group.amounts[0] for group in simulation.groups}
        assert found == {(name,): 3 for name in NAMES[:priced]}
        assert sum(each.rows for each in simulation.unpriced) == 2 * (len(NAMES) - priced)
