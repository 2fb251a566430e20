"""Random usages of what litellm's list prices, as ratecard and as litellm's `completion_cost` have them."""

import os
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from ratecard.tables.rate import Charge

# The list that the package brings is read, not the one of the day.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from litellm import completion_cost
from litellm.llms.base_llm.ocr.transformation import OCRResponse, OCRUsageInfo
from litellm.types.rerank import RerankResponse
from litellm.types.utils import (
    CacheCreationTokenDetails,
    CompletionTokensDetailsWrapper,
    ImageObject,
    ImageResponse,
    ModelResponse,
    PromptTokensDetailsWrapper,
    TranscriptionResponse,
    Usage,
)
from litellm.types.videos.main import VideoObject

litellm.suppress_debug_info = True

# At the edges of the list's tiers, too.
_PROMPTS = (1, 7, 100, 999, 5_000, 31_999, 32_001, 127_999, 128_001, 200_000, 200_001, 272_000, 272_001, 600_000)
Case = tuple[dict[str, Any], Callable[[], float]]


def provider_of(entry: Mapping[str, Any]) -> str:
    """The provider that a call names: entries of Vertex AI have one for each kind of model."""
    provider = str(entry["litellm_provider"])
    return "vertex_ai" if provider.startswith("vertex_ai-") else provider


def random_case(random: Random, model: str, key: str, charges: Mapping[str, Charge]) -> Case | None:
    """A usage of one model, and the call of litellm that prices it; None for what its calls do not count."""
    entry = litellm.model_cost[key]
    if "tokens" in charges:
        return _tokens(random, model, key, entry, charges["tokens"])
    makers = {
        "image": _images,
        "pixel": _images,
        "video_second": _video,
        "character": _speech,
        "second": _seconds,
        "query": _queries,
        "page": _pages,
    }
    meter = next((meter for meter in makers if meter in charges), None)
    return makers[meter](random, model, key, entry, charges[meter]) if meter else None


def _tokens(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    tokens = {"input": random.choice(_PROMPTS), "output": random.choice((0, 10, 5_000))}
    prompt: dict[str, Any] = {"text_tokens": tokens["input"]}
    completion: dict[str, Any] = {"text_tokens": tokens["output"]}

    def part(name: str, field: str, into: dict[str, Any]) -> None:
        into[field] = tokens[name] = random.choice((1, 50, 1_000))
        tokens["output" if name.startswith("output") else "input"] += into[field]

    kind = random.choice(("plain", "read", "written", "modality"))
    if kind in ("read", "written"):
        part("cache_input", "cached_tokens", prompt)
    if kind == "written":
        short, hour = random.choice((0, 100)), random.choice((0, 0, 300))
        tokens["cache_write"] = prompt["cache_creation_tokens"] = short + hour
        tokens["input"] += short + hour
        if hour:
            tokens["cache_write_1h"] = hour
            prompt["cache_creation_token_details"] = CacheCreationTokenDetails(
                ephemeral_5m_input_tokens=short, ephemeral_1h_input_tokens=hour
            )
    if kind == "modality":
        modality = random.choice(("audio", "image", "video"))
        part(f"input_{modality}", f"{modality}_tokens", prompt)
    further = random.choice(("", "reasoning", "audio", "image"))
    if further:
        part(f"output_{further}", f"{further}_tokens", completion)
    usage = Usage(
        prompt_tokens=tokens["input"],
        completion_tokens=tokens["output"],
        total_tokens=tokens["input"] + tokens["output"],
        prompt_tokens_details=PromptTokensDetailsWrapper(**prompt),
        completion_tokens_details=CompletionTokensDetailsWrapper(**completion),
    )
    ours: dict[str, Any] = {"model": model, "tokens": tokens}
    asked: dict[str, Any] = {"call_type": "completion"}
    tiers = {value for rate in charge.rates for value in rate.attributes.get("service_tier", ())}
    if tier := random.choice(("", "", *sorted(tiers))):
        ours["service_tier"] = tier
        asked |= {"call_type": "aretrieve_batch"} if tier == "batch" else {"service_tier": tier}
    conditions = {name for factor in getattr(charge, "factors", ()) for name in factor.conditions}
    for name, value, theirs in (
        ("data_residency", "eu", {"data_residency": "eu"}),
        ("vertex_location", "regional", {"vertex_location": "us-east5"}),
        ("inference_geo", "us", {}),
        ("speed", "fast", {}),
    ):
        if name in conditions and random.random() < 0.5:
            ours[name] = value
            asked |= theirs
            if not theirs:
                setattr(usage, name, value)
    return ours, _call(ModelResponse(model=key, usage=usage), key, entry, **asked)


def _images(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    number, side = random.choice((1, 2, 4)), random.choice((512, 1024))
    response = ImageResponse(data=[ImageObject(url="x") for _ in range(number)])
    unit = "pixel" if charge.charge == "pixel" else "image"
    counts = {unit: number * (side * side if unit == "pixel" else 1)}
    asked = {"call_type": "image_generation", "size": f"{side}x{side}", "n": number}
    return {"model": model, "counts": counts}, _call(response, key, entry, **asked)


def _video(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    seconds = random.choice((1, 5, 8))
    sizes = sorted({value for rate in charge.rates for value in rate.attributes.get("resolution", ())})
    size = random.choice(("", *sizes))
    usage = {"duration_seconds": seconds, **({"video_resolution": size} if size else {})}
    response = VideoObject(id="x", object="video", status="completed", model=key, usage=usage)
    ours = {"model": model, "counts": {"video_second": seconds}, **({"resolution": size} if size else {})}
    return ours, _call(response, key, entry, call_type="create_video")


def _speech(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    number = random.choice((1, 17, 1_000))
    call = lambda: completion_cost(  # noqa: E731
        model=key, prompt="x" * number, custom_llm_provider=provider_of(entry), call_type="speech"
    )
    return {"model": model, "counts": {"character": number}}, call


def _seconds(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    seconds = random.choice((1, 61, 3_600))
    ours = {"model": model, "counts": {"second": seconds}}
    if entry.get("mode") == "audio_transcription":
        response = TranscriptionResponse(text="x")
        response._hidden_params = {"audio_transcription_duration": float(seconds)}
        return ours, _call(response, key, entry, call_type="transcription")
    response = ModelResponse(model=key, usage=Usage(prompt_tokens=1, completion_tokens=1, total_tokens=2))
    return ours, _call(response, key, entry, call_type="completion", total_time=seconds * 1_000.0)


def _queries(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    number = random.choice((1, 2, 30))
    ours = {"model": model, "counts": {"query": number}}
    if entry.get("mode") == "search":
        return ours, lambda: completion_cost(
            model=key,
            custom_llm_provider=provider_of(entry),
            call_type="search",
            optional_params={"query": ["x"] * number},
        )
    response = RerankResponse(id="x", results=[], meta={"billed_units": {"search_units": number}})
    return ours, _call(response, key, entry, call_type="rerank")


def _pages(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    pages = random.choice((1, 12))
    response = OCRResponse(pages=[], model=key, usage_info=OCRUsageInfo(pages_processed=pages))
    return {"model": model, "counts": {"page": pages}}, _call(response, key, entry, call_type="ocr")


def _call(response: Any, key: str, entry: Mapping[str, Any], **asked: Any) -> Callable[[], float]:
    provider = provider_of(entry)
    hidden = getattr(response, "_hidden_params", None) or {}
    response._hidden_params = {**hidden, "custom_llm_provider": provider}
    return lambda: completion_cost(completion_response=response, model=key, custom_llm_provider=provider, **asked)
