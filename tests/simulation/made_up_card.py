"""A made-up text model with tiers, buckets, conditions of a folder's own and factors; and rows of it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product

import pyarrow

from ratecard import RateCard
from ratecard.load.folder import tables_from
from token_tables import by_tokens, family, text_model

LINES = """
          - {tokens: input, rate: 4}
          - {tokens: input, above: 128000, rate: 6}
          - {tokens: input, from: 1000000, rate: 9}
          - {tokens: cache_input, rate: 0.40}
          - {tokens: cache_input, above: 128000, rate: 0.60}
          - {tokens: cache_write, rate: 5}
          - {tokens: cache_write_1h, rate: 8}
          - {tokens: input_audio, rate: 40}
          - {tokens: cache_input_audio, rate: 2}
          - {tokens: output, rate: 20}
          - {tokens: output, above: 128000, rate: 30}
          - {tokens: input, service_tier: priority, rate: 7}
          - {tokens: input, above: 128000, service_tier: priority, rate: 11}
          - {tokens: input, from: 1000000, service_tier: priority, rate: 16}
"""
FACTORS = "{service_tier: batch, factor: 0.5}", "{region: eu, factor: 1.1}"
METERS = """
meters: []
conditions:
  - {condition: region, values: [us, eu, moon], default: us, same_as: {"": us, america: us, europe: eu}}
"""


# Only the input has rates for `priority`; other buckets keep their price under it.
WITHOUT = "without_rate: {priority: default}\n"


def card_of(lines: str = LINES, factors: Sequence[str] = FACTORS, meters: str = METERS) -> RateCard:
    written = "\n".join(("factors:", *(f"  - {factor}" for factor in factors))) if factors else ""
    usage = "{prompt_tokens: 1000, completion_tokens: 1000}"
    written = WITHOUT * ("priority" in lines) + written
    text = family(text_model("m", by_tokens(lines, written, usage=usage, total="0.024")))
    return RateCard(tables_from({"made-up.yaml": text.encode(), "meters.yaml": meters.encode()}))


def token_columns() -> pyarrow.Table:
    """Rows at every edge, by bucket and not, under conditions, some of them wrong."""
    prompts, tiers = (None, 5, 128_000, 128_001, 999_999, 1_000_000), (None, "batch", "priority", "auto", "?")
    drawn = [
        {
            "type": "text",
            "model": "m",
            "timestamp": datetime(2026, 3, 1, number % 24, tzinfo=UTC),
            "service_tier": tier,
            "region": ("us", "europe", None)[number % 3],
            "tokens.input": prompt if number % 2 else None,
            "tokens.cache_input": (None, 0, 4, 6)[number % 4] if number % 2 else None,
            "tokens.input_audio": (None, 3)[number % 7 == 1] if number % 2 else None,
            "tokens.cache_input_audio": (None, 1)[number % 7 == 1] if number % 2 else None,
            "tokens.input_image": (None, 1)[number % 11 == 1] if number % 2 else None,
            "tokens.output": number if number % 2 else None,
            "prompt_tokens": None if number % 2 else prompt,
            "completion_tokens": None if number % 2 else 9,
            "cached_tokens": None if number % 2 else (None, 4, 6)[number % 3],
        }
        for number, (prompt, tier) in enumerate(product(prompts * 3, tiers))
    ]
    return pyarrow.Table.from_pylist(drawn)
