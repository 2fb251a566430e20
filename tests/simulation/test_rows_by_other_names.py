"""Rows that name a model by an alias, by what an open pattern matches, or with a `:` in its name."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from candidate_files import candidate

from ratecard import QuoteError, RateCard
from ratecard.base.errors import SimulationError
from ratecard.load.folder import tables_from
from ratecard.review.sides import Side
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.tornado_page import tornado
from ratecard.simulation.simulate import simulate
from ratecard.whatif.view import revenue_by_family
from shipped import few_models
from token_tables import by_tokens, family, text_model

CARD = few_models("openai-gpt-56-sol-pro", "claude-opus-4-6", "text-embedding-bge-m3", "tts-kokoro", of_each=0)
RATES = """
- {tokens: [input, output], rate: 1}
- {tokens: input, weekdays: [thu], zone: UTC, rate: 2}
"""
ALIASES = 'aliases: [llama3, "llama3:latest"]\npatterns: ["llama3-20*"]'
TABLE = family(text_model("llama3:8b", by_tokens(RATES), further=ALIASES))
MOMENT = datetime(2026, 10, 2, tzinfo=UTC)
NAMES = ("llama3:8b", "llama3", "llama3:latest", "llama3-2024-10", "llama4")


@pytest.fixture(scope="module")
def prices() -> RateCard:
    return RateCard(tables_from({"names.yaml": b"patterns: true\n", "models.yaml": TABLE.encode()}))._unproved


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


SUFFIXES = ("", ":", ":&", ":&enable_web_search=off", ":enable_web_search=off:", ":=", "::", ": ")


@pytest.mark.parametrize(
    ("type_", "model"),
    [("text", "openai-gpt-56-sol-pro"), ("embedding", "text-embedding-bge-m3"), ("speech", "tts-kokoro")],
)
def test_each_row_of_a_name_with_odd_parameters_costs_what_its_request_costs(type_: str, model: str) -> None:
    """Whatever is behind the name: another row of it, another day or another count does not decide what a row costs."""
    days = [datetime(2026, month, 10, tzinfo=UTC) for month in (1, 8, 10)]
    tokens = [(1_000, 0, None), (300_000, 0, None), (1_000, 9_000, None), (1_000, 0, 500)]
    rows: list[dict[str, Any]] = [
        {
            "type": type_, "model": model + suffix, "timestamp": day, "characters": prompt, "prompt_tokens": prompt,
            "cached_tokens": cached, "completion_tokens": 1 if type_ == "text" else None,
            "web_search_requests": searches,
        }
        for suffix in SUFFIXES for day in days for prompt, cached, searches in tokens
    ]  # fmt: skip
    expected: dict[str, Decimal] = {}
    for at, row in enumerate(rows):
        counts: dict[str, Any] = {"prompt_tokens": row["prompt_tokens"]}
        counts |= {"prompt_tokens_details": {"cached_tokens": row["cached_tokens"]}}
        counts |= {"completion_tokens": 1} if type_ == "text" else {}
        usage: dict[str, Any] = {"type": type_, "model": row["model"]}
        usage |= {"characters": row["characters"]} if type_ == "speech" else {"usage": counts}
        usage |= {"web_search_requests": 500} if row["web_search_requests"] and type_ == "text" else {}
        with suppress(QuoteError):
            expected[str(at)] = CARD.at(row["timestamp"]).rate(usage).total
    numbered = [row | {"row": str(at)} for at, row in enumerate(rows)]
    with simulate(pyarrow.Table.from_pylist(numbered), CARD, by=("row",)) as found:
        assert {group.key[0]: group.amounts[0] for group in found.groups} == expected
        assert sum(each.rows for each in found.unpriced) == len(rows) - len(expected)


def test_rows_of_a_name_with_odd_parameters_take_the_prices_of_another_model() -> None:
    old, new = "openai-gpt-56-sol-pro", "claude-opus-4-6"
    at, million = datetime(2026, 10, 20, tzinfo=UTC), 1_000_000
    rows = [
        {"type": "text", "model": old + suffix, "prompt_tokens": million, "completion_tokens": 0, "row": suffix}
        for suffix in ("", ":", ":&", ":&enable_web_search=off", ":enable_web_search=off")
    ]
    sides = [Side(name, CARD, at) for name in ("now", "then")]
    with simulate(pyarrow.Table.from_pylist(rows), sides[0], sides[1:], by=("row",), remap={old: new}) as found:
        usage = {"type": "text", "usage": {"prompt_tokens": million, "completion_tokens": 0}}
        expected = tuple(CARD.at(at).rate(usage | {"model": name}).total for name in (old, new))
        assert {group.key[0]: group.amounts for group in found.groups} == {row["row"]: expected for row in rows}
        assert expected[0] != expected[1]


def of_each_name(names: Sequence[str] = NAMES[:4]) -> pyarrow.Table:
    """A row of a million tokens for each name, at $1."""
    row = {"type": "text", "prompt_tokens": 1_000_000, "completion_tokens": 0}
    return pyarrow.Table.from_pylist([row | {"model": name, "timestamp": MOMENT} for name in names])


@pytest.mark.parametrize("group", ["llama3:8b", "made-up", "text"])
def test_volumes_and_elasticities_are_of_rows_by_any_name(prices: RateCard, tmp_path: Path, group: str) -> None:
    dearer = candidate(tmp_path, "{scale: {type: text}, factor: 2}", day="2026-09-01")
    with simulate(of_each_name(), Side("now", prices), dearer, by=("model",)) as found:
        assert found.expected(volumes={group: "-50%"}).total.revenues == (Fraction(2), Fraction(4))
        assert found.expected({group: "-0.5"}).total.revenues == (Fraction(4), Fraction(4))
    with simulate(of_each_name(["llama3"]), Side("now", prices), dearer, by=("model",)) as found:
        assert found.expected(volumes={group: "-50%"}).total.revenues == (Fraction(1, 2), Fraction(1))
        assert len(found.attribution().untouched) == 1  # the rate of Thursdays


def test_costs_and_families_are_of_rows_by_any_name(prices: RateCard, tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text("model,unit,cost\nllama3:8b,mtoken,0.25\n")
    with simulate(of_each_name(), Side("now", prices), by=("model",), costs=tmp_path / "costs.csv") as found:
        assert found.margin().total.costs == (Decimal(1),)
        assert [(swing.family, swing.revenue) for swing in tornado(found, Fraction(1, 2))] == [("made-up", Decimal(4))]
        assert "made-up" in str(revenue_by_family(Report(found)).data)


def test_rows_by_any_name_take_the_prices_of_another_model() -> None:
    models = (text_model(name, by_tokens(f"- {{tokens: [input, output], rate: {rate}}}"), further=further)
              for name, rate, further in (("old", 1, "aliases: [older]"), ("new", 3, "")))  # fmt: skip
    card = RateCard(tables_from({"models.yaml": family(*models).encode()}))._unproved
    sides = [Side(name, card) for name in ("now", "then")]
    for names in (["old", "older"], ["older"]):
        with simulate(of_each_name(names), sides[0], sides[1:], by=("model",), remap={"old": "new"}) as found:
            assert {group.key[0]: group.amounts for group in found.groups} == dict.fromkeys(
                names, (Decimal(1), Decimal(3))
            )


def test_a_candidate_of_a_model_has_the_days_of_rows_by_its_other_names(prices: RateCard, tmp_path: Path) -> None:
    later = candidate(tmp_path, "{scale: {type: text}, factor: 2}", day="2026-11-01")
    with pytest.raises(SimulationError, match="its rates hold from 2026-11-01 on"):
        simulate(of_each_name(["llama3"]), Side("now", prices), later, by=("model",))
