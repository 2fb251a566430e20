"""Usages of language and embedding models: tokens by bucket, and what was searched."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from ratecard.price_book import PriceBook
from ratecard.requests.service_parameters import SEARCHES
from ratecard.tables.metered import MeteredVersion, TextVersion
from ratecard.tables.metered_charges import Tokens
from ratecard.tables.version import Model

DETAILS = {"cache_input": "cached_tokens", "cache_write": "cache_creation_input_tokens"}
_MANY = 1_000_000
# How the clients of providers call what was read from the cache and written to it, and parts of the completion.
_READ, _WRITTEN = ("cached_tokens",), ("cache_creation_input_tokens", "cache_write_tokens")
_COMPLETION = ("completion_tokens", "output_tokens")
_PARTS = ("reasoning_tokens", "thinking_tokens", "text_tokens", "rejected_prediction_tokens")


def tokens_of(version: MeteredVersion) -> Tokens:
    """The charge of a language model's tokens."""
    return next(charge for charge in version.charges if isinstance(charge, Tokens))


def priced_buckets(charge: Tokens) -> tuple[str, ...]:
    """The buckets that have a price whatever the prompt."""
    base = {bucket for rate in charge.rates if rate.attributes.get("context", ("base",)) != ("extended",)
            for bucket in rate.attributes["tokens"]}  # fmt: skip
    caches = tuple(bucket for bucket in DETAILS if bucket in base or charge.missing_cache_rate)
    return ("input", *caches, *(("output",) if "output" in base else ()))


@st.composite
def token_usages(draw: st.DrawFn, model: Model[Any], version: MeteredVersion) -> dict[str, Any]:
    """Tokens alone, on both sides of the threshold, with as many from the cache as the prompt has."""
    charge = tokens_of(version)
    edge, buckets = charge.context_token_threshold, priced_buckets(charge)
    prompts = st.integers(0, _MANY)
    if edge is not None:
        prompts |= st.sampled_from((edge, edge + 1)) | st.integers(edge + 1, 10 * edge + 1)
    usage: dict[str, Any] = {"prompt_tokens": draw(prompts)}
    if model.type == "text":
        usage["completion_tokens"] = draw(st.integers(0, _MANY))
    details, left = {}, usage["prompt_tokens"]
    for bucket, field in DETAILS.items():
        if bucket in buckets and draw(st.booleans()):
            details[field] = draw(st.integers(0, left))
            left -= details[field]
    if details:
        usage["prompt_tokens_details"] = details
    return {"type": model.type, "model": model.model, "usage": usage}


@st.composite
def text_usages(draw: st.DrawFn, prices: PriceBook, model: Model[Any], version: TextVersion) -> dict[str, Any]:
    """Tokens, and searches of the kinds that the model supports."""
    usage = draw(token_usages(model, version))
    words: dict[str, Any] = {}
    for kind in version.surcharges:
        field, switch = SEARCHES[kind]
        if draw(st.booleans()):
            usage[field] = draw(st.integers(0, prices.limits.scraped_urls if kind == "web_scraping" else 50))
        if draw(st.booleans()):
            switches = st.sampled_from(("off", "on", "auto")) if kind == "web_search" else st.booleans()
            words[switch] = draw(switches)
    return usage | ({"service_parameters": words} if words else {})


@st.composite
def in_any_dialect(draw: st.DrawFn, usage: Mapping[str, Any], *, embedding: bool = False) -> dict[str, Any]:
    """The same tokens (`prompt_tokens` and the rest), as one of the providers writes them: names, totals and parts.

    Whatever it adds has no effect on the price, and is not listed.
    """
    prompt, completion = usage["prompt_tokens"], usage.get("completion_tokens")
    cached, written = (usage.get("prompt_tokens_details", {}).get(name, 0) for name in DETAILS.values())
    details = {draw(st.sampled_from(_READ)): cached, draw(st.sampled_from(_WRITTEN)): written}
    details = {name: count for name, count in details.items() if count or draw(st.booleans())}
    inside, outside = draw(st.permutations(("prompt_tokens_details", "input_tokens_details")))
    dialect = draw(st.sampled_from(("prompt_tokens", "input_tokens", "both", "anthropic")))
    said: dict[str, Any] = {}
    if dialect == "anthropic":
        said |= {"input_tokens": prompt - cached - written}
        said |= {"cache_read_input_tokens": cached, "cache_creation_input_tokens": written}
        said["cache_creation"] = {"ephemeral_5m_input_tokens": draw(st.integers(0, written)),
                                  "ephemeral_1h_input_tokens": 0}  # fmt: skip
        said["iterations"] = draw(st.sampled_from(([], [{"input_tokens": prompt - cached - written}])))
    else:
        names = ("prompt_tokens", "input_tokens") if dialect == "both" else (dialect,)
        said |= dict.fromkeys(names, prompt) | {inside: details}
        if dialect == "prompt_tokens" and draw(st.booleans()):  # the same counts once more, beside the details
            said |= {"cache_read_input_tokens": cached, "cache_creation_input_tokens": written}
        if draw(st.booleans()):
            said[outside] = draw(st.sampled_from((None, {}, details)))
    parts = {name: draw(st.integers(0, completion or 0)) for name in draw(st.sets(st.sampled_from(_PARTS)))}
    if completion is not None:
        said |= dict.fromkeys(draw(st.sampled_from((_COMPLETION[:1], _COMPLETION[1:], _COMPLETION))), completion)
    more = {
        "total_tokens": prompt if embedding else prompt + (completion or 0),
        draw(st.sampled_from(("completion_tokens_details", "output_tokens_details"))): parts,
        "server_tool_use": draw(st.sampled_from((None, {"web_fetch_requests": 0}))),
        "prompt_cache_hit_tokens": draw(st.sampled_from((None, 0))),
        "service_tier": draw(st.sampled_from((None, "standard", "default", "auto"))),
        "inference_geo": draw(st.sampled_from((None, "", "not_available", "global"))),
    }
    said |= {name: more[name] for name in draw(st.sets(st.sampled_from(sorted(more))))}
    return dict(draw(st.permutations(list(said.items()))))
