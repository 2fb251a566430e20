"""Models that are not video: their charges, one class for each pricing method, and their versions."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ratecard.base.money import LINE_PLACES
from ratecard.tables.limits import TierName
from ratecard.tables.meters import WithoutRate
from ratecard.tables.rate import MINIMUM_KEY, Charge, CountedCharge, RateFactor
from ratecard.tables.scalars import Frozen, Integer, Positive, Quantity, Text, Words
from ratecard.tables.units import Unit
from ratecard.tables.version import Example, Model, Version

UNSTATED = "unstated"
_BAND = re.compile(r"(\d{1,6})\.\.(\d{1,6})", re.ASCII)


class Tokens(Charge):
    """Tokens by bucket (see meters.yaml), by the length of the whole prompt, and by conditions.

    A rate names its buckets. It may name conditions, and where its tier begins: `above: 200000`, or `from: 200000`
    where that number of tokens counts already. `context: extended` is the tier above `context_token_threshold`. A
    bucket takes its own rate of the chosen tier, else that of the nearest lower tier. For a bucket without either,
    `without_rate` says, here or in meters.yaml, whether it takes its parent's rate of the chosen tier or is refused.
    """

    ATTRIBUTES: ClassVar = ("context", "above", "from", "tokens")
    METERS: ClassVar = ("token",)
    SPECIFIC: ClassVar = True
    method: Literal["tokens"]
    context_token_threshold: Integer | None = None
    without_rate: dict[str, WithoutRate] = Field(default_factory=dict)
    missing_cache_rate: Literal["input"] | None = None
    factors: tuple[RateFactor, ...] = ()


class PerImage(CountedCharge):
    """Images made or edited. `quality: unstated` is the price of a resolution that is requested without a quality."""

    ATTRIBUTES: ClassVar = ("resolution", "quality")
    METERS: ClassVar = ("image",)
    method: Literal["per-image"]


class PerInputImage(CountedCharge):
    """Input images of an edit, for each image that it makes."""

    METERS: ClassVar = ("input image",)
    method: Literal["per-input-image"]
    included: Quantity


class PerUpscale(Charge):
    """Images enlarged, by factor."""

    ATTRIBUTES: ClassVar = ("factor",)
    METERS: ClassVar = ("image",)
    method: Literal["per-upscale"]


class PerCharacter(CountedCharge):
    """Characters spoken or set to music."""

    METERS: ClassVar = ("character",)
    method: Literal["per-character"]


class PerAudioSecond(CountedCharge):
    """Seconds of audio, heard or made."""

    METERS: ClassVar = ("second of audio",)
    method: Literal["per-audio-second"]


class PerSong(Charge):
    """One price per song."""

    METERS: ClassVar = ("song",)
    method: Literal["per-song"]


class DurationBand(Charge):
    """One price per song, by the band of its seconds: `{seconds: 61..120, rate: 1.38}`."""

    ATTRIBUTES: ClassVar = ("seconds",)
    METERS: ClassVar = ("song",)
    method: Literal["duration-band"]


class Surcharge(CountedCharge):
    """A charge for the searches or scraped URLs of a text request; the unit says what is counted."""

    METERS: ClassVar = ("search request", "search query", "search result", "scraped URL", "prompt")
    method: Literal["surcharge"]


class Chain(Frozen):
    """A blockchain, its public networks, and the credits of a standard call; chains of one `kind` share methods."""

    chain: Text
    kind: Text | None = None
    networks: Words
    credits: Integer


class MethodTier(Frozen):
    """RPC methods (`*` matches any ending) and the factor on a chain's credits.

    `chains` names the chains, or kinds of chains, that have these methods; all chains if it is left out.
    """

    tier: Text
    factor: Positive
    chains: Words | None = None
    methods: Words

    def on(self, chain: Chain) -> bool:
        """Whether a chain has these methods."""
        return self.chains is None or chain.chain in self.chains or chain.kind in self.chains


class RpcCredits(Charge):
    """Credits of a batch of calls: the chain's credits times the tier of each method; a failed call has its own."""

    METERS: ClassVar = ("RPC credit",)
    method: Literal["rpc-credits"]
    failed_credits: Integer
    max_calls: Integer
    chains: tuple[Chain, ...]
    tiers: tuple[MethodTier, ...]
    refused: Words


def band(text: str) -> tuple[int, int] | None:
    """Read `61..120` as its first and last second; None if it is not a band."""
    match = _BAND.fullmatch(text)
    return (int(match[1]), int(match[2])) if match and int(match[1]) <= int(match[2]) else None


MeteredCharge = Annotated[
    Tokens
    | PerImage
    | PerInputImage
    | PerUpscale
    | PerCharacter
    | PerAudioSecond
    | PerSong
    | DurationBand
    | Surcharge
    | RpcCredits,
    Field(discriminator="method"),
]


# The pricing methods that each type of model may have.
METHODS_OF_TYPE = {
    "text": ("tokens",),
    "embedding": ("tokens",),
    "image": ("per-image", "per-upscale"),
    "edit": ("per-image", "per-input-image"),
    "upscale": ("per-image", "per-upscale"),
    "speech": ("per-character",),
    "transcription": ("per-audio-second",),
    "music": ("per-song", "duration-band", "per-audio-second", "per-character"),
    "surcharge": ("surcharge",),
    "rpc": ("rpc-credits",),
}


class UsageExample(Example):
    """A usage without its model and type, and its total."""

    usage: dict[str, Any]


class MeteredVersion(Version):
    """A version of a model that is not video.

    Its total is the sum of its lines and not rounded. The amount of a line is exact; if no decimal holds it, it is
    rounded half-up to `line_places`. A request costs at least the `minimum`, whatever it counts; what searches cost
    at the rates of another model comes on top.
    """

    charges: tuple[MeteredCharge, ...]
    factors: tuple[RateFactor, ...] = ()
    minimum: Positive | None = None
    minimum_place: str = Field(default="", alias=MINIMUM_KEY, exclude=True)
    rounding: Literal["none"]
    line_places: Integer | None = None
    examples: tuple[UsageExample, ...]

    @property
    def places_of_lines(self) -> int:
        """The decimal places of an amount that no decimal holds."""
        return LINE_PLACES if self.line_places is None else self.line_places

    def linear(self, units: Mapping[str, Unit]) -> bool:
        """Whether twice as much of everything is charged twice as much, to the last digit."""
        return self.minimum is None and all(
            units[charge.unit].is_decimal and not (isinstance(charge, CountedCharge) and charge.options)
            for charge in self.charges
        )

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Every value of an attribute that a rate names, in the order of the table."""
        rates = (rate for charge in self.charges for rate in charge.rates)
        return tuple(dict.fromkeys(value for rate in rates for value in rate.attributes.get(attribute, ())))


class TextVersion(MeteredVersion):
    """A version of a text model; `surcharges` names the surcharge model of each kind of search that it supports."""

    context_tokens: Integer | None = None
    surcharges: dict[Literal["web_search", "web_scraping", "x_search"], Text] = Field(default_factory=dict)


class TextModel(Model[TextVersion]):
    """A language model; `tier` is that of its request limits, if it is published."""

    type: Literal["text"]
    tier: TierName | None = None


class MeteredModel(Model[MeteredVersion]):
    """A model whose requests are a count of something."""

    type: Literal["embedding", "image", "edit", "upscale", "speech", "transcription", "music", "surcharge", "rpc"]
