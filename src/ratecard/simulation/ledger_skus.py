"""Which requests a SKU of the ledger stands for: those of a version whose quote has a line with this SKU."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from ratecard.price_book import PriceBook
from ratecard.rating.line_item import LineItem
from ratecard.rating.quote import Quote
from ratecard.rating.tokens import BUCKETS
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion, TextVersion
from ratecard.tables.metered_charges import DurationBand, PerInputImage, RpcCredits, Tokens, band
from ratecard.unit_usages import unit_usages
from ratecard.words.errors import QuoteError

_DETAILS = {"cache_input": "cached_tokens", "cache_write": "cache_creation_input_tokens"}


class Standing(NamedTuple):
    """A model that has a price in a book, with its version there."""

    book: PriceBook
    model: AnyModel
    version: Any

    @classmethod
    def of(cls, book: PriceBook, name: str) -> "Standing":
        """Raises `QuoteError` for a model that has no price, and says why."""
        return cls(book, *book.in_effect(name))


class Sold(NamedTuple):
    """A request, and its line of one SKU."""

    request: Mapping[str, Any]
    line: LineItem


def model_of(book: PriceBook, named: str, sku: str) -> str:
    """The model of a row: the one that it names, else the one with the longest name that the SKU begins with.

    A search beside a text model is charged by the rates of the search.
    """
    models = book.card.tables.models
    version = models[named].version_on(book.day) if named in models else None
    if isinstance(version, TextVersion):
        searches = (search for search in version.surcharges.values() if sku.startswith(f"{search}-"))
        return next(searches, named)
    if named in models:
        return named
    return max((name for name in models if sku.startswith(f"{name}-")), key=len, default=named)


def sold_by_sku(standing: Standing) -> dict[str, list[Sold]]:
    """Every SKU of a version that is not video, with a request for each way to be charged by it."""
    found: dict[str, list[Sold]] = {}
    for request in _requests(standing.model, standing.version):
        try:
            quote = quoted(standing.book, request)
        except QuoteError:
            continue  # a combination that has no price
        for line in quote.lines:
            found.setdefault(line.sku, []).append(Sold(request, line))
    return found


def quoted(book: PriceBook, request: Mapping[str, Any]) -> Quote:
    """The quote of a request. Raises `QuoteError`."""
    if request["type"] == "surcharge":
        return book.surcharge(request["model"], 1)
    return book.rate(request)


def _requests(model: AnyModel, version: MeteredVersion) -> Iterator[dict[str, Any]]:
    """Every request that may have a rate of its own; a value that is left out may come to stand for another one."""
    named = {"type": model.type, "model": model.model}
    yield from unit_usages(model, version)
    yield named
    choices = {name: (None, *version.values_of(name)) for name in ("resolution", "quality", "factor")}
    for values in product(*choices.values()):
        chosen = {name: value for name, value in zip(choices, values, strict=True) if value is not None}
        if chosen:
            yield named | chosen | ({"type": "upscale"} if "factor" in chosen else {})
    for charge in version.charges:
        match charge:
            case Tokens():
                yield from (named | {"usage": usage} for usage in _tokens(charge))
            case PerInputImage():
                yield named | {"input_images": charge.included + 1}
            case DurationBand():
                bands = (band(value) or () for rate in charge.rates for value in rate.attributes["seconds"])
                yield from (named | {"duration_seconds": edge} for edges in bands for edge in edges)
            case RpcCredits():
                yield from _calls(charge)


def _tokens(charge: Tokens) -> Iterator[dict[str, Any]]:
    """Every bucket, below and above the threshold."""
    threshold = charge.context_token_threshold
    for prompt, bucket in product((1,) if threshold is None else (threshold, threshold + 1), BUCKETS):
        usage = {"prompt_tokens": prompt, "completion_tokens": int(bucket == "output")}
        yield usage | ({"prompt_tokens_details": {_DETAILS[bucket]: prompt}} if bucket in _DETAILS else {})


def _calls(charge: RpcCredits) -> Iterator[dict[str, Any]]:
    for chain, tier in ((chain, tier) for chain, tier in product(charge.chains, charge.tiers) if tier.on(chain)):
        network = f"{chain.chain}-{chain.networks[0]}"
        for method, failed in product(tier.methods, (False, True)):
            call = {"method": method.replace("*", "x"), "failed": failed}
            yield {"type": "rpc", "network": network, "calls": [call]}


def standing_line(sku: str, sold: list[Sold], now: Standing) -> LineItem:
    """The line of these requests in another version. Raises `ValueError` where they have not all the same one.

    Raises `QuoteError` where a request has no price there.
    """
    found: dict[tuple[object, ...], LineItem] = {}
    place, refused = f"the version of {now.version.effective} of {now.model.model}", []
    for request, was in sold:
        try:
            line = next((line for line in quoted(now.book, request).lines if line.sku == sku), None)
        except QuoteError as error:
            refused.append(error)
            continue
        if line is None:
            raise ValueError(f"SKU {sku} is not in {place}, or not for all that it stood for")
        if (line.quantity, line.unit) != (was.quantity, was.unit):
            raise ValueError(f"SKU {sku} counts something else in {place}")
        found[line.unit_rate, line.source] = line
    if refused and not found:
        raise refused[0]
    if refused:
        raise ValueError(f"SKU {sku} is not in {place} for all that it stood for")
    if len({rate for rate, _ in found}) > 1:
        raise ValueError(f"SKU {sku} has more than one rate in {place}")
    return next(iter(found.values()))
