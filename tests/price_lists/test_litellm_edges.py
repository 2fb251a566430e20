"""`ratecard import litellm`, key by key: what is easily misread costs what its formula says, or is left out."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
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


def at_hours(*windows: Mapping[str, Any], **prices: int) -> dict[str, Any]:
    return PLAIN | {"off_peak_pricing": {**(prices or {IN: 5}), "windows": list(windows)}}


# Prices are millionths of a dollar a token. By model: its keys.
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
    "reasoning-first": ranges({IN: 1, OUT: 2, REASONING: 9}, {IN: 3, OUT: 4}),
    "reasoning-second": ranges({IN: 1, OUT: 2}, {IN: 3, OUT: 4, REASONING: 9}),
    "read-second": ranges({IN: 2, OUT: 2}, {IN: 3, OUT: 4, READ: 1}),
    "write-first": ranges({IN: 2, OUT: 2, WRITE: 7}, {IN: 3, OUT: 4}),
    "hour-second": ranges({IN: 2, OUT: 2}, {IN: 3, OUT: 4, f"{WRITE}_above_1hr": 8}),
    "output-beside": {OUT: 9} | ranges({IN: 1}, {IN: 3}),
    "reasoning": PLAIN | {REASONING: 7},
    "reasoning-priority": PLAIN | {f"{OUT}_priority": 4, REASONING: 7, f"{IN}_priority": 3},
    "meet": at_hours({"hours_utc": ["02:00-04:00", "04:00-06:00"]}),
    "apart": at_hours({"hours_utc": "02:00-04:00"}, {"hours_utc": "05:00-06:30"}),
    "to-midnight": at_hours({"hours_utc": "22:00-00:00"}),
    "from-midnight": at_hours({"hours_utc": ["22:00-00:00", "00:00-03:00"]}),
    "overlap": at_hours({"hours_utc": ["10:00-12:00", "11:00-13:00"]}),
    "weekend": at_hours({"hours_utc": "00:00-00:00", "weekdays": [6, 7]}),
    "of-the-output": at_hours({"hours_utc": "02:00-04:00", "weekdays": [1]}, **{OUT: 5}),
    "batches": PLAIN | {f"{IN}_batches": 0.5, READ: 0.25},
    "read-first": ranges({IN: 2, OUT: 2, READ: 1}, {IN: 3, OUT: 4}),
    "audio-priority": PLAIN | {AUDIO: 3, f"{AUDIO}_priority": 6, f"{IN}_priority": 2},
    "batch-output": {IN: 2, OUT: 4, READ: 1, f"{OUT}_batches": 1},
    "batch-images": {IN: 2, OUT: 4, IMAGE: 30, f"{IN}_batches": 1},
    "batch-above": {IN: 2, OUT: 4, f"{IN}_batches": 1, f"{IN}_above_1k_tokens_batches": 3},
    "images-and-pages": PLAIN
    | {
        "input_cost_per_image": 100,
        "ocr_cost_per_page": 10,
        "provider_specific_entry": {"minimax_free_input_images": 2},
    },
    "explicit": {IN: 4, OUT: 4, READ: 1, "explicit_cache_read_input_token_cost": 2},
    "made-of-images": {"mode": "image_generation", "input_cost_per_image": 100, "output_cost_per_image": 300},
    "made": {"mode": "image_generation", "input_cost_per_image": 100},
    "of-regions": PLAIN
    | {"regional_processing_uplift_multiplier_us": 2, "regional_processing_uplift_multiplier_eu": 3},
    "shared": {"litellm_provider": "fireworks_ai", **PLAIN},
    "images": PLAIN | {"input_cost_per_image": 100, "provider_specific_entry": {"minimax_free_input_images": 2}},
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
    ("reasoning-first", {"input": 10, "output": 10, "output_reasoning": 4}, 10 + 12 + 36),
    ("reasoning-first", {"input": 1001, "output": 10, "output_reasoning": 4}, 3003 + 40),
    ("reasoning-second", {"input": 10, "output": 10, "output_reasoning": 4}, 10 + 20),
    ("reasoning-second", {"input": 1001, "output": 10, "output_reasoning": 4}, 3003 + 24 + 36),
    ("read-second", {"input": 10, "cache_input": 4, "output": 0}, 20),
    ("read-second", {"input": 1001, "cache_input": 1, "output": 0}, 3000 + 1),
    ("write-first", {"input": 10, "cache_write": 4, "cache_write_1h": 1, "output": 0}, 12 + 28),
    ("write-first", {"input": 1001, "cache_write": 1, "cache_write_1h": 1, "output": 0}, 3003),
    ("hour-second", {"input": 10, "cache_write": 4, "cache_write_1h": 1, "output": 0}, 20),
    ("hour-second", {"input": 1001, "cache_write": 2, "cache_write_1h": 1, "output": 0}, 3000 + 8),
    ("output-beside", {"input": 1001, "output": 10}, 3003 + 90),
    ("reasoning", {"input": 0, "output": 10, "output_reasoning": 4}, 12 + 28),
    ("reasoning-priority", {"input": 0, "output": 10, "output_reasoning": 4, "service_tier": "priority"}, 40),
    ("batches", {"input": 100, "cache_input": 40, "output": 10, "service_tier": "batch"}, 50 + 10),
    ("read-first", {"input": 1000, "cache_input": 1, "output": 0}, 1999),
    ("read-first", {"input": 1001, "cache_input": 1, "output": 0}, 3003),
    ("audio-priority", {"input": 10, "input_audio": 4, "output": 0}, 6 + 12),
    ("audio-priority", {"input": 10, "input_audio": 4, "output": 0, "service_tier": "priority"}, 12 + 24),
    ("batch-output", {"input": 100, "cache_input": 40, "output": 10, "service_tier": "batch"}, 60 + 20 + 10),
    ("batch-images", {"input": 0, "output": 10, "output_image": 4, "service_tier": "batch"}, 12 + 60),
    ("batch-above", {"input": 1000, "output": 10, "service_tier": "batch"}, 1000 + 20),
    ("batch-above", {"input": 1001, "output": 10, "service_tier": "batch"}, 3003 + 20),
    ("images-and-pages", {"input": 0, "output": 0, "counts": {"input_image": 3, "page": 1}}, 100 + 10),
    ("explicit", {"input": 10, "cache_input": 6, "output": 0}, 16 + 6),
    ("explicit", {"input": 10, "cache_input": 6, "output": 0, "cache_type": "ephemeral"}, 16 + 12),
    ("made-of-images", {"counts": {"input_image": 2, "image": 1}}, 500),
    ("made", {"counts": {"image": 2}}, 200),
    ("of-regions", {"input": 10, "output": 1, "data_residency": "us"}, 24),
    ("of-regions", {"input": 10, "output": 1, "data_residency": "eu"}, 36),
    ("shared", {"input": 10, "cache_input": 4, "output": 0}, 8),
    ("images", {"input": 0, "output": 0, "counts": {"input_image": 2}}, 0),
    ("images", {"input": 0, "output": 0, "counts": {"input_image": 5}}, 300),
]  # fmt: skip
LEFT: dict[str, tuple[dict[str, Any], str]] = {
    "two-prices": (
        PLAIN | {f"{IN}_above_200000_tokens": 3, f"{IN}_above_200k_tokens": 4},
        f"the key {IN}_above_200k_tokens has another price than the same in other words",
    ),
    "tier-first": (
        PLAIN | {f"{IN}_priority_above_200k_tokens": 3},
        f"the key {IN}_priority_above_200k_tokens is not known",
    ),
    "of-a-tier": (PLAIN | {f"{IN}_express": 3}, f"the key {IN}_express is not known"),
    "below": (PLAIN | {f"{IN}_below_200k_tokens": 3}, f"the key {IN}_below_200k_tokens is not known"),
    "part-above": (
        PLAIN | {"input_cost_per_audio_token": 3, "input_cost_per_audio_token_above_1k_tokens": 4},
        "the key input_cost_per_audio_token_above_1k_tokens is of a part of the tokens, "
        "which has one price for all of these",
    ),
    "part-priority": (
        PLAIN | {"output_cost_per_audio_token_priority": 4},
        "the key output_cost_per_audio_token_priority is of a part of the tokens, which has one price for all of these",
    ),
    **{
        f"range-{name}": (ranges(*tiers), reason)
        for name, tiers, reason in (
            ("unknown", ({IN: 1, OUT: 1}, {IN: 1, OUT: 1, "input_cost_per_thought": 1}), "ranges"),
            ("part", ({IN: 1, OUT: 1}, {IN: 1, OUT: 1, "input_cost_per_audio_token": 9}), "ranges"),
            ("gap", ({IN: 1, OUT: 1}, {IN: 1, OUT: 1, "range": [2000, 3000]}), "ranges"),
            ("overlap", ({IN: 1, OUT: 1}, {IN: 1, OUT: 1, "range": [500, 3000]}), "ranges"),
            ("late", ({IN: 1, OUT: 1, "range": [1, 1000]},), "ranges"),
            ("input", ({IN: 1, OUT: 1}, {OUT: 1}), "no price of the input"),
            ("output", ({IN: 1, OUT: 1}, {IN: 1}), "no price of the output"),
            ("of-reasoning", ({IN: 1}, {IN: 1, REASONING: 9}), "no price of the output"),
        )
    },
    "ranges-and-tiers": (
        ranges({IN: 1, OUT: 1}) | {f"{IN}_priority": 2}, "has tiered_pricing and prices of service tiers"
    ),
    "over-midnight": (at_hours({"hours_utc": "16:30-00:30"}), "has prices of hours over midnight, whose weekday"),
    "empty-hours": (at_hours({"hours_utc": "10:00-10:00"}), "has prices of hours over midnight, whose weekday"),
    "in-words": (at_hours({"hours_utc": "noon-13:00"}), "has prices of hours over midnight, whose weekday"),
    "all-hours": (at_hours({"hours_utc": "00:00-00:00"}), "its prices of some hours are those of all hours"),
    "day-and-more": (at_hours({"hours_utc": ["00:00-00:00", "01:00-02:00"]}), "its prices of some hours are not"),
    "weekday-0": (at_hours({"hours_utc": "10:00-11:00", "weekdays": [0]}), "a value of it is not of the kind"),
    "weekday-8": (at_hours({"hours_utc": "10:00-11:00", "weekdays": [8]}), "a value of it is not of the kind"),
    "weekday-fraction": (at_hours({"hours_utc": "10:00-11:00", "weekdays": [1.5]}), "a value of it is not of the kind"),
    "other-zone": (at_hours({"hours_utc": "10:00-11:00", "zone": "CET"}), "its prices of some hours are not"),
    "hours-of-audio": (
        at_hours({"hours_utc": "10:00-11:00"}, input_cost_per_audio_token=1), "its prices of some hours are not"
    ),
    "hours-and-tiers": (
        at_hours({"hours_utc": "10:00-11:00"}) | {f"{IN}_priority": 2}, "has prices of some hours beside tiers"
    ),
    "hours-and-lengths": (
        at_hours({"hours_utc": "10:00-11:00"}) | {f"{IN}_above_1k_tokens": 2}, "has prices of some hours beside tiers"
    ),
    "windows-that-overlap": (
        at_hours({"hours_utc": "10:00-12:00"}, {"hours_utc": "11:00-13:00"}), "two rates for input tokens"
    ),
    "explicit-and-tiers": (
        PLAIN | {READ: 1, "explicit_cache_read_input_token_cost": 2, f"{IN}_priority": 3},
        "has a price of an explicit cache beside tiers",
    ),
    "images-above": ({IN: 1, IMAGE: 30, f"{OUT}_above_1k_tokens": 5}, "no rate for output tokens"),
    "cache-hit": (PLAIN | {READ: 1, "input_cost_per_token_cache_hit": 2}, "input_cost_per_token_cache_hit differs"),
    "batch-only": (PLAIN | {"ocr_cost_per_page_batches": 2}, "has a price of a page in batches only"),
    "page-priority": (PLAIN | {"ocr_cost_per_page_priority": 2}, "ocr_cost_per_page_priority is not a price of tokens"),
    "two-seconds": (
        {"input_cost_per_second": 1, "output_cost_per_second": 2}, "has two prices of a second"
    ),
    "sizes-alone": ({"output_cost_per_second_1080p": 1, "mode": "video_generation"}, "prices by size, and none"),
    "other-searches": (
        PLAIN | {"search_context_cost_per_query": {"search_context_size_low": 1}}, "has no price of the size medium"
    ),
    "specific": (PLAIN | {"provider_specific_entry": {"eu": 2}}, "the key eu of provider_specific_entry is not known"),
}  # fmt: skip
START = datetime.fromisoformat("2026-10-05T00:00:00Z")  # a Monday
# By model: whether an hour of a weekday (0 is Monday) has the price of some hours.
HOURS = {
    "meet": lambda day, hour: 2 <= hour < 6,
    "apart": lambda day, hour: 2 <= hour < 4 or 5 <= hour < 6.5,
    "to-midnight": lambda day, hour: hour >= 22,
    "from-midnight": lambda day, hour: hour >= 22 or hour < 3,
    "overlap": lambda day, hour: 10 <= hour < 13,
    "weekend": lambda day, hour: day >= 5,
}


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
    report = import_list(
        listed_entries(named, "litellm edges"), folder / "market", effective=START.date(), checked=START.date()
    )
    card = load_rate_card(folder / "market")
    card.prove_all()
    return card, {each.id: each for each in report.left_out}


def rated(card: RateCard, name: str, usage: dict[str, Any], moment: datetime = START) -> Decimal:
    conditions = {key: value for key, value in usage.items() if isinstance(value, (str, dict))}
    tokens = {key: value for key, value in usage.items() if key not in conditions}
    model = f"{'fireworks_ai' if name == 'shared' else 'acme'}/{name}"
    usage = {"type": "text", "model": model, **({"tokens": tokens} if tokens else {}), **conditions}
    return card.at(moment).rate(usage).exact * 1_000_000


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


@pytest.mark.parametrize("name", HOURS)
def test_every_half_hour_of_a_week(market: tuple[RateCard, object], name: str) -> None:
    for number in range(7 * 48):
        day, half = divmod(number, 48)
        moment = START + timedelta(minutes=30 * number)
        for instant in (moment, moment + timedelta(minutes=29, seconds=59)):
            price = 5 if HOURS[name](day, half / 2) else 1
            assert rated(market[0], name, {"input": 100, "output": 10}, instant) == 100 * price + 20, instant


def test_hours_of_the_output_alone(market: tuple[RateCard, object]) -> None:
    for hours, price in ((1, 2), (2, 5), (3, 5), (4, 2), (26, 2)):
        moment = START + timedelta(hours=hours)
        assert rated(market[0], "of-the-output", {"input": 100, "output": 10}, moment) == 100 + 10 * price


def test_what_has_no_price_is_refused(market: tuple[RateCard, object]) -> None:
    with pytest.raises(QuoteError, match="service_tier"):
        rated(market[0], "with-k", {"input": 1, "output": 1, "service_tier": "priority"})
