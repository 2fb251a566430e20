"""One usage for every rate of a model that is not video: just as much as one unit of it."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ratecard.tables.metered import MeteredVersion
from ratecard.tables.metered_charges import (
    UNSTATED,
    DurationBand,
    PerAudioSecond,
    PerCharacter,
    PerImage,
    PerInputImage,
    PerUpscale,
    RpcCredits,
    Tokens,
    band,
)
from ratecard.tables.version import Model

_MILLION = 1_000_000
_DETAILS = {"cache_input": "cached_tokens", "cache_write": "cache_creation_input_tokens"}


def unit_usages(model: Model[Any], version: MeteredVersion) -> Iterator[dict[str, Any]]:
    """A usage for `prices.rate` for every rate of the version, where one unit of it can be used by itself."""
    name = {"type": model.type, "model": model.model}
    for charge in version.charges:
        match charge:
            case Tokens():
                yield from (name | {"usage": usage} for usage in _token_usages(charge))
            case PerImage() if model.type == "upscale":
                yield name
            case PerImage():
                yield from (name | named for named in _attributes(charge, ("resolution", "quality")))
            case PerUpscale():
                factors = _attributes(charge, ("factor",))
                yield from ({"type": "upscale", "model": model.model} | named for named in factors)
            case PerInputImage():
                yield name | {"input_images": charge.included + 1}
            case PerCharacter():
                yield name | ({"character_count": 1000} if model.type == "music" else {"characters": _MILLION})
            case PerAudioSecond():
                yield name | ({"duration_seconds": 1} if model.type == "music" else {"seconds": 1})
            case DurationBand():
                bands = (band(value) for rate in charge.rates for value in rate.attributes["seconds"])
                yield from (name | {"duration_seconds": edges[1]} for edges in bands if edges)
            case RpcCredits():
                yield from _rpc_usages(charge)
            case _:
                yield name


def _token_usages(charge: Tokens) -> Iterator[dict[str, Any]]:
    for rate in charge.rates:
        for context, bucket in product(rate.attributes.get("context", ("base",)), rate.attributes["tokens"]):
            threshold = charge.context_token_threshold
            most = _MILLION if threshold is None or context == "extended" else threshold
            prompt = max(most, threshold + 1) if threshold is not None and context == "extended" else most
            if bucket == "output":
                yield {"prompt_tokens": prompt if context == "extended" else 0, "completion_tokens": _MILLION}
            elif bucket == "input":
                yield {"prompt_tokens": prompt, "completion_tokens": 0}
            else:
                details = {_DETAILS[bucket]: prompt}
                yield {"prompt_tokens": prompt, "completion_tokens": 0, "prompt_tokens_details": details}


def _attributes(charge: PerImage | PerUpscale, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for rate in charge.rates:
        for values in product(*(rate.attributes.get(name, (None,)) for name in names)):
            yield {name: value for name, value in zip(names, values, strict=True) if value not in (None, UNSTATED)}


def _rpc_usages(charge: RpcCredits) -> Iterator[dict[str, Any]]:
    for chain in charge.chains:
        # The first methods of each tier: several lines may add to one.
        tiers = {tier.tier: tier for tier in reversed(charge.tiers) if tier.on(chain)}
        for tier in (tier for tier in charge.tiers if tier is tiers.get(tier.tier)):
            method = tier.methods[0].replace("*", "x")
            yield {"type": "rpc", "network": f"{chain.chain}-{chain.networks[0]}", "calls": [{"method": method}]}
