"""Typed models of metered requests of every type, for `prices.rate`.

`prices.rate` also takes the same fields as a mapping or as JSON. The price book itself checks a mapping, so that its
errors name the model's own values.
"""

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ratecard.requests.body import TypedFields, TypedUsage, mapping_of
from ratecard.requests.service_parameters import ServiceParameters
from ratecard.requests.video_request import AtLeastOne, VideoRequest

_Count = Annotated[int, Field(ge=0, strict=True)]


class _ClientUsage(BaseModel):
    """A usage object of a client library, or a mapping, with all its fields under the names that it has there.

    `prices.rate` reads undeclared fields too, as it does those of a mapping.
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _as_mapping(cls, given: Any) -> Any:
        mapping = mapping_of(given)
        return given if mapping is None else dict(mapping)


class PromptTokensDetails(_ClientUsage):
    """Tokens of the prompt that were read from the cache, or written to it (under either of two names)."""

    cached_tokens: _Count | None = None
    cache_creation_input_tokens: _Count | None = None
    cache_write_tokens: _Count | None = None


class TokenUsage(_ClientUsage):
    """The usage object of a provider, under its own names.

    `prompt_tokens` includes cached tokens. `input_tokens` includes those in the details, but not those beside it
    (`cache_read_input_tokens`, `cache_creation_input_tokens`), as Anthropic counts. The completion may be left out for
    an embedding only.

    >>> TokenUsage.model_validate({"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}).input_tokens
    10
    """

    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    prompt_tokens_details: PromptTokensDetails | None = None
    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    input_tokens_details: PromptTokensDetails | None = None
    cache_read_input_tokens: _Count | None = None
    cache_creation_input_tokens: _Count | None = None
    total_tokens: _Count | None = None


class _UnderConditions(TypedUsage):
    """The conditions of the shipped meters.yaml; those of another folder are further fields, of text.

    `listed` has the items that `usage_from` found beside the counts: the meter of each, by its path. An item is charged
    if the model has a price for its meter; otherwise it is in the quote's `ignored`.
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    __pydantic_extra__: dict[str, str] = Field(init=False)

    service_tier: str | None = None
    speed: str | None = None
    processing: str | None = None
    inference_geo: str | None = None
    latency: str | None = None
    listed: dict[str, str] | None = None


class _OfTokens(_UnderConditions):
    """Tokens as their provider counts them (`usage`), or by bucket (`tokens`); or neither beside `counts`."""

    usage: TokenUsage | None = None
    tokens: dict[str, _Count] | None = None

    @model_validator(mode="after")
    def _has_tokens_once(self) -> Self:
        if (self.usage is None) is (self.tokens is None) and (self.usage or self.counts is None):
            raise ValueError("Give the counts once: as usage, or as tokens")
        return self


class TextUsage(_OfTokens):
    """Tokens of a language model, and its searches."""

    type: Literal["text"] = "text"
    model: str
    web_search_requests: _Count | None = None
    scraped_urls: _Count | None = None
    x_search_results: _Count | None = None
    service_parameters: ServiceParameters | None = None


class EmbeddingUsage(_OfTokens):
    """Tokens of an embedding model."""

    type: Literal["embedding"] = "embedding"
    model: str


class ImageUsage(_UnderConditions):
    """`n` images at a resolution and quality; by default the lowest resolution, and high quality."""

    type: Literal["image"] = "image"
    model: str
    n: AtLeastOne = 1
    resolution: str | None = None
    quality: str | None = None


class EditUsage(_UnderConditions):
    """`n` edited images; input images beyond the included ones are billed too."""

    type: Literal["edit"] = "edit"
    model: str
    n: AtLeastOne = 1
    resolution: str | None = None
    quality: str | None = None
    input_images: AtLeastOne = 1


class UpscaleUsage(_UnderConditions):
    """One enlarged image; `factor` may be left out for an upscaler that has a price without a factor."""

    type: Literal["upscale"] = "upscale"
    model: str
    factor: Literal["2x", "4x"] | None = None


class SpeechUsage(_UnderConditions):
    """Characters of text that were spoken."""

    type: Literal["speech"] = "speech"
    model: str
    characters: _Count


class TranscriptionUsage(_UnderConditions):
    """Seconds of audio transcribed."""

    type: Literal["transcription"] = "transcription"
    model: str
    seconds: Annotated[Decimal, Field(ge=0)]


class MusicUsage(_UnderConditions):
    """A song or sound: its seconds or its characters, depending on how its model is billed."""

    type: Literal["music"] = "music"
    model: str
    duration_seconds: AtLeastOne | None = None
    character_count: _Count | None = None


class RpcCall(TypedFields):
    """One call of a batch."""

    method: str
    failed: bool = False


class RpcUsage(_UnderConditions):
    """A batch of RPC calls to one network, such as `ethereum-mainnet`."""

    type: Literal["rpc"] = "rpc"
    network: str
    calls: Annotated[tuple[RpcCall, ...], Field(min_length=1, max_length=100)]


class VideoUsage(TypedUsage, VideoRequest):
    """A video, with the fields of `POST /video/quote`; which fields and values a model accepts varies."""

    type: Literal["video"] = "video"


AnyUsage = (
    TextUsage
    | EmbeddingUsage
    | ImageUsage
    | EditUsage
    | UpscaleUsage
    | SpeechUsage
    | TranscriptionUsage
    | MusicUsage
    | RpcUsage
    | VideoUsage
)
