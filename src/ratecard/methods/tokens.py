"""Tokens by bucket. Their lines are made in `line_items/tokens.py` and priced in `pricing/text.py`, beside searches."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from ratecard.base.messages import Finding
from ratecard.line_items.conditions import (
    EVERY_PROMPT,
    RateResolver,
    WrittenRate,
    beside_defaults,
    chosen,
    combinations_of,
    in_full,
    more_specific,
    tiers_of,
    written_rates,
)
from ratecard.line_items.tokens import TokenRates
from ratecard.methods.conditions import check_attribute, contradict
from ratecard.methods.metered import Metered
from ratecard.methods.method import Method, Samples, UsageReading
from ratecard.requests.counters import usage_of_buckets
from ratecard.tables.card import Tables
from ratecard.tables.metered import ABOVE, BEGINS, CONTEXT, FROM, MeteredVersion, Tokens
from ratecard.tables.meters import COMPLETION, PROMPT, Meters

_MILLION = 1_000_000
_CONTEXTS = ("base", "extended")
# The most digits of a number of tokens; no prompt has more.
_DIGITS = 12


class TokensByBucket(Tokens, Method):
    """Tokens by bucket (see meters.yaml), by the length of the whole prompt, and by conditions.

    A rate names its buckets. It may name conditions, and where its tier begins: `above: 200000`, or `from: 200000`
    where that number of tokens counts already. `context: extended` is the tier above `context_token_threshold`. A
    bucket takes its own rate of the chosen tier, else that of the nearest lower tier. For a bucket without either,
    `without_rate`, here or in meters.yaml, says whether it takes its parent's rate of the chosen tier or is refused.
    For a bucket without a rate under a condition, `{batch: default}` keeps the price without the condition.
    """

    TYPES: ClassVar = ("text", "embedding")

    def check(self, version: MeteredVersion, type_: str, meters: Meters) -> Iterator[Finding]:
        """Check that each rate names buckets, conditions and a tier; if two can hold, one must be more specific."""
        findings = list(_check_lines(self, meters))
        yield from findings
        if findings:
            return
        written = list(written_rates(self))
        lines = {id(rate): index for index, rate in enumerate(self.rates)}
        edges: dict[int, str] = {}
        for rate in written:
            if edges.setdefault(rate.edge.above, rate.edge.sku) != rate.edge.sku:
                index = lines[id(rate.rate)]
                words = f"begins where another rate says {edges[rate.edge.above]}. Write all of this tier in one way"
                yield ("rates", index), words
        yield from _check_twice(self, version, lines, written, meters)
        yield from _check_parts(self, version, lines, written, meters)
        contexts = {name for rate in self.rates for name in rate.attributes.get(CONTEXT, ()) if name in _CONTEXTS}
        # Conditions that the charge itself refuses need no rate; but a tier must have a price for its prompt.
        needed = {PROMPT: True, COMPLETION: type_ == "text"}
        needed |= {name: False for name in needed.keys() & meters.buckets if meters.refuses(self.without_rate, name)}
        needed[PROMPT] = needed[PROMPT] or any(above > EVERY_PROMPT.above for above in edges)
        named = version.conditions_of(self)
        for above in sorted({-1, *edges}):
            for bucket in (name for name, is_needed in needed.items() if is_needed):
                # A named tier must have all rates, so that a forgotten rate is not taken for an unchanged one.
                least = above if edges.get(above) in contexts else EVERY_PROMPT.above
                if (held := chosen(written, bucket, above, {})) and held.edge.above >= least:
                    continue  # it holds under all conditions
                for stated in combinations_of(named, meters):
                    held = chosen(written, bucket, above, in_full(named, stated, meters))
                    lacking = held is None or held.edge.above < least
                    if lacking and not version.refuses(stated, meters):
                        words = f"no rate for {bucket} tokens, {_tier_words(edges.get(above, ''))}{_shown(stated)}"
                        yield ("rates",), words
                        break
        if ("extended" in contexts) != (self.context_token_threshold is not None):
            words = "write both context_token_threshold and rates with context: extended, or none"
            yield ("context_token_threshold",), words

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Return None: providers write tokens in many ways, which `requests/token_usage.py` reads."""
        return None

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield a million tokens, or the longest prompt of its tier, at each rate and each factor that is sold."""
        edges = tiers_of(written_rates(self))
        rates = TokenRates("", self, 1, tables.meters, version.factors)
        needed = version.first_values(tables.meters)
        for rate in written_rates(self):
            further = [above for above in edges if above > rate.edge.above]
            longest = further[0] if further else max(_MILLION, rate.edge.above + 1)
            if tables.meters.in_completion(rate.bucket):
                counts = tables.meters.counts_in(rate.bucket, _MILLION, longest if rate.edge.above > 0 else 0)
            else:
                counts = tables.meters.counts_in(rate.bucket, longest)
            factors = (factor.conditions for factor in (*self.factors, *version.factors))
            named = {**needed, **rate.conditions}
            for stated in (named, *({**named, **more} for more in factors if not more.keys() & rate.conditions.keys())):
                tier = rates.tier(counts[PROMPT], stated)
                if not version.refuses(stated, tables.meters) and tier.lines[(*counts,)](*counts.values()):
                    yield {**usage_of_buckets(counts), **stated}

    def edges(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield every bucket, on both sides of the edge of each tier, under every combination of conditions."""
        stated = list(combinations_of(version.conditions_of(self), tables.meters))
        thresholds = tiers_of(written_rates(self))[1:]
        for prompt in dict.fromkeys((1, *(prompt for above in thresholds for prompt in (above, above + 1)))):
            for bucket in tables.meters.buckets:
                tokens = 1 if tables.meters.in_completion(bucket) else prompt
                usage = usage_of_buckets(tables.meters.counts_in(bucket, tokens, prompt))
                yield from ({**usage, **conditions} for conditions in stated)


def _check_lines(charge: Tokens, meters: Meters) -> Iterator[Finding]:
    known = {CONTEXT: _CONTEXTS, ABOVE: (), FROM: (), "tokens": tuple(meters.buckets)}
    known |= {condition.condition: condition.values for condition in meters.conditions}
    if charge.context_token_threshold == 0:
        words = "context_token_threshold 0 is every prompt; leave out context: base, and write no context"
        yield ("context_token_threshold",), words
    for index, rate in enumerate(charge.rates):
        if "tokens" not in rate.attributes:
            yield ("rates", index), f"tokens is missing. Write one of: {', '.join(known['tokens'])}"
        begins = [name for name in BEGINS if name in rate.attributes]
        for second in begins[1:]:
            yield ("rates", index, second), f"{begins[0]} and {second} both say where the tier begins; keep one"
        for name, values in rate.attributes.items():
            yield from check_attribute(index, rate, name, known)
            for value in values if name in (ABOVE, FROM) else ():
                if value == "0":
                    yield ("rates", index, name), f"{name} 0 is every prompt; leave it out"
                elif not (value.isascii() and value.isdigit() and value[0] != "0"):
                    words = f"{name} '{value}' is not a number of tokens. Write digits, like 200000"
                    yield ("rates", index, name), words
                elif len(value) > _DIGITS:
                    words = f"{name} {value} is more tokens than any prompt has. Allowed: at most {'9' * _DIGITS}"
                    yield ("rates", index, name), words


def _check_twice(
    charge: Tokens, version: MeteredVersion, lines: Mapping[int, int], written: Sequence[WrittenRate], meters: Meters
) -> Iterator[Finding]:
    """Check that one of two rates that can hold for one request is more specific, or that a third one decides.

    Refused requests need neither: a combination that is not sold, or a condition that `without_rate` refuses in the
    higher tier. `lines` is the index of each rate by its identity. A rate has at most one finding.
    """

    def is_refused(one: WrittenRate, other: WrittenRate) -> bool:
        lower, higher = sorted((one, other), key=lambda rate: rate.edge.above)
        unmet = lower.conditions.items() - higher.conditions.items() if lower.edge.above < higher.edge.above else ()
        # The higher rate times a factor is a price too.
        sold = {part for factor in (*charge.factors, *version.factors) for part in factor.conditions.items()}
        stated = (part for part in unmet if part[1] != meters.condition[part[0]].default and part not in sold)
        if any(charge.without_rate.get(value, charge.without_rate.get(name)) == "refuse" for name, value in stated):
            return True
        return version.refuses({**one.conditions, **other.conditions}, meters) is not None

    for number, one in enumerate(written):
        for other in written[:number]:
            if one.bucket != other.bucket or contradict(one.conditions, other.conditions):
                continue
            if (one.edge.above, one.conditions, one.timed) == (other.edge.above, other.conditions, other.timed):
                words = f"two rates for {one.bucket} tokens, {_tier_words(one.edge.sku)}{_shown(one.conditions)}"
                yield ("rates", lines[id(one.rate)]), f"{words}; keep one"
                break
            if not (more_specific(one, other) or more_specific(other, one) or is_refused(one, other)):
                conditions, above = {**one.conditions, **other.conditions}, max(one.edge.above, other.edge.above)
                best = chosen(written, one.bucket, above, conditions)
                if best is None or not (more_specific(best, one) and more_specific(best, other)):
                    named = "".join(f", {name}: {value}" for name, value in conditions.items())
                    line = other.rate.source.rpartition(":")[2]
                    words = f"this rate and that of line {line} both hold for {one.bucket} tokens"
                    words += f" of a prompt of {above + 1} tokens"
                    yield ("rates", lines[id(one.rate)]), f"{words}{named}. Write the rate for both"
                    break


def _check_parts(
    charge: Tokens, version: MeteredVersion, lines: Mapping[int, int], written: Sequence[WrittenRate], meters: Meters
) -> Iterator[Finding]:
    """Check that a part has a rate under the conditions of a rate of its whole; a rate has at most one finding."""
    if not any(rate.conditions for rate in written):
        return
    resolver, priced = RateResolver(charge, meters, version.factors), dict.fromkeys(rate.bucket for rate in written)
    without_rate, wrong = charge.without_rate, set[int]()
    of_bucket = {name: [rate for rate in written if rate.bucket == name] for name in priced}
    if not (resolver.named.keys() <= meters.condition.keys() and priced.keys() <= meters.buckets.keys()):
        return  # these faults are reported already
    for rate in sorted(written, key=lambda rate: len(meters.buckets[rate.bucket].dimensions), reverse=True):
        stated = beside_defaults(rate.conditions, meters)
        if not stated or version.refuses(stated, meters):
            continue
        full = resolver.in_full(stated)
        for part in priced:
            if not meters.buckets[part].within(meters.buckets[rate.bucket]):
                continue
            held = chosen(of_bucket[part], part, rate.edge.above, full)
            unmet = resolver.factored(held.rate, held.conditions, full).unmet if held else ()
            # The value that `full` has of a condition without a default is asked where a rate of the whole names it.
            names = (name for name in unmet if name in stated)
            name = next(
                (name for name in names if without_rate.get(stated[name], without_rate.get(name)) != "refuse"), None
            )
            if held and name and lines[id(held.rate)] not in wrong:
                wrong.add(lines[id(held.rate)])
                words = f"no rate for {part} tokens, {_tier_words(rate.edge.sku)}{_shown(stated)}: line"
                words += f" {rate.rate.source.rpartition(':')[2]} has one for {rate.bucket}, of which they are part."
                words += f" Write one, or without_rate: {{{stated[name]}: default}} for the price without it"
                yield ("rates", lines[id(held.rate)]), words


def _shown(conditions: Mapping[str, str]) -> str:
    return "".join(f", {name} {value}" for name, value in conditions.items())


def _tier_words(sku: str) -> str:
    name = sku or "base"
    return f"context {name}" if name in ("base", "extended") else name.replace("-", " ", 1)
