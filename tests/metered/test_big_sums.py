"""Large counts and many usages are exact: the same as integer arithmetic."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard import PriceBook
from ratecard.base.money import EXACT

# Dollars per million tokens, in units of 1e-8 dollars: input, cache read, cache write, output; below and above.
RATES = {
    "claude-opus-4-6": (None, (600_000_000, 60_000_000, 750_000_000, 3_000_000_000), ()),
    "grok-4-3": (200_000, (142_000_000, 23_000_000, 142_000_000, 283_000_000),
                 (283_000_000, 45_000_000, 283_000_000, 567_000_000)),
    "openai-gpt-56-luna": (None, (26_666_667, 2_666_667, 33_333_334, 160_000_000), ()),
}  # fmt: skip
SCALE = 10**14  # 1e-8 dollars per 1e6 tokens


def usage_of(model: str, prompt: int, cached: int, written: int, completion: int) -> dict[str, Any]:
    details = {"cached_tokens": cached, "cache_creation_input_tokens": written}
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
    return {"type": "text", "model": model, "usage": tokens}


def expected(model: str, prompt: int, cached: int, written: int, completion: int) -> int:
    """The charge in units of 1e-14 dollars, in integers only."""
    threshold, base, extended = RATES[model]
    of_input, of_cached, of_written, of_output = extended if threshold and prompt > threshold else base
    counted = (prompt - cached - written) * of_input + cached * of_cached + written * of_written
    return counted + completion * of_output


@pytest.mark.parametrize("count", [10**9, 10**9 + 1, 999_999_999, 10**15 + 7])
@pytest.mark.parametrize("model", RATES)
def test_a_billion_tokens_are_exact(prices: PriceBook, model: str, count: int) -> None:
    shape = (count, count // 3, count // 7, count // 11)
    quote = prices.rate(usage_of(model, *shape))
    assert Fraction(quote.total) == Fraction(expected(model, *shape), SCALE)


def test_one_billion_tokens_of_input_cost_a_thousand_times_a_million(prices: PriceBook) -> None:
    assert prices.rate(usage_of("claude-opus-4-6", 10**9, 0, 0, 0)).to_json() == b'{"quote":6000}'
    assert prices.rate(usage_of("grok-4-3", 10**9, 10**9, 0, 10**9)).to_json() == b'{"quote":6120}'


@given(st.sampled_from(sorted(RATES)), st.integers(0, 10**17), st.data())
def test_any_count_is_exact(prices: PriceBook, model: str, prompt: int, data: st.DataObject) -> None:
    cached = data.draw(st.integers(0, prompt))
    written = data.draw(st.integers(0, prompt - cached))
    shape = (prompt, cached, written, data.draw(st.integers(0, 10**17)))
    assert Fraction(prices.rate(usage_of(model, *shape)).exact) == Fraction(expected(model, *shape), SCALE)


def test_the_sum_over_a_million_usages_equals_integer_arithmetic(prices: PriceBook) -> None:
    total, integer, usages = Decimal(0), 0, 0
    for number, model in product(range(5_000), RATES):
        prompt = 37 + number * 97
        shape = (prompt, prompt // 2, prompt // 9, number % 1_013)
        times = 66 if number % 3 == 2 else 67  # the number of times that this request occurs in the month
        total = EXACT.add(total, EXACT.multiply(prices.rate(usage_of(model, *shape)).total, Decimal(times)))
        integer += expected(model, *shape) * times
        usages += times
    assert usages == 1_000_002
    assert Fraction(total) == Fraction(integer, SCALE)
