"""Data of the tables that is not a price: meters with their dimensions, the conditions under which a request can run,
units, and the API-wide values of request fields.
"""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, model_validator

from ratecard.base.money import part_of
from ratecard.tables.limits import Flag
from ratecard.tables.scalars import Count, Counts, Frozen, Id, Integer, Number, Words, gathered

# The meter of tokens, whose buckets have prices.
TOKEN = "token"  # noqa: S105 (not a password)
# Keys of a usage that are not conditions.
USAGE_KEYS = ("type", "model", "metadata", "usage", "tokens", "counts")
# The buckets that every usage of tokens has: the whole prompt, and the whole completion.
PROMPT, COMPLETION = "input", "output"


class Bucket(Frozen):
    """A named part of a meter: `{bucket: cache_write_1h, direction: input, cache: write, lifetime: 1h}`.

    `sku` is how SKUs name it; if it is left out, its own name with hyphens.
    """

    bucket: Id
    sku: Id | None = None
    dimensions: dict[str, Id]

    @model_validator(mode="before")
    @classmethod
    def _gather_dimensions(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "dimensions" in given:
            return given
        return gathered(given, ("bucket", "sku"), "dimensions")

    @property
    def sku_word(self) -> str:
        """Return the word that SKUs have for this bucket."""
        return self.sku or self.bucket.replace("_", "-")

    def within(self, other: "Bucket") -> bool:
        """Return True if this bucket is a part of another one, and not equal to it."""
        return self.dimensions != other.dimensions and other.dimensions.items() <= self.dimensions.items()

    def apart(self, other: "Bucket") -> bool:
        """Return True if no token can be counted in both buckets."""
        return any(self.dimensions.get(name, value) != value for name, value in other.dimensions.items())

    def overlaps(self, other: "Bucket") -> bool:
        """Return True if a token can be counted in both buckets, and neither is part of the other."""
        return not (self.apart(other) or self.within(other) or other.within(self))


def own_counts(wholes: Mapping[str, Collection[str]]) -> dict[str, dict[str, int]]:
    """Return, for each bucket, the signed inclusive counts whose sum is its tokens outside of its parts.

    `wholes` has, for each bucket, the other buckets that it is part of.

    >>> own_counts({"input": (), "cache_input": ("input",)})["input"]
    {'input': 1, 'cache_input': -1}
    """
    signs_of: dict[str, dict[str, int]] = {}
    for name in sorted(wholes, key=lambda name: -len(wholes[name])):
        signs = signs_of[name] = {name: 1}
        for part in (part for part, holders in wholes.items() if name in holders):
            for other, sign in signs_of[part].items():
                signs[other] = signs.get(other, 0) - sign
    return signs_of


WithoutRate = Literal["parent", "refuse"]
# The words of `without_rate` in a charge; `default` means the price without the condition.
OfCharge = Literal["parent", "refuse", "default"]


class Meter(Frozen):
    """What can be counted: its dimensions with their values, and its buckets, in the order of lines.

    `without_rate` says, by value or by dimension, whether a bucket without a rate is charged with its parent.
    `every_usage` is how many a usage has that does not count it: each is one request. Without it, a usage has to.
    """

    meter: Id
    every_usage: Integer | None = None
    dimensions: dict[str, Words] = Field(default_factory=dict)
    without_rate: dict[str, WithoutRate] = Field(default_factory=dict)
    buckets: tuple[Bucket, ...] = ()


class UsageCondition(Frozen):
    """A condition of a request: its values, the default of a request that states none, and other spellings.

    One without a default must be stated by every usage of a model that has prices by it.
    """

    condition: Id
    values: Words
    default: Id | None = None
    same_as: dict[str, Id] = Field(default_factory=dict)

    def spellings(self, values: Iterable[str]) -> dict[str, str]:
        """Return the value that every spelling of the default and of these values means; the default first.

        >>> tier = UsageCondition(condition="tier", values=("batch", "flex", "standard"), default="standard")
        >>> tier.spellings(["batch"])
        {'standard': 'standard', 'batch': 'batch'}
        """
        wanted = [value for value in self.values if value == self.default or value in values]
        spelled = {value: value for value in sorted(wanted, key=lambda value: value != self.default)}
        return spelled | {word: value for word, value in self.same_as.items() if value in wanted}


class Meters(Frozen):
    """The file of meters."""

    meters: tuple[Meter, ...] = ()
    conditions: tuple[UsageCondition, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, Meter]:
        """Return the meters by name."""
        return {meter.meter: meter for meter in self.meters}

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """Return the meters that the `counts` of a usage may name: all but the meter of tokens."""
        return tuple(name for name in self.by_name if name != TOKEN)

    @cached_property
    def condition(self) -> dict[str, UsageCondition]:
        """Return the conditions by name."""
        return {condition.condition: condition for condition in self.conditions}

    @cached_property
    def buckets(self) -> Mapping[str, Bucket]:
        """Return the buckets of tokens by name, in the order of lines."""
        token = self.by_name.get(TOKEN)
        return {bucket.bucket: bucket for bucket in token.buckets} if token else {}

    @cached_property
    def bucket_of(self) -> Mapping[frozenset[tuple[str, str]], str]:
        """Return the buckets of tokens by their dimensions."""
        return {frozenset(bucket.dimensions.items()): name for name, bucket in self.buckets.items()}

    def refuses(self, without_rate: Mapping[str, str], bucket: str) -> bool:
        """Return True if the `without_rate` of a charge refuses tokens of a bucket that has no rate."""
        dimensions = self.buckets[bucket].dimensions.items()
        return any(without_rate.get(value, without_rate.get(name)) == "refuse" for name, value in dimensions)

    def in_completion(self, bucket: str) -> bool:
        """Return True if a bucket of tokens is the completion, or a part of it; otherwise it is of the prompt."""
        counted, completion = self.buckets[bucket], self.buckets[COMPLETION]
        return bucket == COMPLETION or counted.within(completion)

    def counts_in(self, bucket: str, tokens: int, prompt: int = 0) -> dict[str, int]:
        """Return the inclusive counts of tokens in one bucket; for a bucket of the completion, with a `prompt` too."""
        wanted = self.buckets[bucket]
        counts = {PROMPT: prompt, COMPLETION: 0}
        counts |= {name: tokens for name, other in self.buckets.items() if wanted.within(other)}
        return counts | {bucket: tokens}

    def laid_over(self, other: "Meters") -> "Meters":
        """Return the entries of both files; those of this one replace those of the other with the same name."""
        meters = {meter.meter: meter for meter in other.meters} | self.by_name
        conditions = {condition.condition: condition for condition in other.conditions} | self.condition
        return Meters(meters=tuple(meters.values()), conditions=tuple(conditions.values()))


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
