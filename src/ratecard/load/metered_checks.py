"""Rules between the parts of a version that is not video: its methods, buckets, bands and RPC tiers."""

from collections.abc import Iterator
from itertools import pairwise

from ratecard.base.money import text
from ratecard.base.suggestions import did_you_mean
from ratecard.load.checks import Finding, check_rates
from ratecard.tables.metered import (
    METHODS_OF_TYPE,
    DurationBand,
    MeteredModel,
    MeteredVersion,
    PerUpscale,
    RpcCredits,
    TextModel,
    Tokens,
    band,
)
from ratecard.tables.rate import Charge

_TOKENS = ("input", "output", "cache_input", "cache_write")
_CONTEXTS = ("base", "extended")
_FACTORS = ("2x", "4x")
# Types of which only the first charge is billed.
_ONE_CHARGE = ("music",)


def check_metered(model: MeteredModel | TextModel) -> Iterator[Finding]:
    """Check the rules for models that are not video, beyond those for all models."""
    allowed = METHODS_OF_TYPE[model.type]
    for index, version in enumerate(model.versions):
        seen: set[str] = set()
        for number, charge in enumerate(version.charges):
            at = ("versions", index, "charges", number)
            if charge.method not in allowed:
                near = did_you_mean(charge.method, allowed)
                words = f"method {charge.method} does not price {model.type}.{near} Allowed: {', '.join(allowed)}"
                yield (*at, "method"), words
                continue
            if seen and (charge.method in seen or model.type in _ONE_CHARGE):
                yield (*at, "method"), f"method {charge.method}: a second charge would never be billed; keep one"
            seen.add(charge.method)
            yield from (((*at, *path), words) for path, words in _check_charge(model.type, version, charge))


def _check_charge(kind: str, version: MeteredVersion, charge: Charge) -> Iterator[Finding]:
    if isinstance(charge, Tokens):
        yield from _check_tokens(kind, charge)
        return
    found = list(check_rates(version, charge))
    yield from found
    if isinstance(charge, DurationBand) and not found:
        yield from _check_bands(charge)
    elif isinstance(charge, PerUpscale):
        for index, rate in enumerate(charge.rates):
            if "factor" not in rate.attributes:
                yield ("rates", index), f"factor is missing. Write one of: {', '.join(_FACTORS)}"
            for factor in rate.attributes.get("factor", ()):
                if factor not in _FACTORS:
                    yield ("rates", index, "factor"), f"factor '{factor}' is not known. Allowed: {', '.join(_FACTORS)}"
    elif isinstance(charge, RpcCredits):
        yield from _check_rpc(charge)


def _check_tokens(kind: str, charge: Tokens) -> Iterator[Finding]:
    seen: dict[tuple[str, str], int] = {}
    for index, rate in enumerate(charge.rates):
        for name, known in (("tokens", _TOKENS), ("context", _CONTEXTS)):
            for value in rate.attributes.get(name, ()):
                if value not in known:
                    near = did_you_mean(value, known)
                    yield ("rates", index, name), f"{name} '{value}' is not known.{near} Allowed: {', '.join(known)}"
        for name in rate.attributes:
            if name not in charge.ATTRIBUTES:
                yield (
                    ("rates", index, name),
                    f"unknown key '{name}'. Allowed: {', '.join((*charge.ATTRIBUTES, 'rate'))}",
                )
        for context in rate.attributes.get("context", ("base",)):
            for bucket in rate.attributes.get("tokens", ("",)):
                if not bucket:
                    yield ("rates", index), f"tokens is missing. Write one of: {', '.join(_TOKENS)}"
                if (context, bucket) in seen:
                    yield ("rates", index), f"two rates for {bucket} tokens, context {context}; keep one"
                seen[context, bucket] = index
    contexts = {context for context, _ in seen if context in _CONTEXTS} | {"base"}
    for context in sorted(contexts):
        for bucket in ("input", "output") if kind == "text" else ("input",):
            if (context, bucket) not in seen:
                yield ("rates",), f"no rate for {bucket} tokens, context {context}"
    if ("extended" in contexts) != (charge.context_token_threshold is not None):
        yield (
            ("context_token_threshold",),
            "write both context_token_threshold and rates with context: extended, or none",
        )


def _check_bands(charge: DurationBand) -> Iterator[Finding]:
    bands = []
    for index, rate in enumerate(charge.rates):
        for value in rate.attributes.get("seconds", ("",)):
            found = band(value)
            if found is None:
                words = f"seconds '{value}' is not a band. Write its first and last second, like 61..120"
                yield ("rates", index, "seconds"), words
            else:
                bands.append((found, index))
    for (one, _), (other, index) in pairwise(sorted(bands)):
        if other[0] <= one[1]:
            words = f"seconds {other[0]}..{other[1]} overlaps {one[0]}..{one[1]}; let it begin at {one[1] + 1}"
            yield ("rates", index, "seconds"), words


def _check_rpc(charge: RpcCredits) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, chain in enumerate(charge.chains):
        if chain.chain in seen:
            yield ("chains", index, "chain"), f"chain '{chain.chain}' stands twice; keep one"
        seen.add(chain.chain)
    known = dict.fromkeys([*seen, *(chain.kind for chain in charge.chains if chain.kind)])
    factors = {tier.tier: tier.factor for tier in reversed(charge.tiers)}
    for index, tier in enumerate(charge.tiers):
        if tier.factor != factors[tier.tier]:
            words = f"tier '{tier.tier}' has factor {text(factors[tier.tier])} above. Name this one otherwise"
            yield ("tiers", index, "factor"), words
        for word in tier.chains or ():
            if word not in known:
                words = f"'{word}' is not a chain or a kind of chains.{did_you_mean(word, known)}"
                yield ("tiers", index, "chains"), f"{words} Known: {', '.join(known)}"
    for index, chain in enumerate(charge.chains):
        if chain.kind in seen:
            words = f"kind '{chain.kind}' is the name of a chain. Name the kind otherwise, or leave it out"
            yield ("chains", index, "kind"), words
        if charge.tiers and not any(tier.on(chain) for tier in charge.tiers):
            yield ("chains", index), f"no tier has methods of chain '{chain.chain}'. Add one, or leave the chain out"
    for name in ("chains", "tiers"):
        if not getattr(charge, name):
            yield (name,), f"{name} is empty. Write at least one"
