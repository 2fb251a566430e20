"""A video model: what its versions accept, and their charges."""

from typing import Literal

from pydantic import Field

from ratecard.tables.scalars import Count, Counts, Frozen, Integer, Positive, Text, Words
from ratecard.tables.version import Example, Model, Rounding, Version
from ratecard.tables.video_charges import VideoCharge

# Words of a request that mean "as the source clip".
SOURCE_MATCHED_DURATIONS = ("-1", "auto", "Auto")
SOURCE_MATCHED_RATIOS = ("adaptive", "auto")


class ReferenceVideo(Frozen):
    """How many seconds of reference video a model takes in all, and for a source-matched duration."""

    max: Count
    source_min: Integer = 4
    source_max: Integer = 30


class FrameRates(Frozen):
    """The frame rates that may be asked for."""

    min: Count
    max: Count


class SourceLimit(Frozen):
    """The longest video that may be sent for processing."""

    max_seconds: Count


class VideoAccepts(Frozen):
    """The values that a version offers for each request field; a field that is left out offers no choice."""

    duration: Words | None = None
    aspect_ratio: Words | None = None
    resolution: Words | None = None
    resolution_aliases: dict[str, Text] = Field(default_factory=dict)
    upscale_factor: Counts | None = None
    enhancement_model: Words | None = None
    target_fps: FrameRates | None = None
    slowdown_factor: Counts | None = None
    audio: Literal["none", "always", "configurable"]
    video_url: SourceLimit | None = None
    reference_video_total_duration: ReferenceVideo | None = None


class VideoExample(Example):
    """A body, what is known of its source video, and its total."""

    request: dict[str, Text]
    source: dict[str, Positive] = Field(default_factory=dict)


class VideoVersion(Version):
    """A version of a video model. `defaults` are the values of request fields that may be left out."""

    accepts: VideoAccepts
    defaults: dict[str, Text] = Field(default_factory=dict)
    charges: tuple[VideoCharge, ...]
    rounding: Rounding
    examples: tuple[VideoExample, ...]

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Every value that a rate's attribute can have under what this version accepts."""
        accepts = self.accepts
        if attribute == "audio":
            return {"none": ("false",), "always": ("true",), "configurable": ("false", "true")}[accepts.audio]
        if attribute == "video_input":
            return ("false", "true") if accepts.reference_video_total_duration else ("false",)
        values = getattr(accepts, attribute, None) or ()
        if attribute == "aspect_ratio":
            return tuple(value for value in values if value not in SOURCE_MATCHED_RATIOS)
        if attribute == "duration":
            return tuple(value for value in values if value not in SOURCE_MATCHED_DURATIONS)
        return tuple(values)


class VideoModel(Model[VideoVersion]):
    """One video model."""

    type: Literal["video"]
    mode: Literal[
        "text-to-video",
        "image-to-video",
        "reference-to-video",
        "video-to-video",
        "transition",
        "upscale",
        "interpolation",
    ]
