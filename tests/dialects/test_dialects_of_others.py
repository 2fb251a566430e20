"""The dialects of those who answer nearly as OpenAI does, and of frameworks: what lies beside, and what is refused."""

from decimal import Decimal
from typing import Any

import pytest

from ratecard import EmbeddingUsage, QuoteError, TextUsage, usage_from
from ratecard.requests.dialects import DIALECTS

CHAT = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
TWO = "These are two responses: give each by itself"
APART = "This is not in the counts of the usage: read it by itself, with its own model"


def read(dialect: str, response: Any, **given: Any) -> TextUsage:
    usage = usage_from(dialect, response, model="m", **given)
    assert isinstance(usage, TextUsage)
    return usage


def refusal(dialect: str, response: Any) -> dict[str, str]:
    with pytest.raises(QuoteError) as caught:
        usage_from(dialect, response, model="m")
    return {".".join(map(str, path)): message for path, message in caught.value.problems}


def test_names_for_one_way_of_counting_are_one_dialect() -> None:
    assert DIALECTS["openai"] is DIALECTS["openai-realtime"]
    assert DIALECTS["opentelemetry"] is DIALECTS["otlp"]
    assert DIALECTS["together"] is DIALECTS["moonshot"]


def responses(usage: dict[str, Any]) -> list[Any]:
    """A response, its stream, and its usage alone."""
    named = {"id": "a", "object": "response", "model": "m", "status": "completed", "usage": usage}
    begin = {"type": "response.created", "sequence_number": 0, "response": {"id": "a", "status": "in_progress"}}
    return [named, [begin, {"type": "response.completed", "sequence_number": 1, "response": named}], usage]


@pytest.mark.parametrize("dialect", ["openai", "deepseek", "openrouter", "groq", "xai"])
def test_the_responses_api_is_read_wherever_it_is_offered(dialect: str) -> None:
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "total_tokens": 120}
    usage |= {"output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 15}}
    for response in responses(usage):
        tokens = {"input": 100, "output": 20, "cache_input": 60, "output_reasoning": 15}
        assert read(dialect, response).tokens == tokens
    assert "not finished" in refusal(dialect, responses(usage)[1][:1])[""]
    searched = responses(usage)[0] | {"output": [{"type": "web_search_call", "action": {"type": "search"}}]}
    assert read(dialect, searched).counts == {"web_search": 1}


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        # In a chat, the total includes reasoning beside the completion, if there is any.
        (CHAT | {"total_tokens": 135, "completion_tokens_details": {"reasoning_tokens": 15}}, {"output": 35}),
        (CHAT | {"completion_tokens_details": {"reasoning_tokens": 0}}, {"output": 20}),
        # In a response, the output includes reasoning.
        (
            {"input_tokens": 100, "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 15}},
            {"output": 20},
        ),
    ],
)
def test_xai_counts_reasoning_beside_a_chat_and_in_a_response(usage: dict[str, Any], tokens: dict[str, int]) -> None:
    given = read("xai", usage).tokens
    assert given is not None
    assert given.items() >= {"input": 100, **tokens}.items()
    # The total decides which of both it is; any other total is refused.
    assert list(refusal("xai", usage | {"total_tokens": 134})) == ["total_tokens"]
    if tokens["output"] == 35:
        assert list(refusal("openai", usage)) == ["total_tokens"]


def test_xai_s_tools_are_counted_by_their_kind_or_refused() -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    kinds = {"web_search_calls": 2, "x_search_calls": 1, "code_interpreter_calls": 1, "mcp_calls": 3}
    counts = {"web_search": 2, "x_search_call": 1, "code_interpreter": 1}
    told = usage | {"num_server_side_tools_used": 7, "server_side_tool_usage_details": kinds}
    listed = [{"type": "web_search_call", "action": {"type": "search"}}, {"type": "code_interpreter_call"}]
    # Calls that the usage counts are not counted again from the output.
    for response in (told, {"usage": told}, {"usage": told, "output": listed}):
        usage_read = read("xai", response)
        assert usage_read.counts == counts
        assert getattr(usage_read, "listed", None) is None
    assert list(refusal("xai", told | {"num_server_side_tools_used": 8})) == ["num_server_side_tools_used"]
    said = refusal("xai", usage | {"num_server_side_tools_used": 1})["num_server_side_tools_used"]
    assert said.startswith("This count is not clear by itself: give server_side_tool_usage_details.web_search_calls or")
    assert read("xai", usage | {"num_server_side_tools_used": 0}).counts is None
    assert read("xai", usage | {"num_sources_used": 3, "cost_in_usd_ticks": 12}).counts == {"source": 3}


def test_groq_s_times_are_not_counts_and_the_models_of_a_system_are_refused() -> None:
    usage = CHAT | {"queue_time": 0.01, "prompt_time": 0.02, "completion_time": 0.5, "total_time": 0.52}
    response = {"service_tier": "on_demand", "usage": usage, "x_groq": {"id": "req_1", "seed": 42}}
    assert read("groq", response).tokens == {"input": 100, "output": 20}
    assert read("groq", response).service_tier == "standard"
    end = {"choices": [{"finish_reason": "stop"}], "x_groq": {"id": "req_1", "usage": usage}}
    assert read("groq", [{"id": "a", "choices": [{}]}, {"id": "a", **end}]).tokens == {"input": 100, "output": 20}
    models = {"models": [{"model": "one", "usage": usage}, {"model": "two", "usage": usage}]}
    assert set(refusal("groq", response | {"usage_breakdown": models}).values()) == {APART}
    models["models"][0] = {"model": "one", "usage": {"prompt_tokens": 0}}
    assert refusal("groq", response | {"usage_breakdown": models}) == {"usage_breakdown.models.1.usage": APART}
    assert read("groq", response | {"usage_breakdown": None}).tokens == {"input": 100, "output": 20}


@pytest.mark.parametrize("dialect", ["together", "moonshot"])
def test_cached_tokens_at_the_top_are_part_of_the_prompt(dialect: str) -> None:
    tokens = {"input": 100, "output": 20, "cache_input": 90}
    usage = CHAT | {"cached_tokens": 90}
    assert read(dialect, {"usage": usage}).tokens == tokens
    assert read(dialect, {"usage": usage | {"prompt_tokens_details": {"cached_tokens": 90}}}).tokens == tokens
    told = {"usage": usage | {"prompt_tokens_details": {"cached_tokens": 80}}}
    assert "another name" in next(iter(refusal(dialect, told).values()))
    # Moonshot ends a stream with the usage in a choice.
    end = {"id": "a", "choices": [{"finish_reason": "stop", "usage": usage}]}
    assert read(dialect, [{"id": "a", "choices": [{}]}, end]).tokens == tokens
    assert "usage.cached_tokens" in refusal("openai", {"usage": usage})


def test_mistral_has_three_names_for_its_cache_and_seconds_beside_tokens() -> None:
    for cached in (
        {"prompt_tokens_details": {"cached_tokens": 64}},
        {"prompt_token_details": {"cached_tokens": 64}},
        {"num_cached_tokens": 64},
    ):
        assert read("mistral", {"usage": CHAT | cached}).tokens == {"input": 100, "output": 20, "cache_input": 64}
    heard = CHAT | {"prompt_audio_seconds": Decimal("36.5"), "request_count": 1, "service_tier": "standard"}
    assert read("mistral", {"usage": heard}).counts == {"input_audio_second": Decimal("36.5")}
    assert read("mistral", {"usage": heard}).service_tier == "standard"


def test_cohere_bills_its_billed_units() -> None:
    billed = {"input_tokens": 5, "output_tokens": 2}
    usage = {"billed_units": billed, "tokens": {"input_tokens": 500, "output_tokens": 5}, "cached_tokens": 448}
    begin = {"type": "message-start", "id": "a", "delta": {}}
    bodies: tuple[Any, ...] = (
        {"finish_reason": "COMPLETE", "usage": usage},
        {"meta": {"api_version": {"version": "1"}, **usage}},
        [begin, {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}}],
        [{"event_type": "stream-start"}, {"event_type": "stream-end", "response": {"meta": usage}}],
        usage,
    )
    for response in bodies:
        assert read("cohere", response).tokens == {"input": 5, "output": 2}
    assert "not finished" in refusal("cohere", [begin])[""]
    embedding = {"response_type": "embeddings_by_type", "meta": {"billed_units": {"input_tokens": 208}}}
    assert usage_from("cohere", embedding, model="m") == EmbeddingUsage(model="m", tokens={"input": 208, "output": 0})
    assert read("cohere", {"results": [{}], "meta": {"billed_units": {"search_units": 1}}}).counts == {
        "rerank_search": 1
    }
    assert list(refusal("cohere", {"meta": {"billed_units": {"smells": 1}}})) == ["meta.billed_units.smells"]


def test_voyage_counts_a_total_and_pixels_are_refused() -> None:
    read_as = EmbeddingUsage(model="m", tokens={"input": 12, "output": 0})
    assert usage_from("voyage", {"object": "list", "usage": {"total_tokens": 12}}, model="m") == read_as
    pictured = {"object": "list", "usage": {"total_tokens": 3576, "text_tokens": 5, "image_pixels": 2_000_000}}
    assert list(refusal("voyage", pictured)) == ["usage.image_pixels"]
    assert list(refusal("voyage", {"usage": {"total_tokens": 3576, "text_tokens": 5}})) == ["usage.total_tokens"]
    assert "usage.prompt_tokens" in refusal("voyage", {"usage": CHAT})


def test_an_embedding_of_gemini_has_input_alone() -> None:
    usage = {"promptTokenCount": 12, "promptTokenDetails": [{"modality": "TEXT", "tokenCount": 12}]}
    response: dict[str, Any]
    for response in ({"embeddings": [{}, {}]}, {"embedding": {"values": []}}):
        embedding = usage_from("gemini", response | {"usageMetadata": usage}, model="m")
        assert embedding == EmbeddingUsage(model="m", tokens={"input": 12, "output": 0, "input_text": 12})


def test_an_interaction_has_thoughts_and_tokens_of_tools_beside() -> None:
    usage = {"total_tokens": 320, "total_input_tokens": 12, "total_cached_tokens": 8, "total_output_tokens": 200}
    usage |= {"total_tool_use_tokens": 50, "total_thought_tokens": 58}
    details = {"input_tokens_by_modality": [{"modality": "text", "tokens": 12}]}
    details |= {"grounding_tool_count": [{"type": "google_search", "count": 2}]}
    tokens = {"input": 62, "output": 258, "cache_input": 8, "output_reasoning": 58, "input_text": 12}
    interaction = {"object": "interaction", "id": "a", "status": "completed", "usage": usage | details}
    begin = {"event_type": "interaction.created", "interaction": {"id": "a", "status": "in_progress"}}
    end = {"event_type": "interaction.completed", "interaction": interaction}
    for response in (interaction, [begin, {"event_type": "step.delta"}, end]):
        assert read("gemini-interactions", response).tokens == tokens
        assert read("gemini-interactions", response).counts == {"web_search": 2}
    assert "not finished" in refusal("gemini-interactions", [begin])[""]
    # It is not known whether the stored earlier turns, which this count includes, are billed.
    assert list(refusal("gemini-interactions", {"usage": usage | {"raw_prompt_token": 24750}})) == [
        "usage.raw_prompt_token"
    ]
    assert list(refusal("gemini-interactions", {"usage": usage | {"total_tokens": 319}})) == ["usage.total_tokens"]


SPOKEN = {
    "input_tokens": 132,
    "output_tokens": 188,
    "total_tokens": 320,
    "input_token_details": {
        "text_tokens": 59,
        "audio_tokens": 73,
        "cached_tokens": 64,
        "cached_tokens_details": {"text_tokens": 0, "audio_tokens": 64},
    },
    "output_token_details": {"text_tokens": 41, "audio_tokens": 147, "reasoning_tokens": 8},
}


@pytest.mark.parametrize("dialect", ["openai", "openai-realtime"])
def test_turns_of_a_session_are_added_up_with_their_parts(dialect: str) -> None:
    turn = {
        "input": 132,
        "output": 188,
        "input_text": 59,
        "input_audio": 73,
        "cache_input": 64,
        "cache_input_audio": 64,
        "output_text": 41,
        "output_audio": 147,
        "output_reasoning": 8,
    }
    first, second = ({"type": "response.done", "response": {"id": each, "usage": SPOKEN}} for each in "ab")
    for response, times in ((SPOKEN, 1), (first, 1), ([first, second], 2)):
        tokens = read(dialect, response).tokens
        assert tokens is not None
        assert {name: count for name, count in tokens.items() if count} == {
            name: times * count for name, count in turn.items()
        }


def test_a_run_and_azure_s_first_part_are_of_openai() -> None:
    run = CHAT | {"prompt_token_details": {"cached_tokens": 60}}
    assert read("openai", {"usage": run}).tokens == {"input": 100, "output": 20, "cache_input": 60}
    chunk = {"id": "a", "choices": [{"finish_reason": "stop"}], "usage": CHAT}
    assert read("openai", [{"id": "", "choices": []}, chunk]).tokens == {"input": 100, "output": 20}
    assert TWO in refusal("openai", [{"id": "b", "choices": []}, chunk]).values()
    waited = {"latency_checkpoint": {"engine_ttft_ms": 5}}
    assert read("openai", {"usage": CHAT | waited}).tokens == {"input": 100, "output": 20}


def test_a_session_adds_up_the_calls_of_its_turns() -> None:
    """What a turn has so far, between its beginning and its end, counts nothing."""

    def turn(name: str, calls: int, **more: Any) -> dict[str, Any]:
        return {"response": {"id": name, "output": [{"type": "file_search_call"}] * calls, **more}}

    ends = [{"type": "response.done"} | turn(name, calls, usage=SPOKEN) for name, calls in (("a", 2), ("b", 1))]
    parts = [ends[0], {"type": "response.created"} | turn("b", 1), ends[1]]
    assert read("openai", parts).counts == {"file_search": 3}


def test_langchain_adds_what_is_written_to_the_cache_for_a_time() -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}

    def tokens(**details: int) -> Any:
        return read("langchain", {"type": "ai", "usage_metadata": usage | {"input_token_details": details}}).tokens

    base = {"input": 100, "output": 20}
    assert tokens(cache_read=60, cache_creation=30) == base | {"cache_input": 60, "cache_write": 30}
    lifetimes = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}
    assert tokens(cache_creation=0, **lifetimes) == base | {"cache_write": 30, "cache_write_1h": 20}
    told = usage | {"input_token_details": {"cache_creation": 30, **lifetimes}}
    assert refusal("langchain", told) == {
        "input_token_details.cache_creation": "The same tokens may be counted here twice: give this or "
        "input_token_details.ephemeral_5m_input_tokens or input_token_details.ephemeral_1h_input_tokens"
    }
    assert list(refusal("langchain", usage | {"input_token_details": {"flex": 40}})) == ["input_token_details.flex"]
    outside = usage | {"output_token_details": {"reasoning": 15, "audio": 2}}
    assert read("langchain", outside).tokens == base | {"output_reasoning": 15, "output_audio": 2}


def test_langchain_s_chunks_are_added_up_and_its_messages_are_not() -> None:
    def chunk(given: int, answered: int, **more: Any) -> dict[str, Any]:
        usage = {"input_tokens": given, "output_tokens": answered, "total_tokens": given + answered}
        return {"type": "AIMessageChunk", "id": "run-1", "usage_metadata": usage, **more}

    first, last = chunk(100, 0), chunk(0, 20, response_metadata={"stop_reason": "end_turn", "model_name": "claude"})
    assert read("langchain", [first, last]).tokens == {"input": 100, "output": 20}
    assert usage_from("langchain", [first, last]).model == "claude"
    assert "not finished" in refusal("langchain", [first])[""]
    messages = [{"type": "ai", "id": each, "usage_metadata": last["usage_metadata"]} for each in ("run-1", "run-2")]
    assert TWO in refusal("langchain", messages).values()
    told = {"usage": {"server_tool_use": {"web_search_requests": 2}}, "service_tier": "on_demand"}
    searched = read("langchain", chunk(1, 1, response_metadata=told))
    assert (searched.counts, searched.service_tier) == ({"web_search": 2}, "standard")
    # No later part takes the searches back, whether it has a usage or none.
    early = first | {"response_metadata": told}
    bare = {"type": "AIMessageChunk", "id": "run-1", "response_metadata": told}
    for parts in ([early, last], [first, bare, last], [first, last, bare, chunk(0, 0, chunk_position="last")]):
        assert read("langchain", parts).counts == {"web_search": 2}


def test_vercel_s_details_say_that_the_cache_is_part_of_the_input() -> None:
    details = {"noCacheTokens": 10, "cacheReadTokens": 60, "cacheWriteTokens": 30}
    usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120, "inputTokenDetails": details}
    usage |= {"outputTokenDetails": {"textTokens": 5, "reasoningTokens": 15}}
    tokens = {"input": 100, "output": 20, "cache_input": 60, "cache_write": 30, "output_reasoning": 15}
    old_names = {"cachedInputTokens": 60, "reasoningTokens": 15}
    for given in (usage, {"usage": usage}, usage | old_names, usage | {"raw": {"input_tokens": 10}}):
        assert read("vercel", given).tokens == tokens
    assert list(refusal("vercel", usage | {"cachedInputTokens": 59})) == ["cachedInputTokens"]
    assert "inputTokens" in refusal("vercel", usage | {"inputTokens": 10, "totalTokens": 30})
    # In version 5, the input included the cache of one provider but not of another.
    five = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
    assert read("vercel", five | {"cachedInputTokens": 0, "reasoningTokens": 15}).tokens == {
        "input": 100,
        "output": 20,
        "output_reasoning": 15,
    }
    assert refusal("vercel", five | {"cachedInputTokens": 60}) == {
        "cachedInputTokens": "This count is not clear by itself: give inputTokenDetails.noCacheTokens too"
    }
    assert list(refusal("vercel", {"inputTokens": 100, "outputTokens": 20, "reasoningTokens": 15})) == [
        "reasoningTokens"
    ]
    embedding = usage_from("vercel", {"embeddings": [[0.1]], "usage": {"tokens": 7}}, model="m")
    assert embedding == EmbeddingUsage(model="m", tokens={"input": 7, "output": 0})


def test_vercel_s_steps_are_added_up_and_a_last_step_is_not_taken_for_all() -> None:
    usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
    total = {"inputTokens": 200, "outputTokens": 40, "totalTokens": 240}
    steps = [{"type": "finish-step", "usage": usage, "response": {"id": each, "modelId": "m"}} for each in "ab"]
    assert read("vercel", [*steps, {"type": "finish", "totalUsage": total}]).tokens == {"input": 200, "output": 40}
    said = "This is of all steps, and the usage of the last: give the usage of each step by itself"
    assert refusal("vercel", {"usage": usage, "totalUsage": total}) == {"totalUsage": said}
    # A result of one step has both usages, and they are the same; `raw` belongs to one step alone.
    one = {"usage": usage | {"raw": {"input_tokens": 9}}, "totalUsage": usage}
    assert read("vercel", one).tokens == read("vercel", usage).tokens
    searched = {"usage": usage | {"raw": {"server_tool_use": {"web_search_requests": 2}}}}
    assert read("vercel", searched).counts == {"web_search": 2}


@pytest.mark.parametrize("given", [[0], [0, 1, 1], [0, 1, "end", 0, 1]], ids=["lost", "twice", "another stream"])
def test_vercel_s_steps_are_those_of_the_usage_of_all_steps(given: list[Any]) -> None:
    usage = {"inputTokens": 100, "outputTokens": 20, "outputTokenDetails": {"textTokens": 15, "reasoningTokens": 5}}
    steps = [{"type": "finish-step", "usage": usage}] * 2
    # The end may have fewer counts than the steps.
    end = {"type": "finish", "totalUsage": {"inputTokens": 200, "outputTokens": 40}}
    assert read("vercel", [*steps, end]).tokens == {"input": 200, "output": 40, "output_reasoning": 10}
    parts = [end if step == "end" else steps[step] for step in given]
    said = "This is of all steps, and differs from their sum: give each step once"
    assert refusal("vercel", [*parts, end]) == {"totalUsage": said}


def attribute(name: str, **value: Any) -> dict[str, Any]:
    return {"key": name, "value": value}


def exported(*spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


SPAN = {
    "name": "chat gpt-4o",
    "attributes": [
        attribute("gen_ai.operation.name", stringValue="chat"),
        attribute("gen_ai.response.model", stringValue="gpt-4o"),
        attribute("gen_ai.usage.input_tokens", intValue="100"),
        attribute("gen_ai.usage.output_tokens", intValue=20),
        attribute("gen_ai.usage.cache_read.input_tokens", intValue="60"),
        attribute("gen_ai.usage.cost", doubleValue=0.5),
        attribute("gen_ai.request.stop_sequences", arrayValue={"values": []}),
    ],
}


@pytest.mark.parametrize("dialect", ["otlp", "opentelemetry"])
def test_a_span_of_otlp_is_read_with_its_typed_values(dialect: str) -> None:
    for response in (SPAN, exported(SPAN)):
        usage = usage_from(dialect, response)
        assert usage == TextUsage(model="gpt-4o", tokens={"input": 100, "output": 20, "cache_input": 60})


def test_what_otlp_does_not_say_clearly_is_refused() -> None:
    one = "Each of these is a request of its own: read one at a time"
    assert refusal("otlp", exported(SPAN, SPAN)) == {"": one}
    none: dict[str, Any]
    for none in (exported(), {"resourceSpans": [{}]}, {"resourceSpans": []}):
        assert refusal("otlp", none) == {"attributes": "Required"}

    def said(*attributes: Any) -> dict[str, str]:
        return refusal("otlp", {"attributes": [*SPAN["attributes"], *attributes]})

    again = attribute("gen_ai.usage.input_tokens", intValue="100")
    assert said(again) == {"attributes.7": "gen_ai.usage.input_tokens is given twice in this list"}
    unknown = attribute("gen_ai.usage.smell.input_tokens", intValue="7")
    assert list(said(unknown)) == ["attributes.gen_ai.usage.smell.input_tokens"]
    value: dict[str, Any]
    for value in (
        {"stringValue": "7"},
        {"intValue": "7.5"},
        {"intValue": "-7"},
        {"boolValue": True},
        {"kvlistValue": {}},
    ):
        wrong = attribute("gen_ai.usage.reasoning.output_tokens", **value)
        assert list(said(wrong)) == ["attributes.gen_ai.usage.reasoning.output_tokens"]
    agent = exported({"attributes": [attribute("gen_ai.operation.name", stringValue="invoke_agent"), again]})
    assert list(refusal("otlp", agent)) == ["attributes.gen_ai.operation.name"]


def test_the_output_alone_is_no_usage_of_genai_prices() -> None:
    delta = {"type": "message_delta", "usage": {"output_tokens": 7}}
    assert refusal("genai-prices", delta) == {
        "usage.output_tokens": "This count is not clear by itself: give input_tokens too"
    }
