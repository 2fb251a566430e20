"""The contract that an account has at an instant, and the models that it cannot use."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache

from ratecard.base.errors import UnknownContractError
from ratecard.base.instants import utc
from ratecard.base.suggestions import did_you_mean
from ratecard.contracts.overlay import ContractChain, Later
from ratecard.tables.card import Tables
from ratecard.tables.contract import Contract, Override
from ratecard.tables.selection import OverrideTarget, names_of_model

# The most chains of contracts for which the withheld models are cached.
_MOST_WITHHELD = 1024


def chain_of(contract: Contract, contracts: Mapping[str, Contract]) -> ContractChain:
    """Return a contract, the contract that it extends, and so on; a circle ends before it repeats."""
    chain, names = [contract], {contract.contract}
    while (name := chain[-1].extends) is not None and name in contracts and name not in names:
        chain.append(contracts[name])
        names.add(name)
    return chain


class ContractsInForce:
    """The contracts of tables: by account and instant, and the models that they keep for themselves."""

    def __init__(self, tables: Tables) -> None:
        self._tables, self._contracts = tables, tables.contracts
        self._withheld = lru_cache(_MOST_WITHHELD)(self._withheld_by)
        self._models_of: dict[tuple[object, ...], tuple[str, ...]] = {}

    @cached_property
    def of_accounts(self) -> Mapping[str, list[Contract]]:
        """Return the contracts of each account."""
        contracts: dict[str, list[Contract]] = {}
        for contract in self._contracts.values():
            for account in contract.accounts:
                contracts.setdefault(account, []).append(contract)
        return contracts

    def named(self, name: str) -> Contract:
        """Return a contract by its name. Raises `UnknownContractError`."""
        if name not in self._contracts:
            near = did_you_mean(name, self._contracts)
            raise UnknownContractError(f"no contract '{name}'.{near} Name a contract of the tables")
        return self._contracts[name]

    def of_account(self, account: str, instant: datetime) -> Contract | None:
        """Return the contract of an account at an instant; of two, the one that extends the other."""
        held = [contract for contract in self.of_accounts.get(account, ()) if contract.holds(instant)]
        return max(held, key=lambda contract: len(chain_of(contract, self._contracts)), default=None)

    def knows(self, account: str) -> bool:
        """Return True for an account that has a contract, now or at another time."""
        return account in self.of_accounts

    def later(self, contract: str | None, account: str | None, instant: datetime) -> Later:
        """Return the later instants at which terms begin or end, each with what holds from then on."""
        later = []
        for at in sorted(boundary for boundary in self.boundaries(contract, account) if boundary > instant):
            first = self.named(contract) if contract is not None else self.of_account(account or "", at)
            chain = self.chain(first, at)
            later.append((at, tuple(link.contract for link in chain), self.withheld(chain)))
        return tuple(later)

    def chain(self, contract: Contract | None, instant: datetime) -> ContractChain:
        """Return the contracts of a chain that hold at an instant; empty if the first one does not hold."""
        if contract is None or not contract.holds(instant):
            return ()
        return tuple(link for link in chain_of(contract, self._contracts) if link.holds(instant))

    def withheld(self, chain: ContractChain) -> frozenset[str]:
        """Return the models that these contracts cannot use: those kept for others, and those that they close."""
        if not chain:
            return self.kept
        return self._withheld(tuple(contract.contract for contract in chain))

    def _withheld_by(self, names: Sequence[str]) -> frozenset[str]:
        overrides = [override for name in names for override in self._contracts[name].overrides]
        closed = [override for override in overrides if override.closed]
        # Models that a contract names can be used, as can those that it keeps.
        used = [override for override in overrides if override.only or (override.target.model and not override.closed)]
        return (self.kept - self._named_by(used)) | self._named_by(closed)

    @cached_property
    def kept(self) -> frozenset[str]:
        """Return the models that contracts keep for themselves at any instant, so that no date reveals a contract."""
        overrides = (override for contract in self._contracts.values() for override in contract.overrides)
        return self._named_by(override for override in overrides if override.only)

    def _named_by(self, overrides: Iterable[Override]) -> frozenset[str]:
        return frozenset(name for override in overrides for name in self.models_of(override.target))

    def models_of(self, target: OverrideTarget) -> tuple[str, ...]:
        """Return the models that a target names; they are found once for all targets of the same families and types."""
        if target.model:
            return tuple(name for name in target.model if name in self._tables.models)
        key = (target.family, target.type, target.excluded)
        if key not in self._models_of:
            named = (names_of_model(model, self._tables.families) for model in self._tables.models.values())
            self._models_of[key] = tuple(str(names["model"]) for names in named if target.fits(names))
        return self._models_of[key]

    def boundaries(self, contract: str | None, account: str | None = None) -> set[datetime]:
        """Return when a contract, or every contract of an account, and those that they extend begin and end."""
        contracts = self.of_accounts.get(account or "", ()) if contract is None else [self.named(contract)]
        links = [link for first in contracts for link in chain_of(first, self._contracts)]
        return {utc(day) for link in links for day in (link.begins, link.until) if day is not None}
