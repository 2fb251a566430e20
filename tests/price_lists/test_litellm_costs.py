"""2,000 random usages of litellm's list, against its own `completion_cost`: equal, or different by a rule.

Run by `make test-imports`, where litellm is installed. The rules are those of docs/price-lists.md.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

import ratecard
from ratecard.price_lists.litellm import named_entry, read_litellm
from ratecard.price_lists.write import import_list

litellm = pytest.importorskip("litellm", reason="litellm is not installed")

from litellm_usages import provider_of, random_case  # noqa: E402 (needs litellm)

COUNT, SEED = 2_000, 20261122
LIST = Path(litellm.__file__).parent / "model_prices_and_context_window_backup.json"
# A price is a float there.
RELATIVE, ABSOLUTE = Decimal("1e-12"), Decimal("1e-15")

Rule = Callable[[str, Mapping[str, Any], Mapping[str, Any]], bool]
# Why the two differ: the name of the rule in the table of the page, and what it holds for.
RULES: dict[str, Rule] = {
    "perplexity": lambda key, entry, ours: (
        entry["litellm_provider"] == "perplexity"
        and ("cache_input" in ours["tokens"] or "input_cost_per_request" in entry)
    ),
    "fireworks_ai": lambda key, entry, ours: entry["litellm_provider"] == "fireworks_ai" and "service_tier" in ours,
    "together-ai-*": lambda key, entry, ours: key.startswith("together-ai-"),
    "batch": lambda key, entry, ours: (
        ours.get("service_tier") == "batch" and {"inference_geo", "speed"} & ours.keys() != set()
    ),
    "gpt-image": lambda key, entry, ours: "gpt-image" in key and "-x-" in key,
    "realtime": lambda key, entry, ours: entry.get("mode") == "realtime" and "second" in ours.get("counts", {}),
    "parallel_ai": lambda key, entry, ours: entry["litellm_provider"] == "parallel_ai",
    "two entries": lambda key, entry, ours: (
        f"{entry['litellm_provider']}/{key}" in litellm.model_cost
        or key.removeprefix(f"{entry['litellm_provider']}/") in litellm.model_cost
    ),
}


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> ratecard.RateCard:
    logging.disable(logging.CRITICAL)  # litellm logs what it cannot price
    folder = tmp_path_factory.mktemp("litellm") / "tables"
    listed, day = read_litellm(LIST), date(2026, 11, 22)
    done = import_list(listed, folder, effective=day, checked=day)
    priced = [key for key, entry in litellm.model_cost.items() if any(map(is_priced, entry.items()))]
    kept = {f"{model.provider}/{model.id}" for model in listed.models} - {
        f"{each.provider}/{each.id}" for each in done.left_out
    }
    share = sum("/".join(named_entry(key, litellm.model_cost[key], litellm.model_cost)) in kept for key in priced)
    print(f"\n{share} of {len(priced)} priced entries ({100 * share / len(priced):.2f} %)")
    assert share >= len(priced) * 97 / 100
    return ratecard.load_rate_card(folder)


def is_priced(item: tuple[str, Any]) -> bool:
    """Whether a key of an entry is a price above nothing."""
    name, value = item
    if isinstance(value, dict):
        return "cost" in name and any(map(is_priced, ((name, each) for each in value.values())))
    if name == "tiered_pricing":
        return any(map(is_priced, (pair for tier in value for pair in tier.items())))
    return "cost" in name and isinstance(value, (int, float)) and value > 0


def test_random_usages(card: ratecard.RateCard) -> None:
    random, prices, entries = Random(SEED), card.unproved.at(date(2026, 11, 22)), litellm.model_cost
    keys = {"/".join(named_entry(key, entry, entries)): key for key, entry in entries.items()}
    models, found, wrong = sorted(card.tables.models), Counter[str](), []
    while found.total() + len(wrong) < COUNT:
        model = random.choice(models)
        key = keys[model]
        charges = {charge.charge: charge for charge in card.tables.models[model].versions[0].charges}
        case = random_case(random, model, key, charges)
        if case is None:
            continue
        ours, call = case
        try:
            theirs = Decimal(call())
        except Exception:  # noqa: BLE001, S112 (what litellm cannot price is not compared)
            continue
        amount = prices.rate(ours).total
        if abs(theirs - amount) <= max(abs(amount) * RELATIVE, ABSOLUTE):
            found["equal"] += 1
            continue
        rule = next((name for name, holds in RULES.items() if holds(key, entries[key], ours)), None)
        if rule is None:
            wrong.append(f"{key} of {provider_of(entries[key])}: {ours}: {amount}, {theirs}")
        else:
            found[rule] += 1
    print(f"\n{dict(found)}")
    assert not wrong, "\n".join(wrong)
