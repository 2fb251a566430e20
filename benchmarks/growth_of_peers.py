"""Print the seconds of one price, by library and number of made-up models, as JSON: the peers of `growth_of_costs.py`.

    python benchmarks/growth_of_peers.py 300 3000

Runs in a Python that has genai-prices, litellm or both (`make bench-text` makes `.venv-bench`). The models have the
rates that ours have there, and each price is checked before it is timed.
"""

import json
import os
import sys
from collections.abc import Callable
from decimal import Decimal
from statistics import median
from time import process_time
from typing import Any

ROUNDS = 11
TOTAL = Decimal("0.0042")


def genai_prices(models: int) -> Callable[[str], Any]:
    """Return the function that prices the usage of a model, from a snapshot of that many `models`."""
    from genai_prices import Usage
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ClauseEquals, ModelInfo, ModelPrice, Provider, Tier, TieredPrices

    def tiered(base: int, above: int) -> TieredPrices:
        return TieredPrices(base=Decimal(base), tiers=[Tier(start=128_000, price=Decimal(above))])

    price = ModelPrice(input_mtok=tiered(4, 6), cache_read_mtok=Decimal("0.4"), output_mtok=tiered(20, 30))
    named = [f"made-up-{number}" for number in range(models)]
    listed = [ModelInfo(id=name, match=ClauseEquals(name), name=name, prices=price) for name in named]
    provider = Provider(id="made-up", name="Made up", api_pattern="made-up", models=listed)
    snapshot = DataSnapshot(providers=[provider], from_auto_update=False)
    usage = Usage(input_tokens=1_000, cache_read_tokens=500, output_tokens=100)
    return lambda name: snapshot.calc(usage, name, "made-up", None, None).total_price


def litellm(models: int) -> Callable[[str], Any]:
    """Return the function that prices the usage of a model, with that many `models` registered."""
    import litellm

    litellm.suppress_debug_info = True
    entry = {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 4e-6,
        "input_cost_per_token_above_128k_tokens": 6e-6,
        "cache_read_input_token_cost": 4e-7,
        "output_cost_per_token": 2e-5,
        "output_cost_per_token_above_128k_tokens": 3e-5,
    }
    litellm.register_model({f"made-up-{number}": entry for number in range(models)})
    details = {"cached_tokens": 500}
    usage = litellm.Usage(prompt_tokens=1_000, completion_tokens=100, total_tokens=1_100, prompt_tokens_details=details)
    response = litellm.ModelResponse(usage=usage)
    return lambda name: litellm.completion_cost(response, model=name, custom_llm_provider="openai")


def seconds(price: Callable[[str], Any], models: int) -> float:
    """Return the CPU seconds of one price, the median of some rounds. Stop at a wrong one."""
    names = [f"made-up-{number}" for number in range(0, models, max(1, models // 100))]
    for name in names:
        if abs(Decimal(price(name)) - TOTAL) > Decimal("1e-9"):
            sys.exit(f"{name}: {price(name)}, expected {TOTAL}")
    rounds = []
    for _ in range(ROUNDS):
        start = process_time()
        for name in names:
            price(name)
        rounds.append((process_time() - start) / len(names))
    return median(rounds)


def main() -> None:
    """Time the libraries that this Python has."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    found: dict[str, dict[str, float]] = {}
    for name, made in (("genai-prices", genai_prices), ("litellm", litellm)):
        try:
            found[name] = {size: seconds(made(int(size)), int(size)) for size in sys.argv[1:]}
        except ImportError:
            continue
    print(json.dumps(found))


if __name__ == "__main__":
    main()
