"""The classes of the providers' own clients mean the same as the mappings that they are made of.

Only openai is among the tools of development. `make test-dialects` installs the others, of which some are large.
"""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from recorded import recorded

from ratecard import EmbeddingUsage, TextUsage, usage_from

_REASON = "its client is not among the tools of development: make test-dialects installs it"


def cases(provider: str) -> Iterable[Any]:
    return [pytest.param(case, id=case["name"]) for case in recorded(provider)["cases"]]


def same(provider: str, case: dict[str, Any], made: Any) -> None:
    """Check that the client's object, and its usage alone, are read as the same usage as the mapping."""
    model = case.get("model")
    assert usage_from(provider, made, model=model) == usage_from(provider, case["response"], model=model)


def tokens(dialect: str, response: Any, **given: Any) -> dict[str, int]:
    usage = usage_from(dialect, response, **given)
    assert isinstance(usage, (TextUsage, EmbeddingUsage))
    assert usage.tokens is not None
    return usage.tokens


@pytest.mark.parametrize("case", cases("openai"))
def test_openai(case: dict[str, Any]) -> None:
    from openai.types import CreateEmbeddingResponse, ImagesResponse
    from openai.types.audio import Transcription, TranscriptionVerbose
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response, ResponseCompletedEvent

    response = case["response"]
    if isinstance(response, list):
        made: Any = [ResponseCompletedEvent.construct(**part) for part in response]
        assert isinstance(made[-1].response, Response)
    else:
        kinds: dict[str, Any] = {
            "response": Response,
            "list": CreateEmbeddingResponse,
            "data": ImagesResponse,
            "text": Transcription,
            "task": TranscriptionVerbose,
        }
        word = next((word for word in kinds if word in (response.get("object"), *response)), "chat")
        made = kinds.get(word, ChatCompletion).construct(**response)
        assert made.usage.__class__.__module__.startswith("openai.")
    same("openai", case, made)


@pytest.mark.parametrize("case", cases("openrouter") + cases("deepseek"))  # type: ignore[operator]
def test_the_client_of_openai_for_others_that_speak_as_it_does(case: dict[str, Any]) -> None:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    provider = "openrouter" if case in recorded("openrouter")["cases"] else "deepseek"
    response = case["response"]
    made = (
        [ChatCompletionChunk.construct(**part) for part in response]
        if isinstance(response, list)
        else ChatCompletion.construct(**response)
    )
    same(provider, case, made)


@pytest.mark.parametrize("case", cases("anthropic"))
def test_anthropic(case: dict[str, Any]) -> None:
    types = pytest.importorskip("anthropic.types", reason=_REASON)
    beta = pytest.importorskip("anthropic.types.beta", reason=_REASON)
    response = case["response"]
    if not isinstance(response, list):
        for kind in (types.Message, beta.BetaMessage):
            same("anthropic", case, kind.construct(**response))
        return
    kinds = {"message_start": types.RawMessageStartEvent, "message_delta": types.RawMessageDeltaEvent}
    same(
        "anthropic",
        case,
        [kinds.get(part["type"], types.RawContentBlockStopEvent).construct(**part) for part in response],
    )


@pytest.mark.parametrize("case", cases("gemini"))
def test_google_genai(case: dict[str, Any]) -> None:
    types = pytest.importorskip("google.genai.types", reason=_REASON)
    # The models of the client refuse the fields that a gateway adds.
    said = json.loads(json.dumps(case["response"]))
    for part in said if isinstance(said, list) else [said]:
        part["usageMetadata"].pop("pydantic_ai_gateway", None)
        part["usageMetadata"].pop("serviceTier", None)
    response = said
    made = (
        [types.GenerateContentResponse.model_validate(part) for part in response]
        if isinstance(response, list)
        else types.GenerateContentResponse.model_validate(response)
    )
    same("gemini", case | {"response": response}, made)


@pytest.mark.parametrize("case", cases("bedrock"))
def test_boto3(case: dict[str, Any]) -> None:
    session = pytest.importorskip("botocore.session", reason=_REASON)
    parsers = pytest.importorskip("botocore.parsers", reason=_REASON)
    shape = session.get_session().get_service_model("bedrock-runtime").operation_model("Converse").output_shape
    sent = {"body": json.dumps(case["response"]).encode(), "headers": {}, "status_code": 200}
    made = parsers.create_parser("rest-json").parse(sent, shape)
    assert made["usage"]["inputTokens"] == case["response"]["usage"]["inputTokens"]
    same("bedrock", case, made)


@pytest.fixture(autouse=True)
def _nothing_from_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """On import, litellm would fetch its newest prices."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")


@pytest.mark.filterwarnings("ignore")  # about its own models
def test_litellm() -> None:
    utils = pytest.importorskip("litellm.types.utils", reason=_REASON)
    for provider in ("openai", "deepseek", "openrouter"):
        for case in recorded(provider)["cases"]:
            response = case["response"]
            if isinstance(response, list) or "completion_tokens" not in response.get("usage", {}):
                continue
            made = utils.ModelResponse(model="m", usage=utils.Usage(**response["usage"]))
            assert isinstance(made.usage, utils.Usage)
            expected = tokens(provider, response, model="m")
            assert tokens("litellm", made).items() >= expected.items()
            assert tokens("litellm", made.usage, model="m") == tokens("litellm", made)


@pytest.mark.parametrize("case", cases("anthropic"))
def test_litellm_counts_anthropic_s_cache_as_part_of_the_prompt(case: dict[str, Any]) -> None:
    transformation = pytest.importorskip("litellm.llms.anthropic.chat.transformation", reason=_REASON)
    if isinstance(case["response"], list):
        return
    made = transformation.AnthropicConfig().calculate_usage(case["response"]["usage"], None)
    expected = tokens("anthropic", case["response"], model="m")
    read = tokens("litellm", made, model="m")
    assert {name: read.get(name) for name in expected} == expected


def test_genai_prices() -> None:
    genai_prices = pytest.importorskip("genai_prices", reason=_REASON)
    units = pytest.importorskip("genai_prices.units", reason=_REASON)._get_registry().units
    keys = [key for key, unit in units.items() if "token" in key]
    made = genai_prices.Usage(**{key: index + 1 for index, key in enumerate(keys)})
    usage = usage_from("genai-prices", made, model="m")
    assert isinstance(usage, TextUsage)
    assert usage.tokens is not None
    # Every unit is read. Tokens written for five minutes have the rate of writing, and no bucket of their own.
    five = [key for key in keys if "5m" in key]
    assert len(usage.tokens) + len(five) >= len(keys)
    others = {key: 2 for key in units if key not in keys and key != "requests"}  # every usage is one request
    counted = usage_from("genai-prices", genai_prices.Usage(**others), model="m")
    assert isinstance(counted, TextUsage)
    assert counted.counts is not None
    assert list(counted.counts.values()) == [2] * len(others)


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "openai"])
def test_genai_prices_reads_responses_as_we_do(provider: str) -> None:
    genai_prices = pytest.importorskip("genai_prices", reason=_REASON)
    read = 0
    for case in recorded(provider)["cases"]:
        response = case["response"]
        if isinstance(response, list) or "model" in case:
            continue
        flavor = "default" if provider != "openai" else "chat" if "prompt_tokens" in response["usage"] else "responses"
        if response.get("object") == "list":
            flavor = "embeddings"
        found = genai_prices.extract_usage(
            response, provider_id={"gemini": "google"}.get(provider, provider), api_flavor=flavor
        )
        theirs, ours = tokens("genai-prices", found.usage, model="m"), tokens(provider, response)
        shared = ("input", "output", "cache_input", "input_audio", "input_image", "input_video")
        assert {name: theirs.get(name, 0) for name in shared} == {name: ours.get(name, 0) for name in shared}
        read += 1
    assert read >= 6


def test_opentelemetry() -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace", reason=_REASON)
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 180,
        "gen_ai.usage.cache_read.input_tokens": 50,
        "openai.response.service_tier": "flex",
    }
    with (
        trace.TracerProvider().get_tracer("made up").start_as_current_span("chat gpt-4", attributes=attributes) as span
    ):
        pass
    usage = usage_from("opentelemetry", span)
    assert usage == TextUsage(
        model="gpt-4", tokens={"input": 100, "output": 180, "cache_input": 50}, service_tier="flex"
    )
    assert usage_from("opentelemetry", json.loads(span.to_json())) == usage


def test_every_name_of_the_clients_counts_is_known() -> None:
    """A counter that a client's class declares has a meaning in its dialect: none is refused at 1."""
    anthropic = pytest.importorskip("anthropic.types", reason=_REASON)
    google = pytest.importorskip("google.genai.types", reason=_REASON)
    usage = {name: 1 for name, field in anthropic.Usage.model_fields.items() if "int" in str(field.annotation)}
    assert tokens("anthropic", usage, model="m")["input"] == 3  # the input, read and written
    counts = [
        name for name, field in google.GenerateContentResponseUsageMetadata.model_fields.items()
        if "int" in str(field.annotation) and name != "total_token_count"
    ]  # fmt: skip
    assert tokens("gemini", dict.fromkeys(counts, 1), model="m") == {
        "input": 2,
        "output": 2,
        "cache_input": 1,
        "output_reasoning": 1,
    }
