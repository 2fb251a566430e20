"""Some 2,000 responses that public repositories recorded: accepted with the price of a second reading, or refused.

`responses/` has them by dialect, a line each: where it is from, what it says of its costs (texts are left out), and
the path at which it is refused, if it is.
"""

import json
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from reading_apart import CALLS, RATES, READINGS, REASONING

from nightly import is_nightly
from ratecard import EmbeddingUsage, PriceBook, QuoteError, RateCard, TextUsage, usage_from
from ratecard.load.folder import tables_from
from ratecard.requests.dialects import DIALECTS

RESPONSES = Path(__file__).parent / "responses"
NAMES = sorted(path.stem for path in RESPONSES.glob("*.jsonl"))


@cache
def recorded(dialect: str) -> list[dict[str, Any]]:
    lines = (RESPONSES / f"{dialect}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read(dialect: str, response: Any) -> TextUsage | EmbeddingUsage | None:
    """The usage of a response, or None if it is refused with a reason."""
    try:
        usage = usage_from(dialect, response, model="m")
    except QuoteError as refusal:
        assert all(message for _, message in refusal.problems)
        return None
    assert isinstance(usage, (TextUsage, EmbeddingUsage))
    return usage


def counted(usage: TextUsage | EmbeddingUsage) -> dict[str, Any]:
    return {name: getattr(usage, name, None) for name in ("tokens", "counts", "listed")}


@cache
def prices(reasoning: bool) -> PriceBook:
    """A card with a model for text and one for embeddings, and a rate for whatever is counted."""
    of = RATES | ({"output_reasoning": REASONING} if reasoning else {})
    rates = "".join(f"\n              - {{tokens: {bucket}, rate: {rate}}}" for bucket, rate in of.items())
    calls = "".join(
        f"\n          - {{charge: calls of {meter}, method: count, unit: k{meter}, rates: [{{rate: {rate}}}]}}"
        for meter, rate in CALLS.items()
    )
    models = "".join(
        f"""
  - model: {name}
    name: {name}
    type: {name}
    currency: USD
    versions:
      - effective: 2025-01-01
        checked: 2026-10-01
        source: made up
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            rates:{rates}{calls if name == "text" else ""}
        rounding: none
        examples:
          - {{usage: {{prompt_tokens: 0{", completion_tokens: 0" if name == "text" else ""}}}, total: 0}}
"""
        for name in ("text", "embedding")
    )
    files = {
        "units.yaml": "units:"
        + "".join(f"\n  - {{unit: k{each}, counts: {each}, per: 1000}}" for each in CALLS)
        + "\n",
        "meters.yaml": "meters:" + "".join(f"\n  - {{meter: {each}, every_usage: 0}}" for each in CALLS) + "\n",
        "made_up.yaml": f"family: made_up\nmodels:{models}",
    }
    return RateCard(tables_from({name: text.encode() for name, text in files.items()}))._unproved.at(date(2026, 10, 1))


def test_there_are_enough_of_each() -> None:
    counts = {name: len(recorded(name)) for name in NAMES}
    assert sum(counts.values()) >= 1_900
    assert min(counts.values()) >= 10
    assert {*NAMES} == {*DIALECTS} - {"litellm", "genai-prices", "opentelemetry"} == {*READINGS}
    lines = [json.dumps(each) for name in NAMES for each in recorded(name)]
    assert len({*lines}) == len(lines)


@pytest.mark.parametrize("dialect", NAMES)
def test_each_is_accepted_or_refused_at_its_path(dialect: str) -> None:
    for each in recorded(dialect):
        try:
            usage_from(dialect, each["response"], model="m")
        except QuoteError as refusal:
            paths = [".".join(map(str, path)) for path, _ in refusal.problems]
            assert each.get("refused") in paths, (each, refusal.problems)
        else:
            assert "refused" not in each, each


@pytest.mark.parametrize("dialect", NAMES)
def test_each_costs_what_a_second_reading_says(dialect: str) -> None:
    for each in recorded(dialect):
        if "refused" in each:
            continue
        usage = read(dialect, each["response"])
        assert usage is not None
        # This test does not ask which tiers are sold.
        plain = type(usage)(model=usage.type, **{name: count for name, count in counted(usage).items() if count})
        reading = READINGS[dialect](each["response"])
        quote = prices(not reading.speaks).rate(plain)
        assert Fraction(quote.exact) == reading.price(), (each, usage, reading)


def layout(part: Any) -> Any:
    """The names of a part, with what they lead to: nothing, text, 0 or another number."""
    if isinstance(part, dict):
        return {name: layout(value) for name, value in part.items()}
    if isinstance(part, list):
        return [layout(value) for value in part]
    return type(part).__name__ if isinstance(part, str) or part is None else part != 0


def of_each_layout(dialect: str) -> list[dict[str, Any]]:
    """The first response of each layout: where every dialect reads them all, that takes long, and is for the night."""
    by_layout = {json.dumps(layout(each["response"]), sort_keys=True): each for each in recorded(dialect)[::-1]}
    return recorded(dialect) if is_nightly() else list(by_layout.values())


@pytest.mark.parametrize("dialect", NAMES)
def test_another_dialect_says_the_same_or_refuses(dialect: str) -> None:
    """Nobody is charged something else because of a wrong name."""
    wrong = []
    for each in of_each_layout(dialect):
        ours = read(dialect, each["response"])
        for other in (name for name, known in DIALECTS.items() if known is not DIALECTS[dialect]):
            theirs = read(other, each["response"])
            if theirs is not None and ours is not None and counted(theirs) != counted(ours):
                wrong.append((other, each["from"], theirs, ours))
    assert not wrong
