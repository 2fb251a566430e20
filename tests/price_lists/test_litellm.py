"""`ratecard import litellm`: what its keys become, edge by edge, and what is left out."""

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import ratecard
from ratecard.cli import main

# Numbers are written as text, so that no float touches them here either.
ENTRIES = """{
  "sample_spec": {"litellm_provider": "one of many", "input_cost_per_token": 0.0},
  "gpt-x": {
    "litellm_provider": "openai", "mode": "chat", "supports_vision": true, "max_input_tokens": 1000000,
    "input_cost_per_token": 2e-06, "output_cost_per_token": 1e-05, "cache_read_input_token_cost": 2e-07,
    "input_cost_per_token_above_200k_tokens": 4e-06, "cache_read_input_token_cost_above_200k_tokens": 4e-07,
    "input_cost_per_token_priority": 3e-06, "output_cost_per_token_priority": 2e-05,
    "input_cost_per_token_batches": 1e-06, "cache_read_input_token_cost_batches": 1e-07,
    "regional_processing_uplift_multiplier_eu": 1.1,
    "search_context_cost_per_query":
      {"search_context_size_low": 0.01, "search_context_size_medium": 0.02, "search_context_size_high": 0.03}
  },
  "openai/gpt-x": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 7e-06},
  "xai/grok-x": {
    "litellm_provider": "xai", "input_cost_per_token": 1e-06, "input_cost_per_token_above_128k_tokens": 2e-06,
    "output_cost_per_token": 3e-06
  },
  "anthropic.claude-x": {
    "litellm_provider": "bedrock", "input_cost_per_token": 1e-06, "output_cost_per_token": 5e-06,
    "cache_creation_input_token_cost": 1.25e-06, "cache_creation_input_token_cost_above_1hr": 2e-06,
    "input_cost_per_audio_token": 4e-06, "output_cost_per_reasoning_token": 6e-06,
    "provider_specific_entry": {"us": 1.1, "bedrock_invocation_schema": "x"}
  },
  "lasting-x": {
    "litellm_provider": "anthropic", "input_cost_per_token": 1e-06, "output_cost_per_token": 0.0,
    "cache_creation_input_token_cost": 2e-06, "cache_creation_input_token_cost_above_1hr": 3e-06,
    "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 5e-06,
    "input_cost_per_token_batches": 5e-07, "cache_creation_input_token_cost_batches": 1e-06
  },
  "hurried-lasting-x": {
    "litellm_provider": "anthropic", "input_cost_per_token": 1e-06, "input_cost_per_token_priority": 4e-06,
    "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 5e-06
  },
  "dashscope/qwen-x": {
    "litellm_provider": "dashscope", "tiered_pricing": [
      {"range": [0, 32000.0], "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
      {"range": [32000.0, 1000000.0], "input_cost_per_token": 3e-06, "output_cost_per_token": 4e-06}
    ]
  },
  "paint-x": {
    "litellm_provider": "openai", "mode": "image_generation", "input_cost_per_token": 5e-06,
    "input_cost_per_token_batches": 2.5e-06, "output_cost_per_image_token": 4e-05
  },
  "sora-x": {
    "litellm_provider": "openai", "mode": "video_generation",
    "output_cost_per_second": 0.1, "output_cost_per_second_1080p": 0.3
  },
  "whisper-x": {
    "litellm_provider": "openai", "mode": "audio_transcription",
    "input_cost_per_second": 0.0001, "output_cost_per_second": 0.0
  },
  "dall-x": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_image": 0.04},
  "ocr-x": {"litellm_provider": "mistral", "ocr_cost_per_page": 0.002, "ocr_cost_per_page_batches": 0.001},
  "free-x": {"litellm_provider": "ollama", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
  "listen-x": {
    "litellm_provider": "acme", "input_cost_per_audio_token": 3e-06, "output_cost_per_token": 5e-06
  },
  "hurried-x": {
    "litellm_provider": "acme", "input_cost_per_token_priority": 2e-06, "output_cost_per_token_priority": 4e-06
  },
  "silent-x": {"litellm_provider": "ollama", "mode": "chat"},
  "new-x": {"litellm_provider": "acme", "input_cost_per_token": 1e-06, "input_cost_per_thought": 1e-06},
  "kind-x": {"litellm_provider": "acme", "input_cost_per_token": 1e-06, "search_context_cost_per_query": 3},
  "minus-x": {"litellm_provider": "acme", "input_cost_per_token": -1e-06},
  "midnight-x": {
    "litellm_provider": "acme", "input_cost_per_token": 2e-06,
    "off_peak_pricing": {"input_cost_per_token": 1e-06, "windows": [{"hours_utc": "16:30-00:30"}]}
  },
  "results-x": {"litellm_provider": "acme", "tiered_pricing": [{"input_cost_per_query": 0.01}]},
  "noise-x": {"litellm_provider": "acme", "input_cost_per_token": 1.0000000000000001e-07}
}"""
DAY = date(2026, 10, 1)


def imported(file: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["import", "litellm", str(file), "--out", str(file.parent / "market"), *words])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("litellm") / "prices.json"
    found.write_text(ENTRIES, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def report(file: Path) -> dict[str, Any]:
    done = imported(file, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def prices(file: Path, report: Mapping[str, Any]) -> ratecard.PriceBook:
    card = ratecard.load_rate_card(file.parent / "market")
    card.prove_all()
    return card.at(DAY)


def test_what_is_left_out_has_a_reason(report: Mapping[str, Any]) -> None:
    assert {each["model"]: each["reason"] for each in report["left_out"]} == {
        "acme/new-x": "the key input_cost_per_thought is not known",
        "acme/kind-x": "a value of it is not of the kind that its key has",
        "acme/minus-x": "the value of input_cost_per_token is not a price",
        "acme/midnight-x": "has prices of some hours of the day",
        "anthropic/hurried-lasting-x": (
            "has prices of long prompts that are written for an hour, and of service tiers"
        ),
        "acme/results-x": "its prices depend on the number of results",
        "acme/noise-x": "its rates have the noise of a float (0.10000000000000001 for 0.1)",
    }
    assert report["without_price"] == ["one of many/sample_spec", "ollama/silent-x"]
    assert report["added"] == {"models": 14, "versions": 14, "retired": 0}


# (model, usage, amount in millionths of a dollar)
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("openai/gpt-x", {"tokens": {"input": 200_000, "output": 10}}, "400100"),
    ("openai/gpt-x", {"tokens": {"input": 200_001, "output": 10}}, "800104"),
    ("openai/gpt-x", {"tokens": {"input": 200_001, "cache_input": 200_000}}, "80004"),
    # A tier without a price of its own above 200,000 tokens has the standard price there.
    ("openai/gpt-x", {"tokens": {"input": 200_000, "output": 1}, "service_tier": "priority"}, "600020"),
    ("openai/gpt-x", {"tokens": {"input": 200_001, "output": 1}, "service_tier": "fast"}, "800024"),
    # A batch has its own prices only up to the next threshold; its output without a price costs half.
    ("openai/gpt-x", {"tokens": {"input": 200_000, "output": 2}, "service_tier": "batch"}, "200010"),
    (
        "openai/gpt-x",
        {"tokens": {"input": 9, "cache_input": 9}, "service_tier": "batch", "data_residency": "eu"},
        "0.99",
    ),
    ("openai/gpt-x", {"tokens": {"input": 100, "output": 10}, "data_residency": "eu"}, "330"),
    ("openai/gpt-x", {"tokens": {"input": 0}, "counts": {"web_search": 2}}, "40000"),
    ("openai/gpt-x", {"tokens": {"input": 0}, "counts": {"web_search": 2}, "search_context_size": "high"}, "60000"),
    # Two entries have the same name, so the second keeps its whole key.
    ("openai/openai/gpt-x", {"tokens": {"input": 3}}, "21"),
    # Tokens with a price are charged even if other tokens have none.
    ("acme/listen-x", {"tokens": {"input": 10, "input_audio": 10, "output": 2}}, "40"),
    ("acme/hurried-x", {"tokens": {"input": 10, "output": 2}, "service_tier": "priority"}, "28"),
    # For xAI, a prompt of exactly the threshold has the higher price.
    ("xai/grok-x", {"tokens": {"input": 127_999}}, "127999"),
    ("xai/grok-x", {"tokens": {"input": 128_000}}, "256000"),
    # Without a price, the cache costs what input costs; writing for an hour has its own price.
    ("bedrock/anthropic.claude-x", {"tokens": {"input": 100, "cache_input": 60}}, "100"),
    ("bedrock/anthropic.claude-x", {"tokens": {"input": 100, "cache_write": 60, "cache_write_1h": 20}}, "130"),
    ("bedrock/anthropic.claude-x", {"tokens": {"input": 100, "input_audio": 50, "input_image": 10}}, "250"),
    ("bedrock/anthropic.claude-x", {"tokens": {"input": 0, "output": 9, "output_reasoning": 4}}, "49"),
    ("bedrock/anthropic.claude-x", {"tokens": {"input": 100}, "inference_geo": "us"}, "110"),
    # Writing for an hour has its own price, for long prompts too.
    (
        "anthropic/lasting-x",
        {"tokens": {"input": 200_000, "cache_write": 200_000, "cache_write_1h": 200_000}},
        "600000",
    ),
    (
        "anthropic/lasting-x",
        {"tokens": {"input": 200_001, "cache_write": 200_001, "cache_write_1h": 200_001}},
        "1000005",
    ),
    ("anthropic/lasting-x", {"tokens": {"input": 9, "cache_write": 9}, "service_tier": "batch"}, "9"),
    # If only images have a price of output, other output has that price too, but not in a batch.
    ("openai/paint-x", {"tokens": {"input": 10, "output": 10}}, "450"),
    ("openai/paint-x", {"tokens": {"input": 10, "output": 10, "output_image": 10}, "service_tier": "batch"}, "225"),
    ("dashscope/qwen-x", {"tokens": {"input": 32_000, "output": 1}}, "32002"),
    ("dashscope/qwen-x", {"tokens": {"input": 32_001, "output": 1}}, "96007"),
    ("openai/sora-x", {"counts": {"video_second": 5}}, "500000"),
    ("openai/sora-x", {"counts": {"video_second": 5}, "resolution": "1080p"}, "1500000"),
    ("openai/whisper-x", {"counts": {"second": Decimal("61.5")}}, "6150"),
    ("openai/dall-x", {"counts": {"image": 2}}, "80000"),
    ("mistral/ocr-x", {"counts": {"page": 3}}, "6000"),
    ("mistral/ocr-x", {"counts": {"page": 3}, "service_tier": "batch"}, "3000"),
    ("ollama/free-x", {"tokens": {"input": 5, "output": 5}}, "0"),
]


@pytest.mark.parametrize(("model", "usage", "millionths"), CASES)
def test_a_usage(prices: ratecard.PriceBook, model: str, usage: dict[str, Any], millionths: str) -> None:
    if "tokens" in usage:
        usage = {**usage, "tokens": {"output": 0, **usage["tokens"]}}
    assert prices.rate({"model": model, **usage}).total * 1_000_000 == Decimal(millionths)


@pytest.mark.parametrize(
    ("model", "bucket"),
    [("openai/openai/gpt-x", "output"), ("acme/listen-x", "input"), ("acme/hurried-x", "input")],
)
def test_tokens_without_a_price_are_refused(prices: ratecard.PriceBook, model: str, bucket: str) -> None:
    with pytest.raises(ratecard.QuoteError, match=f"No price is known for {bucket} tokens of this model"):
        prices.rate({"model": model, "tokens": {"input": 0, "output": 0} | {bucket: 1}})


@pytest.mark.parametrize(
    ("model", "tokens", "bucket"),
    [
        ("openai/gpt-x", {"input": 200_001}, "input"),
        ("anthropic/lasting-x", {"input": 9, "cache_write": 9, "cache_write_1h": 9}, "cache_write_1h"),
        ("openai/paint-x", {"input": 10, "output": 10, "output_image": 9}, "output"),
    ],
)
def test_what_a_batch_costs_is_refused_where_the_list_does_not_say_it(
    prices: ratecard.PriceBook, model: str, tokens: dict[str, int], bucket: str
) -> None:
    usage = {"model": model, "tokens": {"output": 0, **tokens}}
    assert prices.rate(usage).total
    with pytest.raises(ratecard.QuoteError, match=f"{bucket} tokens under these conditions"):
        prices.rate({**usage, "service_tier": "batch"})


def test_a_condition_that_an_entry_does_not_price_is_refused(prices: ratecard.PriceBook) -> None:
    with pytest.raises(ratecard.QuoteError, match="service_tier"):
        prices.rate({"model": "xai/grok-x", "tokens": {"input": 1, "output": 1}, "service_tier": "batch"})


def test_again_only_what_changed_is_added(file: Path, report: Mapping[str, Any], tmp_path: Path) -> None:
    again = tmp_path / "prices.json"
    again.write_text(ENTRIES, encoding="utf-8")
    assert imported(again).exit_code == 0
    assert "nothing has changed" in imported(again).stdout
    again.write_text(ENTRIES.replace('2e-06, "output_cost_per_token": 1e-05', '1e-06, "output_cost_per_token": 1e-05'))
    done = imported(again, "--effective", "2026-12-01", "--json")
    assert json.loads(done.stdout)["added"] == {"models": 0, "versions": 1, "retired": 0}
    card = ratecard.load_rate_card(tmp_path / "market")
    usage = {"model": "openai/gpt-x", "tokens": {"input": 1_000_000, "output": 0}}
    assert card.at(date(2026, 11, 30)).rate(usage).total == card.at(date(2026, 12, 1)).rate(usage).total == 4
    usage["tokens"] = {"input": 100_000, "output": 0}
    assert card.at(date(2026, 11, 30)).rate(usage).total == Decimal("0.2")
    assert card.at(date(2026, 12, 1)).rate(usage).total == Decimal("0.1")


def test_strict_fails_where_something_is_left_out(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "prices.json"
    other.write_text(ENTRIES, encoding="utf-8")
    assert imported(other, "--strict").exit_code == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "it must hold an object for each name"),
        ('{"a": 1}', "it must hold an object for each name"),
        ("{", "is not a price list of litellm"),
        ('{"a": {"b": 1, "b": 2}}', "it has the key 'b' twice; keep one"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(content, encoding="utf-8")
    done = imported(path)
    assert done.exit_code == 1
    assert words in done.stderr
    assert not (tmp_path / "market").exists()
