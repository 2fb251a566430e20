"""The price list of models.dev, a JSON file of providers with their models: dollars per million tokens.

It is read in the form that its schema and its readers document. Where a model has no price for some tokens, such as
those of the cache, the list does not say what they cost; a usage that counts them is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from ratecard.base.errors import RateCardError
from ratecard.base.messages import echo
from ratecard.base.money import multiply, total
from ratecard.price_lists.peer import (
    UNDATED,
    InexpressibleError,
    PeerCharge,
    PeerExample,
    PeerModel,
    PeerRate,
    PeerVersion,
    PriceList,
    page_of,
    price_of,
    read_entries,
    read_list,
    tokens_of,
)
from ratecard.tables.meters import TOKEN

_NAME = "models.dev"
_BUCKETS = {
    "input": "input",
    "output": "output",
    "reasoning": "output_reasoning",
    "cache_read": "cache_input",
    "cache_write": "cache_write",
    "input_audio": "input_audio",
    "output_audio": "output_audio",
}
# The older way to write one tier; the `tiers` of a model hold instead if it has both.
_OLDER, _OLDER_EDGE = "context_over_200k", 200_000
_MILLION, _THOUSANDTH = 1_000_000, Decimal("0.001")


def read_models_dev(path: Path) -> PriceList:
    """Return the price list of a file of models.dev. Raises `RateCardError` if it is not JSON of providers."""
    return read_models(read_list(path, _NAME), f"{_NAME} {path.name}")


def read_models(providers: Mapping[str, Mapping[str, Any]], source: str) -> PriceList:
    """Return the price list of these providers, their numbers as decimals.

    Raises `RateCardError` for a provider without models: those of an earlier import would be retired.
    """
    for provider, provider_data in providers.items():
        if not isinstance(provider_data.get("models"), Mapping):
            raise RateCardError(f"{source} is not a price list of {_NAME}: {echo(provider)} has no object of models")
    listed = (
        (provider, name, (provider_data, model))
        for provider, provider_data in providers.items()
        for name, model in provider_data["models"].items()
    )
    return PriceList(source, *read_entries(listed, _model))


def _model(provider: str, name: str, of: tuple[Mapping[str, Any], Mapping[str, Any]]) -> PeerModel:
    provider_data, model = of
    version, title = PeerVersion(UNDATED, *_charged(model)), model.get("name")
    return PeerModel(
        provider,
        name,
        (version,),
        name=title if isinstance(title, str) else "",
        reference=page_of(provider_data.get("doc")),
    )


def _charged(model: Mapping[str, Any]) -> tuple[tuple[PeerCharge, ...], tuple[PeerExample, ...]]:
    """Return the charge of a model's tokens, and an example of a thousand tokens each of input and output."""
    cost = model.get("cost")
    if cost is None:
        raise InexpressibleError("has no price in the list", priced=False)
    if "cost" in str(model.get("experimental", "")):
        raise InexpressibleError("has prices by mode, which requests do not state")
    base = _prices({name: value for name, value in cost.items() if name not in ("tiers", _OLDER)})
    rates = [PeerRate(price, bucket) for bucket, price in base.items()]
    for above, prices in sorted(_tiers(cost)):
        if prices.keys() != base.keys():
            raise InexpressibleError("has a tier that prices other tokens than the first tier")
        rates += [PeerRate(price, bucket, above) for bucket, price in prices.items()]
    amounts = [multiply(base[bucket], _THOUSANDTH) for bucket in ("input", "output")]
    example = PeerExample({"tokens": {"input": 1_000, "output": 1_000}}, total(amounts))
    return (PeerCharge(TOKEN, _MILLION, tuple(rates)),), (example,)


def _tiers(cost: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Decimal]]]:
    """Yield the number of tokens above which each tier holds, and its prices."""
    listed: Sequence[Mapping[str, Any]] = cost.get("tiers", ())
    if not listed and _OLDER in cost:
        yield _OLDER_EDGE, _prices(cost[_OLDER])
    edges = set[int]()
    for entry in listed:
        tier = entry.get("tier", {})
        if tier.keys() != {"type", "size"} or tier["type"] != "context":
            raise InexpressibleError("has a tier that depends on something other than the context")
        size = tokens_of(tier["size"])
        if size < 1_000 or size in edges:
            raise InexpressibleError(f"has a tier of {size} tokens, which is not understood")
        edges.add(size)
        yield size, _prices({name: value for name, value in entry.items() if name != "tier"})


def _prices(cost: Mapping[str, Any]) -> dict[str, Decimal]:
    for name in cost:
        if name not in _BUCKETS:
            raise InexpressibleError(f"the key {name} of its cost is not known")
    if not {"input", "output"} <= cost.keys():
        raise InexpressibleError("has no price of the input, or of the output")
    return {bucket: price_of(name, cost[name]) for name, bucket in _BUCKETS.items() if cost.get(name) is not None}
