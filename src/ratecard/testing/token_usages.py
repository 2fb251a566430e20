"""Usages of language and embedding models: tokens by bucket, and what was searched."""

from typing import Any

from hypothesis import strategies as st

from ratecard.price_book import PriceBook
from ratecard.requests.service_parameters import SEARCHES
from ratecard.tables.metered import MeteredVersion, TextVersion
from ratecard.tables.metered_charges import Tokens
from ratecard.tables.version import Model

DETAILS = {"cache_input": "cached_tokens", "cache_write": "cache_creation_input_tokens"}
_MANY = 1_000_000


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
