"""500 random entries of litellm, priced by formulas apart: `make test-imports`, where litellm is installed.

A usage costs the same, or is refused for a reason of docs/import-litellm.md.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest
from litellm_formulas import OF_PARTS, TIERS, Formula, RefusedError

import ratecard
from ratecard.price_lists.litellm import named_entry, read_litellm
from ratecard.price_lists.write import import_list

FOUND = find_spec("litellm")
pytestmark = pytest.mark.skipif(FOUND is None, reason="litellm is not installed: see make test-imports")
ENTRIES, USAGES = 500, 6
# The reasons for which entries are left out, in the words of the page.
REASONS = (
    "the key .* is not known",
    "has the noise of a float|have the noise of a float",
    "its prices depend on the number of results",
    "has prices of some hours of the day",
    "its prices are of tokens of citations",
    "has two prices of reading from the cache",
    "has no price of the size medium, or one of another size",
    "has prices of long prompts that are written for an hour, and of service tiers",
    "the ranges of its tiered_pricing are not understood",
    "its prices are of units of guardrails",
    "has no price in the list|is not a model",
)
PROMPTS = (1, 999, 32_000, 32_001, 100_000, 128_000, 128_001, 200_000, 200_001, 272_000, 272_001, 512_001, 900_000)


def random_tokens(random: Random) -> dict[str, int]:
    """Counts of tokens: a prompt and what is made, of which one kind of part has some."""
    counts = {"input": random.choice(PROMPTS), "output": random.choice((0, 7, 5_000))}
    kind = random.choice(("", "read", "written", "hour", *OF_PARTS))
    some = random.randint(0, min(counts["input"], 1_000))
    if kind == "read":
        counts["cache_input"] = some
    elif kind in ("written", "hour"):
        counts["cache_write"] = some
        counts |= {"cache_write_1h": some // 2} if kind == "hour" else {}
    elif kind:
        counts[kind] = min(some, counts["output" if kind.startswith("output") else "input"])
    return counts


def random_usage(random: Random, formula: Formula, instant: datetime) -> tuple[dict[str, Any], Fraction | str]:
    """A usage of an entry, and its cost or the reason why it is refused."""
    entry, usage, total = formula.entry, dict[str, Any](), Fraction(0)
    meters = formula.meters()
    tokens = any(name.startswith(("input_cost_per_token", "output_cost_per_token")) for name in entry) or formula.ranges
    refused = ""
    if tokens:
        counts = usage["tokens"] = random_tokens(random)
        known = [tier for tier in TIERS if any("token" in name and name.endswith(f"_{tier}") for name in entry)]
        known += ["batches"] if any("token" in name and name.endswith("_batches") for name in entry) else []
        tier = random.choice(("", *known))
        usage |= {"service_tier": {"batches": "batch"}.get(tier, tier)} if tier else {}
        explicit = "explicit_cache_read_input_token_cost" in entry and random.random() < 0.5
        usage |= {"cache_type": "ephemeral"} if explicit else {}
        times = Fraction(1)
        for name, value, factor in formula.factors():
            if name not in usage and random.random() < 0.5:
                usage[name] = value
                times *= factor
        try:
            total = formula.tokens(counts, tier, instant, explicit=explicit) * times
        except RefusedError as reason:
            refused = str(reason)
    free = Fraction((entry.get("provider_specific_entry") or {}).get("minimax_free_input_images", 0))
    if meters and (not tokens or random.random() < 0.5):
        meter = random.choice(sorted(meters))
        count: int = random.choice((1, 3, 1_000))
        usage["counts"] = {meter: count}
        total += meters[meter] * (max(count - free, Fraction(0)) if meter == "input_image" else count)
    if "request" in meters and "request" not in usage.get("counts", {}):
        total += meters["request"]
    return usage, refused or total


@pytest.fixture(scope="module")
def listed() -> dict[str, dict[str, Any]]:
    """The entries, with their numbers as text."""
    assert FOUND is not None
    assert FOUND.origin is not None
    file = Path(FOUND.origin).parent / "model_prices_and_context_window_backup.json"
    return {"": {"file": file}, **json.loads(file.read_text(encoding="utf-8"), parse_float=str, parse_int=str)}


def is_priced(entry: Mapping[str, Any]) -> bool:
    """Return True for an entry that has a price above nothing."""
    return "litellm_provider" in entry and any(
        "cost" in name and isinstance(value, str) and Fraction(value) for name, value in entry.items()
    )


def test_random_entries(listed: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    random, day = Random(20261124), date(2026, 11, 24)  # noqa: S311 (usages, no secrets)
    file = listed.pop("")["file"]
    done = import_list(read_litellm(file), tmp_path / "tables", effective=day, checked=day)
    left_out = {each.model: str(each) for each in done.left_out}
    card = ratecard.load_rate_card(tmp_path / "tables")
    keys = random.sample([key for key, entry in listed.items() if is_priced(entry)], ENTRIES)
    found, wrong = Counter[str](), list[str]()
    for key in keys:
        entry, model = {name: value for name, value in listed[key].items() if value is not None}, ""
        model = "/".join(named_entry(key, entry, listed))
        if model in left_out:
            assert any(re.search(reason, left_out[model]) for reason in REASONS), left_out[model]
            found["left out"] += 1
            continue
        for _ in range(USAGES):
            instant = datetime(2026, 11, 16, tzinfo=UTC) + timedelta(minutes=random.randrange(7 * 24 * 60))
            usage, expected = random_usage(random, Formula(entry), instant)
            try:
                cost: Fraction | str = Fraction(card._unproved.at(instant).rate({"model": model, **usage}).total)
            except ratecard.QuoteError as error:
                cost = str(error)
            if isinstance(expected, Fraction) and cost == expected:
                found["equal"] += 1
            elif isinstance(expected, str) and isinstance(cost, str):
                found[f"refused: {expected}"] += 1
            else:
                wrong.append(f"{key}: {usage} at {instant}: {cost}, the formula says {expected}")
    print(f"\n{dict(found)} of {ENTRIES} entries")  # noqa: T201 (the figures of the page)
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:40])
