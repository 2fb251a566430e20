"""Strategies for versions of models that are not video, one for each method."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from ratecard.testing.table_parts import Draft, charges, rates_by, rates_or_free, some


@st.composite
def by_tokens(draw: st.DrawFn, kind: str) -> Draft:
    """Tokens by bucket, perhaps with a second tier."""
    options: Draft = {}
    buckets = ["input", "output"] if kind == "text" else ["input"]
    lines = [{"tokens": bucket, "rate": draw(rates_or_free())} for bucket in buckets]
    lines += [{"tokens": bucket, "rate": draw(rates_or_free())} for bucket in draw(_caches()) if kind == "text"]
    if draw(st.booleans()):
        options["context_token_threshold"] = str(draw(st.integers(1, 1_000_000)))
        further = [*buckets, *draw(_caches())] if kind == "text" else buckets
        lines += [{"context": "extended", "tokens": bucket, "rate": draw(rates_or_free())} for bucket in further]
    if draw(st.booleans()):
        options["missing_cache_rate"] = "input"
    return _version(draw(charges("tokens", "mtoken", lines, **options)))


@st.composite
def by_the_image(draw: st.DrawFn, kind: str) -> Draft:
    """Images by resolution and quality; further inputs of an edit; larger ones of an upscaler."""
    if kind == "upscale":
        factors = [{"factor": factor, "rate": draw(rates_or_free())} for factor in draw(some(("2x", "4x")))]
        larger = draw(charges("per-upscale", "image", factors))
        return _version(draw(charges("per-image", "image", draw(rates_by({})))), larger)
    choices = {"resolution": draw(some(("1K", "2K", "4K"))), "quality": draw(some(("low", "high")))}
    found = [draw(charges("per-image", "image", draw(rates_by(choices))))]
    if kind == "edit" and draw(st.booleans()):
        included = str(draw(st.integers(0, 3)))
        found.append(draw(charges("per-input-image", "input_image", draw(rates_by({})), included=included)))
    return _version(*found)


@st.composite
def by_one_count(draw: st.DrawFn, kind: str, method: str, units: tuple[str, ...]) -> Draft:
    """Characters, seconds, songs, searches: one rate."""
    return _version(draw(charges(method, draw(st.sampled_from(units)), draw(rates_by({})))))


@st.composite
def by_the_band(draw: st.DrawFn, kind: str) -> Draft:
    """Songs by the band of their seconds; there may be gaps between bands."""
    edges = draw(st.lists(st.integers(1, 999), min_size=2, max_size=6, unique=True).map(sorted))
    bands = list(zip(edges[::2], edges[1::2], strict=False))
    lines = [{"seconds": f"{first}..{last}", "rate": draw(rates_or_free())} for first, last in bands]
    return _version(draw(charges("duration-band", "song", lines)))


@st.composite
def by_credits(draw: st.DrawFn, kind: str) -> Draft:
    """Calls to blockchain nodes."""
    options: dict[str, Any] = {
        "failed_credits": str(draw(st.integers(0, 9))),
        "max_calls": str(draw(st.integers(1, 100))),
        "chains": [
            {"chain": name, "networks": draw(some(("mainnet", "testnet"))), "credits": str(draw(st.integers(1, 99)))}
            for name in draw(some(("ethereum", "base")))
        ],
        "tiers": [
            {"tier": "standard", "factor": "1", "methods": ["eth_*"]},
            {"tier": "advanced", "factor": str(draw(st.integers(1, 9))), "methods": ["debug_*", "trace_call"]},
        ],
        "refused": ["eth_subscribe"],
    }
    return _version(draw(charges("rpc-credits", "credit", draw(rates_by({})), **options)))


def _caches() -> st.SearchStrategy[list[str]]:
    return st.just([]) | some(("cache_input", "cache_write"))


def _version(*found: Draft) -> Draft:
    return {"charges": list(found), "rounding": "none"}


def _one(method: str, *units: str) -> Callable[[str], st.SearchStrategy[Draft]]:
    return lambda kind: by_one_count(kind, method, units)


# By method: the types of model that have it, and what makes a version of each.
VERSIONS: dict[str, tuple[tuple[str, ...], Callable[[str], st.SearchStrategy[Draft]]]] = {
    "tokens": (("text", "embedding"), by_tokens),
    "per-image": (("image", "edit"), by_the_image),
    "per-input-image": (("edit",), by_the_image),
    "per-upscale": (("upscale",), by_the_image),
    "per-character": (("speech", "music"), _one("per-character", "mcharacter", "kcharacter")),
    "per-audio-second": (("transcription", "music"), _one("per-audio-second", "audio_second")),
    "per-song": (("music",), _one("per-song", "song")),
    "duration-band": (("music",), by_the_band),
    "surcharge": (("surcharge",), _one("surcharge", "krequest", "kurl", "prompt")),
    "rpc-credits": (("rpc",), by_credits),
}
