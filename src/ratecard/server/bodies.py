"""The JSON bodies as typed models, for OpenAPI alone: the library reads bodies, with all their digits, and checks them.

Words that a model accepts are not listed here: they come from tables that change under a running server, and
`GET /models` has them for each model.
"""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ratecard.methods.method import MOST_COUNTED
from ratecard.requests.fields import URL
from ratecard.requests.usage import RATED
from ratecard.server.answers import ExactNumber, may_be_absent

# The most usages of one `POST /rate`.
MOST_USAGES = 1000


class _Body(BaseModel):
    """A body; further keys of a quote's are listed in its answer as `ignored`."""

    model_config = ConfigDict(json_schema_extra=may_be_absent)


class VideoQuoteRequest(_Body):
    """A video to price. Which fields matter, and their values, vary by model: see `constraints` of `GET /models`."""

    model: str = Field(description="The model to quote", examples=["kling-o3-pro-text-to-video"])
    duration: str = Field(
        "", description="Seconds of video, or `-1` and `auto` to match the source clip", examples=["5s", "auto"]
    )
    aspect_ratio: str = Field(
        "", description="Width to height; `adaptive` and `auto` match the source clip", examples=["16:9", "adaptive"]
    )
    resolution: str = Field("", description="In capital or small letters", examples=["720p", "1080p", "4k"])
    upscale_factor: Annotated[int, Field(json_schema_extra={"enum": [1, 2, 4]})] = 1
    enhancement_model: str = Field(
        "",
        description="Enhancement models only; the values are in `constraints.topaz.models` of `GET /models`",
        examples=["Proteus"],
    )
    target_fps: int = Field(
        0,
        ge=16,
        le=120,
        description="Enhancement models only; left out, the frame rate of the source, or the dearest if unknown",
    )
    slowdown_factor: Annotated[int, Field(json_schema_extra={"enum": [1, 2, 4, 8]})] = 1
    audio: bool = Field(True, description="With sound, which is what a body without this field means")
    video_url: str = Field(
        "",
        pattern=URL,
        description="The video to process: a URL or a base64 data URI",
        examples=["https://example.com/clip.mp4"],
    )
    reference_video_total_duration: Annotated[ExactNumber, Field(json_schema_extra={"minimum": 0, "maximum": 150})] = (
        Field(Decimal(0), description="Seconds of all reference videos together")
    )


_Digits = Field(max_length=12, pattern="^0*[1-9][0-9]*$")


class AudioQuoteRequest(_Body):
    """Speech, transcription or music to price: a count of seconds or of characters, as its model is billed."""

    model: str = Field(description="The model to quote", examples=["elevenlabs-music"])
    duration_seconds: Annotated[int, Field(ge=1, le=MOST_COUNTED)] | Annotated[str, _Digits] = Field(
        1, description="Whole seconds, as a number or as its digits"
    )
    character_count: int = Field(0, ge=0, le=MOST_COUNTED)


class MeteredUsage(_Body):
    """A metered request of any type, with the fields of its type, and every further key that its tables declare."""

    model_config = ConfigDict(extra="allow")
    type: Annotated[str, Field(json_schema_extra={"enum": list(RATED.words)})] = Field(
        "", description="The type of the model, where it is left out"
    )
    model: str = Field("", description="The model; of RPC there is none")
    usage: dict[str, Any] = Field({}, description="Text and embeddings: the provider's usage object, as it is")
    counts: dict[str, ExactNumber] = Field(
        {}, description="What is counted by meter, where the model has charges of such", examples=[{"page": 12}]
    )
    metadata: dict[str, Any] = Field({}, description="The caller's own; nothing reads it")


class UsageList(_Body):
    """Several usages, to be answered in their order."""

    model_config = ConfigDict(extra="forbid")
    usages: list[MeteredUsage] = Field(max_length=MOST_USAGES)


class TextEstimateRequest(_Body):
    """A text request before it runs; the last three are the most of each search, where the limits do not say it."""

    model_config = ConfigDict(extra="forbid")
    type: Annotated[str, Field(json_schema_extra={"enum": ["text"]})] = ""
    model: str = Field(description="The model, with parameters in its name if it has any", examples=["grok-4-3"])
    prompt_tokens: int = Field(ge=0)
    max_completion_tokens: int = Field(ge=0)
    service_parameters: dict[str, Any] = Field({}, description="Those of the request; three of them switch searches")
    web_search_requests: int = Field(0, ge=0)
    scraped_urls: int = Field(0, ge=0)
    x_search_results: int = Field(0, ge=0)
    counts: dict[str, ExactNumber] = Field({}, description="What the request counts by meter")
    metadata: dict[str, Any] = Field({}, description="The caller's own; nothing reads it")
