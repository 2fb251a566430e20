"""The typed usages: the same answer as a mapping and as JSON, and what their schema says."""

import json
from typing import Any

import pytest
from metered_answers import refused, sentence, sound
from pydantic import ValidationError

import ratecard
from ratecard import (
    EditUsage,
    EmbeddingUsage,
    ImageUsage,
    MusicUsage,
    PriceBook,
    RpcUsage,
    SpeechUsage,
    TextUsage,
    TokenUsage,
    TranscriptionUsage,
    UpscaleUsage,
    VideoUsage,
)
from ratecard.requests.service_parameters import ServiceParameters
from ratecard.requests.usage import AnyUsage
from ratecard.tables.limits import Rates

TYPES = "'text' | 'embedding' | 'image' | 'edit' | 'upscale' | 'speech' | 'transcription' | 'music' | 'rpc' | 'video'"
RATED = f"{TYPES} | 'surcharge'"
TOKENS = TokenUsage.model_validate(
    {"prompt_tokens": 90, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}}
)
USAGES: list[AnyUsage] = [
    TextUsage(model="grok-4-3", usage=TOKENS),
    TextUsage(model="grok-4-3", usage=TOKENS, web_search_requests=2, scraped_urls=0),
    TextUsage(model="grok-4-3:enable_web_search=on", usage=TOKENS),
    TextUsage(model="grok-4-3:enable_web_search=on", usage=TOKENS, service_parameters=ServiceParameters()),
    TextUsage(
        model="grok-4-3", usage=TOKENS, x_search_results=2, service_parameters=ServiceParameters(enable_x_search=True)
    ),
    TextUsage(
        model="grok-4-3",
        usage=TOKENS,
        web_search_requests=2,
        service_parameters=ServiceParameters(disable_thinking=True),
    ),
    EmbeddingUsage(model="text-embedding-bge-m3", usage=TokenUsage(prompt_tokens=9)),
    ImageUsage(model="gpt-image-2", n=2, resolution="2K"),
    ImageUsage(model="flux-2-pro"),
    EditUsage(model="flux-2-max-edit", input_images=3),
    UpscaleUsage(model="upscaler", factor="4x"),
    SpeechUsage(model="tts-kokoro", characters=77),
    TranscriptionUsage.model_validate({"model": "openai/whisper-large-v3", "seconds": "1.25"}),
    MusicUsage(model="elevenlabs-music", duration_seconds=61),
    MusicUsage(model="elevenlabs-tts-v3", character_count=61),
    RpcUsage.model_validate({"network": "base-mainnet", "calls": [{"method": "eth_call", "failed": True}]}),
    VideoUsage(model="kling-o3-pro-text-to-video", duration="5s"),
]


def number(given: object) -> float:
    return float(str(given))


@pytest.mark.parametrize("usage", USAGES, ids=lambda usage: type(usage).__name__)
def test_a_typed_usage_equals_its_mapping_and_its_json(prices: PriceBook, usage: AnyUsage) -> None:
    quote = sound(prices.rate(usage))
    mapping = usage.model_dump(exclude_none=True)
    text = json.dumps(mapping, default=number)
    for same in (mapping, text, text.encode(), bytearray(text.encode()), usage.model_copy()):
        assert prices.rate(same) == quote
    assert quote.type == usage.type
    assert quote.lines


def test_a_usage_says_its_type_and_refuses_what_it_does_not_know() -> None:
    assert TextUsage(model="m", usage=TOKENS).type == "text"
    for wrong in (
        {"model": "m", "usage": {"prompt_tokens": -1}},
        {"model": "m", "usage": {"prompt_tokens": True}},
        {"model": "m", "usage": {"prompt_tokens": 0.5}},
        {"model": "m", "usage": {"prompt_tokens": 1}, "web_serch_requests": 2},
        {"model": "m"},
    ):
        with pytest.raises(ValidationError):
            TextUsage.model_validate(wrong)
    with pytest.raises(ValidationError):
        UpscaleUsage.model_validate({"model": "m", "factor": "3x"})
    with pytest.raises(ValidationError):
        setattr(TextUsage(model="m", usage=TOKENS), "model", "other")  # noqa: B010 - what a program might do


def test_a_text_usage_without_its_completion_is_refused_as_a_mapping_is(prices: PriceBook) -> None:
    usage = TextUsage(model="grok-4-3", usage=TokenUsage(prompt_tokens=1))
    assert refused(prices, usage) == {"usage.completion_tokens": ["Required"]}


def test_every_type_has_a_public_documented_model_and_a_schema() -> None:
    for usage in {type(usage) for usage in USAGES}:
        assert getattr(ratecard, usage.__name__) is usage
        assert usage.__name__ in ratecard.__all__
        schema = usage.model_json_schema()
        assert schema["description"]
        assert schema["properties"]["type"]["const"] == usage.model_fields["type"].default


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, {"model": ["Required"]}),
        ({"type": None}, f"Expected {RATED}, received null"),
        ({"type": "txt"}, f"Invalid enum value. Expected {RATED}, received 'txt'"),
        ({"type": ["text"], "model": "grok-4-3"}, f"Expected {RATED}, received array"),
        ({"type": "text"}, {"model": ["Required"]}),
        ({"type": "image", "model": None}, {"model": ["Expected string, received null"]}),
        ({"type": "image", "model": ["flux"]}, {"model": ["Expected string, received array"]}),
        (None, {"": ["Expected object, received null"]}),
        ([], {"": ["Expected object, received array"]}),
        (5, {"": ["Expected object, received number"]}),
        ("", {"": ["Required"]}),
        (b"[]", {"": ["Expected object, received array"]}),
    ],
)
def test_a_usage_without_a_known_type_or_model(prices: PriceBook, given: Any, said: Any) -> None:
    assert refused(prices, given) == ({"type": [said]} if isinstance(said, str) else said)


@pytest.mark.parametrize("type_", ["text", "embedding", "image", "edit", "upscale", "speech", "transcription", "music"])
def test_an_unknown_model_is_never_free(prices: PriceBook, type_: str) -> None:
    said = sentence(prices, {"type": type_, "model": "grok-4-33", "usage": None})
    assert said.startswith("Specified model not found: grok-4-33. Did you mean: grok-4-3")
    for other in ("web-search", "crypto-rpc", "ovi-image-to-video"):
        assert sentence(prices, {"type": type_, "model": other}).startswith(
            f"Specified model not found: {other} is of "
        )


def test_a_video_is_no_metered_model(prices: PriceBook) -> None:
    model, version = prices.in_effect("ovi-image-to-video")
    with pytest.raises(TypeError, match="ovi-image-to-video is a video model"):
        prices._compiler.metered(model, version, Rates())


def test_a_video_is_rated_as_it_is_quoted(prices: PriceBook) -> None:
    body = {"model": "kling-o3-pro-text-to-video", "duration": "5s"}
    assert prices.rate({"type": "video", **body}) == prices.quote_video(body)
    assert refused(prices, {"type": "video", **body, "duration": "99s"}).keys() == {"duration"}
    assert refused(prices, {"type": "video"})["model"] == ["Required"]
    assert sentence(prices, {"type": "video", "model": "grok-4-3"}).endswith("and has no price for video")
    for name in ("service_tier", "inference_geo"):
        said = refused(prices, {"type": "video", **body, name: "batch"})
        assert said == {name: ["Videos are not priced by conditions. Leave it out"]}
