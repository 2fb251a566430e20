"""A request of thousands of names that nobody knows is refused at once: few of them are compared with known ones."""

from collections.abc import Callable
from heapq import nlargest
from typing import Any
from unittest.mock import patch

import pytest
from starlette.testclient import TestClient

from ratecard import PriceBook, QuoteError, usage_from
from ratecard.base import suggestions
from ratecard.base.suggestions import MOST_COMPARED
from ratecard.server import application
from shipped import CARD

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
    assert len(caught.value.problems) in (1, 50)


def test_a_usage_has_at_most_10000_values_without_a_meaning(prices: PriceBook) -> None:
    words = {f"w{number}": "" for number in range(10_000)}
    assert len(prices.rate(text(usage=COUNTS | words)).ignored) == 10_000
    for more in (words | {"one-more": ""}, {"within": words}):
        with pytest.raises(QuoteError) as caught:
            prices.rate(text(usage=COUNTS | more))
        assert caught.value.problems == ((("usage",), "Object must have at most 10000 values"),)


BODIES: dict[str, dict[str, Any]] = {
    "rate": {"usages": [{"type": "video", "model": f"{VIDEO}{number}"} for number in range(1_000)]},
    "estimate": text(**MANY, service_parameters=MANY, counts=MANY),
}


@pytest.mark.parametrize(("path", "body"), BODIES.items(), ids=BODIES)
def test_over_http_few_names_of_a_whole_body_are_compared(path: str, body: dict[str, Any]) -> None:
    looked_at = patch.object(suggestions, "nlargest", wraps=nlargest)
    with TestClient(application(CARD)) as client, looked_at as compared:
        answer = client.post(f"/api/v1/{path}", json=body)
    assert 0 < compared.call_count <= MOST_COMPARED
    assert answer.status_code in (200, 400)
    assert "Did you mean" in answer.text
