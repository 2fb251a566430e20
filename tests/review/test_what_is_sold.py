"""A change of what is sold, or of a default that decides a price, is in the diff, the digest and the guard."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from ratecard import RateCard
from ratecard.load.folder import tables_from
from ratecard.review.compare import compare_sides
from ratecard.review.guard import Rules, refusals
from ratecard.review.sides import Side
from token_tables import by_tokens, family, text_model

RATES = "- {tokens: [input, output], rate: 5}\n- {tokens: input, service_tier: batch, rate: 2}"
FACTORS = "factors: [{speed: fast, factor: 2}, {inference_geo: us, factor: 3}]"
TEXT = family(text_model("made-up", by_tokens(RATES, f"without_rate: {{batch: default}}\n{FACTORS}"))).replace(
    "rounding: none", "rounding: none\n        not_sold: [{speed: fast, service_tier: batch}]"
)
IMAGES = """family: made-up
models:
  - model: made-up
    name: Made up
    type: image
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        rounding: none
        defaults: {resolution: 1K}
        charges:
          - charge: images
            method: per-image
            unit: image
            rates:
              - {resolution: 1K, rate: 1}
              - {resolution: 2K, rate: 2}
        examples:
          - {usage: {resolution: 1K}, total: 1}
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "term", "sides"),
    [
        (TEXT, "[{speed: fast, service_tier: batch}]", "[{speed: fast}]", "not_sold",
         ("{service_tier: batch, speed: fast}", "{speed: fast}")),
        (TEXT, "[{speed: fast, service_tier: batch}]", "[{speed: fast}, {service_tier: batch}]", "not_sold",
         ("{service_tier: batch, speed: fast}", "{service_tier: batch}, {speed: fast}")),
        (TEXT, "batch: default}", "service_tier: default}", "without_rate batch of tokens", ("default", "")),
        (TEXT, "batch: default}", "batch: refuse}", "without_rate batch of tokens", ("default", "refuse")),
        (IMAGES, "{resolution: 1K}\n        charges", "{resolution: 2K}\n        charges", "defaults resolution",
         ("1K", "2K")),
        (IMAGES, "        defaults: {resolution: 1K}\n", "", "defaults resolution", ("1K", "")),
    ],
)  # fmt: skip
def test_a_change_is_in_the_diff_the_digest_and_the_guard(
    text: str, old: str, new: str, term: str, sides: tuple[str, str]
) -> None:
    assert old in text
    before, after = (RateCard(tables_from({"made-up.yaml": each.encode()})) for each in (text, text.replace(old, new)))
    [change] = compare_sides(Side("old", before), Side("new", after)).changes
    assert (term, *sides) in [(each.term, each.old, each.new) for each in change.terms]
    assert before.digest != after.digest
    [fault] = refusals(before, after, Rules(datetime(2026, 10, 1, tzinfo=UTC), Decimal(3), "HEAD"))
    assert f"was edited: {term}: {sides[0]} -> " in fault.message


# A video whose duration may be left out.
VIDEO = """family: made-up
models:
  - model: made-up
    name: Made up
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        accepts: {duration: [5s, 10s], audio: none}
        defaults: {duration: 5s}
        rounding: {places: 2, mode: half-up}
        charges:
          - charge: video
            method: duration-rate
            unit: video_second
            rates:
              - {rate: 1}
        examples:
          - {request: {duration: 5s}, total: 5}
"""


@pytest.mark.parametrize(
    ("text", "moved", "words"),
    [
        (IMAGES, ("{resolution: 1K}\n", "{resolution: 2K}\n"), ("resolution left out", "1", "2", "1 of 3 price cells")),
        (VIDEO, ("{duration: 5s}\n", "{duration: 10s}\n"), ("duration left out", "5", "10", "1 of 3 price cells")),
    ],
)
def test_a_version_that_only_moves_a_default_changes_what_is_left_out(
    text: str, moved: tuple[str, str], words: tuple[str, str, str, str]
) -> None:
    """It changes no rate, and yet the price of each request that states no choice."""
    head, version = text.split("      - effective: 2026-01-01\n")
    later = version.replace(*moved, 1)
    both = f"{head}      - effective: 2026-11-01\n{later}      - effective: 2026-01-01\n{version}"
    before, after = (RateCard(tables_from({"made-up.yaml": each.encode()})) for each in (text, both))
    [change] = compare_sides(Side("old", before), Side("new", after)).changes
    [cell] = change.cells.differing
    assert (cell.cell, str(cell.old), str(cell.new), str(change.cells)) == words
    [fault] = refusals(before, after, Rules(datetime(2026, 10, 1, tzinfo=UTC), Decimal("1.5"), "HEAD"))
    assert f"the price of {words[0]} goes from {words[1]} to {words[2]}, by a factor of 2" in fault.message
    assert not refusals(before, after, Rules(datetime(2026, 10, 1, tzinfo=UTC), Decimal(2), "HEAD"))


def test_the_order_of_what_is_not_sold_changes_nothing() -> None:
    text = TEXT.replace("[{speed: fast, service_tier: batch}]", "[{service_tier: batch, speed: fast}]")
    before, after = (RateCard(tables_from({"made-up.yaml": each.encode()})) for each in (TEXT, text))
    assert not compare_sides(Side("old", before), Side("new", after)).changes
    assert before.digest == after.digest
