"""The body of `POST /video/quote` as a typed model, with the words on each field for help, refusals and OpenAPI."""

from decimal import Decimal
from typing import Annotated, NamedTuple

from pydantic import Field, WithJsonSchema

from ratecard.requests.body import TypedFields
from ratecard.requests.fields import URL

AtLeastOne = Annotated[int, Field(ge=1, strict=True)]


class Like(NamedTuple):
    """A description of the values of a field, in a few words."""

    words: str


_Reference = Annotated[Decimal, Field(ge=0, le=150), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 150})]


class VideoRequest(TypedFields):
    """The fields of `POST /video/quote`, each with its words in help, refusals and OpenAPI."""

    model: Annotated[str, Like("id of the model, see `ratecard models`")] = Field(
        description="The model to quote", examples=["kling-o3-pro-text-to-video"]
    )
    duration: Annotated[str | None, Like("5s, 1 gen, or auto")] = Field(
        None, description="Seconds of video, or `-1` and `auto` to match the source clip", examples=["5s", "auto"]
    )
    aspect_ratio: Annotated[str | None, Like("16:9, or adaptive")] = Field(
        None, description="Width to height; `adaptive` and `auto` match the source clip", examples=["16:9", "adaptive"]
    )
    resolution: Annotated[str | None, Like("720p")] = Field(
        None, description="In capital or small letters", examples=["720p", "1080p", "4k"]
    )
    upscale_factor: Annotated[AtLeastOne | None, Like("1, 2 or 4")] = Field(
        None, description="Upscale models only", examples=[1, 2, 4]
    )
    enhancement_model: Annotated[str | None, Like("Proteus")] = Field(
        None,
        description="Enhancement models only; the values are in `constraints.topaz.models` of `GET /models`",
        examples=["Proteus"],
    )
    target_fps: Annotated[Annotated[int, Field(ge=16, le=120, strict=True)] | None, Like("16 to 120")] = Field(
        None,
        description="Enhancement models only; left out, the frame rate of the source, or the dearest if unknown",
    )
    slowdown_factor: Annotated[AtLeastOne | None, Like("1, 2, 4 or 8")] = Field(
        None, description="Enhancement models only; `2` makes the video twice as long", examples=[1, 2, 4, 8]
    )
    audio: Annotated[bool | None, Like("true or false")] = Field(
        None, description="With sound, which is what a body without this field means"
    )
    video_url: Annotated[str | None, Like("address of the video to process")] = Field(
        None,
        description="The video to process: a URL or a base64 data URI",
        examples=["https://example.com/clip.mp4"],
        json_schema_extra={"pattern": URL},
    )
    reference_video_total_duration: Annotated[_Reference | None, Like("seconds of reference video, like 7.5")] = Field(
        None, description="Seconds of all reference videos together"
    )
