"""Usage straight from a client: mappings, plain objects, pydantic objects, and the names of both OpenAI dialects."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from metered_answers import refused
from pydantic import BaseModel

from ratecard import PriceBook, TextUsage, TokenUsage


class Details(BaseModel):
    audio_tokens: int | None = None
    cache_write_tokens: int | None = None
    cached_tokens: int | None = None


class CompletionUsage(BaseModel):
    """As `openai.types.CompletionUsage`: a pydantic object that has every optional part as None."""

    completion_tokens: int
    prompt_tokens: int
    total_tokens: int
    completion_tokens_details: dict[str, int] | None = None
    prompt_tokens_details: Details | None = None


class InputDetails(BaseModel):
    cached_tokens: int


class ResponseUsage(BaseModel):
    """As `openai.types.responses.ResponseUsage`."""

    input_tokens: int
    input_tokens_details: InputDetails
    output_tokens: int
    output_tokens_details: dict[str, int]
    total_tokens: int


@dataclass
class Plain:
    prompt_tokens: int
    completion_tokens: int
    prompt_tokens_details: Any = None


class Lazy:
    """An object of a client that reads itself only when it is asked to."""

    def model_dump(self) -> Mapping[str, Any]:
        return MappingProxyType(PLAIN)


PLAIN: dict[str, Any] = {
    "prompt_tokens": 5500,
    "completion_tokens": 700,
    "prompt_tokens_details": {"cached_tokens": 5000},
}
CACHED = Details(cached_tokens=5000)
SAME: list[Any] = [
    MappingProxyType(PLAIN),
    json.loads(json.dumps(PLAIN)),
    PLAIN | {"total_tokens": 6200, "cost": None, "completion_tokens_details": {"reasoning_tokens": 600}},
    {"input_tokens": 5500, "output_tokens": 700, "input_tokens_details": {"cached_tokens": 5000}},
    {"input_tokens": 5500, "completion_tokens": 700, "prompt_tokens_details": CACHED},
    PLAIN
    | {"input_tokens": None, "prompt_tokens_details": {"cached_tokens": 5000, "cache_creation_input_tokens": None}},
    CompletionUsage(completion_tokens=700, prompt_tokens=5500, total_tokens=6200, prompt_tokens_details=CACHED),
    CompletionUsage(
        completion_tokens=700, prompt_tokens=5500, total_tokens=6200, prompt_tokens_details=CACHED
    ).model_dump(),
    ResponseUsage(
        input_tokens=5500,
        input_tokens_details=InputDetails(cached_tokens=5000),
        output_tokens=700,
        output_tokens_details={"reasoning_tokens": 0},
        total_tokens=6200,
    ),
    SimpleNamespace(
        prompt_tokens=5500, completion_tokens=700, prompt_tokens_details=SimpleNamespace(cached_tokens=5000)
    ),
    SimpleNamespace(prompt_tokens=5500, completion_tokens=700, prompt_tokens_details={"cached_tokens": 5000}),
    Plain(5500, 700, CACHED),
    Lazy(),
    TokenUsage.model_validate(PLAIN),
]


@pytest.mark.parametrize("given", SAME, ids=lambda given: type(given).__name__)
def test_the_same_usage_has_the_same_price_in_whatever_it_comes(prices: PriceBook, given: Any) -> None:
    expected = prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": PLAIN})
    assert prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": given}) == expected


@pytest.mark.parametrize("given", [given for given in SAME if not isinstance(given, (Lazy, MappingProxyType))])
def test_a_typed_usage_takes_what_a_client_hands_out(prices: PriceBook, given: Any) -> None:
    typed = TextUsage(model="claude-opus-4-6", usage=given)
    assert prices.rate(typed) == prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": PLAIN})


def test_a_client_without_details_pays_the_input_rate_for_all(prices: PriceBook) -> None:
    bare = CompletionUsage(completion_tokens=0, prompt_tokens=100, total_tokens=100)
    for given in (bare, bare.model_dump(), Plain(100, 0), {"prompt_tokens": 100, "completion_tokens": 0}):
        quote = prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": given})
        assert [line.sku for line in quote.lines] == ["claude-opus-4-6-llm-input-mtoken"]


def test_the_object_of_the_openai_package_where_it_is_installed(prices: PriceBook) -> None:
    openai = pytest.importorskip("openai.types.completion_usage")
    details = openai.PromptTokensDetails(cached_tokens=5000)
    given = openai.CompletionUsage(
        prompt_tokens=5500, completion_tokens=700, total_tokens=6200, prompt_tokens_details=details
    )
    usage = {"type": "text", "model": "claude-opus-4-6", "usage": given}
    assert prices.rate(usage) == prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": PLAIN})


@pytest.mark.parametrize("name", ["cache_creation_input_tokens", "cache_write_tokens"])
def test_what_was_written_to_the_cache_has_two_names(prices: PriceBook, name: str) -> None:
    tokens = PLAIN | {"prompt_tokens_details": {"cached_tokens": 5000, name: 500}}
    usage = {"type": "text", "model": "claude-opus-4-6", "usage": tokens}
    assert "claude-opus-4-6-llm-cache-write-5m-mtoken" in {line.sku for line in prices.rate(usage).lines}
    assert prices.rate(TextUsage(model="claude-opus-4-6", usage=TokenUsage.model_validate(tokens))) == prices.rate(
        usage
    )
    tokens["prompt_tokens_details"] = {"cached_tokens": 5000, name: 501}
    most = ["Number must be less than or equal to 500"]
    assert refused(prices, usage) == {f"usage.prompt_tokens_details.{name}": most}
    tokens["prompt_tokens_details"] = {"cached_tokens": 5000, name: None}
    assert prices.rate(usage) == prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": PLAIN})


def test_reasoning_tokens_are_part_of_the_completion(prices: PriceBook) -> None:
    reasoned = PLAIN | {"completion_tokens_details": {"reasoning_tokens": 700}}
    one, other = ({"type": "text", "model": "claude-opus-4-6", "usage": given} for given in (PLAIN, reasoned))
    assert prices.rate(one) == prices.rate(other)
