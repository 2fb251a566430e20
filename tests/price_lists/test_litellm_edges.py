"""`ratecard import litellm`, key by key: what is easily misread costs what its formula says, or is left out."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ratecard import QuoteError, RateCard, load_rate_card
from ratecard.price_lists.litellm import listed_entries
from ratecard.price_lists.peer import LeftOut
from ratecard.price_lists.write import import_list

IN, OUT, READ = "input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost"
WRITE, REASONING = "cache_creation_input_token_cost", "output_cost_per_reasoning_token"
AUDIO, IMAGE = "input_cost_per_audio_token", "output_cost_per_image_token"
PLAIN = {IN: 1, OUT: 2}


def ranges(*tiers: Mapping[str, Any]) -> dict[str, Any]:
    edges = [0, 1000, 5000, 9000]
    return {"tiered_pricing": [{"range": edges[number : number + 2], **tier} for number, tier in enumerate(tiers)]}


# The keys of each model; prices are millionths of a dollar per token.
ENTRIES: dict[str, dict[str, Any]] = {
    "without-k": PLAIN | {f"{IN}_above_200000_tokens": 3, f"{OUT}_above_200000_tokens": 5},
    "with-k": PLAIN | {f"{IN}_above_200k_tokens": 3, f"{OUT}_above_200k_tokens": 5},
    "odd-edge": PLAIN | {f"{IN}_above_1234_tokens": 3},
    "both-alike": PLAIN | {f"{IN}_above_200000_tokens": 3, f"{IN}_above_200k_tokens": 3},
    "two-edges": PLAIN | {f"{IN}_above_1k_tokens": 3, f"{IN}_above_2k_tokens": 4, f"{OUT}_above_2k_tokens": 9},
    "falling": PLAIN | {f"{IN}_above_2k_tokens": 4, f"{IN}_above_1k_tokens": 3},
    "read-above": PLAIN | {READ: 0, f"{READ}_above_1k_tokens": 7},
    "write-above": PLAIN | {WRITE: 3, f"{WRITE}_above_1k_tokens": 7, f"{WRITE}_above_1hr": 5},
    "tier-above": PLAIN | {f"{IN}_priority": 2, f"{IN}_above_1k_tokens": 3, f"{IN}_above_1k_tokens_priority": 6},
    "ranges": ranges({IN: 1, OUT: 2}, {IN: 3, OUT: 4}, {IN: 5, OUT: 6}),
    "output-beside": {OUT: 9} | ranges({IN: 1}, {IN: 3}),
    "reasoning": PLAIN | {REASONING: 7},
    "reasoning-priority": PLAIN | {f"{OUT}_priority": 4, REASONING: 7, f"{IN}_priority": 3},
    "batches": PLAIN | {f"{IN}_batches": 0.5, READ: 0.25},
    "audio-priority": PLAIN | {AUDIO: 3, f"{AUDIO}_priority": 6, f"{IN}_priority": 2},
    "batch-output": {IN: 2, OUT: 4, READ: 1, f"{OUT}_batches": 1},
    "batch-images": {IN: 2, OUT: 4, IMAGE: 30, f"{IN}_batches": 1},
    "batch-above": {IN: 2, OUT: 4, f"{IN}_batches": 1, f"{IN}_above_1k_tokens_batches": 3},
    "made-of-images": {"mode": "image_generation", "input_cost_per_image": 100, "output_cost_per_image": 300},
    "made": {"mode": "image_generation", "input_cost_per_image": 100},
    "of-regions": PLAIN
    | {"regional_processing_uplift_multiplier_us": 2, "regional_processing_uplift_multiplier_eu": 3},
    "shared": {"litellm_provider": "fireworks_ai", **PLAIN},
}
# (model, usage, millionths of a dollar)
COSTS: list[tuple[str, dict[str, Any], int]] = [
    *((name, {"input": prompt, "output": 10}, prompt * of[0] + 10 * of[1])
      for name in ("without-k", "with-k") for prompt, of in ((200_000, (1, 2)), (200_001, (3, 5)))),
    ("odd-edge", {"input": 1234, "output": 1}, 1234 + 2),
    ("odd-edge", {"input": 1235, "output": 1}, 1235 * 3 + 2),
    ("both-alike", {"input": 200_001, "output": 0}, 600_003),
    *((name, {"input": prompt, "output": 1}, cost) for name, last in (("two-edges", 9), ("falling", 2))
      for prompt, cost in ((1000, 1002), (1001, 3005), (2000, 6002), (2001, 8004 + last))),
    ("read-above", {"input": 1000, "cache_input": 600, "output": 0}, 400),
    ("read-above", {"input": 1001, "cache_input": 600, "output": 0}, 401 + 4200),
    ("write-above", {"input": 1000, "cache_write": 600, "cache_write_1h": 100, "output": 0}, 400 + 1500 + 500),
    ("write-above", {"input": 1001, "cache_write": 600, "cache_write_1h": 100, "output": 0}, 401 + 3500 + 500),
    ("tier-above", {"input": 1001, "output": 1}, 3003 + 2),
    ("tier-above", {"input": 1000, "output": 1, "service_tier": "priority"}, 2000 + 2),
    ("tier-above", {"input": 1001, "output": 1, "service_tier": "priority"}, 6006 + 2),
    *(("ranges", {"input": prompt, "output": 10}, prompt * of[0] + 10 * of[1])
      for prompts, of in (((1, 1000), (1, 2)), ((1001, 5000), (3, 4)), ((5001, 99_999), (5, 6))) for prompt in prompts),
    ("output-beside", {"input": 1001, "output": 10}, 3003 + 90),
    ("reasoning", {"input": 0, "output": 10, "output_reasoning": 4}, 12 + 28),
    ("reasoning-priority", {"input": 0, "output": 10, "output_reasoning": 4, "service_tier": "priority"}, 40),
    ("batches", {"input": 100, "cache_input": 40, "output": 10, "service_tier": "batch"}, 50 + 10),
    ("audio-priority", {"input": 10, "input_audio": 4, "output": 0}, 6 + 12),
    ("audio-priority", {"input": 10, "input_audio": 4, "output": 0, "service_tier": "priority"}, 12 + 24),
    ("batch-output", {"input": 100, "cache_input": 40, "output": 10, "service_tier": "batch"}, 60 + 20 + 10),
    ("batch-images", {"input": 0, "output": 10, "output_image": 4, "service_tier": "batch"}, 12 + 60),
    ("batch-above", {"input": 1000, "output": 10, "service_tier": "batch"}, 1000 + 20),
    ("batch-above", {"input": 1001, "output": 10, "service_tier": "batch"}, 3003 + 20),
    ("made-of-images", {"counts": {"input_image": 2, "image": 1}}, 500),
    ("made", {"counts": {"image": 2}}, 200),
    ("of-regions", {"input": 10, "output": 1, "data_residency": "us"}, 24),
    ("of-regions", {"input": 10, "output": 1, "data_residency": "eu"}, 36),
    ("shared", {"input": 10, "cache_input": 4, "output": 0}, 8),
]  # fmt: skip
LEFT: dict[str, tuple[dict[str, Any], str]] = {
    "two-prices": (
        PLAIN | {f"{IN}_above_200000_tokens": 3, f"{IN}_above_200k_tokens": 4},
        f"the key {IN}_above_200k_tokens has another price than an equivalent key",
    ),
    "tier-first": (
        PLAIN | {f"{IN}_priority_above_200k_tokens": 3},
        f"the key {IN}_priority_above_200k_tokens is not known",
    ),
    "of-a-tier": (PLAIN | {f"{IN}_express": 3}, f"the key {IN}_express is not known"),
    "below": (PLAIN | {f"{IN}_below_200k_tokens": 3}, f"the key {IN}_below_200k_tokens is not known"),
    "above-0": (PLAIN | {f"{IN}_above_0k_tokens": 3}, f"the key {IN}_above_0k_tokens is not known"),
    "part-above": (
        PLAIN | {"input_cost_per_audio_token": 3, "input_cost_per_audio_token_above_1k_tokens": 4},
        "the key input_cost_per_audio_token_above_1k_tokens prices a part of the tokens that has only one price",
    ),
    "part-priority": (
        PLAIN | {"output_cost_per_audio_token_priority": 4},
        "the key output_cost_per_audio_token_priority prices a part of the tokens that has only one price",
    ),
    **{
        f"range-{name}": (ranges(*tiers), reason)
        for name, tiers, reason in (
            ("unknown", ({IN: 1, OUT: 1}, {IN: 1, OUT: 1, "input_cost_per_thought": 1}), "ranges"),
            ("part", ({IN: 1, OUT: 1}, {IN: 1, OUT: 1, "input_cost_per_audio_token": 9}), "ranges"),
            ("gap", ({IN: 1, OUT: 1}, {IN: 1, OUT: 1, "range": [2000, 3000]}), "ranges"),
            ("overlap", ({IN: 1, OUT: 1}, {IN: 1, OUT: 1, "range": [500, 3000]}), "ranges"),
            ("late", ({IN: 1, OUT: 1, "range": [1, 1000]},), "ranges"),
            ("falling", ({IN: 1}, {IN: 2, "range": [1000, 500]}, {IN: 3, "range": [500, 9000]}), "ranges"),
            ("half", ({IN: 1, "range": [0, 0.5]}, {IN: 2, "range": [0.5, 9]}), "0.5 is not a number of tokens"),
            ("endless", ({IN: 1, "range": [0, Decimal("1E+999999")]},), "1E+999999 is not a number of tokens"),
            ("input", ({OUT: 1}, {OUT: 1}), "ranges"),
            ("first", ({IN: 1, OUT: 2, READ: 1}, {IN: 3, OUT: 4}), "ranges"),
            ("second", ({IN: 2, OUT: 2}, {IN: 3, OUT: 4, f"{WRITE}_above_1hr": 8}), "ranges"),
            ("reasoning", ({IN: 1, OUT: 2, REASONING: 3}, {IN: 1, OUT: 2, REASONING: 9}), "only one price"),
        )
    },
    "ranges-and-tiers": (
        ranges({IN: 1, OUT: 1}) | {f"{IN}_priority": 2}, "has tiered_pricing and prices of service tiers"
    ),
    "hours": (
        PLAIN | {"off_peak_pricing": {IN: 1, "windows": [{"hours_utc": "10:00-11:00"}]}},
        "has prices of some hours of the day",
    ),
    "explicit": (
        PLAIN | {READ: 1, "explicit_cache_read_input_token_cost": 2}, "has two prices of reading from the cache"
    ),
    "citations": (PLAIN | {"citation_cost_per_token": 1}, "its prices are of tokens of citations"),
    "free-images": (
        PLAIN | {"input_cost_per_image": 9, "provider_specific_entry": {"minimax_free_input_images": 2}},
        "the key minimax_free_input_images of provider_specific_entry is not known",
    ),
    "hour-and-tiers": (
        PLAIN | {f"{WRITE}_above_1hr_above_1k_tokens": 3, f"{IN}_flex": 1},
        "has prices of long prompts that are written for an hour, and of service tiers",
    ),
    "images-above": ({IN: 1, IMAGE: 30, f"{OUT}_above_1k_tokens": 5}, "no rate for output tokens"),
    "cache-hit": (PLAIN | {READ: 1, "input_cost_per_token_cache_hit": 2}, "input_cost_per_token_cache_hit differs"),
    "batch-only": (PLAIN | {"ocr_cost_per_page_batches": 2}, "has a price of a page in batches only"),
    "page-priority": (PLAIN | {"ocr_cost_per_page_priority": 2}, "ocr_cost_per_page_priority is not a price of tokens"),
    "page-free": (
        PLAIN | {f"{IN}_flex": 1, "ocr_cost_per_page": 2, "ocr_cost_per_page_flex": 0}, "per_page_flex is not a price"
    ),
    "two-seconds": (
        {"input_cost_per_second": 1, "output_cost_per_second": 2}, "has two prices of a second"
    ),
    "sizes-alone": ({"output_cost_per_second_1080p": 1, "mode": "video_generation"}, "prices by size, and none"),
    "size-alone": (
        {"output_cost_per_image": 1, "output_cost_per_image_1K": 2, "output_cost_per_second_720p": 3}, "prices by size"
    ),
    "two-searches": (
        PLAIN | {"search_context_cost_per_query": {"medium": 1, "search_context_size_medium": 2}}, "or two of one"
    ),
    "other-searches": (
        PLAIN | {"search_context_cost_per_query": {"search_context_size_low": 1}}, "has no price of the size medium"
    ),
    "specific": (PLAIN | {"provider_specific_entry": {"eu": 2}}, "the key eu of provider_specific_entry is not known"),
}  # fmt: skip
DAY = date(2026, 10, 5)


def scaled(value: Any, key: str = "") -> Any:
    """An entry as it is read from JSON: its numbers as decimals, its prices in dollars."""
    if isinstance(value, dict):
        return {name: scaled(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [scaled(part) for part in value]
    number = value if isinstance(value, str) else Decimal(str(value))
    return number.scaleb(-6) if "cost" in key and isinstance(number, Decimal) else number


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> tuple[RateCard, dict[str, LeftOut]]:
    folder = tmp_path_factory.mktemp("litellm")
    entries = ENTRIES | {name: entry for name, (entry, _) in LEFT.items()}
    named = {name: {"litellm_provider": "acme", **scaled(entry)} for name, entry in entries.items()}
    report = import_list(listed_entries(named, "litellm edges"), folder / "market", effective=DAY, checked=DAY)
    card = load_rate_card(folder / "market")
    card.prove_all()
    return card, {each.id: each for each in report.left_out}


def rated(card: RateCard, name: str, usage: dict[str, Any]) -> Decimal:
    conditions = {key: value for key, value in usage.items() if isinstance(value, (str, dict))}
    tokens = {key: value for key, value in usage.items() if key not in conditions}
    model = f"{'fireworks_ai' if name == 'shared' else 'acme'}/{name}"
    usage = {"type": "text", "model": model, **({"tokens": tokens} if tokens else {}), **conditions}
    return card.at(DAY).rate(usage).exact * 1_000_000


def test_prices_are_those_of_the_table(market: tuple[RateCard, dict[str, LeftOut]]) -> None:
    assert {name: str(each) for name, each in market[1].items() if name in ENTRIES} == {}


@pytest.mark.parametrize(("name", "usage", "millionths"), COSTS)
def test_a_usage(market: tuple[RateCard, object], name: str, usage: dict[str, Any], millionths: int) -> None:
    assert rated(market[0], name, usage) == millionths


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_understood_is_left_out(market: tuple[RateCard, dict[str, LeftOut]], name: str) -> None:
    card, left_out = market
    assert f"acme/{name}" not in card.tables.models
    assert LEFT[name][1] in str(left_out[name])


@pytest.mark.parametrize(
    ("entry", "usage", "millionths"),
    [
        (PLAIN, {"tokens": {"input": 1_000, "output": 1_000}}, 3_000),
        ({OUT: 9} | ranges({IN: 1}, {IN: 3}), {"tokens": {"input": 1_000, "output": 1_000}}, 10_000),
        ({"input_cost_per_image": 100}, {"counts": {"input_image": 1}}, 100),
    ],
)
def test_an_example_counts_everything_with_a_price(entry: dict[str, Any], usage: object, millionths: int) -> None:
    [model] = listed_entries({"m": {"litellm_provider": "acme", **scaled(entry)}}, "litellm").models
    [example] = model.versions[0].examples
    assert example.usage == usage
    assert example.total * 1_000_000 == millionths


def test_what_has_no_price_is_refused(market: tuple[RateCard, object]) -> None:
    with pytest.raises(QuoteError, match="service_tier"):
        rated(market[0], "with-k", {"input": 1, "output": 1, "service_tier": "priority"})


def test_text_of_the_list_is_one_line_wherever_it_is_written(tmp_path: Path) -> None:
    """Names, keys and notes may hold line endings and halves of characters: no line of the folder is of the list."""
    free = {"count": 5, "period": "month", "shared_group": "g\n          - charge: evil\ud800"}
    searches = {"search_context_cost_per_query": {"medium": 1}, "search_free_requests": free}
    entries = {"note": PLAIN | searches, "a\nb\ud800": PLAIN, "key": PLAIN | {"\ud800\x1b": 1}}
    named = {name: {"litellm_provider": "acme", **scaled(entry)} for name, entry in entries.items()}
    report = import_list(listed_entries(named, "litellm"), tmp_path, effective=DAY, checked=DAY)
    assert {*load_rate_card(tmp_path).tables.models} == {"acme/note"}
    lines = (tmp_path / "left-out.txt").read_text(encoding="utf-8").splitlines()
    assert lines == [
        "acme/key: the key \\ud800\\x1b is not known",
        "acme/a\\nb\\ud800: its name has an invisible character",
    ]
    f"{report}{report.to_dict()}".encode()
