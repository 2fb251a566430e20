"""The rate card: all tables at one digest, and the price book of any instant."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ratecard.base.errors import Fault, InstantError, TableError
from ratecard.base.instants import utc
from ratecard.examples import Worked, faults_of, work, work_contract_example, work_version
from ratecard.load.folder import load_tables
from ratecard.price_book import PriceBook
from ratecard.pricing.compiler import Compiler
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.models import Models
from ratecard.tables.version import Version
from ratecard.tables.windows import Window, changes_between, windows_of

if TYPE_CHECKING:
    from ratecard.candidates.file import CandidateFile
    from ratecard.contracts.accounts import ContractsInForce
    from ratecard.contracts.overlay import ContractChain, Later
    from ratecard.tables.contract import Contract


# The number of recently used contracts whose compiled prices are kept. There may be ten thousand contracts.
MOST_CONTRACTS = 256


def load_rate_card(folder: str | Path | None = None) -> "RateCard":
    """Load the rate card of a folder of tables; of the shipped tables if `folder` is left out.

    Raises `TableError` with every fault of the folder, each with its `file:line`. Examples are not worked yet: a
    version is proved by its own examples before its first price, and raises `TableError` then.

    >>> load_rate_card().at(date(2026, 10, 1)).quote_video(b'{"model": "ovi-image-to-video"}').to_json()
    b'{"quote":0.22}'
    """
    return RateCard(load_tables(folder))


class RateCard:
    """All tables at one digest. Immutable; `at(instant)` gives the prices in effect then.

    Before its first price, a version is proved by its own examples: if the rates contradict one, `TableError` says so
    with its `file:line`, and the version has no price. `base` is the card under a candidate; `proves=False` skips the
    proof.
    """

    def __init__(
        self,
        tables: Tables,
        *,
        base: "RateCard | None" = None,
        compiler: Compiler | None = None,
        proves: bool = True,
    ) -> None:
        self.tables, self._compiler, self._base, self._proves = tables, compiler or Compiler(tables), base, proves
        # The wrong examples of each proved version, by model and effective date: a digest leaves examples out.
        self._proved: dict[tuple[str, date], tuple[Fault, ...]] = {}
        # One compiler for each recently used contract, with the contracts that it extends and the models it cannot use.
        self._compiler_under = lru_cache(MOST_CONTRACTS)(self._made_compiler_under)
        self._proved_contracts: dict[str, tuple[Fault, ...]] = {}

    def __repr__(self) -> str:
        candidate = "" if self._base is None else ", with a candidate"
        return f"<RateCard {self.digest}, {len(self.tables.models)} models{candidate}>"

    @property
    def digest(self) -> str:
        """Return 16 hexadecimal digits for the meaning of the tables; order, comments and line numbers do not count."""
        return self.tables.digest

    @cached_property
    def models(self) -> Models:
        """Return the models by id, each with its newest version; `at(instant).models()` has those with a price then.

        >>> load_rate_card().models["ovi-image-to-video"].rates[0].source
        'video/ovi.yaml:22'
        """
        return Models(self.tables, self.prove)

    def with_candidate(self, path: str | Path) -> "RateCard":
        """Lay the candidate of a file over this card and return the new card; this one does not change.

        Candidates can be stacked. Raises `TableError` with every fault of the candidate, including changes that match
        nothing or have no effect.
        """
        from ratecard.candidates.file import read_candidate  # imported here, because no quote needs it

        return self._overlaid(read_candidate(path))

    def _overlaid(self, file: "CandidateFile", *, idle: bool = False) -> "RateCard":
        """Return the card under a candidate that was read already; `idle` allows changes that change nothing."""
        from ratecard.candidates.overlay import with_candidate

        return RateCard(with_candidate(self.tables, file, idle=idle), base=self)

    @property
    def _unproved(self) -> "RateCard":
        """Return the same card without the proof by examples: to work the examples themselves or to compare tables."""
        return RateCard(self.tables, base=self._base, compiler=self._compiler, proves=False)

    def prove(self, model: AnyModel, version: Version) -> None:
        """Work a version's own examples, once. Raises `TableError` if the rates contradict them.

        On a card with a candidate, the version below it is proved: `ratecard promote` proves the proposed prices.
        """
        if not self._proves:
            return
        if self._base is not None:
            base_model = self._base.tables.models.get(model.model)
            # There is no version below if the candidate adds the model.
            if base_model and (made_from := base_model.version_at(version.effective)):
                self._base.prove(base_model, made_from)
            return
        key = (model.model, version.effective)
        if key in self.tables.proposed:
            return
        if key not in self._proved:
            self._proved[key] = tuple(faults_of(work_version(self._compiler, model, version)))
        if self._proved[key]:
            raise TableError(self._proved[key])

    def prove_all(self) -> None:
        """Prove every version. Raises `TableError` with every example that the rates contradict."""
        faults: list[Fault] = []
        for model in self.tables.models.values():
            for version in model.versions:
                try:
                    self.prove(model, version)
                except TableError as error:
                    faults += error.faults
        if faults:
            raise TableError(faults)

    def boundaries(self, *, contract: str | None = None, account: str | None = None) -> tuple[datetime, ...]:
        """Return the instants (UTC, rising) at which a price or limit begins, changes or ends, and so the price book.

        They are those of the list; with a `contract` or an `account`, also those at which its terms begin and end.
        Raises what `at` raises for these.
        """
        _check_party(contract, account)
        of_terms = contract is not None or account is not None
        terms = self.in_force.boundaries(contract, account) if of_terms else ()
        return tuple(sorted({*self.tables.boundaries(), *terms}))

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """Return the windows of hours and weekdays that some rate names."""
        return windows_of(version for model in self.tables.models.values() for version in model.versions)

    def changes_between(
        self, first: datetime, end: datetime, *, contract: str | None = None, account: str | None = None
    ) -> list[datetime]:
        """Return the instants strictly between two others at which a price changes, also by the hours of its rates."""
        dated = (at for at in self.boundaries(contract=contract, account=account) if first < at < end)
        return sorted({*dated, *changes_between(self.windows, first, end)})

    @property
    def contracts(self) -> "Mapping[str, Contract]":
        """Return the contracts of the tables by their names."""
        return self.tables.contracts

    @cached_property
    def in_force(self) -> "ContractsInForce":
        """Return the contracts by account and instant, and the models that they keep for themselves."""
        from ratecard.contracts.accounts import ContractsInForce  # quotes of the list do not need it

        return ContractsInForce(self.tables)

    @cached_property
    def listed(self) -> "RateCard":
        """Return the list alone, with the models that contracts keep for themselves: discounts are computed from it."""
        tables = replace(self.tables, contracts={})
        return RateCard(tables, base=self._base, compiler=self._compiler, proves=self._proves)

    def contract_of(self, contract: str | None, account: str | None, instant: datetime) -> "Contract | None":
        """Return the contract that is named, or that an account has at an instant; None for the list.

        Raises `UnknownContractError`, and `ValueError` if both are named, or if the account is not text: it would get
        the prices of the list, whatever its contract says.
        """
        _check_party(contract, account)
        if contract is not None:
            return self.in_force.named(contract)
        return None if account is None else self.in_force.of_account(account, instant)

    def at(self, instant: datetime | date, *, contract: str | None = None, account: str | None = None) -> PriceBook:
        """Return the price book in effect at an aware instant; a date means its 00:00 UTC.

        With a `contract`, or that of an `account`, it has the prices of this contract: those of the list before its
        first day and after its last, and for an account without one. Raises `InstantError` for a datetime without a
        time zone and for anything else, `UnknownContractError` for a contract that is not in the tables, and
        `ValueError` for a contract and an account together.
        """
        if not isinstance(instant, date):
            raise InstantError(f"{instant!r} is not a datetime or a date")
        moment = utc(instant)
        if not self.tables.contracts and contract is None:
            return PriceBook(self._compiler, moment, self.prove)
        chain = self.in_force.chain(self.contract_of(contract, account, moment), moment)
        return self.under(chain, moment, self.in_force.later(contract, account, moment))

    def under(self, chain: "ContractChain", moment: datetime, later: "Later" = ()) -> PriceBook:
        """Return the price book of a contract, and of what it extends, at an instant in UTC.

        Its `later` prices are announced; they do not change any charge at the instant.
        """
        withheld = self.in_force.withheld(chain)
        if not (chain or withheld or later):
            return PriceBook(self._compiler, moment, self.prove)
        compiler = self._compiler_under(tuple(contract.contract for contract in chain), withheld, later)
        return PriceBook(compiler, moment, partial(self._prove_under, chain))

    def _made_compiler_under(self, names: Sequence[str], withheld: frozenset[str], later: "Later") -> Compiler:
        from ratecard.contracts.overlay import tables_under

        return Compiler(tables_under(self.tables, [self.contracts[name] for name in names], withheld, later))

    def work_all(self) -> Iterator[Worked]:
        """Work the examples of every version and of every contract."""
        yield from work(self._compiler)
        for contract in self.contracts.values():
            yield from self._unproved.work(contract)

    def work(self, contract: "Contract") -> Iterator[Worked]:
        """Work the examples of a contract, on its first day or at the instant that an example states."""
        for number, example in enumerate(contract.examples):
            book = self.at(example.at or contract.begins, contract=contract.contract)
            yield work_contract_example(book, contract.contract, number, example)

    def _prove_under(self, chain: "ContractChain", model: AnyModel, version: Version) -> None:
        """Prove a version of the list, and the examples of a contract, once."""
        listed = self.tables.models[model.model]
        self.prove(listed, listed.version_at(version.begins) or version)
        for contract in chain[:1] if self._proves else ():
            # Under a candidate, contracts of the tables follow the changed list: only the candidate's are proved.
            if self._base is not None and contract.contract in self._base.contracts:
                continue
            if contract.contract not in self._proved_contracts:
                self._proved_contracts[contract.contract] = tuple(faults_of(self._unproved.work(contract)))
            if self._proved_contracts[contract.contract]:
                raise TableError(self._proved_contracts[contract.contract])


def _check_party(contract: object, account: object) -> None:
    """Raise `ValueError` if a contract and an account are both named, or if one of them is not text."""
    if contract is not None and account is not None:
        raise ValueError("contract and account are both given. Leave one out")
    if contract is not None and not isinstance(contract, str):
        raise ValueError(f"contract={contract!r} is not text. Write the name of a contract")
    if account is not None and not isinstance(account, str):
        raise ValueError(f"account={account!r} is not text, as contracts name accounts. Write it as text")
