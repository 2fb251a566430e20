"""Embeddings: the prompt x its rate."""

from decimal import Decimal
from typing import Any

import pytest
from metered_answers import amounts, refused, sentence, sound

from ratecard import EmbeddingUsage, PriceBook, TokenUsage

MODEL = "text-embedding-bge-m3"


def usage_of(**tokens: Any) -> dict[str, Any]:
    return {"type": "embedding", "model": MODEL, "usage": tokens}


@pytest.mark.parametrize(
    ("tokens", "total"),
    [
        ({"prompt_tokens": 1_000_000}, "0.15"),
        ({"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}, "0.15"),
        ({"prompt_tokens": 1}, "0.00000015"),
        ({"input_tokens": 8}, "0.0000012"),
        ({"prompt_tokens": 0}, "0"),
        ({"prompt_tokens": 8, "completion_tokens": None, "prompt_tokens_details": None}, "0.0000012"),
    ],
)
def test_the_prompt_is_billed(prices: PriceBook, tokens: dict[str, Any], total: str) -> None:
    quote = sound(prices.rate(usage_of(**tokens)))
    assert quote.total == Decimal(total)
    assert quote.type == "embedding"


def test_its_sku_is_that_of_real_exports(prices: PriceBook) -> None:
    quote = prices.rate(EmbeddingUsage(model=MODEL, usage=TokenUsage(prompt_tokens=1_000_000)))
    assert amounts(quote) == {"llm-input-mtoken": Decimal("0.15")}
    assert quote.lines[0].sku == "text-embedding-bge-m3-llm-input-mtoken"
    assert quote.tokens == (1_000_000, 0)


def test_an_embedding_has_no_cache_and_searches_nothing(prices: PriceBook) -> None:
    cached = usage_of(prompt_tokens=10, prompt_tokens_details={"cached_tokens": 5})
    said = {"usage.prompt_tokens_details.cached_tokens": ["No price is known for cache_input tokens of this model"]}
    assert refused(prices, cached) == said
    searching = usage_of(prompt_tokens=10) | {"web_search_requests": 0, "service_parameters": {}}
    (said_of_keys,) = refused(prices, searching)[""]
    assert said_of_keys.startswith("Unrecognized key(s) in object: 'web_search_requests', 'service_parameters'.")
    inside = usage_of(prompt_tokens=10, server_tool_use={"web_search_requests": 1})
    assert refused(prices, inside) == {
        "usage.server_tool_use.web_search_requests": ["No price is known for this count"]
    }


@pytest.mark.parametrize("given", [None, -1, 0.5, True, "1"])
def test_a_wrong_prompt(prices: PriceBook, given: Any) -> None:
    assert list(refused(prices, usage_of(prompt_tokens=given))) == ["usage.prompt_tokens"]


def test_text_and_embedding_models_do_not_stand_for_each_other(prices: PriceBook) -> None:
    text = {"type": "text", "model": MODEL, "usage": {"prompt_tokens": 1, "completion_tokens": 0}}
    assert sentence(prices, text).endswith(f"{MODEL} is of type embedding, and has no price for text")
    other = {"type": "embedding", "model": "grok-4-3", "usage": {"prompt_tokens": 1}}
    assert sentence(prices, other).endswith("grok-4-3 is of type text, and has no price for embedding")
