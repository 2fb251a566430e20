"""Video models, and what a version accepts; the package `methods` registers the classes of their charges."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from ratecard.base.messages import Finding
from ratecard.tables.rate import Charge, ChargeClasses
from ratecard.tables.scalars import Count, Counts, Frozen, Id, Integer, Pixels, Positive, Text, Words
from ratecard.tables.version import Example, Model, Rounding, Version


class FrameSize(Frozen):
    """The pixels of an output of one resolution and aspect ratio, as far as the size depends on them."""

    resolution: Id | None = None
    aspect_ratio: Id | None = None
    size: Pixels


def fields_of_sizes(sizes: Iterable[FrameSize]) -> frozenset[str]:
    """Return the request fields on which these sizes depend."""
    return frozenset(
        name for entry in sizes for name in ("resolution", "aspect_ratio") if getattr(entry, name) is not None
    )


class Measures(NamedTuple):
    """The input of the plain formula of a method, from the request, its source video and its reference video.

    `per` is the number of counted things in one unit, and `pixels` the number of pixels of a frame.
    """

    seconds: Fraction | int
    per: int
    fps: Fraction = Fraction(0)
    slowdown: int = 1
    pixels: int = 0
    reference: Fraction = Fraction(0)


class VideoCharge(Charge):
    """A charge of a video model, as far as its version must know it: what it reads, and its plain formula."""

    TYPES: ClassVar[tuple[str, ...]] = ("video",)
    # The request fields that every amount depends on, whatever the rates name.
    READS: ClassVar[tuple[str, ...]] = ("duration",)
    # Facts that must be known of a source video: its size; its frame rate, unless the request has a `target_fps`.
    NEEDS_SIZE: ClassVar[bool] = False
    NEEDS_FRAME_RATE: ClassVar[bool] = False
    # True if `up_to` of its rates is the height of the output: `upscale_factor` times the height of the source.
    TIERS_OF_OUTPUT: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the request fields that every amount depends on: `READS`, unless the options change them."""
        return self.READS

    @property
    def fields(self) -> frozenset[str]:
        """Return the request fields on which the amount of this charge depends."""
        named = super().fields
        by_reference = {"reference_video_total_duration"} if "video_input" in named else set()
        return named - {"up_to", "video_input"} | {*self.reads} | by_reference

    @property
    def of_source(self) -> bool:
        """Return True if seconds and size are those of the source video that a request sends."""
        return "video_url" in self.reads

    def check_options(self, version: "VideoVersion") -> Iterator[Finding]:
        """Check the options of the method against what a version accepts."""
        yield from ()

    def units(self, of: Measures) -> Fraction:
        """Return how many units a request uses, by the plain formula that calculators use."""
        return Fraction(of.seconds, of.per)

    @property
    def frame_rates(self) -> Mapping[Decimal, Decimal]:
        """Return the frame rates that the price sheet shows, each with the factor on amounts from that rate up."""
        return {}


VIDEO_CHARGES = ChargeClasses()


# The longest clip, in seconds, that a table may have.
LONGEST = 999
# Values of a request that mean "as the source clip".
SOURCE_MATCHED_DURATIONS = ("-1", "auto", "Auto")
SOURCE_MATCHED_RATIOS = ("adaptive", "auto")


class ReferenceVideo(Frozen):
    """The most seconds of reference video, and the limits of a clip that the duration is matched to."""

    max: Count
    source_min: Integer = 4
    source_max: Integer = 30

    @property
    def longest_clip(self) -> int:
        """Return the most seconds of a clip that the duration is matched to."""
        return min(self.max, self.source_max)


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
    resolution_aliases: dict[str, Id] = Field(default_factory=dict)
    upscale_factor: Counts | None = None
    enhancement_model: Words | None = None
    target_fps: FrameRates | None = None
    slowdown_factor: Counts | None = None
    audio: Literal["none", "always", "configurable"]
    video_url: SourceLimit | None = None
    reference_video_total_duration: ReferenceVideo | None = None


# The fields of a request other than its model, in the order of the specification. `test_video_fields.py` checks that
# all places that handle each field (typed requests, checks, the values that the test kit breaks) agree with this.
REQUEST_FIELDS = tuple(name for name in VideoAccepts.model_fields if name != "resolution_aliases")
# The fields whose values a version lists, as words and as whole numbers.
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
    charges: tuple[Annotated[VideoCharge, VIDEO_CHARGES], ...]
    rounding: Rounding
    examples: tuple[VideoExample, ...]

    @property
    def default_values(self) -> dict[str, str | int]:
        """Return the defaults as a request would state them, numbers as numbers."""
        return {name: int(text) if name in LISTED_NUMBERS else text for name, text in self.defaults.items()}

    @property
    def of_source(self) -> bool:
        """Return True if requests are priced by the source video that they send."""
        return any(charge.of_source for charge in self.charges)

    @property
    def _clips(self) -> tuple[str, ...]:
        """Return the durations that a video can have from a reference clip, if requests may match one."""
        clip, listed = self.accepts.reference_video_total_duration, self.accepts.duration or ()
        if clip is None or not set(SOURCE_MATCHED_DURATIONS) & set(listed):
            return ()
        return tuple(f"{seconds}s" for seconds in range(clip.source_min, clip.longest_clip + 1))

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Return every value that an attribute of a rate can have, by the values that this version accepts."""
        accepts = self.accepts
        if attribute == "audio":
            return {"none": ("false",), "always": ("true",), "configurable": ("false", "true")}[accepts.audio]
        if attribute == "video_input":
            return ("false", "true") if accepts.reference_video_total_duration else ("false",)
        values = getattr(accepts, attribute, None) or ()
        if attribute == "aspect_ratio":
            return tuple(value for value in values if value not in SOURCE_MATCHED_RATIOS)
        if attribute == "duration":
            stated = tuple(value for value in values if value not in SOURCE_MATCHED_DURATIONS)
            return (*stated, *(value for value in self._clips if value not in stated))
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
