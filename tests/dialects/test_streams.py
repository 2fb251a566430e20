"""A list is one stream that has finished, or the turns of one session; two responses are not one, nor is a half."""

from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from recorded import PROVIDERS, prices_of, recorded

from ratecard import QuoteError, load_rate_card, usage_from
from ratecard.requests.dialects import DIALECTS

TWO = "These are two responses: give each by itself"
ORDER = "Give the parts of a stream in their order"
NOT_FINISHED = "This stream has not finished. Give all of its parts, or partial=True for the price of what came"
CHAT = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
LESS = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
MESSAGE = {"input_tokens": 3, "output_tokens": 4}
GEMINI = {"promptTokenCount": 7, "candidatesTokenCount": 8, "totalTokenCount": 15}
INTERACTION = {"total_input_tokens": 7, "total_output_tokens": 8, "total_tokens": 15}
CONVERSE = {"inputTokens": 7, "outputTokens": 30, "totalTokens": 37}


def refusal(dialect: str, response: Any, **given: Any) -> dict[str, str]:
    with pytest.raises(QuoteError) as caught:
        usage_from(dialect, response, model="m", **given)
    return {".".join(map(str, path)): message for path, message in caught.value.problems}


def tokens(dialect: str, response: Any, **given: Any) -> Any:
    return usage_from(dialect, response, model="m", **given).tokens  # type: ignore[union-attr]


# For each dialect, a complete response without an id, and one with an id.
COMPLETE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openai": ({"object": "chat.completion", "choices": [{"finish_reason": "stop"}], "usage": CHAT}, {"id": "a"}),
    "anthropic": ({"type": "message", "stop_reason": "end_turn", "usage": MESSAGE}, {"id": "a"}),
    "gemini": ({"candidates": [{"finishReason": "STOP"}], "usageMetadata": GEMINI}, {"responseId": "a"}),
    "bedrock": ({"stopReason": "end_turn", "usage": CONVERSE}, {}),
    "deepseek": ({"object": "chat.completion", "choices": [{"finish_reason": "stop"}], "usage": CHAT}, {"id": "a"}),
    "openrouter": ({"object": "chat.completion", "choices": [{"finish_reason": "stop"}], "usage": CHAT}, {"id": "a"}),
    "litellm": ({"object": "chat.completion", "choices": [{"finish_reason": "stop"}], "usage": CHAT}, {"id": "a"}),
    **{
        name: ({"object": "chat.completion", "choices": [{"finish_reason": "stop"}], "usage": CHAT}, {"id": "a"})
        for name in ("openai-realtime", "groq", "mistral", "xai", "together", "moonshot")
    },
    "cohere": ({"finish_reason": "COMPLETE", "usage": {"billed_units": MESSAGE}}, {"id": "a"}),
    "voyage": ({"object": "list", "usage": {"total_tokens": 12}}, {}),
    "gemini-interactions": ({"object": "interaction", "usage": INTERACTION}, {"id": "a"}),
    "vercel": ({"finishReason": "stop", "usage": {"inputTokens": 3, "outputTokens": 4}}, {}),
}


def test_every_dialect_of_streams_is_in_the_table() -> None:
    assert COMPLETE.keys() == {name for name, dialect in DIALECTS.items() if dialect.stream in ("last", "replace")}


@pytest.mark.parametrize("dialect", COMPLETE)
def test_several_responses_are_not_a_stream(dialect: str) -> None:
    response, named = COMPLETE[dialect]
    other = dict.fromkeys(named, "b")
    bare = {name: value for name, value in response.items() if name in ("usage", "usageMetadata")}
    alone = tokens(dialect, response)
    for first, second in (
        (response, response),
        (response | named, response | other),
        (bare, bare),
        (bare | named, bare | other),
        (next(iter(bare.values())),) * 2,
    ):
        for both in ([first, second], (first, second), iter([first, second])):
            assert TWO in refusal(dialect, both).values(), (first, second)
            assert TWO in refusal(dialect, [first, second], partial=True).values()
    assert tokens(dialect, [response]) == tokens(dialect, [response | named]) == alone


def test_two_streams_are_not_one() -> None:
    start = {"type": "message_start", "message": {"id": "a", "usage": MESSAGE}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    other = {"type": "message_start", "message": {"id": "b", "usage": MESSAGE}}
    assert tokens("anthropic", [start, end]) == {"input": 3, "output": 9}
    assert refusal("anthropic", [start, end, other, end]) == {"2": TWO}
    assert refusal("anthropic", [start, end, start, end]) == {"2": TWO}
    assert refusal("anthropic", [end, start]) == {"1": TWO}  # the start would replace the end
    # The beginning alone says what was written to the cache, and for how long.
    for without_start in ([end], end):
        assert "from its beginning" in refusal("anthropic", without_start, partial=True)[""]
    chunk = {"object": "chat.completion.chunk", "choices": [{"finish_reason": "stop"}]}
    without = [{"id": "a", **chunk}, {"id": "b", **chunk, "usage": CHAT}]  # the first response has no usage
    assert refusal("openai", without) == {"1": TWO}
    assert tokens("openai", [{"id": "a", **chunk}, {"id": "a", "choices": [], "usage": CHAT}]) == tokens("openai", CHAT)
    assert refusal("openai", [{**chunk, "usage": CHAT}, {**chunk, "usage": CHAT}]) == {"1": TWO}
    assert refusal("openai", [SimpleNamespace(id=name, usage=CHAT) for name in "ab"])["1"] == TWO


def test_the_parts_of_a_stream_are_in_order() -> None:
    numbered = [{"type": "response.created", "sequence_number": 0, "response": {"id": "r", "usage": None}}]
    numbered += [{"type": "response.completed", "sequence_number": 7, "response": {"id": "r", "usage": MESSAGE}}]
    assert tokens("openai", numbered) == {"input": 3, "output": 4}
    assert ORDER in refusal("openai", numbered[::-1]).values()
    chunks = [{"id": "a", "choices": [{"finish_reason": None}], "usage": LESS}]
    chunks += [{"id": "a", "choices": [{"finish_reason": "stop"}], "usage": CHAT}]
    assert tokens("openai", chunks) == {"input": 10, "output": 5}
    assert refusal("openai", chunks[::-1]) == {"1": ORDER}
    without = [
        {**part, "usage": usage | {"total_tokens": None}} for part, usage in zip(chunks, (LESS, CHAT), strict=True)
    ]
    assert tokens("openai", without) == {"input": 10, "output": 5}
    assert refusal("openai", without[::-1]) == {"1": ORDER}
    events: list[Any] = [{"type": "message_start", "message": {"id": "a", "usage": MESSAGE}}]
    events += [
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": count}}
        for stop, count in ((None, 20), ("end_turn", 30))
    ]
    assert tokens("anthropic", events) == {"input": 3, "output": 30}
    assert refusal("anthropic", [events[0], *events[:0:-1]]) == {"2": ORDER}


@pytest.mark.parametrize(
    ("first", "last", "loses"),
    [
        ({"input_tokens": 9}, {"input_tokens": 0}, True),
        ({"input_tokens": 9, "cache_read_input_tokens": 90}, {"cache_read_input_tokens": 0}, True),
        ({"input_tokens": 9, "cache_creation_input_tokens": 90}, {"cache_creation_input_tokens": 80}, True),
        ({"input_tokens": 9, "server_tool_use": {"web_search_requests": 3}},
         {"server_tool_use": {"web_search_requests": 2}}, True),
        ({"input_tokens": 9, "server_tool_use": {"web_fetch_requests": 1}},
         {"server_tool_use": {"web_fetch_requests": 0}}, True),
        ({"input_tokens": 0}, {"input_tokens": 9, "server_tool_use": {"web_search_requests": 3}}, False),
        # The later part splits the prompt into what is new and what the cache had.
        ({"input_tokens": 100}, {"input_tokens": 20, "cache_read_input_tokens": 80}, False),
    ],
)  # fmt: skip
def test_a_later_part_of_anthropic_loses_nothing_of_an_earlier_one(
    first: dict[str, Any], last: dict[str, Any], loses: bool
) -> None:
    start = {"type": "message_start", "message": {"id": "a", "usage": {"output_tokens": 1} | first}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7} | last}
    if loses:
        assert refusal("anthropic", [start, end]) == {"1": ORDER}
    else:
        assert tokens("anthropic", [start, end])["output"] == 7


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ((10, 5, None, None), (0, 5, None, None)),
        ((10, 5, None, 15), (10, None, None, None)),
        ((10, 5, 50, 65), (10, 5, None, None)),
    ],
    ids=["prompt", "output", "thoughts"],
)
def test_a_later_usage_loses_nothing_of_an_earlier_one(first: Any, last: Any) -> None:
    names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount")
    usages = [dict(zip(names, counts, strict=True)) for counts in (first, last)]
    parts: list[dict[str, Any]] = [{"responseId": "a", "usageMetadata": usage} for usage in usages]
    parts[0]["candidates"] = [{"finishReason": "STOP"}]
    assert refusal("gemini", parts) == {"1": ORDER}


UNFINISHED: list[tuple[str, Any]] = [
    ("openai", [{"id": "a", "choices": [{"finish_reason": None}], "usage": LESS}]),
    ("openai", [{"id": "a", "choices": [{"finish_reason": None}], "usage": LESS}] * 2),
    ("deepseek", [{"id": "a", "choices": [{"finish_reason": ""}], "usage": LESS}]),
    ("openrouter", [{"id": "a", "choices": [{}], "usage": LESS}]),
    ("litellm", [{"id": "a", "choices": [{"delta": {"content": "Hi"}}], "usage": LESS}]),
    ("anthropic", [{"type": "message_start", "message": {"id": "a", "usage": MESSAGE}}]),
    ("anthropic", {"type": "message_start", "message": {"id": "a", "usage": MESSAGE}}),  # a stream of one part
    ("anthropic", [{"type": "message_start", "message": {"id": "a", "usage": MESSAGE}}, {"type": "ping"}]),
    # The part that counts the output is missing.
    ("anthropic", [{"type": "message_start", "message": {"id": "a", "usage": MESSAGE}}, {"type": "message_stop"}]),
    (
        "anthropic",
        [
            {"type": "message_start", "message": {"id": "a", "usage": MESSAGE}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        ],
    ),
    ("gemini", [{"responseId": "a", "candidates": [{"content": {}}], "usageMetadata": GEMINI}]),
    ("gemini", [{"response_id": "a", "candidates": [{"finish_reason": None}], "usage_metadata": GEMINI}]),
    ("bedrock", [{"contentBlockDelta": {}}, {"usage": CONVERSE}]),
    ("openai", [{"duration": 8.5}]),
]


@pytest.mark.parametrize(("dialect", "parts"), UNFINISHED)
def test_a_stream_that_has_not_finished_is_refused_unless_what_came_is_asked_for(dialect: str, parts: Any) -> None:
    assert refusal(dialect, parts) == {"": NOT_FINISHED}
    usage = usage_from(dialect, parts, model="m", partial=True)
    assert usage.listed == {"stream: not finished": ""}


def test_a_stream_of_several_choices_ends_with_the_last_of_them() -> None:
    parts: list[Any] = [{"id": "a", "choices": [{"index": index}]} for index in (0, 1)]
    ends = [{"id": "a", "choices": [{"index": index, "finish_reason": "stop"}], "usage": LESS} for index in (0, 1)]
    assert refusal("openai", [*parts, ends[1]]) == {"": NOT_FINISHED}
    # What comes after its end does not begin a choice again.
    assert tokens("openai", [*parts, *ends, *parts, {"id": "a", "choices": [], "usage": CHAT}]) == {
        "input": 10,
        "output": 5,
    }


def test_what_came_is_priced_and_the_quote_says_so() -> None:
    start = {"type": "message_start", "message": {"model": "claude-opus-4-6", "id": "a", "usage": MESSAGE}}
    prices = load_rate_card().at(date(2026, 10, 1))
    quote = prices.rate(usage_from("anthropic", [start], partial=True))
    assert (quote.exact, quote.ignored) == (
        prices.rate(usage_from("anthropic", start["message"])).exact,
        ("stream: not finished",),
    )
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    assert prices.rate(usage_from("anthropic", [start, ended], partial=True)).ignored == ()
    # No part has a usage.
    assert refusal("openai", [{"choices": []}], partial=True) == {"usage": "Required"}
    assert refusal("openai", [{"choices": []}]) == {"": NOT_FINISHED}
    assert refusal("openai", []) == {"usage": "Required"}


STREAMS = [
    pytest.param(provider, case, id=f"{provider}: {case['name']}")
    for provider in PROVIDERS
    for case in recorded(provider)["cases"]
    if isinstance(case["response"], list)
]


@pytest.mark.parametrize(("provider", "case"), STREAMS)
def test_a_recorded_stream_that_breaks_off_has_no_price(provider: str, case: dict[str, Any]) -> None:
    parts, priced = case["response"], 0
    for length in range(len(parts)):
        try:
            usage = usage_from(provider, parts[:length], model=case.get("model"))
        except QuoteError:
            continue
        assert prices_of(provider).rate(usage).exact == Decimal(case["total"])
        priced += 1
    assert priced <= 1  # the last part may have no usage
    assert usage_from(provider, iter(parts)) == usage_from(provider, parts)


def turn(name: str, **counts: int) -> dict[str, Any]:
    return {"type": "response.done", "response": {"id": name, "output": [], "usage": counts}}


FIRST, SECOND = turn("a", input_tokens=100, output_tokens=20), turn("b", input_tokens=130, output_tokens=9)


def test_turns_of_a_session_are_added_up() -> None:
    started = {"type": "response.created", "response": {"id": "a", "usage": None}}
    session = [{"type": "session.created"}, started, FIRST, {"type": "rate_limits.updated"}, SECOND]
    assert tokens("openai", session) == tokens("openai", [FIRST, SECOND]) == {"input": 230, "output": 29}
    assert tokens("openai", FIRST) == tokens("openai", [FIRST]) == {"input": 100, "output": 20}
    assert refusal("openai", [FIRST, SECOND, FIRST]) == {"2": "This turn is given twice"}
    assert refusal("openai", [FIRST, {"id": "c", "usage": CHAT}])["1"] == TWO
    assert refusal("openai", [{"id": "c", "usage": CHAT}, FIRST])["1"] == TWO
    broken_off = [FIRST, {"type": "response.created", "response": {"id": "c", "usage": None}}]
    assert refusal("openai", broken_off) == {"": NOT_FINISHED}
    assert tokens("openai", broken_off, partial=True) == {"input": 100, "output": 20}


def live(counts: tuple[int, int], **content: Any) -> dict[str, Any]:
    prompt, response = counts
    usage = {"promptTokenCount": prompt, "responseTokenCount": response, "totalTokenCount": prompt + response}
    return {"usageMetadata": usage} | content


def test_turns_of_gemini_live_are_added_up() -> None:
    ended = {"serverContent": {"turnComplete": True}}
    spoken: dict[str, Any] = {"serverContent": {"modelTurn": {"parts": []}}}
    turns = [spoken, live((57, 74), **ended), spoken, live((140, 30), **ended)]
    assert tokens("gemini", turns) == {"input": 197, "output": 104}
    assert tokens("gemini", [*turns, live((1, 1))]) == {"input": 198, "output": 105}  # a message with only a usage
    assert refusal("gemini", [*turns, spoken]) == {"": NOT_FINISHED}
    client = [
        SimpleNamespace(
            server_content=SimpleNamespace(turn_complete=True, model_turn=None),
            usage_metadata={"prompt_token_count": 57, "response_token_count": 74, "total_token_count": 131},
        )
    ]
    assert tokens("gemini", client * 2) == {"input": 114, "output": 148}
    assert refusal("gemini", [turns[1], {"responseId": "a", "usageMetadata": GEMINI}])["1"] == TWO


def test_text_of_a_list_is_a_list() -> None:
    text = '[{"id": "a", "usage": {"prompt_tokens": 1, "completion_tokens": 1}}, {"id": "b", "usage": {}}]'
    assert TWO in refusal("openai", text).values()


@pytest.mark.parametrize(
    ("before", "after", "written"),
    [
        ((3068, 0), 3337, {"cache_write": 3337}),
        ((0, 3068), 3337, {"cache_write": 3337, "cache_write_1h": 3337}),
        ((0, 0), 3337, {"cache_write": 3337}),
        ((3068, 0), 3068, {"cache_write": 3068}),
        ((3000, 68), 3068, {"cache_write": 3068, "cache_write_1h": 68}),
        ((3000, 68), 3337, None),  # nobody knows which part has the rest
    ],
)
def test_a_last_count_without_its_breakdown(before: tuple[int, int], after: int, written: Any) -> None:
    lifetimes = dict(zip(("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"), before, strict=True))
    usage = MESSAGE | {"cache_creation_input_tokens": sum(before), "cache_creation": lifetimes}
    parts = [
        {"type": "message_start", "message": {"id": "a", "usage": usage}},
        {"type": "message_delta", "delta": {"stop_reason": "x"}, "usage": {"cache_creation_input_tokens": after}},
    ]
    if written is None:
        said = "Expected 3068, the sum of cache_creation.ephemeral_5m_input_tokens, "
        assert refusal("anthropic", parts)["usage.cache_creation_input_tokens"].startswith(said)
    else:
        assert tokens("anthropic", parts) == {"input": 3 + after, "output": 4} | written
