"""`ratecard import models.dev`: a small file of the form that its schema documents."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ratecard
from ratecard.cli import main
from ratecard.price_lists.models_dev import read_models, read_models_dev

FILE = """{
  "openai": {
    "id": "openai", "env": ["KEY"], "npm": "@ai-sdk/openai", "name": "OpenAI", "doc": "https://example.com/docs",
    "models": {
      "gpt-x": {
        "id": "gpt-x", "name": "GPT X", "reasoning": true, "limit": {"context": 400000, "output": 1000},
        "cost": {
          "input": 5, "output": 30, "cache_read": 0.5,
          "tiers": [{"input": 10, "output": 45, "cache_read": 1, "tier": {"type": "context", "size": 272000}}],
          "context_over_200k": {"input": 10, "output": 45, "cache_read": 1}
        }
      },
      "old-x": {
        "id": "old-x", "name": "Old X",
        "cost": {"input": 1.25, "output": 10, "context_over_200k": {"input": 2.5, "output": 15}}
      },
      "voice-x": {
        "id": "voice-x", "name": "Voice X",
        "cost": {
          "input": 0.6, "output": 2.4, "input_audio": 10, "output_audio": 20, "reasoning": 3, "cache_write": 0.75
        }
      },
      "silent-x": {"id": "silent-x", "name": "Silent X"},
      "new-x": {"id": "new-x", "name": "New X", "cost": {"input": 1, "output": 1, "input_smell": 4}},
      "kind-x": {"id": "kind-x", "name": "Kind X", "cost": {"input": 1, "output": 1, "tiers": [7]}},
      "half-x": {"id": "half-x", "name": "Half X", "cost": {"input": 1}},
      "modes-x": {
        "id": "modes-x", "name": "Modes X", "cost": {"input": 1, "output": 1},
        "experimental": {"modes": {"fast": {"cost": {"input": 2, "output": 2}}}}
      },
      "tier-x": {
        "id": "tier-x", "name": "Tier X",
        "cost": {
          "input": 1, "output": 1, "tiers": [{"input": 2, "output": 2, "tier": {"type": "output", "size": 9000}}]
        }
      },
      "lack-x": {
        "id": "lack-x", "name": "Lack X",
        "cost": {"input": 1, "output": 1, "cache_read": 0.1, "context_over_200k": {"input": 2, "output": 2}}
      }
    }
  }
}"""
DAY = date(2026, 10, 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models_dev")


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    (folder / "api.json").write_text(FILE, encoding="utf-8")
    words = ["import", "models.dev", str(folder / "api.json"), "--out", str(folder / "market"), "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_is_left_out_has_a_reason(report: dict[str, Any]) -> None:
    assert {each["model"]: each["reason"] for each in report["left_out"]} == {
        "openai/new-x": "the key input_smell of its cost is not known",
        "openai/kind-x": "a value of it is not of the kind that its key has",
        "openai/half-x": "has no price of the input, or of the output",
        "openai/modes-x": "has prices by mode, which requests do not state",
        "openai/tier-x": "has a tier that depends on something other than the context",
        "openai/lack-x": "has a tier that prices other tokens than the first tier",
    }
    assert report["without_price"] == ["openai/silent-x"]
    assert report["added"] == {"models": 3, "versions": 3, "retired": 0}


@pytest.mark.parametrize(
    ("model", "tokens", "millionths"),
    [
        ("openai/gpt-x", {"input": 272_000, "output": 1}, "1360030"),
        ("openai/gpt-x", {"input": 272_001, "output": 1}, "2720055"),
        ("openai/gpt-x", {"input": 100, "cache_input": 60, "output": 0}, "230"),
        ("openai/old-x", {"input": 200_000, "output": 1}, "250010"),
        ("openai/old-x", {"input": 200_001, "output": 1}, "500017.5"),
        ("openai/voice-x", {"input": 10, "input_audio": 4, "output": 10, "output_audio": 5}, "155.6"),
        ("openai/voice-x", {"input": 10, "cache_write": 4, "output": 10, "output_reasoning": 5}, "33.6"),
    ],
)
def test_a_usage(folder: Path, report: object, model: str, tokens: dict[str, int], millionths: str) -> None:
    card = ratecard.load_rate_card(folder / "market")
    card.prove_all()
    assert card.at(DAY).rate({"model": model, "tokens": tokens}).total * 1_000_000 == Decimal(millionths)


def test_tokens_without_a_price_are_refused(folder: Path, report: object) -> None:
    prices = ratecard.load_rate_card(folder / "market").at(DAY)
    with pytest.raises(ratecard.QuoteError, match="No price is known for cache_input tokens"):
        prices.rate({"model": "openai/old-x", "tokens": {"input": 9, "cache_input": 4, "output": 0}})


def tier(size: object, **prices: object) -> dict[str, Any]:
    return {"input": 2, "output": 2, **prices, "tier": {"type": "context", "size": size}}


@pytest.mark.parametrize(
    ("cost", "reason"),
    [
        ({"tiers": [tier(999)]}, "has a tier of 999 tokens, which is not understood"),
        ({"tiers": [tier(Decimal("1000.5"))]}, "1000.5 is not a number of tokens"),
        ({"tiers": [tier(Decimal("1E+999999"))]}, "1E+999999 is not a number of tokens"),
        ({"tiers": [tier(2000), tier(2000)]}, "has a tier of 2000 tokens, which is not understood"),
        ({"tiers": [tier("2000")]}, "2000 is not a number of tokens"),
        ({"tiers": [tier(2000) | {"tier": {"type": "context", "size": 2000, "from": 1}}]}, "has a tier that depends"),
        ({"tiers": [tier(2000, input_smell=1)]}, "the key input_smell of its cost is not known"),
        ({"tiers": [tier(2000, reasoning=1)]}, "has a tier that prices other tokens than the first tier"),
        ({"tiers": [tier(2000), tier(3000, cache_read=1)]}, "has a tier that prices other tokens than the first tier"),
        ({"context_over_200k": {"input": 2}}, "has no price of the input, or of the output"),
        ({"input": -1}, "the value of input is not a price"),
        ({"input": "1"}, "the value of input is not a price"),
    ],
)
def test_a_tier_that_is_not_understood_is_left_out(cost: dict[str, Any], reason: str) -> None:
    listed = read_models({"acme": {"models": {"m": {"cost": as_read({"input": 1, "output": 1} | cost)}}}}, "models.dev")
    assert listed.models == ()
    assert [str(each)[: len(reason)] for each in listed.left_out] == [reason]


def test_tiers_are_read_in_any_order_and_the_older_way_beside_them_is_not() -> None:
    older = {"input": 9, "output": 9}
    cost = {"input": 1, "output": 1, "tiers": [tier(3000, input=4), tier(1000)], "context_over_200k": older}
    [model] = read_models({"acme": {"models": {"m": {"cost": as_read(cost)}}}}, "models.dev").models
    rates = [(rate.tokens, rate.above, int(rate.amount)) for rate in model.versions[0].charges[0].rates]
    assert rates == [("input", None, 1), ("output", None, 1), ("input", 1000, 2), ("output", 1000, 2),
                     ("input", 3000, 4), ("output", 3000, 2)]  # fmt: skip


def as_read(value: Any) -> Any:
    """Numbers as they are read from JSON."""
    if isinstance(value, dict):
        return {name: as_read(part) for name, part in value.items()}
    if isinstance(value, list):
        return [as_read(part) for part in value]
    return Decimal(value) if isinstance(value, int) else value


@pytest.mark.parametrize("models", ["", '"models": null', '"models": []'])
def test_a_provider_without_models_is_refused(models: str, tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(f'{{"openai": {{{models}}}}}', encoding="utf-8")
    with pytest.raises(ratecard.RateCardError, match="openai has no object of models"):
        read_models_dev(tmp_path / "api.json")


@pytest.mark.parametrize("name", ["5", "true", '["x"]', "null"])
def test_a_name_that_is_not_text_is_that_of_the_id(name: str, tmp_path: Path) -> None:
    model = f'{{"name": {name}, "cost": {{"input": 1, "output": 2}}}}'
    (tmp_path / "api.json").write_text(f'{{"p": {{"models": {{"m": {model}}}}}}}', encoding="utf-8")
    done = CliRunner().invoke(main, ["import", "models.dev", str(tmp_path / "api.json"), "--out", str(tmp_path / "x")])
    assert done.exit_code == 0, done.output
    assert ratecard.load_rate_card(tmp_path / "x").models["p/m"].name == "m"
