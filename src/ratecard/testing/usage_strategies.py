"""Strategies: metered requests of every type, as `prices.rate` takes them."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ratecard.methods.audio import BandSeconds
from ratecard.methods.method import Items, UsageReading
from ratecard.price_book import PriceBook
from ratecard.pricing.counted import readings_of, together
from ratecard.pricing.text import token_rates
from ratecard.requests.body import TYPES
from ratecard.requests.counters import FLAT
from ratecard.requests.fields import Choice, Field, WholeNumber
from ratecard.requests.metered import UsageSchema
from ratecard.requests.service_parameters import SEARCHES
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import COMPLETION, PROMPT, Meters
from ratecard.tables.version import Version
from ratecard.testing.offer import Offer, check_prices, check_words, priced_models, seconds
from ratecard.testing.video_strategies import requests_of

Usages = st.SearchStrategy[dict[str, Any]]
_MANY = 1_000_000


def counted_usages(prices: PriceBook, model: AnyModel, version: MeteredVersion) -> Usages:
    """Draw usages of a model charged neither as video nor by tokens, with the fields that its charges read."""
    named = {"model": model.model} if model.type != "rpc" else {}  # A usage of RPC does not name its model.
    named |= version.first_values(prices.tables.meters)
    metered = prices._compiler.metered(model, version, prices.limits.rates)
    ways: list[Usages] = []
    for kind in dict.fromkeys((model.type, "upscale", "image")):
        readings = readings_of(metered, kind)
        # An upscaler's image that keeps its size is of type `image` only where it has no price by factor.
        if readings and not (ways and kind == "image"):
            usages = _of_fields({"type": kind} | named, together(readings, metered), counts_of(readings))
            for name, items in ((name, items) for reading in readings for name, items in reading.further.items()):
                usages = usages.flatmap(partial(_with_items, name, items))
            ways.append(usages)
    return st.one_of(ways)


def _with_items(name: str, items: Items, usage: dict[str, Any]) -> Usages:
    drawn = st.lists(st.sampled_from(items.of(usage)), min_size=1, max_size=min(5, items.most))
    return drawn.map(lambda chosen: usage | {name: chosen})


def _of_fields(named: dict[str, Any], schema: UsageSchema, counts: dict[str, st.SearchStrategy[Any]]) -> Usages:
    fields = {name: _values(field) for name, field in schema.fields.items() if name not in schema.inert}
    needed = {name: values for name, values in fields.items() if name in schema.required} | counts
    others = {name: values for name, values in fields.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=others).map(lambda drawn: named | drawn)


def _values(field: Field) -> st.SearchStrategy[Any]:
    match field:
        case Choice():
            return st.sampled_from(field.words)
        case BandSeconds():
            return st.sampled_from(field.bands).flatmap(lambda edges: st.integers(*edges))
        case WholeNumber():
            return st.integers(field.least, min(field.greatest, _MANY))
        case _:
            return seconds(0, _MANY)


def counts_of(readings: Iterable[UsageReading]) -> dict[str, st.SearchStrategy[Any]]:
    """Return `counts` with its strategy, which has every meter that these charges price; empty without meters."""
    meters = {name: seconds(0, _MANY) for reading in readings for name in reading.meters}
    return {"counts": st.fixed_dictionaries(meters)} if meters else {}


DETAILS = {bucket: path[-1] for path, bucket in FLAT.items() if bucket not in (PROMPT, COMPLETION)}
# Names of clients and providers for cache writes, the completion, and its parts.
_WRITTEN = ("cache_creation_input_tokens", "cache_write_tokens")
_COMPLETION = ("completion_tokens", "output_tokens")
_PARTS = ("text_tokens", "rejected_prediction_tokens")
_REASONING = ("reasoning_tokens", "thinking_tokens")


def token_usages(prices: PriceBook, model: AnyModel, version: MeteredVersion) -> Usages:
    """Draw usages of tokens on both sides of each threshold, up to all of them cached, with the counts charged."""
    metered = prices._compiler.metered(model, version, prices.limits.rates)
    rates, prompts = token_rates(metered), st.integers(0, _MANY)
    for edge in rates.thresholds:
        prompts |= st.sampled_from((edge, edge + 1)) | st.integers(edge + 1, 10 * edge + 1)
    named = {"type": model.type, "model": model.model, **version.first_values(prices.tables.meters)}
    counts = st.fixed_dictionaries(counts_of(readings_of(metered, model.type)))

    @st.composite
    def drawn(draw: st.DrawFn) -> dict[str, Any]:
        usage: dict[str, Any] = {"prompt_tokens": draw(prompts) if rates.prices(PROMPT) else 0}
        if model.type == "text":
            usage["completion_tokens"] = draw(st.integers(0, _MANY)) if rates.prices(COMPLETION) else 0
        details, left = {}, usage["prompt_tokens"]
        for bucket, field in DETAILS.items():
            if rates.prices(bucket) and draw(st.booleans()):
                details[field] = draw(st.integers(0, left))
                left -= details[field]
        if details:
            usage["prompt_tokens_details"] = details
        return {**named, "usage": usage} | draw(counts)

    return drawn()


def _usages_of_tokens(prices: PriceBook, model: AnyModel, version: MeteredVersion) -> Usages:
    """Draw usages of tokens, and of searches of the kinds that the model supports."""
    tokens = token_usages(prices, model, version)
    searches = sorted(version.searches.keys() & SEARCHES.keys())  # a set has another order in each process

    @st.composite
    def drawn(draw: st.DrawFn) -> dict[str, Any]:
        usage, words = draw(tokens), {}
        for kind in searches:
            field, switch = SEARCHES[kind]
            if draw(st.booleans()):
                usage[field] = draw(st.integers(0, prices.limits.scraped_urls if kind == "web_scraping" else 50))
            if prices.tables.vocabulary.service_parameters and draw(st.booleans()):
                switches = st.sampled_from(("off", "on", "auto")) if kind == "web_search" else st.booleans()
                words[switch] = draw(switches)
        return usage | ({"service_parameters": words} if words else {})

    return drawn()


@st.composite
def in_any_dialect(
    draw: st.DrawFn, usage: Mapping[str, Any], meters: Meters, *, embedding: bool = False
) -> dict[str, Any]:
    """Draw the same tokens (`prompt_tokens` and the rest) in the form of a provider: its names, totals and parts.

    Fields that it adds do not affect the price, and are not listed as ignored.
    """
    prompt, completion = usage["prompt_tokens"], usage.get("completion_tokens")
    cached, written = (usage.get("prompt_tokens_details", {}).get(name, 0) for name in DETAILS.values())
    details = {"cached_tokens": cached, draw(st.sampled_from(_WRITTEN)): written}
    details = {name: count for name, count in details.items() if count or draw(st.booleans())}
    inside, outside = draw(st.permutations(("prompt_tokens_details", "input_tokens_details")))
    dialect = draw(st.sampled_from(("prompt_tokens", "input_tokens", "both", "anthropic")))
    response: dict[str, Any] = {}
    if dialect == "anthropic":
        response |= {"input_tokens": prompt - cached - written}
        response |= {"cache_read_input_tokens": cached, "cache_creation_input_tokens": written}
        response["cache_creation"] = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
        response["iterations"] = draw(st.sampled_from(([], [{"input_tokens": prompt - cached - written}])))
    else:
        names = ("prompt_tokens", "input_tokens") if dialect == "both" else (dialect,)
        response |= dict.fromkeys(names, prompt) | {inside: details}
        if dialect == "prompt_tokens" and draw(st.booleans()):  # Some providers repeat the details outside of them.
            response |= {"cache_read_input_tokens": cached, "cache_creation_input_tokens": written}
        if draw(st.booleans()):
            response[outside] = draw(st.sampled_from((None, {}, details)))
    named = st.sets(st.sampled_from((*_PARTS, draw(st.sampled_from(_REASONING)))))
    parts = {name: draw(st.integers(0, completion or 0)) for name in draw(named)}
    if completion is not None:
        response |= dict.fromkeys(draw(st.sampled_from((_COMPLETION[:1], _COMPLETION[1:], _COMPLETION))), completion)
    more = {
        "total_tokens": prompt if embedding else prompt + (completion or 0),
        draw(st.sampled_from(("completion_tokens_details", "output_tokens_details"))): parts,
        "server_tool_use": draw(st.sampled_from((None, {"web_fetch_requests": 0}))),
        "prompt_cache_hit_tokens": draw(st.sampled_from((None, 0))),
    }
    for name in sorted(meters.condition.keys() & {"service_tier", "inference_geo"}):
        more[name] = draw(st.sampled_from((None, *meters.condition[name].spellings(()))))
    response |= {name: more[name] for name in draw(st.sets(st.sampled_from(sorted(more))))}
    return dict(draw(st.permutations(list(response.items()))))


def usages(
    prices: PriceBook, *, model: str | None = None, types: Collection[str] | None = None
) -> st.SearchStrategy[dict[str, Any]]:
    """Draw usages that `prices.rate` charges: of every model, of some types, or of the model that is named.

    An image model that also upscales has usages of type `upscale`. Surcharges are part of text usages.
    Shrinks to the shortest usage, with the smallest counts.

    >>> from datetime import date
    >>> from random import Random
    >>> from hypothesis import find, settings
    >>> from ratecard import load_rate_card
    >>> prices = load_rate_card().at(date(2026, 10, 1))
    >>> seeded = {"random": Random(0), "settings": settings(database=None)}
    >>> find(usages(prices, model="tts-kokoro"), lambda usage: prices.rate(usage).total >= 1, **seeded)
    {'type': 'speech', 'model': 'tts-kokoro', 'characters': 285715}
    """
    chosen = check_words("types", types, TYPES.words)
    models = priced_models(check_prices(prices), model, chosen)
    usable = [pair for pair in models if _can_be_used(prices, *pair)]
    if not usable:
        raise InvalidArgument(
            f"Got model={model!r}, types={types!r}: usages are of models that need no source video, and of the first "
            "table of RPC credits"
        )
    ordered = sorted(usable, key=lambda pair: (TYPES.words.index(pair[0].type), pair[0].model))
    return st.sampled_from(ordered).flatmap(lambda pair: _of_model(prices, *pair))


def _can_be_used(prices: PriceBook, model: AnyModel, version: Version) -> bool:
    """Return True if a usage can be of a model: it needs no source video, and only the first RPC model has usages."""
    if model.type == "rpc":
        return next(prices._in_effect_all("rpc"))[0] is model
    return model.type != "video" or not Offer(prices, model, version).needs_source


def _of_model(prices: PriceBook, model: AnyModel, version: Version) -> st.SearchStrategy[dict[str, Any]]:
    if isinstance(version, MeteredVersion):
        return metered_usages(prices, model, version)
    bodies = requests_of(Offer(prices, model, version), sourced=False)
    return bodies.map(lambda request: {"type": "video", **request.body})


def metered_usages(prices: PriceBook, model: AnyModel, version: MeteredVersion) -> Usages:
    """Draw the usages of one model that is not of video, and surcharges by themselves."""
    if version.tokens is None:
        return counted_usages(prices, model, version)
    return _usages_of_tokens(prices, model, version)
