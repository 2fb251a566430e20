"""A request of thousands of names that nobody knows is refused at once: few of them are compared with known ones."""

from collections.abc import Callable
from heapq import nlargest
from typing import Any
from unittest.mock import patch

import pytest

from ratecard import PriceBook, QuoteError, usage_from
from ratecard.base import suggestions

MODEL, VIDEO = "zai-org-glm-5-2", "kling-o3-pro-text-to-video"
MANY = {f"{number:04}_{'token' * 4}": 1 for number in range(9_000)}
COUNTS = {"prompt_tokens": 1, "completion_tokens": 1}


def text(**more: Any) -> dict[str, Any]:
    return {"type": "text", "model": MODEL, "usage": COUNTS, **more}


def of_dialect(dialect: str) -> Callable[[PriceBook], object]:
    names = {"genai-prices": ("input_tokens", "output_tokens"), "anthropic": ("input_tokens", "output_tokens")}
    counts = dict.fromkeys(names.get(dialect, tuple(COUNTS)), 1)
    return lambda prices: prices.rate(usage_from(dialect, {"model": MODEL, "usage": counts | MANY}))


DOORS: dict[str, Callable[[PriceBook], object]] = {
    "a usage": lambda prices: prices.rate(text(usage=COUNTS | MANY)),
    "inside a usage": lambda prices: prices.rate(text(usage=COUNTS | {"prompt_tokens_details": MANY})),
    "beside a usage": lambda prices: prices.rate(text(**MANY)),
    "entries": lambda prices: prices.rate(text(usage=COUNTS | {"iterations": [{"x_tokens": 1}] * 9_000})),
    "buckets": lambda prices: prices.rate({"type": "text", "model": MODEL, "tokens": {"input": 1, **MANY}}),
    "counts": lambda prices: prices.rate(text(counts=MANY)),
    "parameters": lambda prices: prices.rate(text(service_parameters=MANY | {"enable_web_search": 1})),
    "a model's name": lambda prices: prices.rate(text(model=f"{MODEL}:{'&'.join(MANY)}")),
    "images": lambda prices: prices.rate({"type": "image", "model": "flux-2-pro", **MANY}),
    "a video": lambda prices: prices.quote_video({"model": VIDEO, "duration": "99s", **MANY}),
    **{name: of_dialect(name) for name in ("openai", "anthropic", "litellm", "openrouter", "genai-prices")},
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_few_names_are_compared_and_listed(prices: PriceBook, door: Callable[[PriceBook], object]) -> None:
    looked_at = patch.object(suggestions, "nlargest", wraps=nlargest)
    with looked_at as compared, pytest.raises(QuoteError) as caught:
        door(prices)
    assert compared.call_count <= 50
    assert len(caught.value.to_json()) < 10_000
