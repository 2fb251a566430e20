"""What is not a price and yet data: units, and the values that the API knows for a request field."""

from ratecard.tables.scalars import Counts, Frozen, Integer, Number, Text, Words


class Unit(Frozen):
    """What a rate counts, and per how many: `{unit: mtoken, counts: token, per: 1000000}`."""

    unit: Text
    counts: Text
    per: Integer


class Range(Frozen):
    """The least and the greatest number that a field takes."""

    min: Number
    max: Number


class VideoFields(Frozen):
    """The API-wide values of `POST /video/quote`, in the order in which a message lists them."""

    duration: Words
    aspect_ratio: Words
    resolution: Words
    upscale_factor: Counts
    target_fps: Range
    slowdown_factor: Counts
    reference_video_total_duration: Range


class Vocabulary(Frozen):
    """The API-wide values of request fields."""

    video: VideoFields


class Units(Frozen):
    """Every unit that a charge may have."""

    units: tuple[Unit, ...]
