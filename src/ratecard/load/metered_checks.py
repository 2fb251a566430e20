"""Rules between the parts of a version that is not video: its methods, buckets, bands and RPC tiers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from ratecard.base.messages import Finding, Path
from ratecard.base.money import text
from ratecard.base.suggestions import did_you_mean
from ratecard.load.checks import check_line_places, check_rates, check_without_rate
from ratecard.load.hours import at_each_hour
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
from ratecard.tables.meters import COMPLETION, PROMPT, TOKEN, Meters
from ratecard.tables.rate import WINDOW, Charge, RateFactor
from ratecard.tables.token_rates import WrittenRate, chosen, more_specific, written_rates

_CONTEXTS = ("base", "extended")
_FACTORS = ("2x", "4x")
# More digits than any prompt has.
_DIGITS = 12
# Types of which only the first charge is billed.
_ONE_CHARGE = ("music",)


def check_metered(model: MeteredModel | TextModel, meters: Meters) -> Iterator[Finding]:
    """Check the rules for models that are not video, beyond those for all models."""
    allowed = METHODS_OF_TYPE[model.type]
    for index, version in enumerate(model.versions):
        seen: set[str] = set()
        for place, path, words in _check_factors(version.factors, meters):
            yield ("versions", index, "factors", place, *path), words
        if version.factors and not any(isinstance(charge, Tokens) for charge in version.charges):
            yield ("versions", index, "factors"), "factors have no effect here: only charges by tokens take them"
        yield from ((("versions", index, *path), words) for path, words in check_line_places(version.line_places))
        if version.minimum and model.type == "surcharge":
            words = "minimum is that of a request, and a surcharge is part of one. Write at_least, or a minimum there"
            yield ("versions", index, "minimum"), words
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
            check = partial(_check_charge, model.type, version, meters)
            yield from (((*at, *path), words) for path, words in at_each_hour(version, charge, check))


def _check_charge(kind: str, version: MeteredVersion, meters: Meters, charge: Charge) -> Iterator[Finding]:
    if isinstance(charge, Tokens):
        yield from _check_tokens(kind, version, charge, meters)
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


def _check_tokens(kind: str, version: MeteredVersion, charge: Tokens, meters: Meters) -> Iterator[Finding]:
    before = list(_check_token_lines(charge, meters))
    factors = _check_factors(charge.factors, meters, version.factors)
    before += [(("factors", index, *path), words) for index, path, words in factors]
    if TOKEN in meters.by_name:  # else no bucket of the rates is known, which is said above
        before += check_without_rate(charge.without_rate, meters.by_name[TOKEN])
    yield from before
    if before:
        return
    written = list(written_rates(charge))
    edges: dict[int, str] = {}
    for each in written:
        if edges.setdefault(each.edge.above, each.edge.sku) != each.edge.sku:
            index = charge.rates.index(each.rate)
            words = f"begins where another rate says {edges[each.edge.above]}. Write all of this tier in one way"
            yield ("rates", index), words
    yield from _check_twice(charge, written)
    contexts = {name for rate in charge.rates for name in rate.attributes.get("context", ()) if name in _CONTEXTS}
    for above in sorted({-1, *edges}):
        for bucket in (PROMPT, COMPLETION) if kind == "text" else (PROMPT,):
            found = chosen(written, bucket, above, {})
            # A named tier is written out, so that nobody takes a rate that was forgotten for one that stays.
            if found is None or (edges.get(above) in contexts and found.edge.above != above):
                yield ("rates",), f"no rate for {bucket} tokens, {_tier_words(edges, above)}"
    if ("extended" in contexts) != (charge.context_token_threshold is not None):
        yield (
            ("context_token_threshold",),
            "write both context_token_threshold and rates with context: extended, or none",
        )


def _tier_words(edges: Mapping[int, str], above: int) -> str:
    name = edges.get(above, "") or "base"
    return f"context {name}" if name in _CONTEXTS else name.replace("-", " ", 1)


def _check_token_lines(charge: Tokens, meters: Meters) -> Iterator[Finding]:
    own = {"tokens": tuple(meters.buckets), "context": _CONTEXTS}
    own |= {each.condition: each.values for each in meters.conditions}
    for index, rate in enumerate(charge.rates):
        if "tokens" not in rate.attributes:
            yield ("rates", index), f"tokens is missing. Write one of: {', '.join(own['tokens'])}"
        begins = [name for name in ("context", "above", "from") if name in rate.attributes]
        for second in begins[1:]:
            yield ("rates", index, second), f"{begins[0]} and {second} both say where the tier begins; keep one"
        for name, values in rate.attributes.items():
            if name in ("above", "from"):
                for value in values:
                    if not (value.isascii() and value.isdigit() and value[0] != "0" and len(value) <= _DIGITS):
                        words = f"{name} '{value}' is not a number of tokens. Write digits, like 200000"
                        yield ("rates", index, name), words
            elif name not in own:
                allowed = (*charge.ATTRIBUTES, *meters.condition, "rate")
                near = did_you_mean(name, (*allowed, *WINDOW))
                yield ("rates", index, name), f"unknown key '{name}'.{near} Allowed: {', '.join(allowed)}"
            else:
                for value in values:
                    if value not in own[name]:
                        near = did_you_mean(value, own[name])
                        words = f"{name} '{value}' is not known.{near} Allowed: {', '.join(own[name])}"
                        yield ("rates", index, name), words


def _check_factors(
    factors: Sequence[RateFactor], meters: Meters, of_version: Sequence[RateFactor] = ()
) -> Iterator[tuple[int, Path, str]]:
    """Check factors; those of a charge multiply with those `of_version`."""
    seen = list(of_version)
    for index, factor in enumerate(factors):
        if not factor.conditions:
            yield index, (), f"names no condition. Write one of: {', '.join(meters.condition)}"
        for name, value in factor.conditions.items():
            if name not in meters.condition:
                near, allowed = did_you_mean(name, meters.condition), ", ".join(meters.condition)
                yield index, (name,), f"'{name}' is not a condition of meters.yaml.{near} Allowed: {allowed}"
            elif value not in meters.condition[name].values:
                known = meters.condition[name].values
                near = did_you_mean(value, known)
                yield index, (name,), f"{name} '{value}' is not known.{near} Allowed: {', '.join(known)}"
        for other in seen:
            shared = factor.conditions.keys() & other.conditions.keys()
            if shared and not _contradict(factor.conditions, other.conditions):
                line = other.source.rpartition(":")[2]
                words = f"and that of line {line} would both apply for one {min(shared)}. Let no two hold at once"
                yield index, (), words
                break
        seen.append(factor)


def _check_twice(charge: Tokens, written: Sequence[WrittenRate]) -> Iterator[Finding]:
    """Check that of two rates that can hold for one request, one is more specific, or a third settles it."""
    for number, one in enumerate(written):
        for other in written[:number]:
            if one.bucket != other.bucket or _contradict(one.conditions, other.conditions):
                continue
            if (one.edge.above, one.conditions, one.timed) == (other.edge.above, other.conditions, other.timed):
                shown = "".join(f", {name} {value}" for name, value in one.conditions.items())
                words = (
                    f"two rates for {one.bucket} tokens, {_tier_words({one.edge.above: one.edge.sku}, one.edge.above)}"
                )
                yield ("rates", charge.rates.index(one.rate)), f"{words}{shown}; keep one"
            elif not (more_specific(one, other) or more_specific(other, one)):
                conditions, above = {**one.conditions, **other.conditions}, max(one.edge.above, other.edge.above)
                best = chosen(written, one.bucket, above, conditions)
                if best is None or not (more_specific(best, one) and more_specific(best, other)):
                    named = ", ".join(f"{name}: {value}" for name, value in conditions.items())
                    line = other.rate.source.rpartition(":")[2]
                    words = (
                        f"and that of line {line} both hold for {one.bucket} tokens of a prompt of {above + 1} tokens"
                    )
                    yield ("rates", charge.rates.index(one.rate)), f"{words}, {named}. Write the rate for both"


def _contradict(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether no request can be under both conditions."""
    return any(other.get(name, value) != value for name, value in one.items())


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
