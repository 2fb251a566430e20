"""Usages that count something: images, edits, characters, seconds, songs, RPC calls, searches."""

from fnmatch import fnmatchcase
from typing import Any

from hypothesis import strategies as st

from ratecard.tables.metered import MeteredVersion
from ratecard.tables.metered_charges import (
    UNSTATED,
    Chain,
    DurationBand,
    PerAudioSecond,
    PerCharacter,
    PerImage,
    PerInputImage,
    PerUpscale,
    RpcCredits,
    Surcharge,
    band,
)
from ratecard.tables.version import Model
from ratecard.testing.offer import seconds

Usages = st.SearchStrategy[dict[str, Any]]
_MANY = 1_000_000


def counted_usages(model: Model[Any], version: MeteredVersion) -> Usages:
    """Every way to use a model that is neither video nor tokens."""
    name = {"type": model.type, "model": model.model}
    ways = [_usages_of(charge, name, version) for charge in version.charges if not isinstance(charge, PerInputImage)]
    return st.one_of(ways)


def _usages_of(charge: Any, name: dict[str, Any], version: MeteredVersion) -> Usages:
    match charge:
        case PerImage():
            return _images(name, version)
        case PerUpscale():
            factors = [factor for rate in charge.rates for factor in rate.attributes["factor"]]
            return _fixed(name | {"type": "upscale"}, factor=st.sampled_from(factors))
        case PerCharacter():
            return _fixed(name, **{_field(name, "characters", "character_count"): st.integers(0, _MANY)})
        case PerAudioSecond() if name["type"] == "music":
            return _fixed(name, duration_seconds=st.integers(1, _MANY))
        case PerAudioSecond():
            return _fixed(name, seconds=seconds(0, _MANY))
        case DurationBand():
            bands = [band(value) or (1, 1) for rate in charge.rates for value in rate.attributes["seconds"]]
            return _fixed(name, duration_seconds=st.sampled_from(bands).flatmap(lambda edges: st.integers(*edges)))
        case RpcCredits():
            return st.sampled_from(charge.chains).flatmap(lambda chain: _batches(charge, chain))
        case Surcharge():
            return _fixed(name, count=st.integers(0, _MANY))
        case _:  # a song
            return st.just(name)


def _fixed(name: dict[str, Any], **fields: st.SearchStrategy[Any]) -> Usages:
    return st.fixed_dictionaries(fields).map(lambda drawn: name | drawn)


def _field(name: dict[str, Any], otherwise: str, of_music: str) -> str:
    return of_music if name["type"] == "music" else otherwise


def _images(name: dict[str, Any], version: MeteredVersion) -> Usages:
    """How many, of which resolution and quality; an upscaler's own price is that of one image as it is."""
    if name["type"] == "upscale":
        plain = any(isinstance(charge, PerUpscale) for charge in version.charges)
        return st.just(name if plain else name | {"type": "image"})
    further: dict[str, st.SearchStrategy[Any]] = {"n": st.integers(1, 10)}
    for attribute in ("resolution", "quality"):
        values = [value for value in version.values_of(attribute) if value != UNSTATED]
        if values:
            further[attribute] = st.sampled_from(values)
    if name["type"] == "edit":
        further["input_images"] = st.integers(1, 10)
    return st.fixed_dictionaries({}, optional=further).map(lambda drawn: name | drawn)


def _batches(charge: RpcCredits, chain: Chain) -> Usages:
    """Batches of methods that a chain has and the API takes, some of them failed."""
    networks = st.sampled_from([f"{chain.chain}-{network}" for network in chain.networks])
    named = [method.replace("*", "x") for tier in charge.tiers if tier.on(chain) for method in tier.methods]
    methods = [method for method in named if not any(fnmatchcase(method, refused) for refused in charge.refused)]
    call = st.fixed_dictionaries({"method": st.sampled_from(methods)}, optional={"failed": st.booleans()})
    return _fixed(
        {"type": "rpc"}, network=networks, calls=st.lists(call, min_size=1, max_size=min(5, charge.max_calls))
    )
