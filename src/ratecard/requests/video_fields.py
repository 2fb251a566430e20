"""The fields of `POST /video/quote`: API-wide, and as one version of a model knows them."""

from decimal import Decimal

from ratecard.requests.fields import Boolean, Choice, Field, Literals, Number, Text, Unwanted, Url, WholeNumber
from ratecard.tables.video import VideoVersion
from ratecard.tables.vocabulary import VideoFields

# The order of the specification: errors and ignored fields are listed in it.
FIELD_ORDER = (
    "model",
    "duration",
    "aspect_ratio",
    "resolution",
    "upscale_factor",
    "enhancement_model",
    "target_fps",
    "slowdown_factor",
    "audio",
    "video_url",
    "reference_video_total_duration",
)
NO_RESOLUTION = "Use upscale_factor instead of resolution"
_EITHER_AUTO = {"auto": "Auto", "Auto": "auto"}


def api_wide_fields(fields: VideoFields) -> dict[str, Field]:
    """How a field is checked where no model is known, or where the field has no effect on the model."""
    reference = fields.reference_video_total_duration
    return {
        "duration": Choice(fields.duration),
        "aspect_ratio": Choice(fields.aspect_ratio),
        "resolution": Choice(fields.resolution, fold=True),
        "upscale_factor": Literals(fields.upscale_factor),
        "enhancement_model": Text(),
        "target_fps": WholeNumber(int(fields.target_fps.min), int(fields.target_fps.max)),
        "slowdown_factor": Literals(fields.slowdown_factor),
        "audio": Boolean(),
        "video_url": Url(),
        "reference_video_total_duration": Number(reference.min, reference.max),
    }


def fields_of(version: VideoVersion, api_wide: dict[str, Field]) -> dict[str, Field]:
    """How a field is checked for one version: against its own values wherever it has any."""
    accepts, own = version.accepts, dict(api_wide)
    if accepts.duration:
        also = {_EITHER_AUTO[word]: word for word in accepts.duration if word in _EITHER_AUTO}
        own["duration"] = Choice(accepts.duration, {k: v for k, v in also.items() if k not in accepts.duration})
    if accepts.aspect_ratio:
        own["aspect_ratio"] = Choice(accepts.aspect_ratio)
    if accepts.resolution:
        own["resolution"] = Choice(accepts.resolution, accepts.resolution_aliases, fold=True)
    elif accepts.upscale_factor:
        own["resolution"] = Unwanted(NO_RESOLUTION)
    if accepts.enhancement_model:
        own["enhancement_model"] = Choice(accepts.enhancement_model)
    if accepts.upscale_factor:
        own["upscale_factor"] = Literals(accepts.upscale_factor)
    if accepts.slowdown_factor:
        own["slowdown_factor"] = Literals(accepts.slowdown_factor)
    if accepts.target_fps:
        own["target_fps"] = WholeNumber(accepts.target_fps.min, accepts.target_fps.max)
    if accepts.reference_video_total_duration:
        cap = Decimal(accepts.reference_video_total_duration.max)
        wide = own["reference_video_total_duration"]
        least = wide.least if isinstance(wide, Number) else Decimal(0)
        own["reference_video_total_duration"] = Number(least, cap)
    return own
