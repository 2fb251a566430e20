"""Units and the API-wide values of request fields: data of the tables that is not a price."""

from decimal import Decimal
from functools import cached_property

from ratecard.base.money import part_of
from ratecard.tables.limits import Flag
from ratecard.tables.scalars import Count, Counts, Frozen, Id, Number, Words


class Unit(Frozen):
    """A unit, which a rate is the price of: `{unit: mtoken, counts: token, per: 1000000}` is a million tokens.

    `per` is any whole number: an hour is `per: 3600` seconds.
    """

    unit: Id
    counts: Id
    per: Count

    @cached_property
    def is_decimal(self) -> bool:
        """Return True if one counted thing is a decimal part of the unit: 0.001 of a thousand, but not of an hour."""
        return isinstance(part_of(self.per), Decimal)


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
    """The API-wide values of request fields.

    `service_parameters` says whether text requests have the parameters of this service (`enable_web_search`, ...), in
    their body or behind the model's name. Another folder's do not, unless its own vocabulary says so.
    """

    video: VideoFields
    service_parameters: Flag = False


class Units(Frozen):
    """The file of units."""

    units: tuple[Unit, ...]

    @cached_property
    def by_name(self) -> dict[str, Unit]:
        """Return the units by name."""
        return {unit.unit: unit for unit in self.units}
