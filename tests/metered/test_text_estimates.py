"""What a text request can cost before it runs: no actual usage is below or above."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metered_answers import messages, total

from ratecard import PriceBook, QuoteError, RateCard

MODELS = [
    "claude-opus-4-6",
    "grok-4-3",
    "openai-gpt-54-pro",
    "openai-gpt-55",
    "qwen-3-6-plus",
    "gemini-3-1-pro-preview",
]


@st.composite
def usages(draw: st.DrawFn) -> tuple[str, int, int, dict[str, Any]]:
    """(model, prompt, most of the completion, an actual usage of both)."""
    prompt = draw(st.integers(0, 600_000) | st.sampled_from([199_999, 200_000, 200_001, 272_000, 272_001, 10**9]))
    most = draw(st.integers(0, 200_000))
    cached = draw(st.integers(0, prompt))
    written = draw(st.integers(0, prompt - cached))
    details = {"cached_tokens": cached, "cache_creation_input_tokens": written}
    actual = {
        "prompt_tokens": prompt,
        "completion_tokens": draw(st.integers(0, most)),
        "prompt_tokens_details": details,
    }
    return draw(st.sampled_from(MODELS)), prompt, most, actual


@given(usages())
def test_every_actual_usage_lies_between_the_two(
    prices: PriceBook, drawn: tuple[str, int, int, dict[str, Any]]
) -> None:
    model, prompt, most, actual = drawn
    lowest, highest, currency = prices.estimate_text(model, prompt_tokens=prompt, max_completion_tokens=most)
    assert lowest <= total(prices, "text", model, usage=actual) <= highest
    assert currency == "USD"


@pytest.mark.parametrize(
    ("model", "prompt", "most", "lowest", "highest"),
    [
        ("claude-opus-4-6", 0, 0, "0", "0"),
        ("claude-opus-4-6", 1_000_000, 1_000, "0.6", "7.53"),  # all read from the cache; all written to it
        ("openai-gpt-54-pro", 1_000, 0, "0.0375", "0.0375"),  # no cache rates
        ("grok-4-3", 200_000, 1_000, "0.046", "0.28683"),
        ("grok-4-3", 200_001, 1_000, "0.09000045", "0.57167283"),
    ],
)
def test_both_ends_are_prices_of_real_usages(
    prices: PriceBook, model: str, prompt: int, most: int, lowest: str, highest: str
) -> None:
    found = prices.estimate_text(model, prompt_tokens=prompt, max_completion_tokens=most)
    assert (found.lowest, found.highest) == (Decimal(lowest), Decimal(highest))
    ends = set()
    for name in ("cached_tokens", "cache_creation_input_tokens", "none"):
        details = {} if name == "none" else {name: prompt}
        for completion in (0, most):
            usage = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
            ends.add(total(prices, "text", model, usage=usage))
    assert (min(ends), max(ends)) == (found.lowest, found.highest)


@pytest.mark.parametrize("name", ["prompt_tokens", "max_completion_tokens"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (-1, ["Number must be greater than or equal to 0"]),
        (0.5, ["Expected integer, received float"]),
        (True, ["Expected number, received boolean"]),
        ("5", ["Expected number, received string"]),
        (None, ["Expected number, received null"]),
    ],
)
def test_wrong_counts(prices: PriceBook, name: str, given: Any, said: list[str]) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.estimate_text("grok-4-3", **{"prompt_tokens": 1, "max_completion_tokens": 1, name: given})
    assert messages(caught.value) == {name: said}


def test_whole_floats_are_counts(prices: PriceBook) -> None:
    one = prices.estimate_text("grok-4-3", prompt_tokens=5.0, max_completion_tokens=2.0)  # type: ignore[arg-type]
    assert one == prices.estimate_text("grok-4-3", prompt_tokens=5, max_completion_tokens=2)


def test_the_model_is_named_as_in_a_request(prices: PriceBook, card: RateCard) -> None:
    counts = {"prompt_tokens": 5, "max_completion_tokens": 2}
    suffixed = prices.estimate_text("grok-4-3:enable_web_search=on", **counts)
    assert suffixed == prices.estimate_text("grok-4-3", **counts)
    for name, said in (
        ("grok-9", "Specified model not found: grok-9"),
        ("flux-2-pro", "Specified model not found: flux-2-pro is of type image, and has no price for text"),
        (None, "Invalid request body"),
    ):
        with pytest.raises(QuoteError) as caught:
            prices.estimate_text(name, **counts)  # type: ignore[arg-type]
        assert caught.value.error.startswith(said)
