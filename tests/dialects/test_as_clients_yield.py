"""Each provider's stream and response is read as its client library yields it, which is not always as its API says."""

from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ratecard import QuoteError, usage_from

TWO = "These are two responses: give each by itself"
CHAT = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
CONVERSE = {"inputTokens": 7, "outputTokens": 30, "totalTokens": 37}
MESSAGE = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
BLOCK = {"input": 10, "output": 5}
EVENTS = [{"messageStart": {}}, {"messageStop": {"stopReason": "end_turn"}}, {"metadata": {"usage": CONVERSE}}]


def refusal(dialect: str, response: Any) -> dict[str, str]:
    with pytest.raises(QuoteError) as caught:
        usage_from(dialect, response, model="m")
    return {".".join(map(str, path)): message for path, message in caught.value.problems}


def tokens(dialect: str, response: Any) -> Any:
    return usage_from(dialect, response, model="m").tokens  # type: ignore[union-attr]


class EventStream:
    """The stream of boto3, which can be iterated and is no iterator."""

    def __init__(self, events: list[Any]) -> None:
        self._raw_stream, self._events = None, events

    def __iter__(self) -> Iterator[Any]:
        return iter(self._events)


def test_an_object_that_yields_parts_is_a_stream() -> None:
    assert tokens("bedrock", EventStream(EVENTS)) == {"input": 7, "output": 30}
    assert refusal("bedrock", EventStream([*EVENTS, *EVENTS]))["5"] == TWO


def test_an_asynchronous_stream_is_refused_with_what_to_do() -> None:
    async def events() -> AsyncIterator[Any]:
        for event in EVENTS:
            yield event

    said = "Collect an asynchronous stream first: [part async for part in stream]"
    assert refusal("bedrock", events()) == {"": said}


def event_of_mistral(**chunk: Any) -> Any:
    given = {"id": "a", "object": "chat.completion.chunk", "model": "m", "usage": None, **chunk}
    return SimpleNamespace(data=SimpleNamespace(**given))


def test_events_of_mistral_have_the_part_as_their_data() -> None:
    begin = event_of_mistral(choices=[SimpleNamespace(finish_reason=None)])
    end = event_of_mistral(choices=[SimpleNamespace(finish_reason="stop")], usage=SimpleNamespace(**CHAT))
    usage = usage_from("mistral", iter([begin, end]))
    assert (usage.model, usage.tokens) == ("m", BLOCK)  # type: ignore[union-attr]
    assert next(iter(refusal("mistral", [begin]).values())).startswith("This stream has not finished")
    other = event_of_mistral(id="b", choices=[SimpleNamespace(finish_reason="stop")], usage=SimpleNamespace(**CHAT))
    assert TWO in refusal("mistral", [begin, end, other]).values()


def chunk(name: str, usage: Any = None, **metadata: Any) -> Any:
    return SimpleNamespace(id=name, type="AIMessageChunk", usage_metadata=usage, response_metadata=metadata)


@pytest.mark.parametrize(
    "parts",
    [
        # LangChain names only parts without a name: the parts of one response of OpenAI have three kinds of names.
        [
            chunk("resp_1"),
            chunk("lc_run--1"),
            chunk("msg_1"),
            chunk("msg_2"),
            chunk("lc_run--1", MESSAGE, status="completed"),
        ],
        [chunk("chatcmpl-1"), chunk("run-1", MESSAGE, finish_reason="stop")],
        [chunk("run-1"), chunk("run-1", MESSAGE, done=True, done_reason="stop")],
        [chunk("run-1"), chunk("run-1", MESSAGE, status="incomplete")],
    ],
)
def test_parts_of_langchain_as_each_provider_ends_them(parts: list[Any]) -> None:
    assert tokens("langchain", parts) == {"input": 3, "output": 4}
    cut_off = refusal("langchain", [*parts[:-1], chunk(parts[-1].id, MESSAGE)])
    assert next(iter(cut_off.values())).startswith("This stream has not finished")


@pytest.mark.parametrize(
    ("first", "second"), [("lc_run--1", "lc_run--2"), ("run-1", "run-2"), ("chatcmpl-1", "chatcmpl-2")]
)
def test_two_runs_of_langchain_are_two_responses(first: str, second: str) -> None:
    parts = [chunk("resp_1"), *(chunk(name, MESSAGE, finish_reason="stop") for name in (first, second))]
    assert refusal("langchain", parts) == {"2": TWO}


def test_objects_of_voyage_hold_what_was_asked_for() -> None:
    for beside in ({"embeddings": [[0.1, -0.5]]}, {"results": [SimpleNamespace(index=0, relevance_score=0.9)]}):
        assert tokens("voyage", SimpleNamespace(total_tokens=12, **beside))["input"] == 12
    assert refusal("voyage", SimpleNamespace(total_tokens=12, image_pixels=9)) != {}  # pixels have a price


@pytest.mark.parametrize(
    ("call", "counted"),
    [
        ({}, {"web_search": 1}),  # as the first searches of the API
        ({"action": None}, {"web_search": 1}),
        ({"action": {"type": "search"}}, {"web_search": 1}),
        ({"action": {"type": "open_page"}}, None),
        ({"action": {"type": "find_in_page"}}, None),
    ],
)
def test_a_search_that_does_not_say_what_it_did_is_counted(call: dict[str, Any], counted: Any) -> None:
    response = {"usage": MESSAGE, "output": [{"type": "web_search_call", "status": "completed"} | call]}
    for given in (response, {"type": "response.completed", "response": response}):
        assert usage_from("openai", given, model="m").counts == counted


def turn(name: str) -> dict[str, Any]:
    return {"type": "response.done", "response": {"id": name, "usage": MESSAGE}}


@pytest.mark.parametrize("usage", [{"type": "tokens", **MESSAGE}, {"type": "duration", "seconds": 3.2}])
def test_transcriptions_of_a_session_are_of_another_model(usage: dict[str, Any]) -> None:
    event = {"type": "conversation.item.input_audio_transcription.completed", "usage": usage}
    said = "This usage is of another model: leave it out, and read it by itself"
    for place in (0, 1, 2):
        session = [turn("a"), turn("b")]
        session.insert(place, event)
        assert refusal("openai-realtime", session) == {str(place): said}
    assert usage_from("openai-realtime", event, model="m").model == "m"


def test_a_turn_of_gemini_live_may_have_said_nothing() -> None:
    asked = {"promptTokenCount": 10, "totalTokenCount": 10}
    said = {"promptTokenCount": 7, "responseTokenCount": 8, "totalTokenCount": 15}
    done = {"serverContent": {"turnComplete": True}, "usageMetadata": said}
    for first in (
        {"toolCall": {"functionCalls": [{"id": "f"}]}, "usageMetadata": asked},
        {"usageMetadata": asked | {"responseTokenCount": 0}},
    ):
        for session in ([first, done], [done, first]):
            assert tokens("gemini", session) == {"input": 17, "output": 8}
    nothing = {"prompt_token_count": 10, "response_token_count": 0, "total_token_count": 10}
    of_client = SimpleNamespace(server_content=SimpleNamespace(turn_complete=True), usage_metadata=nothing)
    for of_tool in (
        SimpleNamespace(usage_metadata=nothing),
        SimpleNamespace(tool_call={"id": "f"}, usage_metadata=nothing),
    ):
        assert tokens("gemini", [of_tool, of_client]) == {"input": 20, "output": 0}


def test_a_message_that_a_client_puts_into_the_last_event_ends_the_stream() -> None:
    counts = {"input_tokens": 3, "output_tokens": 1}
    begin = {"type": "message_start", "message": {"id": "a", "stop_reason": None, "usage": counts}}
    message = {"id": "a", "stop_reason": "end_turn", "usage": counts | {"output_tokens": 9}}
    assert tokens("anthropic", [begin, {"type": "message_stop", "message": message}]) == {"input": 3, "output": 9}


def test_a_response_of_openrouter_ends_in_its_own_way() -> None:
    begin = {"type": "response.created", "response": {"id": "a", "usage": None}}
    for end in ("response.done", "response.completed"):
        assert tokens("openrouter", [begin, {"type": end, "response": {"id": "a", "usage": MESSAGE}}])["output"] == 4


def test_what_the_parts_of_a_stream_list_is_kept() -> None:
    chunk = {"id": "a", "object": "chat.completion.chunk"}
    tools = [
        {"index": 0, "type": "search"},
        {"index": 0, "type": "search", "output": "x"},
        {"index": 1, "type": "python"},
    ]
    parts: list[Any] = [chunk | {"choices": [{"delta": {"executed_tools": [tool]}}]} for tool in tools]
    parts += [chunk | {"choices": [{"finish_reason": "stop"}], "x_groq": {"usage": CHAT}}]
    at = "choices.0.delta.executed_tools"
    listed = usage_from("groq", parts, model="m").listed
    assert listed == {f"{at}.0": "executed_tool", f"{at}.1": "executed_tool"}
    said = {"promptTokenCount": 7, "responseTokenCount": 8, "totalTokenCount": 15}
    searched = {"serverContent": {"groundingMetadata": {"webSearchQueries": ["a"]}}}
    session = [searched, {"serverContent": {"turnComplete": True}, "usageMetadata": said}] * 2
    at = "serverContent.groundingMetadata.webSearchQueries.0"
    assert usage_from("gemini", session, model="m").listed == {f"0.{at}": "web_search", f"2.{at}": "web_search"}


@pytest.mark.parametrize("response", [{"data": [{"url": "a"}]}, {"duration": 3}, {"usage": {"seconds": 3}}])
@pytest.mark.parametrize("partial", [True, False])
def test_two_responses_without_tokens_are_two(response: dict[str, Any], partial: bool) -> None:
    with pytest.raises(QuoteError) as caught:
        usage_from("openai", [response, response], model="m", partial=partial)
    assert caught.value.problems == (((1,), TWO),)
