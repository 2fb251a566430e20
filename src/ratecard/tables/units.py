"""Units and the API-wide values of request fields: data of the tables that is not a price."""

from ratecard.tables.scalars import Count, Counts, Frozen, Number, Text, Words


class Unit(Frozen):
    """A unit, which a rate is the price of: `{unit: mtoken, counts: token, per: 1000000}` is a million tokens.

    `per` is any whole number: an hour is `per: 3600` seconds.
    """

    unit: Text
    counts: Text
    per: Count


class Range(Frozen):
    """The least and the greatest value of a field."""

    min: Number
    max: Number


class VideoFields(Frozen):
    """The API-wide values of `POST /video/quote`, in the order of messages."""

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
    """The file of units."""

    units: tuple[Unit, ...]
