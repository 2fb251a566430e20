"""Which override of a contract wins for a rate, and the price that it makes of the list's.

Those of the contract itself come first; what it extends is asked where it has none. Of two, the one that names more
wins; the order of the file means nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.money import multiply, plain, text
from ratecard.tables.contract import Contract, Override
from ratecard.tables.rate import RateFactor

# A contract, and what it extends.
ContractChain = Sequence[Contract]
# Instants, each with the names of the contracts of the chain that holds from then on.
Later = tuple[tuple[datetime, tuple[str, ...]], ...]
# The overrides of each contract of a chain that are for one rate.
Layers = Sequence[Sequence[Override]]


class UnclearError(Exception):
    """Two overrides of which neither wins, or a lower bound above the upper one: (the second of them, message)."""

    def __init__(self, override: Override, message: str) -> None:
        super().__init__(override, message)
        self.override, self.message = override, message


class ContractPrice(NamedTuple):
    """What one unit costs under a contract and in the list, and the override that says so; None if none does."""

    amount: Decimal
    by: Override | None
    listed: Decimal


def winner(layers: Layers, group: str) -> Override | None:
    """Return the override of a group that wins; None if there is none. Raises `UnclearError`."""
    for layer in layers:
        rivals = [each for each in layer if each.group == group]
        if rivals:
            return _most_specific(rivals)
    return None


def _most_specific(rivals: Sequence[Override]) -> Override:
    best = rivals[0]
    for each in rivals[1:]:
        if each.rank.above(best.rank):
            best = each
    for each in rivals:
        if each is not best and not best.rank.above(each.rank):
            first, second = sorted((best, each), key=lambda one: _line(one.source))
            words = f"{second.kind} and {first.kind} ({first.source}) meet, and neither names more"
            raise UnclearError(second, f"{words}. Name more in one of them, or leave one out by except")
    return best


def _line(source: str) -> tuple[str, int]:
    file, _, line = source.rpartition(":")
    return file, int(line or 0)


def contract_price(list_rate: Decimal, factors: Iterable[RateFactor], layers: Layers) -> ContractPrice:
    """Return the price of one unit: the list rate by the factor or rate that wins, then at most, then at least.

    `list_rate` is after markup; `factors` are those of conditions, which multiply it, and also a rate or bound that
    does not name them. Raises `UnclearError`.
    """
    factors = tuple(factors)
    amount = listed = _times(list_rate, factors, {})
    by = None
    if price := winner(layers, "price"):
        by = price
        amount = multiply(amount, price.times) if price.times is not None else _stated(price, factors)
    most, least = winner(layers, "at_most"), winner(layers, "at_least")
    if most and least and _stated(least, factors) > _stated(most, factors):
        first, second = sorted((most, least), key=lambda one: _line(one.source))
        words = f"{second.kind} {text(second.amount or Decimal(0))} and {first.kind} {text(first.amount or Decimal(0))}"
        raise UnclearError(second, f"{words} ({first.source}) contradict each other: at_least is above at_most")
    if most and amount > _stated(most, factors):
        amount, by = _stated(most, factors), most
    if least and amount < _stated(least, factors):
        amount, by = _stated(least, factors), least
    return ContractPrice(plain(amount), by, plain(listed))


def _stated(override: Override, factors: Iterable[RateFactor]) -> Decimal:
    return _times(override.amount or Decimal(0), factors, override.target.conditions)


def _times(amount: Decimal, factors: Iterable[RateFactor], named: Mapping[str, object]) -> Decimal:
    """An amount times the factors of conditions that are not named."""
    for factor in factors:
        if factor.conditions.keys().isdisjoint(named):
            amount = multiply(amount, factor.factor)
    return amount
