"""The charges of everything but video: one class a formula."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ratecard.tables.charge import Charge
from ratecard.tables.scalars import Frozen, Integer, Positive, Text, Words

UNSTATED = "unstated"
_BAND = re.compile(r"(\d{1,6})\.\.(\d{1,6})", re.ASCII)


class Tokens(Charge):
    """Tokens by bucket; above the threshold every bucket of a request is priced at the extended rates.

    A cache bucket takes its own rate of the chosen tier, else its own base rate, else what `missing_cache_rate` says;
    where that is left out, a request with such tokens has no price.
    """

    ATTRIBUTES: ClassVar = ("context", "tokens")
    METERS: ClassVar = ("token",)
    method: Literal["tokens"]
    context_token_threshold: Integer | None = None
    missing_cache_rate: Literal["input"] | None = None


class PerImage(Charge):
    """Images made or edited. `quality: unstated` is the price of a resolution where no quality is named beside it."""

    ATTRIBUTES: ClassVar = ("resolution", "quality")
    METERS: ClassVar = ("image",)
    method: Literal["per-image"]


class PerInputImage(Charge):
    """Input images of an edit beyond those that cost nothing."""

    METERS: ClassVar = ("input image",)
    method: Literal["per-input-image"]
    included: Integer


class PerUpscale(Charge):
    """Images enlarged, by factor."""

    ATTRIBUTES: ClassVar = ("factor",)
    METERS: ClassVar = ("image",)
    method: Literal["per-upscale"]


class PerCharacter(Charge):
    """Characters spoken or set to music."""

    METERS: ClassVar = ("character",)
    method: Literal["per-character"]


class PerAudioSecond(Charge):
    """Seconds of audio, heard or made."""

    METERS: ClassVar = ("second of audio",)
    method: Literal["per-audio-second"]


class PerSong(Charge):
    """One price a song."""

    METERS: ClassVar = ("song",)
    method: Literal["per-song"]


class DurationBand(Charge):
    """One price a song, by the band that holds its seconds: `{seconds: 61..120, rate: 1.38}`."""

    ATTRIBUTES: ClassVar = ("seconds",)
    METERS: ClassVar = ("song",)
    method: Literal["duration-band"]


class Surcharge(Charge):
    """What is added to a text request for searching or scraping; the unit says what is counted."""

    METERS: ClassVar = ("search request", "search query", "search result", "scraped URL", "prompt")
    method: Literal["surcharge"]


class Chain(Frozen):
    """A blockchain, its public networks, and the credits of a standard call; `kind` is what it shares methods with."""

    chain: Text
    kind: Text | None = None
    networks: Words
    credits: Integer


class MethodTier(Frozen):
    """RPC methods (`*` stands for any ending) and the factor on a chain's credits.

    `chains` names the chains, or kinds of chains, that have these methods; where it is left out, all have.
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
    """`61..120` as its first and last second; None where it is not a band."""
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
