"""Which rate of a charge a bucket of tokens takes: by the tier of the prompt, and under the conditions stated."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from ratecard.base.identity import Identity
from ratecard.tables.metered import ABOVE, BEGINS, CONTEXT, FROM, Tokens
from ratecard.tables.meters import COMPLETION, PROMPT, TOKEN, Meters
from ratecard.tables.rate import HeldRate, Rate


class Edge(NamedTuple):
    """Where a tier begins: prompts of more than `above` tokens; and how SKUs name it."""

    above: int
    sku: str


EVERY_PROMPT = Edge(-1, "")


class WrittenRate(NamedTuple):
    """A rate as a table writes it: for a bucket, from an edge on, under conditions; perhaps only at some hours."""

    bucket: str
    edge: Edge
    conditions: Mapping[str, str]
    rate: Rate

    @property
    def timed(self) -> bool:
        """Whether it holds at some hours only, and at this one."""
        return isinstance(self.rate, HeldRate)


def written_rates(charge: Tokens) -> Iterator[WrittenRate]:
    """Every rate of a charge for each bucket and each combination of conditions that it names."""
    for rate in charge.rates:
        named = charge.conditions_of(rate)
        for values in product(*named.values()):
            conditions = dict(zip(named, values, strict=True))
            for edge, bucket in product(_edges_of(charge, rate), rate.attributes["tokens"]):
                yield WrittenRate(bucket, edge, conditions, rate)


def _edges_of(charge: Tokens, rate: Rate) -> Iterator[Edge]:
    for context in rate.attributes.get(CONTEXT, ()):
        yield EVERY_PROMPT if context == "base" else Edge(charge.context_token_threshold or 0, context)
    for name in (ABOVE, FROM):
        for threshold in rate.attributes.get(name, ()):
            yield edge_of(name, int(threshold))
    if rate.attributes.keys().isdisjoint(BEGINS):
        yield EVERY_PROMPT


def edge_of(name: str, threshold: int) -> Edge:
    """The edge of a tier that begins `above` a threshold, or `from` it on.

    >>> edge_of("above", 200_000), edge_of("from", 128_000)
    (Edge(above=200000, sku='above-200k'), Edge(above=127999, sku='from-128k'))
    """
    short = f"{threshold // 1_000}k" if threshold and threshold % 1_000 == 0 else str(threshold)
    return Edge(threshold - (name == FROM), f"{name}-{short}")


def chosen(written: Iterable[WrittenRate], bucket: str, above: int, stated: Mapping[str, str]) -> WrittenRate | None:
    """The rate of a bucket in a tier, under conditions: the most specific that holds; None if none does."""
    best: WrittenRate | None = None
    for each in written:
        if each.bucket != bucket or each.edge.above > above or not each.conditions.items() <= stated.items():
            continue
        if best is None or more_specific(each, best):
            best = each
    return best


def more_specific(one: WrittenRate, other: WrittenRate) -> bool:
    """Whether a rate names all that another names: its conditions, a tier no lower, and its hours."""
    return (
        one.conditions.items() >= other.conditions.items()
        and one.edge.above >= other.edge.above
        and one.timed >= other.timed
    )


def parents_of(charge: Tokens, meters: Meters, priced: Iterable[str]) -> Mapping[str, tuple[str, bool]]:
    """The buckets without a rate that are charged, each with the one whose rate it takes.

    And whether it then has a line of its own, as what the charge itself says of it makes.
    """
    own = ({"cache": "parent"} if charge.missing_cache_rate else {}) | charge.without_rate
    return _parents(Identity(meters), tuple(own.items()), tuple(priced))


# Most charges have rates for the same buckets.
@lru_cache(1_000)
def _parents(
    of: Identity, said_of: tuple[tuple[str, str], ...], priced: tuple[str, ...]
) -> Mapping[str, tuple[str, bool]]:
    meters: Meters = of.value
    own, general, found = dict(said_of), meters.by_name[TOKEN].without_rate, {}
    for bucket in meters.buckets.keys() - {*priced}:
        left, shown = dict(meters.buckets[bucket].dimensions), False
        for name, value in list(left.items()):
            said = own.get(value, own.get(name))
            if (said or general.get(value, general.get(name))) == "parent":
                del left[name]
                shown = shown or said == "parent"
                parent = meters.bucket_of.get(frozenset(left.items()))
                if parent in priced:
                    found[bucket] = parent, shown
                    break
    return {name: found[name] for name in meters.buckets if name in found}


def tiers_of(written: Iterable[WrittenRate]) -> list[int]:
    """Where the tiers of rates begin: prompts of more tokens than this; the first is that of every prompt."""
    return sorted({EVERY_PROMPT.above, *(each.edge.above for each in written)})


def counts_in(meters: Meters, bucket: str, tokens: int, prompt: int = 0) -> dict[str, int]:
    """Inclusive counts of tokens in one bucket alone; beside a bucket of the completion, the whole `prompt`."""
    own = meters.buckets[bucket]
    counts = {PROMPT: prompt, COMPLETION: 0}
    counts |= {name: tokens for name, other in meters.buckets.items() if own.within(other)}
    return counts | {bucket: tokens}
