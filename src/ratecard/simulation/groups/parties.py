"""Accounts that have the same contracts on every card, and so the same prices: a party.

Usage is grouped by party: five hundred accounts of one contract have the shapes of one.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from ratecard.card import RateCard


class HeldContract(NamedTuple):
    """A contract of a card as far as usage is grouped by it: for whom it is, and when its terms begin or end."""

    name: str
    accounts: tuple[str, ...]
    boundaries: tuple[datetime, ...]


class Parties(NamedTuple):
    """The parties by their numbers; 0 is that of all accounts without a contract.

    `accounts` has one account of each (None of 0), `boundaries` when its terms begin or end, and `numbers` the party of
    each account that has a contract.
    """

    accounts: tuple[str | None, ...]
    boundaries: tuple[tuple[datetime, ...], ...]
    numbers: Mapping[str, int]


def held_contracts(card: RateCard) -> tuple[HeldContract, ...]:
    """Return the contracts of a card that are for some account."""
    return tuple(
        HeldContract(name, contract.accounts, tuple(sorted(card.in_force.boundaries(contract))))
        for name, contract in card.contracts.items()
        if contract.accounts
    )


def parties_of(contracts: Iterable[tuple[HeldContract, ...]]) -> Parties:
    """Return the parties of the contracts of some cards."""
    held_by: dict[str, list[tuple[int, str]]] = {}
    boundaries: dict[str, set[datetime]] = {}
    for number, held in enumerate(contracts):
        for contract in held:
            for account in contract.accounts:
                held_by.setdefault(account, []).append((number, contract.name))
                boundaries.setdefault(account, set()).update(contract.boundaries)
    accounts: list[str | None] = [None]
    numbers, same = dict[str, int](), dict[tuple[tuple[int, str], ...], int]()
    for account, names in sorted(held_by.items()):
        numbers[account] = same.setdefault(tuple(sorted(names)), len(accounts))
        if numbers[account] == len(accounts):
            accounts.append(account)
    edges = ((), *(tuple(sorted(boundaries[account])) for account in accounts if account is not None))
    return Parties(tuple(accounts), edges, numbers)
