"""Columns of counts by meter, of any type: every row costs what `prices.rate` says of it."""

import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet
import pytest
from counted_rows import HEAD as VERSION
from counted_rows import UNITS, counted_table, random_counting_card, random_counting_rows
from kept_roll_ups import same_or_refused
from test_buckets_and_conditions import DAY, by_row, check, flat, refusals

from ratecard import RateCard, rollup
from ratecard.base.errors import SimulationError
from ratecard.load.folder import tables_from
from ratecard.review.sides import Side
from ratecard.simulation.simulate import simulate

PAGES = "{charge: pages, method: count, unit: kpage, rates: [{rate: 1.5}]}"
REQUESTS = """{charge: requests, method: count, unit: request, rates: [{rate: 0.01}],
             factors: [{service_tier: batch, factor: 0.5}]}"""
HEAD = f"\n    name: Made up{VERSION}"
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


ROUNDED = TABLES.replace("unit: kpage,", "unit: kpage, started: 4,", 1)


def card_of(text: str = TABLES, units: str = UNITS) -> RateCard:
    return RateCard(tables_from({"tables.yaml": text.encode(), "units.yaml": units.encode()}))._unproved


@pytest.fixture(scope="module")
def card() -> RateCard:
    return card_of()


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
    dearer = card_of(TABLES.replace("rate: 0.01}", "rate: 0.03}"))
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
    plain = TABLES
    for usage in ("n", "characters"):
        examples = f"        examples: [{{usage: {{{usage}:"
        plain = plain.replace(f"          - {REQUESTS}\n{examples}", examples)
    other = card_of(plain)
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
    uneven = card_of(TABLES.replace(*edit) if edit[0] else TABLES, units)
    with simulate(table(rows()), Side("now", uneven, DAY), by=("model",)) as found:
        check(found, rows())


@pytest.mark.parametrize("seed", range(4))
def test_random_counts_of_random_cards(seed: int) -> None:
    """Under every card each row costs what its usage costs, or is refused in the same words."""
    random = Random(seed)  # noqa: S311
    cards = [random_counting_card(random, plain=seed % 3 == number) for number in (0, 1)]
    listed = random_counting_rows(cards[1], random, 120)
    table = counted_table(listed, seed)
    now, then = (Side(name, card) for name, card in zip(("now", "then"), cards, strict=True))
    answers = [by_row(card, listed) for card in cards]
    with simulate(table, now, by=("model",)) as found:
        by_model = {str(row.key[0]): row.amounts[0] for row in found.groups if row.amounts[0]}
        assert by_model == {name: amount for name, amount in answers[0][0].items() if amount}
    with simulate(table, now, [then], by=("model",)) as found:
        for number, (sums, refused) in enumerate(answers):
            added, said = defaultdict[str, Decimal](Decimal), refusals(found, number)
            for counted, outcome in zip(found.comparison.roll_up.shapes, found.outcomes[number], strict=True):
                if not outcome.refusal:
                    added[str(counted.shape.model)] += found.comparison.charge(counted, outcome.amounts)
            assert {key: (said[key], refused[key]) for key in said | refused if said[key] != refused[key]} == {}
            assert dict(added) == sums


def test_counts_that_are_charged_linearly_are_added(card: RateCard) -> None:
    """Rows that differ in their counts alone are one shape; where pages are rounded, their number is part of it."""
    listed = flat([
        {"type": type_, "model": model, "counts.page": pages, "counts.request": 3 * pages, **own}
        for type_, model, own in (("text", "chat", {"tokens.input": 5}), ("image", "picture", {}))
        for pages in range(1, 41)
    ])  # fmt: skip
    listed = [row | {"counts.page": None} if row["model"] == "picture" else row for row in listed]
    for charged, shapes in ((card, 2), (card_of(ROUNDED), 41)):
        with simulate(table(listed), Side("now", charged, DAY), by=("model",)) as found:
            assert len(found.comparison.roll_up.shapes) == shapes
            check(found, listed)


def test_a_candidate_that_charges_no_tokens(card: RateCard) -> None:
    """What the current prices refuse for want of tokens has a price where only pages are charged."""
    listed = flat([
        *({"type": "text", "model": "ocr", "counts.page": pages} for pages in (5, 7)),
        {"type": "text", "model": "chat", "prompt_tokens": 0, "completion_tokens": 0, "counts.page": 0},
    ])  # fmt: skip
    tokens = "{charge: t, method: tokens, unit: mtoken, rates: [{tokens: input, rate: 4}, {tokens: output, rate: 4}]}"
    text = TABLES.replace(f"text{HEAD}        charges:\n          - {PAGES}", f"text{HEAD}        charges: [{tokens}]")
    text = text.replace("{usage: {counts: {page: 1000}}, total: 1.5}", "{usage: {prompt_tokens: 1000000}, total: 4}")
    with simulate(table(listed), Side("now", card_of(text), DAY), [Side("then", card, DAY)], by=("model",)) as found:
        shapes = zip(found.comparison.roll_up.shapes, *found.outcomes, strict=True)
        amounts = {each.shape.model: (one.amounts[0], sum(other.amounts)) for each, one, other in shapes}
    assert amounts["ocr"] == (Decimal(0), Decimal("0.0015"))


def test_kept_roll_ups_answer_alike(tmp_path: Path) -> None:
    """With the counts of models that charge them linearly as sums, and those of others as they are."""
    random = Random(2)  # noqa: S311
    cards = [random_counting_card(random) for _ in range(2)]
    now, then = (Side(name, card) for name, card in zip(("now", "then"), cards, strict=True))
    listed = random_counting_rows(cards[0], random, 80)
    pyarrow.parquet.write_table(counted_table(listed), tmp_path / "usage.parquet")
    rollup(tmp_path / "usage.parquet", tmp_path / "kept", now, [then], by=["model", "day"])
    assert same_or_refused(tmp_path / "kept", tmp_path / "usage.parquet", now, [then], by=["model", "day"])
    assert same_or_refused(tmp_path / "kept", tmp_path / "usage.parquet", now, [then], by=["model"])


def test_a_kept_roll_up_says_which_counts_it_adds(card: RateCard, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(table(rows()), tmp_path / "usage.parquet")
    linear, rounded = Side("linear", card, DAY), Side("rounded", card_of(ROUNDED), DAY)
    for made, other, words in (
        (linear, rounded, "does not distinguish counts.page of each request of chat."),
        (rounded, linear, "keeps counts.page of each request of chat apart, which are to be added up."),
    ):
        kept = tmp_path / made.label
        rollup(tmp_path / "usage.parquet", kept, made, by=["model"])
        assert same_or_refused(kept, tmp_path / "usage.parquet", made, by=["model"])
        with pytest.raises(SimulationError, match=words):
            simulate(kept, other, by=["model"])
    # A manifest from the time when each count was part of the shape.
    manifest = tmp_path / "linear" / "manifest.json"
    said = json.loads(manifest.read_text())
    for layout in said["distinguished"]["layouts"].values():
        layout[0] += layout.pop()
    manifest.write_text(json.dumps(said))
    with pytest.raises(SimulationError, match=r"does not distinguish counts\.page of type text, .* This one would: "):
        simulate(tmp_path / "linear", linear, by=["model"])
