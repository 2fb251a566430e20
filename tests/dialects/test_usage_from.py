"""What a dialect reads, adds, takes from a response, and refuses, at its exact path."""

import json
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from ratecard import (
    EmbeddingUsage,
    ImageUsage,
    QuoteError,
    TextUsage,
    TranscriptionUsage,
    load_rate_card,
    usage_from,
)
from ratecard.requests.dialects import DIALECTS

CHAT = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
ANTHROPIC = {"input_tokens": 3, "output_tokens": 4}
GEMINI = {"promptTokenCount": 7, "candidatesTokenCount": 8, "thoughtsTokenCount": 53, "totalTokenCount": 68}
TTL = {"ttl_30m_tokens": 6, "ttl_12h_tokens": 2}
CONVERSE = {"inputTokens": 7, "outputTokens": 30, "totalTokens": 37}
SPAN = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4",
    "gen_ai.response.model": "gpt-4-0613",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 180,
    "gen_ai.usage.cache_read.input_tokens": 50,
    "gen_ai.usage.reasoning.output_tokens": 50,
    "gen_ai.usage.audio.input_tokens": 10,
    "gen_ai.request.max_tokens": 100,
}

NO_PRICE = "No price is known for this count"
APART = "This is not in the counts of the usage: read it by itself, with its own model"


def tokens(dialect: str, response: Any, model: str | None = "m") -> dict[str, int] | None:
    usage = usage_from(dialect, response, model=model)
    assert isinstance(usage, (TextUsage, EmbeddingUsage))
    return usage.tokens


def refusal(dialect: str, response: Any, model: str | None = "m") -> dict[str, str]:
    with pytest.raises(QuoteError) as caught:
        usage_from(dialect, response, model=model)
    return {".".join(map(str, path)): message for path, message in caught.value.problems}


@pytest.mark.parametrize(
    ("dialect", "response", "expected"),
    [
        ("openai", {"usage": CHAT}, {"input": 10, "output": 5}),
        ("openai", CHAT, {"input": 10, "output": 5}),  # the usage alone
        ("openai", SimpleNamespace(usage=SimpleNamespace(**CHAT)), {"input": 10, "output": 5}),
        ("openai", {"response": {"usage": ANTHROPIC}}, {"input": 3, "output": 4}),
        ("openai", {"usage": CHAT | {"input_tokens": 10}}, {"input": 10, "output": 5}),  # two names of one count
        (
            "openai",
            {"usage": CHAT | {"prompt_tokens_details": {"cache_write_tokens": 8, "cache_write_tokens_details": TTL}}},
            {"input": 10, "output": 5, "cache_write": 8, "cache_write_12h": 2},
        ),
        (
            "anthropic",
            {"usage": ANTHROPIC | {"cache_read_input_tokens": 90, "cache_creation_input_tokens": 7}},
            {"input": 100, "output": 4, "cache_input": 90, "cache_write": 7},
        ),
        ("gemini", {"usageMetadata": GEMINI}, {"input": 7, "output": 61, "output_reasoning": 53}),
        (
            "gemini",
            SimpleNamespace(
                usage_metadata=SimpleNamespace(
                    prompt_token_count=9,
                    candidates_token_count=1,
                    cached_content_token_count=4,
                    prompt_tokens_details=[
                        SimpleNamespace(modality="TEXT", token_count=5),
                        SimpleNamespace(modality="AUDIO", token_count=4),
                    ],
                    cache_tokens_details=[SimpleNamespace(modality="TEXT", token_count=4)],
                )
            ),
            # All of the cache is text, so none of it is audio.
            {"input": 9, "output": 1, "cache_input": 4}
            | {"input_text": 5, "input_audio": 4, "cache_input_text": 4, "cache_input_audio": 0},
        ),
        # A count of 0 beside its own parts is kept, so that the tables refuse it.
        (
            "genai-prices",
            {"input_tokens": 7, "output_tokens": 7, "cache_write_tokens": 0, "cache_write_1h_tokens": 1}
            | {"input_audio_tokens": 0, "cache_audio_read_tokens": 1, "cache_read_tokens": 1, "output_audio_tokens": 0},
            {"input": 7, "output": 7, "cache_write": 0, "cache_write_1h": 1, "input_audio": 0}
            | {"cache_input_audio": 1, "cache_input": 1},
        ),
        ("bedrock", {"usage": CONVERSE}, {"input": 7, "output": 30}),
        (
            "bedrock",
            {"metadata": {"usage": CONVERSE | {"cacheWriteInputTokens": 9, "totalTokens": 46}}},
            {"input": 16, "output": 30, "cache_write": 9},
        ),
        (
            "bedrock",
            {"usage": CONVERSE | {"cacheWriteInputTokens": 9, "cacheDetails": [{"ttl": "1h", "inputTokens": 9}]}}
            | {"usage": {"inputTokens": 7, "outputTokens": 30, "cacheWriteInputTokens": 9}}
            | {"metrics": {"latencyMs": 3}},
            {"input": 16, "output": 30, "cache_write": 9},
        ),
        (
            "bedrock",
            {
                "usage": {
                    "inputTokens": 7,
                    "outputTokens": 3,
                    "cacheWriteInputTokens": 9,
                    "cacheDetails": [{"ttl": "1h", "inputTokens": 5}, {"ttl": "5m", "inputTokens": 4}],
                }
            },
            {"input": 16, "output": 3, "cache_write": 9, "cache_write_1h": 5},
        ),
        (
            "deepseek",
            {"usage": CHAT | {"prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6}},
            {"input": 10, "output": 5, "cache_input": 4},
        ),
        (
            "openrouter",  # in a generation, the provider's counts are billed, and not OpenRouter's own
            {
                "data": {
                    "model": "openai/gpt-5-mini",
                    "tokens_prompt": 8,
                    "tokens_completion": 4,
                    "native_tokens_prompt": 10,
                    "native_tokens_completion": 5,
                    "native_tokens_cached": 3,
                    "native_tokens_reasoning": 2,
                    "total_cost": 0.0015,
                    "generation_time": 1200,
                    "app_id": 167635,
                    "usage": 0.0015,
                    "cache_discount": -0.0002,
                    "provider_responses": [{"status": 200, "latency": 1250}],
                }
            },
            {"input": 10, "output": 5, "cache_input": 3, "output_reasoning": 2},
        ),
        (
            "litellm",  # the counts at the top repeat those of the details
            {
                "usage": CHAT
                | {"cache_read_input_tokens": 4, "cache_creation_input_tokens": 3}
                | {"prompt_tokens_details": {"cached_tokens": 4, "cache_creation_tokens": 3, "text_tokens": 3}}
            },
            {"input": 10, "output": 5, "cache_input": 4, "cache_write": 3, "input_text": 3},
        ),
        (
            "genai-prices",
            {"input_tokens": 100, "cache_read_tokens": 90, "output_tokens": 4, "cache_write_1h_tokens": 5}
            | {"cache_write_tokens": 8, "input_audio_tokens": 6, "cache_audio_read_tokens": 2},
            {"input": 100, "output": 4, "cache_input": 90, "cache_write": 8, "cache_write_1h": 5}
            | {"input_audio": 6, "cache_input_audio": 2},
        ),
        (
            "opentelemetry",
            {"name": "chat gpt-4", "attributes": SPAN},
            {"input": 100, "output": 180, "cache_input": 50, "output_reasoning": 50, "input_audio": 10},
        ),
        ("opentelemetry", {"gen_ai.usage.input_tokens": 1, "server.port": 443}, {"input": 1, "output": 0}),
    ],
)
def test_counts_become_inclusive_buckets(dialect: str, response: Any, expected: dict[str, int]) -> None:
    assert tokens(dialect, response) == expected


@pytest.mark.parametrize(
    ("dialect", "response", "said"),
    [
        ("openai", {}, {"usage": "Required"}),
        ("openai", 5, {"": "Expected object, received number"}),
        ("openai", {"usage": {"prompt_tokens": 5}}, {"usage.completion_tokens": "Required"}),
        (
            "openai",
            {"object": "list", "data": [{"object": "embedding"}], "usage": {"total_tokens": 5}},
            {"usage.prompt_tokens": "Required"},
        ),
        (
            "openai",
            {"usage": CHAT | {"prompt_tokens": "10"}},
            {"usage.prompt_tokens": "Expected number, received string"},
        ),
        (
            "openai",
            {"usage": CHAT | {"prompt_tokens": -1}},
            {"usage.prompt_tokens": "Number must be greater than or equal to 0"},
        ),
        (
            "openai",
            {"usage": CHAT | {"prompt_tokens_details": {"cached_token": 3}}},
            {"usage.prompt_tokens_details.cached_token": f"{NO_PRICE}. Did you mean 'cached_tokens'?"},
        ),
        ("openai", {"usage": CHAT | {"storage": {"days": [0, 2]}}}, {"usage.storage.days.1": NO_PRICE}),
        (
            "openai",
            {"usage": CHAT | {"total_tokens": 16}},
            {"usage.total_tokens": "Expected 15, the sum of completion_tokens, prompt_tokens"},
        ),
        (
            "openai",
            {"usage": CHAT | {"input_tokens": 9}},
            {"usage.input_tokens": "Expected 10, as another name of this count says"},
        ),
        (
            "openai",
            {"usage": CHAT, "tool_usage": {"image_gen": {"input_tokens": 2, "output_tokens": 0}}},
            {"tool_usage.image_gen": APART},
        ),
        # A count of another provider is not known here.
        ("openai", {"usage": CHAT | {"cache_read_input_tokens": 3}}, {"usage.cache_read_input_tokens": NO_PRICE}),
        (
            "anthropic",
            {
                "usage": ANTHROPIC
                | {"cache_creation_input_tokens": 5}
                | {"cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 3}}
            },
            {
                "usage.cache_creation_input_tokens": "Expected 4, the sum of "
                "cache_creation.ephemeral_5m_input_tokens, cache_creation.ephemeral_1h_input_tokens"
            },
        ),
        (
            "anthropic",  # a compaction is a request of its own, which the counts beside it do not include
            {
                "usage": ANTHROPIC
                | {"iterations": [{"type": "message", **ANTHROPIC}, {"type": "compaction", **ANTHROPIC}]}
            },
            {"usage.iterations.1": APART},
        ),
        (
            "gemini",  # recorded from a preview whose candidates included the thoughts: counted once or twice?
            {
                "usageMetadata": {
                    "promptTokenCount": 801,
                    "candidatesTokenCount": 1519,
                    "thoughtsTokenCount": 794,
                    "totalTokenCount": 2320,
                }
            },
            {
                "usageMetadata.totalTokenCount": "Expected 3114, the sum of toolUsePromptTokenCount, "
                "candidatesTokenCount, thoughtsTokenCount, promptTokenCount"
            },
        ),
        (
            "gemini",
            {"usageMetadata": {"promptTokenCount": 8, "promptTokensDetails": [{"modality": "SMELL", "tokenCount": 8}]}},
            {"usageMetadata.promptTokensDetails.SMELL": NO_PRICE},
        ),
        (
            "bedrock",
            {"usage": CONVERSE | {"totalTokens": 40}},
            {
                "usage.totalTokens": "Expected 37, the sum of "
                "cacheReadInputTokens, cacheWriteInputTokens, inputTokens, outputTokens"
            },
        ),
        (
            "bedrock",
            {"usage": CONVERSE | {"serverToolUsage": {"webSearches": 2}}},
            {"usage.serverToolUsage.webSearches": NO_PRICE},
        ),
        (
            "deepseek",
            {"usage": CHAT | {"prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 5}},
            {
                "usage.prompt_tokens": "Expected 9, the sum of "
                "prompt_tokens_details.cached_tokens, prompt_cache_miss_tokens"
            },
        ),
        (
            "litellm",
            {"usage": CHAT | {"prompt_tokens_details": {"character_count": 9}}},
            {"usage.prompt_tokens_details.character_count": NO_PRICE},
        ),
        ("genai-prices", {"input_tokens": 1, "sausage_tokens": 7}, {"sausage_tokens": NO_PRICE}),
        (
            "genai-prices",  # tokens for five minutes that the written tokens do not include
            {"input_tokens": 9, "output_tokens": 1, "cache_write_5m_tokens": 5},
            {"cache_write_5m_tokens": "Number must be less than or equal to 0"},
        ),
        # Parts that exceed their whole only together.
        (
            "bedrock",
            {
                "usage": CONVERSE
                | {"cacheWriteInputTokens": 9, "totalTokens": None}
                | {"cacheDetails": [{"ttl": "5m", "inputTokens": 9}, {"ttl": "1h", "inputTokens": 9}]}
            },
            {
                "usage.cacheDetails.5m": "Number must be less than or equal to 0",
                "usage.cacheWriteInputTokens": "Expected 18, the sum of cacheDetails.5m, cacheDetails.1h",
            },
        ),
        (
            "bedrock",  # the lifetime of the other 3 is not known
            {
                "usage": CONVERSE
                | {"cacheWriteInputTokens": 9, "totalTokens": None, "cacheDetails": [{"ttl": "1h", "inputTokens": 6}]}
            },
            {"usage.cacheWriteInputTokens": "Expected 6, the sum of cacheDetails.1h"},
        ),
        (
            "anthropic",
            {
                "usage": ANTHROPIC
                | {"cache_creation_input_tokens": 9, "cache_creation": {"ephemeral_5m_input_tokens": 6}}
            },
            {"usage.cache_creation_input_tokens": "Expected 6, the sum of cache_creation.ephemeral_5m_input_tokens"},
        ),
        (
            "openai",  # a batch has one usage for all its requests
            {"object": "batch", "usage": CHAT},
            {"object": "This counts several requests together: give the response of each by itself"},
        ),
        (
            "openai",
            {"usage": CHAT, "output": [{"type": "image_generation_call"}, {"svg_usage": {"model": "a"} | CHAT}]},
            {"output.1.svg_usage": APART},
        ),
        ("openai", {"data": [{"url": "a"}], "svg_usage": {"model": "a"} | CHAT}, {"svg_usage": APART}),
        (
            "openai",
            {"usage": CHAT | {"prompt_tokens_details": {"cache_write_tokens": 9, "cache_write_tokens_details": TTL}}},
            {
                "usage.prompt_tokens_details.cache_write_tokens": "Expected 8, the sum of "
                "prompt_tokens_details.cache_write_tokens_details.ttl_30m_tokens, "
                "prompt_tokens_details.cache_write_tokens_details.ttl_12h_tokens"
            },
        ),
        (
            "litellm",
            {
                "usage": CHAT
                | {"cache_creation_input_tokens": 9}
                | {"cache_creation": {"ephemeral_5m_input_tokens": 9, "ephemeral_1h_input_tokens": 9}}
            },
            {
                "usage.cache_creation.ephemeral_5m_input_tokens": "Number must be less than or equal to 0",
                "usage.cache_creation_input_tokens": "Expected 18, the sum of "
                "cache_creation.ephemeral_5m_input_tokens, cache_creation.ephemeral_1h_input_tokens",
            },
        ),
        (
            "openai",
            {"usage": CHAT | {"prompt_tokens_details": {"text_tokens": 10, "audio_tokens": 6}}},
            {"usage.prompt_tokens_details.text_tokens": "Number must be less than or equal to 4"},
        ),
        (
            "gemini",
            {
                "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 1}
                | {"promptTokensDetails": [{"modality": word, "tokenCount": 8} for word in ("TEXT", "AUDIO")]}
            },
            {"usageMetadata.promptTokensDetails.TEXT": "Number must be less than or equal to 0"},
        ),
        ("opentelemetry", SPAN | {"gen_ai.usage.smell.input_tokens": 2}, {"gen_ai.usage.smell.input_tokens": NO_PRICE}),
        ("opentelemetry", [SPAN, SPAN], {"": "Each of these is a request of its own: read one at a time"}),
        (
            "opentelemetry",  # an agent counts the tokens of its calls again
            SPAN | {"gen_ai.operation.name": "invoke_agent"},
            {
                "gen_ai.operation.name": "Invalid enum value. Expected 'chat' | 'embeddings' | "
                "'generate_content' | 'text_completion', received 'invoke_agent'"
            },
        ),
    ],
)
def test_what_a_dialect_does_not_understand_is_refused(dialect: str, response: Any, said: dict[str, str]) -> None:
    assert refusal(dialect, response) == said


@pytest.mark.parametrize("other", [9, 11])
def test_two_names_of_one_count_that_differ_are_refused(other: int) -> None:
    said = refusal("openai", {"usage": CHAT | {"input_tokens": other}})
    assert said == {"usage.input_tokens": "Expected 10, as another name of this count says"}


def test_what_is_written_for_five_minutes_is_charged_as_what_is_written() -> None:
    written = {"input_tokens": 9, "output_tokens": 1, "cache_write_tokens": 5, "cache_write_5m_tokens": 5}
    assert tokens("genai-prices", written) == {"input": 9, "output": 1, "cache_write": 5}


def test_a_count_of_nothing_beside_parts_of_nothing_is_left_out() -> None:
    none = {"input_tokens": 7, "output_tokens": 7, "input_audio_tokens": 0, "cache_audio_read_tokens": 0}
    assert tokens("genai-prices", none) == {"input": 7, "output": 7}


def test_a_dialect_that_is_not_known_is_refused_with_those_that_are() -> None:
    said = refusal("openia", {"usage": CHAT})["dialect"]
    assert said.startswith("Invalid enum value. Expected 'openai' | 'anthropic' | 'gemini' | 'bedrock' | 'deepseek'")


def test_the_model_is_the_caller_s_or_the_response_s_own() -> None:
    assert usage_from("openai", {"model": "gpt-5", "usage": CHAT}).model == "gpt-5"
    assert usage_from("openai", {"model": "gpt-5", "usage": CHAT}, model="ours").model == "ours"
    assert usage_from("opentelemetry", SPAN).model == "gpt-4-0613"
    assert refusal("bedrock", {"usage": CONVERSE}, None) == {"model": "The response names no model. Give it as model"}


def test_conditions_are_those_of_the_response_unless_the_caller_says_others() -> None:
    def conditions(dialect: str, response: Any, **given: Any) -> dict[str, Any]:
        usage = usage_from(dialect, response, model="m", **given)
        return usage.model_dump(exclude_none=True, exclude={"type", "model", "tokens"})

    response = {"usage": ANTHROPIC | {"service_tier": "priority", "speed": "fast", "inference_geo": "us"}}
    assert conditions("anthropic", response) == {"service_tier": "priority", "speed": "fast", "inference_geo": "us"}
    assert conditions("openai", {"usage": CHAT, "service_tier": "flex"}) == {"service_tier": "flex"}
    assert conditions("openai", {"usage": CHAT, "service_tier": "default"}, service_tier="batch", region="eu") == {
        "service_tier": "batch",
        "region": "eu",
    }
    assert conditions("gemini", {"usageMetadata": GEMINI | {"trafficType": "ON_DEMAND_FLEX"}}) == {
        "service_tier": "flex"
    }
    assert conditions("gemini", {"usageMetadata": GEMINI | {"trafficType": "ON_DEMAND_PRIORITY"}}) == {
        "service_tier": "priority"
    }
    assert conditions("gemini", {"usageMetadata": GEMINI | {"trafficType": "TRAFFIC_TYPE_UNSPECIFIED"}}) == {}
    # A usage may state conditions itself; a response of Vercel has those of its provider.
    flex, fast = {"service_tier": "flex"}, {"speed": "fast", "service_tier": "flex"}
    for dialect in ("openai", "deepseek", "groq", "xai", "together", "openrouter"):
        assert conditions(dialect, {"usage": CHAT | flex}) == conditions(dialect, {"usage": CHAT} | flex) == flex
    counted = {"usage_metadata": {"input_tokens": 1, "output_tokens": 1}}
    assert conditions("langchain", counted | {"response_metadata": {"usage": fast}}) == fast
    counted = {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}}
    assert conditions("vercel", counted | {"providerMetadata": {"openai": {"serviceTier": "flex"}}}) == flex
    assert conditions("vercel", counted | {"providerMetadata": {"anthropic": {"usage": fast}}}) == fast
    assert conditions("vercel", {"usage": counted["usage"] | {"raw": {"trafficType": "ON_DEMAND_FLEX"}}}) == flex
    # None means that a condition is not given.
    assert conditions("openai", {"usage": CHAT} | flex, service_tier=None, region=None) == flex
    said = {"usage": CONVERSE, "serviceTier": {"type": "flex"}, "performanceConfig": {"latency": "optimized"}}
    assert conditions("bedrock", said) == {"service_tier": "flex", "latency": "optimized"}
    assert conditions("bedrock", said | {"performanceConfig": {"latency": "standard"}}) == {"service_tier": "flex"}


def test_parts_of_a_stream_are_added_replaced_or_the_last_counts() -> None:
    first, last = CHAT | {"completion_tokens": 1, "total_tokens": 11}, CHAT
    chunks = [{"model": "gpt-5", "usage": None}, {"model": "gpt-5", "id": "a", "usage": first}]
    chunks += [{"id": "a", "choices": [{"finish_reason": "stop"}], "usage": last}, {"choices": []}]
    assert tokens("openai", chunks, None) == tokens("openai", iter(chunks), None) == {"input": 10, "output": 5}
    events = [
        {"type": "message_start", "message": {"model": "m", "usage": ANTHROPIC | {"cache_read_input_tokens": 9}}},
        {"type": "ping"},
        # An earlier part counted the input.
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 40}},
        {"type": "message_stop"},
    ]
    assert tokens("anthropic", events, None) == {"input": 12, "output": 40, "cache_input": 9}
    turns = [{"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 7, "cache_read_tokens": 2}]
    assert tokens("genai-prices", turns) == {"input": 12, "output": 1, "cache_input": 2}
    ended = {"choices": [{"finish_reason": "stop"}], "usage": {}}
    assert tokens("openai", [{"usage": CHAT}, ended]) == {"input": 10, "output": 5}  # the last part has no counts
    assert refusal("openai", []) == {"usage": "Required"}
    assert {name: dialect.stream for name, dialect in DIALECTS.items() if dialect.stream != "last"} == {
        "anthropic": "replace",
        "genai-prices": "add",
        "langchain": "add",
        "opentelemetry": "refuse",
        "otlp": "refuse",
    }


def test_arguments_of_other_types_are_refused_or_read() -> None:
    not_a_dialect: Any = ["openai"]
    with pytest.raises(QuoteError, match="dialect: Expected string, received array"):
        usage_from(not_a_dialect, {})
    with pytest.raises(QuoteError, match="counts: Expected object, received number"):
        usage_from("anthropic", {"usage": ANTHROPIC}, model="m", counts=5)
    page = usage_from("anthropic", {"usage": ANTHROPIC}, model="m", counts=SimpleNamespace(page=1))
    assert page == usage_from("anthropic", {"usage": ANTHROPIC}, model="m", counts={"page": 1})
    none = usage_from("anthropic", {"usage": ANTHROPIC}, model="m", counts=SimpleNamespace())
    assert none == usage_from("anthropic", {"usage": ANTHROPIC}, model="m")


def test_tools_are_counted_by_meter() -> None:
    def counts(dialect: str, response: Any, **given: Any) -> Any:
        usage = usage_from(dialect, response, model="m", **given)
        assert isinstance(usage, TextUsage)
        return usage.counts

    used = {"server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 1}}
    assert counts("anthropic", {"usage": ANTHROPIC | used}) == {"web_search": 2, "web_fetch": 1}
    assert counts("anthropic", {"usage": ANTHROPIC | used}, counts={"session": 1})["session"] == 1
    # A count given by the caller replaces the count of the response.
    assert counts("anthropic", {"usage": ANTHROPIC | used}, counts={"web_search": 5}) == {
        "web_search": 5,
        "web_fetch": 1,
    }
    assert counts("anthropic", {"usage": ANTHROPIC}) is None
    calls = [
        {"type": "web_search_call", "action": {"type": "search"}},
        {"type": "web_search_call", "action": {"type": "open_page"}},
        {"type": "file_search_call"},
        {"type": "message"},
    ]
    assert counts("openai", {"usage": ANTHROPIC, "output": calls}) == {"web_search": 1, "file_search": 1}
    assert counts("openai", {"usage": ANTHROPIC, "output": calls * 3}) == {"web_search": 3, "file_search": 3}
    counted = {"web_search": {"num_requests": 3}}  # the count of the response itself
    assert counts("openai", {"usage": ANTHROPIC, "output": calls, "tool_usage": counted})["web_search"] == 3
    for searched in (
        {"server_tool_use": {"web_search_requests": 2}},
        {"server_tool_use_details": {"web_search_requests": 2}},
        {"prompt_tokens_details": {"web_search_requests": 2}},
    ):
        assert counts("litellm", {"usage": CHAT | searched}) == {"web_search": 2}
    peer = {"input_tokens": 1, "web_searches": 4, "audio_seconds": Decimal("1.5"), "input_document_pages": 0}
    assert counts("genai-prices", peer) == {"web_search": 4, "audio_second": Decimal("1.5")}
    assert refusal("genai-prices", {"web_searches": -1}) == {
        "web_searches": "Number must be greater than or equal to 0"
    }
    pages = {"input_document_pages": 7, "input_annotated_document_pages": 7}
    assert counts("genai-prices", pages) == {"input_document_page": 7, "input_annotated_document_page": 7}
    for most, whole in (("6", {"input_document_pages": 6}), ("0", {})):
        assert refusal("genai-prices", {"input_annotated_document_pages": 7} | whole) == {
            "input_annotated_document_pages": f"Number must be less than or equal to {most}"
        }


def test_what_the_cache_and_a_modality_share_is_known_where_the_cache_is_all_of_one() -> None:
    counted = {"input_tokens": 9, "cache_read_tokens": 4, "cache_audio_read_tokens": 4, "input_audio_tokens": 5}
    expected = {"input": 9, "output": 0, "input_audio": 5, "cache_input": 4, "cache_input_audio": 4}
    assert tokens("genai-prices", counted) == expected
    # One of the cached tokens is of a modality that is not counted.
    assert tokens("genai-prices", counted | {"cache_audio_read_tokens": 3}) == expected | {"cache_input_audio": 3}
    some = {"input_text_tokens": 4, "cache_audio_read_tokens": 3}
    assert tokens("genai-prices", counted | some) == expected | {"input_text": 4, "cache_input_audio": 3}
    more = {"input_image_tokens": 2, "input_tool_tokens": 1}
    others = {"input_image": 2, "input_tool": 1, "cache_input_image": 0}
    assert tokens("genai-prices", counted | more) == expected | others


def test_what_is_not_text_has_a_usage_of_its_own() -> None:
    embedding = usage_from("openai", {"object": "list", "model": "e", "usage": {"prompt_tokens": 8, "total_tokens": 8}})
    assert embedding == EmbeddingUsage(model="e", tokens={"input": 8, "output": 0})
    audio = usage_from("openai", {"text": "Hi", "usage": {"type": "duration", "seconds": 8.5}}, model="whisper-1")
    assert audio == TranscriptionUsage(model="whisper-1", seconds=Decimal("8.5"))
    images = usage_from("openai", {"created": 1, "data": [{"url": "a"}, {"url": "b"}]}, model="dall-e-3", quality="hd")
    assert images == ImageUsage(model="dall-e-3", n=2, quality="hd")


def test_a_row_of_litellm_s_spend_logs_is_read_by_the_usage_in_its_metadata() -> None:
    row = {
        "call_type": "acompletion",
        "spend": 0.0012,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "model": "gpt-5",
        "metadata": '{"usage_object": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, '
        '"prompt_tokens_details": {"cached_tokens": 4}}}',
    }
    assert tokens("litellm", row, None) == {"input": 10, "output": 5, "cache_input": 4}
    # Without the metadata, nobody knows how many tokens were cached.
    assert "spend" in refusal("litellm", row | {"metadata": "{}"})
    assert list(refusal("litellm", row | {"call_type": "aimage_generation"})) == ["call_type"]


def test_two_places_of_a_response_that_contradict_each_other_are_refused() -> None:
    usage = CHAT | {"prompt_tokens_details": {"cached_tokens": 4}}
    row = CHAT | {"call_type": "completion", "metadata": json.dumps({"usage_object": usage})}
    for dialect, response, path in (
        ("litellm", row | {"prompt_tokens": 11}, "prompt_tokens"),
        ("litellm", row | {"usage": CHAT | {"total_tokens": 16}}, "metadata.usage_object.total_tokens"),
        (
            "groq",
            {"usage": CHAT, "x_groq": {"usage": CHAT | {"completion_tokens": 6}}},
            "x_groq.usage.completion_tokens",
        ),
        ("openai", {"usage": CHAT, "response": {"usage": {"input_tokens": 9}}}, "response.usage.input_tokens"),
        (
            "moonshot",
            {"choices": [{"usage": CHAT}, {"usage": CHAT | {"prompt_tokens": 9}}]},
            "choices.1.usage.prompt_tokens",
        ),
    ):
        assert path in refusal(dialect, response), path
    for again in ({}, {"usage": usage}, {"completion_tokens": None}):
        assert tokens("litellm", row | again) == {"input": 10, "output": 5, "cache_input": 4}


def test_two_places_that_count_calls_differently_are_refused() -> None:
    raw, again = ({"server_tool_use": {"web_search_requests": count}} for count in (2, 3))
    usage = {"inputTokens": 3, "outputTokens": 4, "raw": raw}
    path = "providerMetadata.anthropic.usage.server_tool_use.web_search_requests"
    said = refusal("vercel", {"usage": usage, "providerMetadata": {"anthropic": {"usage": again}}})
    assert said == {path: "Expected 2, as another name of this count says"}
    same = usage_from("vercel", {"usage": usage, "providerMetadata": {"anthropic": {"usage": raw}}}, model="m")
    assert same.counts == {"web_search": 2}


def test_two_places_that_state_different_tiers_are_refused() -> None:
    response = {"service_tier": "flex", "usage": CHAT | {"service_tier": "priority"}}
    assert refusal("openai", response) == {"usage.service_tier": "Expected 'flex', as service_tier says"}
    # Empty text states nothing, wherever it stands.
    read = usage_from("openai", response | {"service_tier": ""}, model="m")
    assert read.service_tier == "priority"
    span = {"gen_ai.usage.input_tokens": 1, "openai.response.service_tier": "flex"}
    assert usage_from("opentelemetry", span, model="m").service_tier == "flex"


@pytest.mark.parametrize("text", ['{"usage_object": {"prompt_tokens"', ' {"usage_object": {}} {}', "{...}"])
def test_text_that_breaks_off_before_the_usage_is_refused_and_no_other_count_is_read_for_it(text: str) -> None:
    row = {"call_type": "completion", "prompt_tokens": 10, "completion_tokens": 5, "model": "m", "metadata": text}
    assert list(refusal("litellm", row)) == ["metadata"]
    # Metadata that is not an object has no effect.
    assert tokens("litellm", row | {"metadata": "a note"}, None) == {"input": 10, "output": 5}


def test_an_entry_that_is_counted_under_both_names_is_refused() -> None:
    entry = {"modality": "TEXT", "tokenCount": 3, "token_count": 9}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 1, "promptTokensDetails": [entry]}
    path = "usageMetadata.promptTokensDetails.TEXT.token_count"
    assert list(refusal("gemini", {"modelVersion": "m", "usageMetadata": usage})) == [path]


def test_seconds_are_read_where_tokens_are_null() -> None:
    usage = {"type": "duration", "seconds": 9, "input_tokens": None, "output_tokens": None}
    read = usage_from("openai", {"model": "m", "usage": usage})
    assert read == TranscriptionUsage(model="m", seconds=Decimal(9))


@pytest.mark.parametrize("other", [{"duration": 8}, {"data": [{"url": "a"}]}], ids=["seconds", "pieces"])
def test_tokens_count_in_whichever_part_of_a_stream_they_are(other: dict[str, Any]) -> None:
    parts = [{"choices": [{"finish_reason": "stop"}], "usage": CHAT}, other]
    same = {"input": 10, "output": 5}
    assert [tokens("openai", given) for given in (parts, parts[::-1], [parts[0] | other])] == [same] * 3


def test_the_shipped_tables_price_what_was_read() -> None:
    prices = load_rate_card().at(date(2026, 10, 1))
    read = usage_from("anthropic", {"model": "claude-opus-4-6", "usage": ANTHROPIC | {"cache_read_input_tokens": 5000}})
    same = {"prompt_tokens": 5003, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5000}}
    assert prices.rate(read).exact == prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": same}).exact


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"service_tier": 5}, ("service_tier",)),
        ({"region": 1}, ("region",)),
        ({"counts": 5}, ("counts",)),
        ({"counts": [1]}, ("counts",)),
        ({"metadata": "x"}, ("metadata",)),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, Any], path: tuple[str, ...]) -> None:
    for usage in (CHAT, {"seconds": 4}):
        with pytest.raises(QuoteError) as refused:
            usage_from("openai", {"model": "m", "usage": usage}, **arguments)
        assert [at for at, _ in refused.value.problems] == [path]


@pytest.mark.parametrize("counted", [{"usage": {"seconds": 4}}, {"data": [{"url": "x"}]}])
def test_seconds_and_images_keep_the_conditions_of_their_response(counted: dict[str, Any]) -> None:
    assert usage_from("openai", {"model": "m", "service_tier": "flex", **counted}).service_tier == "flex"
