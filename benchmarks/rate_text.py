"""The charge of a text usage with cached tokens, three lines, against libraries that price the same model, in one run.

    make bench-text

1,000 distinct usages of one model that all of them know, at the same three rates. Before anything is timed, all totals
are compared: exactly with those that count in decimals, to a billionth with the one that counts in floats; of ours also
the lines, which each call reads. Then all sides take turns, and each round gives a ratio; what counts is the median.
Each side gets what it wants ready made: a mapping here (again with one more known key, in the usage object, beside it,
or as a condition; and with audio beside what is cached, above a threshold and in a batch), a `Usage` for genai-prices,
a whole `ModelResponse` for litellm's `completion_cost`, and the three counts, already made disjoint, for tokencost.
What is timed is the time of the process, as others may use the machine. Ratios, never gates: a slow machine is no
failure.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import ratecard

MODEL = "gpt-4o"
TABLE = """
family: gpt
models:
  - model: gpt-4o
    name: GPT-4o
    type: text
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-11-20
        source: provider list price
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            missing_cache_rate: input
            rates:
              - {tokens: input, rate: 2.5}
              - {tokens: cache_input, rate: 1.25}
              - {tokens: output, rate: 10}
        rounding: none
        examples:
          - {usage: {prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 400}, total: 0.003}
"""
# The same prices with audio, a tier and a condition; what is asked is above the threshold, and in a batch.
EVERYTHING = TABLE.replace("model: gpt-4o", "model: everything").replace(
    "            rates:",
    """            factors: [{service_tier: batch, factor: 0.5}]
            rates:
              - {tokens: input_audio, rate: 40}
              - {tokens: [input, input_audio], above: 900, rate: 5}
              - {tokens: cache_input, above: 900, rate: 2.5}
              - {tokens: output, above: 900, rate: 20}""",
)
EVERYTHING = EVERYTHING.replace("cached_tokens: 400}", "cached_tokens: 400, service_tier: batch}")
USAGES, ROUNDS, REPEATS = 1_000, 21, 3
# A float carries 15 digits; a charge that differs in the tenth is another charge.
CLOSE = Decimal("1e-9")


class Counts(NamedTuple):
    """Tokens of one request: all of the prompt, what of it was cached, and the completion."""

    prompt: int
    cached: int
    completion: int


class Side(NamedTuple):
    """One library: its name, what it is called with for each usage, and how its answer becomes a decimal."""

    name: str
    call: Callable[[Any], Any]
    inputs: Sequence[Any]
    total: Callable[[Any], Decimal]


def all_counts() -> list[Counts]:
    """Distinct usages, every one with three lines."""
    return [Counts(1_000 + 53 * i, 1 + 29 * i, 1 + 7 * i) for i in range(USAGES)]


def expected(counts: Counts) -> Decimal:
    """The charge, worked out here in whole 1e-8 dollars, apart from every library."""
    units = (counts.prompt - counts.cached) * 250 + counts.cached * 125 + counts.completion * 1_000
    return Decimal(units) / 10**8


def ours_with_total(usages: Sequence[Counts]) -> Side:
    """The same with `total_tokens`."""
    side = ours(usages)
    for each, given in zip(usages, side.inputs, strict=True):
        given["usage"]["total_tokens"] = each.prompt + each.completion
    return side._replace(name="ratecard, with total_tokens")


def ours_with_metadata(usages: Sequence[Counts]) -> Side:
    """The same with `metadata` beside the usage object."""
    side = ours(usages)
    inputs = [{**given, "metadata": {"customer": "acme"}} for given in side.inputs]
    return side._replace(name="ratecard, with metadata", inputs=inputs)


def ours_with_a_condition(usages: Sequence[Counts]) -> Side:
    """The same with a condition that has its default."""
    side = ours(usages)
    inputs = [{**given, "service_tier": "default"} for given in side.inputs]
    return side._replace(name="ratecard, with service_tier", inputs=inputs)


def ours_with_everything(usages: Sequence[Counts]) -> Side:
    """Four lines: some of what is not cached is audio. At twice the rates, and half of that."""
    side = ours(usages, EVERYTHING)
    for each, given in zip(usages, side.inputs, strict=True):
        details = {"cached_tokens_details": {"audio_tokens": 0}, "audio_tokens": (each.prompt - each.cached) // 2}
        given["usage"]["prompt_tokens_details"] |= details
        given |= {"model": "everything", "service_tier": "batch"}
    return side._replace(name="ratecard, cache, audio, tier, condition")


def ours(usages: Sequence[Counts], table: str = TABLE) -> Side:
    """ratecard, from a mapping as a client's JSON gives it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "gpt.yaml").write_text(table, encoding="utf-8")
        prices = ratecard.load_rate_card(folder).at(date(2026, 11, 20))
    inputs = [
        {
            "type": "text",
            "model": MODEL,
            "usage": {
                "prompt_tokens": each.prompt,
                "completion_tokens": each.completion,
                "prompt_tokens_details": {"cached_tokens": each.cached},
            },
        }
        for each in usages
    ]
    rate = prices.rate

    def rate_and_read(usage: Any) -> tuple[ratecard.Quote, tuple[ratecard.LineItem, ...]]:
        quote = rate(usage)
        return quote, quote.lines

    return Side("ratecard, three lines read", rate_and_read, inputs, lambda answer: answer[0].total)


def genai_prices(usages: Sequence[Counts]) -> Side:
    library: Any = import_module("genai_prices")
    inputs = [
        library.Usage(input_tokens=each.prompt, cache_read_tokens=each.cached, output_tokens=each.completion)
        for each in usages
    ]
    calc_price = library.calc_price
    return Side(
        "genai-prices, calc_price",
        lambda usage: calc_price(usage, model_ref=MODEL, provider_id="openai"),
        inputs,
        lambda price: Decimal(price.total_price),
    )


def litellm(usages: Sequence[Counts]) -> Side:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # its own prices, not those of the network
    library, types = import_module("litellm"), import_module("litellm.types.utils")
    inputs = []
    for each in usages:
        usage = types.Usage(
            prompt_tokens=each.prompt,
            completion_tokens=each.completion,
            total_tokens=each.prompt + each.completion,
            prompt_tokens_details={"cached_tokens": each.cached},
        )
        inputs.append(types.ModelResponse(model=MODEL, usage=usage))
    completion_cost = library.completion_cost
    return Side(
        "litellm, completion_cost",
        lambda response: completion_cost(completion_response=response, model=MODEL),
        inputs,
        lambda cost: Decimal(str(cost)),
    )


def tokencost(usages: Sequence[Counts]) -> Side:
    by_tokens = import_module("tokencost").calculate_cost_by_tokens

    def three(counts: tuple[int, int, int]) -> Any:
        uncached, cached, completion = counts
        cost = by_tokens(uncached, MODEL, "input") + by_tokens(cached, MODEL, "cached")
        return cost + by_tokens(completion, MODEL, "output")

    inputs = [(each.prompt - each.cached, each.cached, each.completion) for each in usages]
    return Side("tokencost, calculate_cost_by_tokens", three, inputs, Decimal)


def check(side: Side, usages: Sequence[Counts]) -> None:
    """Stop unless every total of a side is right, and of ours every line."""
    for counts, given in zip(usages, side.inputs, strict=True):
        answer = side.call(given)
        found, right = side.total(answer), expected(counts)
        if side.name.startswith("ratecard"):
            lines = answer[1]
            charged = sum(line.quantity for line in lines) * 1_000_000
            if sum(line.amount for line in lines) != right or charged != counts.prompt + counts.completion:
                sys.exit(f"{side.name}: {counts} has the lines {lines}")
        near = CLOSE if side.name.startswith("litellm") else 0
        if abs(found - right) > near * right:
            sys.exit(f"{side.name}: {counts} costs {found}, expected {right}")


def time_side(side: Side) -> float:
    """Microseconds of one charge, the best of some turns."""
    call, inputs, turns = side.call, side.inputs, []
    for _ in range(REPEATS):
        start = process_time()
        for given in inputs:
            call(given)
        turns.append(process_time() - start)
    return min(turns) / len(inputs) * 1e6


def main() -> None:
    """Check, then time."""
    usages = all_counts()
    if len(set(usages)) != USAGES:
        sys.exit("the usages are not distinct")
    try:
        sides = [
            make(usages)
            for make in (
                ours,
                ours_with_total,
                ours_with_metadata,
                ours_with_a_condition,
                ours_with_everything,
                genai_prices,
                litellm,
                tokencost,
            )
        ]
    except ModuleNotFoundError as error:
        sys.exit(f"{error}: pip install -r benchmarks/requirements-rate-text.txt")
    for side in sides:
        check(side, usages)
    print(f"{USAGES:,} distinct usages of {MODEL}, three lines each; all totals are right")
    rounds = [[time_side(side) for side in sides] for _ in range(ROUNDS)]
    for index, side in enumerate(sides):
        ratios = sorted(times[index] / times[0] for times in rounds)
        spread = f"{median(ratios):7.2f} x   ({ratios[0]:.2f} to {ratios[-1]:.2f})" if index else ""
        print(f"{side.name:38}{median(times[index] for times in rounds):8.2f} us{spread}")
    packages = ", ".join(f"{name} {version(name)}" for name in ("genai-prices", "litellm", "tokencost"))
    print(f"medians of {ROUNDS} rounds; Python {sys.version.split()[0]}, {sys.platform}; {packages}")


if __name__ == "__main__":
    main()
