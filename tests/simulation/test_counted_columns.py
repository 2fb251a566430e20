"""Columns of counts by meter, of any type: every row costs what `prices.rate` says of it."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow
import pytest
from test_buckets_and_conditions import DAY, by_row, check, flat

from ratecard import RateCard
from ratecard.changes.sides import Side
from ratecard.load.folder import tables_from
from ratecard.simulation.simulate import simulate

UNITS = """units:
  - {unit: mtoken, counts: token, per: 1000000}
  - {unit: kpage, counts: page, per: 1000}
  - {unit: request, counts: request, per: 1}
  - {unit: image, counts: image, per: 1}
  - {unit: mcharacter, counts: character, per: 1000000}
"""
PAGES = "{charge: pages, method: count, unit: kpage, rates: [{rate: 1.5}]}"
REQUESTS = """{charge: requests, method: count, unit: request, rates: [{rate: 0.01}],
             factors: [{service_tier: batch, factor: 0.5}]}"""
HEAD = """
    name: Made up
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        rounding: none
"""
TABLES = f"""family: made-up
models:
  - model: chat
    type: text{HEAD}        charges:
          - {{charge: tokens, method: tokens, unit: mtoken, rates: [
              {{tokens: input, rate: 4}}, {{tokens: input, above: 1000, rate: 5}}, {{tokens: output, rate: 20}}]}}
          - {PAGES}
          - {REQUESTS}
        examples: [{{usage: {{prompt_tokens: 0, completion_tokens: 0, counts: {{page: 0}}}}, total: 0.01}}]
  - model: ocr
    type: text{HEAD}        charges:
          - {PAGES}
        examples: [{{usage: {{counts: {{page: 1000}}}}, total: 1.5}}]
  - model: picture
    type: image{HEAD}        charges:
          - {{charge: images, method: per-image, unit: image, rates: [{{rate: 0.02}}]}}
          - {REQUESTS}
        examples: [{{usage: {{n: 1}}, total: 0.03}}]
  - model: voice
    type: speech{HEAD}        charges:
          - {{charge: characters, method: per-character, unit: mcharacter, rates: [{{rate: 15}}]}}
          - {REQUESTS}
        examples: [{{usage: {{characters: 1000000}}, total: 15.01}}]
"""


@pytest.fixture(scope="module")
def card() -> RateCard:
    return RateCard(tables_from({"tables.yaml": TABLES.encode(), "units.yaml": UNITS.encode()}))


def rows() -> list[dict[str, Any]]:
    chat: dict[str, Any] = {"type": "text", "model": "chat"}
    return flat([
        *(chat | {"tokens.input": prompt, "tokens.output": 3, "counts.page": pages, "service_tier": tier}
          for prompt in (7, 1_000, 1_001) for pages in (None, 0, 12) for tier in (None, "batch", "flex")),
        *(chat | {"prompt_tokens": 7, "completion_tokens": 3, "counts.page": 2, "counts.request": 3} for _ in range(2)),
        chat | {"tokens.input": 7, "counts.page": 2, "counts.nothing": 1},
        {"type": "text", "model": "ocr", "counts.page": 5},
        {"type": "text", "model": "ocr", "counts.page": 5, "tokens.input": 1},
        *({"type": "image", "model": "picture", "n": 2, "service_tier": tier}
          for tier in (None, "batch", "auto", "fast")),
        {"type": "image", "model": "picture", "counts.page": 2},
        *({"type": "speech", "model": "voice", "characters": count, "service_tier": "batch"} for count in (5, 6, None)),
        {"type": "speech", "model": "voice", "characters": 8, "counts.request": 2},
    ])  # fmt: skip


def table(listed: list[dict[str, Any]]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(listed)


def test_every_row_costs_what_its_usage_costs(card: RateCard) -> None:
    with simulate(table(rows()), Side("now", card, DAY), by=("model",)) as found:
        check(found, rows())


def test_a_fee_per_request_is_attributed_by_itself(card: RateCard) -> None:
    text = TABLES.replace("rate: 0.01}", "rate: 0.03}").replace("total: 0.01}", "total: 0.03}")
    text = text.replace("total: 0.03}]\n  - model: voice", "total: 0.05}]\n  - model: voice").replace("15.01", "15.03")
    dearer = RateCard(tables_from({"tables.yaml": text.encode(), "units.yaml": UNITS.encode()}))
    listed = [
        row for row in rows() if row["model"] == "chat" and row["counts.page"] == 12 and row["service_tier"] != "flex"
    ]
    with simulate(table(listed), Side("now", card, DAY), [Side("then", dearer, DAY)], by=("model",)) as found:
        parts = {part.label: part.amount for part in found.attribution().parts}
    assert {label: amount.normalize() for label, amount in parts.items()} == {
        "requests": Decimal("0.06"),
        "requests, service_tier batch": Decimal("0.03"),
    }


def test_counts_within_an_object(card: RateCard) -> None:
    said: list[dict[str, Any]] = [
        {"type": "text", "model": "ocr", "counts": {"page": 5}},
        {"type": "text", "model": "ocr", "counts": None},
    ]
    with simulate(table(said), Side("now", card, DAY), by=("model",)) as found:
        assert found.total.amounts == (Decimal("0.0075"),)
        assert Counter({each.reason: each.rows for each in found.unpriced}) == {"counts.page: Required": 1}


def test_a_candidate_of_which_other_types_charge_counts(card: RateCard) -> None:
    plain = TABLES.replace(f"          - {REQUESTS}\n        examples: [{{usage: {{n: 1}}, total: 0.03}}]",
                           "        examples: [{usage: {n: 1}, total: 0.02}]")  # fmt: skip
    plain = plain.replace(
        f"          - {REQUESTS}\n        examples: [{{usage: {{characters", "        examples: [{usage: {characters"
    )
    plain = plain.replace("15.01", "15")
    other = RateCard(tables_from({"tables.yaml": plain.encode(), "units.yaml": UNITS.encode()}))
    with simulate(table(rows()), Side("now", other, DAY), by=("model",)) as found:
        check(found, rows())
        with found.against(Side("then", card, DAY)) as both:
            offered = [row for row in rows() if row["model"] != "voice" or row["counts.request"] is None]
            assert {row.key[0]: row.amounts[1] for row in both.groups} == by_row(card, offered)[0]


@pytest.mark.parametrize(
    ("units", "edit"),
    [
        (UNITS.replace("page, per: 1000", "page, per: 7"), ("", "")),
        (UNITS, ("unit: kpage,", "unit: kpage, included: 1, started: 4,")),
        (UNITS, ("        rounding: none", "        minimum: 0.015\n        rounding: none")),
    ],
    ids=["odd-unit", "blocks", "minimum"],
)
def test_counts_that_are_not_linear(units: str, edit: tuple[str, str]) -> None:
    text = TABLES.replace(*edit) if edit[0] else TABLES
    uneven = RateCard(tables_from({"tables.yaml": text.encode(), "units.yaml": units.encode()})).unproved
    with simulate(table(rows()), Side("now", uneven, DAY), by=("model",)) as found:
        check(found, rows())
