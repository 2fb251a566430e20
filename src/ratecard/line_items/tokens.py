"""The method `tokens`: tokens by bucket, at the tier that the whole prompt chooses once, under the stated conditions.

Counts of a usage are inclusive: `input` includes tokens read from the cache. They are made disjoint here, once: a
bucket's own tokens are its count minus the counts of its parts that have a price of their own.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial
from itertools import combinations
from typing import Any, NamedTuple, cast

from ratecard.base.layouts import Identity, Layouts
from ratecard.base.messages import NotOffered, too_big
from ratecard.base.money import EXACT, LINE_PLACES, as_decimal, multiply, part_of
from ratecard.line_items.conditions import (
    EVERY_PROMPT,
    FactoredRate,
    RateResolver,
    WrittenRate,
    combinations_of,
    parents_of,
    tiers_of,
)
from ratecard.line_items.quote import LineItem, LineRate
from ratecard.tables.metered import Tokens
from ratecard.tables.meters import Bucket, Meters, own_counts
from ratecard.tables.rate import RateFactor

# Counts of a usage that have no price or contradict each other: (bucket, message).
BucketProblems = list[tuple[str, str]]


# Most models merge the same buckets, and most usages count the same buckets, so one plan is enough for all of them.
_MOST_FORMS = 1_000
# The most combinations of conditions whose tiers are kept: requests state few, but could state all of a table.
MOST_STATED = 256

# A function from the inclusive counts of buckets to lines and their exact sum; None if some count has no price.
_Lines = Callable[..., tuple[tuple[LineItem, ...], Decimal] | None]


class BucketRate(NamedTuple):
    """The rate of a bucket in a tier: the rate of its lines, and the price of a token, a fraction if not a decimal."""

    rate: LineRate
    token_rate: Decimal | Fraction


class _Step(NamedTuple):
    """The own tokens of a bucket (the count at `first`, minus those at `less`, plus those at `more`), and its rate."""

    bucket: str
    rate: BucketRate | None
    first: int
    less: tuple[int, ...]
    more: tuple[int, ...]

    def own(self, values: Sequence[int]) -> int:
        less, more = (sum(values[index] for index in indexes) for indexes in (self.less, self.more))
        return values[self.first] - less + more


class _Plan(NamedTuple):
    """The plan for charging usages that count the same buckets.

    `overlaps` are pairs of counts, one of which must be 0, because the tokens that both include are not counted.
    `within` are pairs of a count and the count with which it is charged, or None if the latter is not counted.
    """

    steps: tuple[_Step, ...]
    overlaps: tuple[tuple[int, int], ...]
    within: tuple[tuple[int, int | None], ...]


def unpriced_tokens(bucket: str) -> NotOffered:
    """Return the message for a count of tokens that have no price."""
    return NotOffered(f"No price is known for {bucket} tokens of this model")


class TokenTier:
    """The rates of buckets for prompts of some length, under some conditions."""

    def __init__(
        self,
        buckets: Mapping[str, Bucket],
        rates: Mapping[str, BucketRate],
        merged: Mapping[str, str],
        refused: Mapping[str, Callable[[], str]],
        unmet: Mapping[str, Callable[[], str]],
    ) -> None:
        self.rates, self._buckets, self._merged, self._refused = rates, buckets, merged, refused
        # The stated conditions under which no bucket has a price, each with its message.
        self.unmet = unmet
        # By names of buckets: the function from their counts to lines. It returns None if there are `problems`.
        self.lines: Layouts[_Lines] = Layouts(
            lambda names: (lambda *counts: None) if unmet else _compiled(self._plan(names), len(names))
        )

    def problems(self, names: tuple[str, ...], values: tuple[int, ...]) -> BucketProblems:
        """Return why `lines` returns None: counts without a price, above that of their whole, or overlapping."""
        steps, overlaps, within = self._plan(names)
        problems: BucketProblems = []
        for step in steps:
            count = step.own(values)
            if count < 0:
                problems.append(self._excess(steps, step.bucket, names, values))
            elif count and step.rate is None:
                reason = self._refused.get(step.bucket)
                problems.append((step.bucket, reason() if reason else unpriced_tokens(step.bucket)))
        for part, parent in within:
            most = 0 if parent is None else values[parent]
            if values[part] > most:
                problems.append((names[part], too_big(most)))
        unpriced = {name for name, _ in problems}
        for one, other in overlaps:
            if values[one] and values[other] and unpriced.isdisjoint((names[one], names[other])):
                common = _common(self._buckets, names[one], names[other])
                words = f"{names[one]} and {names[other]} overlap. Count {common} too"
                problems.append((names[other], words))
        return problems

    def rate_of(self, bucket: str) -> BucketRate | None:
        """Return the rate of tokens of a bucket: its own, or that of the bucket that they are charged with."""
        return self.rates.get(self._merged.get(bucket, bucket))

    def prices(self, bucket: str, counted: Collection[str] | None = None) -> bool:
        """Return True if tokens of a bucket have a price, by themselves or as part of another bucket.

        As a part, they have one only if usages count every bucket that includes it. `counted` are the buckets that
        usages count, or None for all.
        """
        if bucket not in self._merged or self._merged[bucket] not in self.rates:
            return bucket in self.rates
        part = self._buckets[bucket]
        return counted is None or all(name in counted for name, other in self._buckets.items() if part.within(other))

    def _excess(
        self, steps: Sequence[_Step], bucket: str, names: Sequence[str], values: Sequence[int]
    ) -> tuple[str, str]:
        """Return the first part of a bucket that makes its parts exceed it, with the message."""
        rest = values[names.index(bucket)]
        for step in steps:
            if step.bucket in self._buckets and self._buckets[step.bucket].within(self._buckets[bucket]):
                counted = step.own(values)
                if counted > rest:
                    return step.bucket, too_big(rest)
                rest -= counted
        return bucket, too_big(rest)

    def _plan(self, names: tuple[str, ...]) -> _Plan:
        form = _form(Identity(self._buckets), tuple(self._merged.items()), names)
        return form._replace(steps=tuple(step._replace(rate=self.rates.get(step.bucket)) for step in form.steps))


@lru_cache(_MOST_FORMS)
def _form(of_all: Identity, of_merged: tuple[tuple[str, str], ...], names: tuple[str, ...]) -> _Plan:
    """Return the plan, without rates, of usages that count these buckets, some of which are merged with others."""
    buckets: Mapping[str, Bucket] = of_all.value
    merged = dict(of_merged)
    counted = {name: buckets[name] for name in buckets if name in names}
    at = {name: index for index, name in enumerate(names)}
    separate_buckets = {name: bucket for name, bucket in counted.items() if name not in merged}
    wholes = {name: [other for other, whole in counted.items() if part.within(whole)] for name, part in counted.items()}
    signs = own_counts(wholes)
    for name, parent in merged.items():  # a bucket that is part of two others may be charged with one of them
        if name in counted and parent in counted:
            for other, sign in signs[name].items():
                signs[parent][other] = signs[parent].get(other, 0) + sign
    steps = [
        _Step(
            name,
            None,
            at[name],
            tuple(at[part] for part, sign in signs[name].items() for _ in range(-sign)),
            tuple(at[part] for part, sign in signs[name].items() for _ in range(sign) if part != name),
        )
        for name in separate_buckets
    ]
    # A bucket that these tables lack has no price.
    steps += [_Step(name, None, at[name], (), ()) for name in names if name not in buckets]
    overlaps = [
        (at[one], at[other])
        for one, other in combinations(separate_buckets, 2)
        if separate_buckets[one].overlaps(separate_buckets[other]) and _common(buckets, one, other) not in counted
    ]
    within = [(at[name], at.get(parent)) for name, parent in merged.items() if name in at]
    return _Plan(tuple(steps), tuple(overlaps), tuple(within))


def _common(buckets: Mapping[str, Bucket], one: str, other: str) -> str:
    dimensions = {**buckets[one].dimensions, **buckets[other].dimensions}
    return next(
        (name for name, bucket in buckets.items() if bucket.dimensions == dimensions),
        "what they have in common (meters.yaml has no bucket for it)",
    )


def _compiled(plan: _Plan, counts: int) -> _Lines:
    forms = tuple((step.first, step.less, step.more, _way(step.rate)) for step in plan.steps)
    rates = [part for step in plan.steps if step.rate for part in step.rate]
    lines: _Lines = _maker(counts, forms, plan.overlaps, plan.within)(*rates)
    return lines


def _way(rate: BucketRate | None) -> str:
    """Return the source text for the amount of `n` own tokens: one multiplication if a token's price is a decimal."""
    if rate is None:
        return ""
    return "times(n, o{0})" if isinstance(rate.token_rate, Decimal) else "r{0}.price(n)"


@lru_cache(_MOST_FORMS)
def _maker(
    counts: int, forms: tuple[Any, ...], overlaps: tuple[Any, ...], within: tuple[Any, ...]
) -> Callable[..., Any]:
    """Return the function from a plan's rates to its `_Lines`, compiled from text: a loop takes twice as long."""
    body, rates = ["found = []"], []
    body += [f"if c{one} and c{other}: return None" for one, other in overlaps]
    body += [f"if c{part} > {0 if parent is None else f'c{parent}'}: return None" for part, parent in within]
    for number, (first, less, more, way) in enumerate(forms):
        counted = "".join((f"c{first}", *(f" - c{index}" for index in less), *(f" + c{index}" for index in more)))
        # A single count is never negative.
        body += [f"n = {counted}", *(["if n < 0: return None"] if less else [])]
        if not way:
            body += ["if n: return None"]
            continue
        rates += [f"r{number}", f"o{number}"]
        amount = [f"amount = {way}", "exact = add(exact, amount)"] if number else [f"exact = amount = {way}"]
        body += [
            "if n:",
            *(f"    {line.format(number)}" for line in amount),
            f"    found.append(line(r{number}, n, amount))",
        ]
        body += [] if number else ["else:", "    exact = zero"]
    body = body if forms and forms[0][3] else ["exact = zero", *body]
    lines = "".join(f"        {line}\n" for line in (*body, "return (*found,), exact"))
    named = ", ".join(f"c{index}" for index in range(counts))
    source = f"def make({', '.join(rates)}):\n    def lines({named}):\n{lines}    return lines\n"
    scope: dict[str, Any] = {"line": LineItem, "times": EXACT.multiply, "add": EXACT.add, "zero": Decimal(0)}
    exec(source, scope)  # noqa: S102 (only numbers enter it)
    return cast(Callable[..., Any], scope["make"])


class TokenRates:
    """The rates of a charge by tokens; `per` is how many tokens one unit holds.

    An amount is rounded to `line_places` if no decimal is exact.
    """

    def __init__(
        self,
        model: str,
        charge: Tokens,
        per: int,
        meters: Meters,
        factors: Sequence[RateFactor] = (),
        line_places: int = LINE_PLACES,
    ) -> None:
        self.charge, self._model, self._meters = charge, model, meters
        self.buckets = meters.buckets
        self._of_unit, self._line_places = part_of(per), line_places
        self._resolver = RateResolver(charge, meters, factors)
        self._conditions, written = self._resolver.named, self._resolver.written
        self._edges = tiers_of(written)
        self._names = {rate.edge.above: rate.edge for rate in written if rate.edge.sku}
        self.thresholds = tuple(self._edges[1:])
        # Tiers by the stated value of each named condition.
        self._tiers: dict[tuple[str | None, ...], tuple[TokenTier, ...]] = {}
        self.plain = self.tiers({})

    def tier(self, prompt: int, stated: Mapping[str, str] | None = None) -> TokenTier:
        """Return the tier that a whole prompt chooses, under the conditions that a request states."""
        return self.tier_of(self.tiers(stated) if stated else self.plain, prompt)

    def tier_of(self, tiers: tuple[TokenTier, ...], prompt: int) -> TokenTier:
        """Return the tier, one of these, that a whole prompt chooses."""
        return tiers[bisect_left(self.thresholds, prompt)]

    def tiers(self, stated: Mapping[str, str]) -> tuple[TokenTier, ...]:
        """Return the tiers under these conditions (others have their defaults), the shortest prompts first."""
        key = (*map(stated.get, self._conditions),)
        tiers = self._tiers.get(key)
        if tiers is None:
            if len(self._tiers) >= MOST_STATED:
                self._tiers.clear()
            tiers = self._tiers[key] = tuple(self._tier(above, stated) for above in self._edges)
        return tiers

    def prices(self, bucket: str) -> bool:
        """Return True if tokens of a bucket have a price in every tier, without any stated condition."""
        return all(tier.prices(bucket) for tier in self.plain)

    def always_prices(self, bucket: str, counted: Collection[str]) -> bool:
        """Return True if tokens of a bucket have a price in every tier, under all conditions.

        `counted` is as in `TokenTier.prices`. Tiers where no bucket has a price are left out, because there a request
        has no price, whatever it counts.
        """
        combinations = combinations_of(self._conditions, self._meters) if self._conditions else [{}]
        tiers = (tier for stated in combinations for tier in self.tiers(stated))
        return all(tier.unmet or tier.prices(bucket, counted) for tier in tiers)

    def _tier(self, above: int, stated: Mapping[str, str]) -> TokenTier:
        written_by_bucket = self._resolver.of_buckets(above, stated)
        rates = {name: self._rate(name, *held) for name, held in written_by_bucket.items()}
        lacking = {name: factored.unmet for name, (_, factored) in written_by_bucket.items() if factored.unmet}
        merged: dict[str, str] = {}
        for name, (parent, shown) in parents_of(self.charge, self._meters, written_by_bucket).items():
            if shown:
                note = f"no rate of its own: the {parent} rate"
                rates[name] = self._rate(name, *written_by_bucket[parent], above, note)
                lacking |= {name: lacking[parent]} if parent in lacking else {}
            else:
                merged[name] = parent
        refusal = cache(partial(self._refusal, above, stated))
        all_lack = lacking.keys() >= written_by_bucket.keys() > set()
        unmet = set[str].intersection(*map(set, lacking.values())) if all_lack else set()
        return TokenTier(
            self.buckets,
            {name: rates[name] for name in self.buckets if name in rates and name not in lacking},
            merged,
            {name: partial(refusal, name) for name in lacking},
            {name: refusal for name in self._conditions if name in unmet},
        )

    def _refusal(self, above: int, stated: Mapping[str, str], bucket: str = "") -> str:
        """Return the message for conditions under which a bucket, or every bucket, has no price in a tier."""

        def is_sold_above(edge: int, combination: Mapping[str, str]) -> bool:
            held = self._resolver.of_buckets(edge, combination).items()
            return any(not factored.unmet for name, (_, factored) in held if bucket in (name, ""))

        at_other_lengths = any(is_sold_above(edge, stated) for edge in self._edges if edge != above)
        subject = f"{bucket} tokens" if bucket else ""
        return self._resolver.refusal(stated, partial(is_sold_above, above), subject, at_other_lengths=at_other_lengths)

    def _rate(
        self, bucket: str, written: WrittenRate, factored: FactoredRate, above: int | None = None, note: str = ""
    ) -> BucketRate:
        unit_rate, notes, conditions, multiplied, *_, listed = factored
        edge = written.edge if above is None else self._names.get(above, EVERY_PROMPT)
        words = "-".join((*filter(None, (edge.sku,)), self.buckets[bucket].sku_word, *conditions))
        sku, notes = f"{self._model}-llm-{words}-{self.charge.unit}", (note, *notes) if note else notes
        of_unit, unit, source = self._of_unit, self.charge.unit, written.rate.source
        line = LineRate(sku, unit, unit_rate, source, "; ".join(notes), of_unit, self._line_places, multiplied, listed)
        if isinstance(of_unit, Decimal):
            return BucketRate(line, multiply(unit_rate, of_unit))
        return BucketRate(line, as_decimal(Fraction(unit_rate) * of_unit))
