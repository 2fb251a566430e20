"""Rates of which one is the most specific for any request, of what a price is in every case."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

# A price by the length of the prompt: (prompts of more tokens than this, amount), from every prompt on.
TierAmounts = tuple[tuple[int, Decimal], ...]
EVERY_LENGTH = -1


class PricedCase(NamedTuple):
    """What a price is under some conditions."""

    conditions: Mapping[str, str]
    amounts: TierAmounts


class SpecificRate(NamedTuple):
    """A rate that holds under conditions, for prompts of more tokens than `above`."""

    conditions: Mapping[str, str]
    above: int
    amount: Decimal


def specific_rates(cases: Sequence[PricedCase], kept: Collection[tuple[str, str]] = ()) -> Iterator[SpecificRate]:
    """Return rates for these cases: all combinations of their conditions, and the one without any.

    A case that a rate of fewer conditions settles has no rate of its own, but for conditions that are `kept`. Where
    two rates would hold and neither names more than the other, there is one for both.

    >>> amounts = ((-1, Decimal(2)), (128000, Decimal(3)))
    >>> batch = PricedCase({"tier": "batch"}, ((-1, Decimal(1)),))
    >>> cases = [PricedCase({}, amounts), PricedCase({"tier": "fast"}, amounts), batch]
    >>> for rate in specific_rates(cases):
    ...     print(dict(rate.conditions), rate.above, rate.amount)
    {} -1 2
    {} 128000 3
    {'tier': 'batch'} -1 1
    {'tier': 'batch'} 128000 1
    """
    # The cases that have rates, with where their tiers begin.
    written: dict[frozenset[tuple[str, str]], tuple[TierAmounts, frozenset[int]]] = {}
    for conditions, amounts in sorted(cases, key=lambda case: len(case.conditions)):
        stated = frozenset(conditions.items())
        below = [other for other in written if other < stated]
        nearest = [one for one in below if not any(one < other for other in below)]
        settled = len(nearest) == 1 and _changes(written[nearest[0]][0]) == _changes(amounts)
        if settled and not (len(stated) == 1 and stated & set(kept)):
            continue
        changes = (above for above, _ in _changes(amounts))
        edges = frozenset((*changes, *(edge for other in below for edge in written[other][1])))
        written[stated] = amounts, edges
        for edge in sorted(edges):
            yield SpecificRate(conditions, edge, amount_at(amounts, edge))


def amount_at(amounts: TierAmounts, above: int) -> Decimal:
    """Return the amount for prompts of more tokens than this, up to where the next tier begins."""
    return amounts[bisect_right(amounts, above, key=lambda each: each[0]) - 1][1]


def _changes(amounts: TierAmounts) -> TierAmounts:
    """Return the amounts without tiers that begin and change nothing."""
    return tuple(each for index, each in enumerate(amounts) if not index or each[1] != amounts[index - 1][1])
