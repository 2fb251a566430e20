"""Video models: what a version accepts, and its charges, one class for each pricing method.

`method` is the word that the API's own documents use.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ratecard.tables.rate import Charge
from ratecard.tables.scalars import Count, Counts, Frozen, Integer, Pixels, Positive, Ratio, Text, Words
from ratecard.tables.version import Example, Model, Rounding, Version


class FrameSize(Frozen):
    """The pixels of an output of one resolution and aspect ratio, as far as the size depends on them."""

    resolution: Text | None = None
    aspect_ratio: Text | None = None
    size: Pixels


def _fields_of(sizes: Iterable[FrameSize]) -> frozenset[str]:
    """The request fields that these sizes depend on."""
    return frozenset(
        name for entry in sizes for name in ("resolution", "aspect_ratio") if getattr(entry, name) is not None
    )


class PerSecond(Charge):
    """Seconds of output times the rate."""

    ATTRIBUTES: ClassVar = ("resolution", "audio")
    METERS: ClassVar = ("second of video",)
    method: Literal["duration-rate", "resolution-rate"]

    @property
    def fields(self) -> frozenset[str]:
        return super().fields | {"duration"}


class PerClip(Charge):
    """One price for the whole clip, or one flat fee per request."""

    ATTRIBUTES: ClassVar = ("duration", "resolution", "audio")
    METERS: ClassVar = ("clip", "input image")
    method: Literal["fixed", "duration-resolution-rate"]


class TokenFormula(Charge):
    """Video tokens: (input + output seconds) x pixels x frames per second / pixels per token."""

    ATTRIBUTES: ClassVar = ("resolution", "video_input")
    METERS: ClassVar = ("token",)
    method: Literal["token-formula"]
    frames_per_second: Count
    pixels_per_token: Count
    # With reference video, at least ceil(output seconds x this) seconds are billed; 0 switches the minimum off.
    reference_minimum: Ratio = Fraction(5, 3)
    sizes: tuple[FrameSize, ...]

    @property
    def fields(self) -> frozenset[str]:
        named = super().fields - {"video_input"} | _fields_of(self.sizes) | {"duration"}
        return named | {"reference_video_total_duration"} if "video_input" in super().fields else named


class Frames(Frozen):
    """The number of frames of a clip: seconds x `per_second` + `plus`."""

    per_second: Count
    plus: Integer = 0


class MegapixelRate(Charge):
    """Width x height x frames / 1,000,000 times the rate; without `sizes`, those of the source video, upscaled."""

    ATTRIBUTES: ClassVar = ("resolution",)
    METERS: ClassVar = ("pixel of video",)
    method: Literal["megapixel-rate"]
    frames: Frames | None = None
    megapixels: Literal["exact", "rounded-up"] = "exact"
    sizes: tuple[FrameSize, ...] = ()

    @property
    def fields(self) -> frozenset[str]:
        if not (self.sizes or self.frames):
            return super().fields | {"duration", "video_url", "upscale_factor"}
        return super().fields | _fields_of(self.sizes) | {"duration"}


class FrameRateStep(Frozen):
    """The frames per second from which the price is multiplied, and the factor."""

    from_: Annotated[Positive, Field(alias="from")]
    factor: Positive


class UpscaleRate(Charge):
    """Seconds of source times the rate of the output height's tier."""

    ATTRIBUTES: ClassVar = ("enhancement_model", "up_to")
    METERS: ClassVar = ("second of video",)
    method: Literal["upscale-rate"]
    frame_rate: FrameRateStep

    @property
    def fields(self) -> frozenset[str]:
        return super().fields - {"up_to"} | {"duration", "video_url", "upscale_factor", "target_fps"}


class InterpolationRate(Charge):
    """Seconds of output times frames per second / `at_frame_rate`, at the rate of the source height's tier."""

    ATTRIBUTES: ClassVar = ("enhancement_model", "up_to")
    METERS: ClassVar = ("second of interpolated video",)
    method: Literal["interpolation-rate"]
    at_frame_rate: Positive = Decimal(60)

    @property
    def fields(self) -> frozenset[str]:
        return super().fields - {"up_to"} | {"duration", "video_url", "slowdown_factor", "target_fps"}


VideoCharge = Annotated[
    PerSecond | PerClip | TokenFormula | MegapixelRate | UpscaleRate | InterpolationRate,
    Field(discriminator="method"),
]


# Values of a request that mean "as the source clip".
SOURCE_MATCHED_DURATIONS = ("-1", "auto", "Auto")
SOURCE_MATCHED_RATIOS = ("adaptive", "auto")


class ReferenceVideo(Frozen):
    """The most seconds of reference video, and the limits of a clip that the duration is matched to."""

    max: Count
    source_min: Integer = 4
    source_max: Integer = 30


class FrameRates(Frozen):
    """The frame rates that a request may have."""

    min: Count
    max: Count


class SourceLimit(Frozen):
    """The longest video that may be sent for processing."""

    max_seconds: Count


class VideoAccepts(Frozen):
    """The values that a version accepts for each request field; a field that is left out has no choice."""

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


# The fields of a request beside its model, in the order of the specification.
REQUEST_FIELDS = tuple(name for name in VideoAccepts.model_fields if name != "resolution_aliases")
# Those of which a version lists the values, as words and as whole numbers.
LISTED_WORDS = ("duration", "aspect_ratio", "resolution", "enhancement_model")
LISTED_NUMBERS = ("upscale_factor", "slowdown_factor")


class VideoExample(Example):
    """A body without its model, what is known of its source video, and its total."""

    request: dict[str, Text]
    source: dict[str, Positive] = Field(default_factory=dict)


class VideoVersion(Version):
    """A version of a video model. `defaults` are the values of request fields that may be left out."""

    accepts: VideoAccepts
    defaults: dict[str, Text] = Field(default_factory=dict)
    charges: tuple[VideoCharge, ...]
    rounding: Rounding
    examples: tuple[VideoExample, ...]

    @property
    def of_source(self) -> bool:
        """Whether requests are priced by the source video that they send."""
        return any(charge.of_source for charge in self.charges)

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Every value that an attribute of a rate can have under what this version accepts."""
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
