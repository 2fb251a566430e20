"""Faults of contracts against the tables: names that match nothing, and overrides that contradict others.

The end of an override whose models are retired is not a fault: `ContractChecks.ending` says when it ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations, product

from ratecard.base.errors import Fault
from ratecard.base.instants import utc
from ratecard.base.messages import plural
from ratecard.base.money import no_currency
from ratecard.base.suggestions import did_you_mean, meant_or_allowed
from ratecard.contracts.accounts import ContractsInForce, chain_of
from ratecard.contracts.overlay import (
    ContractChain,
    UnclearError,
    VersionSpan,
    in_term,
    inside,
    layers_of,
    version_under,
)
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.contract import ACCESS, BOUNDS, Contract, Override
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Charge, Rate, domains_of
from ratecard.tables.selection import OverrideTarget, known_names, names_of_model
from ratecard.tables.version import Version

# A charge, and its version.
VersionCharge = tuple[Version, Charge]
# The most models that a message names.
_NAMED = 3


def contract_faults(tables: Tables) -> list[Fault]:
    """Return the faults of the contracts of these tables, each at its line."""
    checks = ContractChecks(tables)
    faults = [fault for contract in tables.contracts.values() for fault in checks.of(contract)]
    in_force = ContractsInForce(tables)
    return [*faults, *_two_of_one_account(in_force, tables.contracts), *_kept_for_nobody(in_force, tables)]


def fault_at(place: str, name: str, words: str) -> Fault:
    """Make the fault of a contract or a model, at its `file:line`."""
    file, _, line = place.rpartition(":")
    return Fault(file, int(line or 1), (name,), words)


def _two_of_one_account(in_force: ContractsInForce, contracts: Mapping[str, Contract]) -> Iterator[Fault]:
    for account, signed in in_force.of_accounts.items():
        for one, other in combinations(sorted(signed, key=lambda contract: (contract.begins, contract.place)), 2):
            until = utc(one.until) if one.until else None
            chains = [{link.contract for link in chain_of(contract, contracts)} for contract in (one, other)]
            extends = one.contract in chains[1] or other.contract in chains[0]
            if other.overlaps(utc(one.begins), until) and not extends:
                words = f"account '{account}' has contract '{one.contract}' ({one.place}) from {one.begins} too"
                hint = f"Let one end first, or write extends: {one.contract}"
                yield fault_at(other.place, other.contract, f"{words}: two at one instant. {hint}")


def _kept_for_nobody(in_force: ContractsInForce, tables: Tables) -> Iterator[Fault]:
    """Yield a fault for each `only` of a model that no contract with accounts can use."""
    contracts, unused = tables.contracts.values(), set(in_force.kept)
    for contract in contracts:
        if unused and contract.accounts:
            unused &= in_force.withheld(chain_of(contract, tables.contracts))
    for name, contract in product(sorted(unused), contracts):
        for override in contract.overrides:
            if override.only and name in in_force.models_of(override.target):
                words = f"only keeps {name} from everyone: no contract with accounts has a price for it"
                yield fault_at(override.source, contract.contract, f"{words}. Name accounts, or leave out closed")


class ContractChecks:
    """The checks of contracts, which find the models and rates of each target once."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known = known_names(tables.models, tables.families)
        self._named = [names_of_model(model, tables.families) for model in tables.models.values()]
        self._unmet: dict[str, str] = {}
        self._in_force = ContractsInForce(tables)

    def of(self, contract: Contract) -> Iterator[Fault]:
        """Yield the faults of a contract."""
        for place, words in (*self._head(contract), *self._targets(contract)):
            yield fault_at(place, contract.contract, words)
        chain = chain_of(contract, self._tables.contracts)
        unclear: dict[tuple[str, str], list[str]] = {}
        for model in self._unclear_models(chain):
            spans = in_term(model, contract)
            for version, held in ((span.version, held) for span in spans for held in _chains_held(chain, span)):
                try:
                    version_under(version, layers_of(held, model, self._tables.families), self._tables.meters)
                except UnclearError as error:
                    unclear.setdefault((error.override.source, error.message), []).append(model.model)
                    break
        for (place, words), names in unclear.items():
            further = f" and {plural(len(names) - 1, 'further model')}" if names[1:] else ""
            yield fault_at(place, contract.contract, f"{names[0]}{further}: {words}")

    def idle(self, contract: Contract, override: Override) -> str:
        """Say why an override matches no rate of its term; empty if it matches one."""
        models, charges = self.selected(override.target), self._charges(contract, override)
        if not charges:
            ended = next((model for model in models if model.retired), None)
            if ended and ended.retired:
                return f"meets nothing any more: {ended.model} is retired on {ended.retired.on}"
            return f"meets nothing: no model of {override.target} has a price in the term of the contract"
        words = never_met(override.target, charges, self._tables.meters)
        return words or self._withheld(contract, override, models)

    def listed(self, contract: Contract, override: Override) -> Iterator[Decimal]:
        """Yield the list prices, after markup, of the rates to which an override applies during its contract."""
        charges = self._charges(contract, override)
        yield from (charge.unit_rate(rate) for charge, rate in _met(override.target, charges, self._tables.meters))

    def _charges(self, contract: Contract, override: Override) -> list[VersionCharge]:
        spans = (in_term(model, contract) for model in self.selected(override.target))
        return [(span.version, charge) for of_model in spans for span in of_model for charge in span.version.charges]

    def _withheld(self, contract: Contract, override: Override, models: Sequence[AnyModel]) -> str:
        """Say that the contract cannot use any of these models in its whole term; empty if it can, or forbids it."""
        ends = contract.until
        chain = [
            link
            for link in chain_of(contract, self._tables.contracts)
            if link.begins <= contract.begins and (link.until is None or (ends is not None and ends <= link.until))
        ]
        withheld = self._in_force.withheld(chain)
        if override.group in ACCESS or any(model.model not in withheld for model in models):
            return ""
        return f"meets nothing: {models[0].model} is closed for this contract, or kept for others"

    def ending(self, contract: Contract, override: Override) -> str:
        """Say when an override ends before its contract, because all its models are retired; empty if it does not."""
        days = [model.retired.on if model.retired else None for model in self.selected(override.target)]
        last = None if None in days else max((day for day in days if day), default=None)
        if last is None or (contract.until is not None and last >= contract.until):
            return ""
        names = ", ".join(model.model for model in self.selected(override.target)[:_NAMED])
        if last > contract.begins:
            return f"ends on {last}: {names} retired"
        return f"meets nothing: {names} retired on {last}"

    def selected(self, target: OverrideTarget) -> tuple[AnyModel, ...]:
        """Return the models that a target names."""
        return tuple(self._tables.models[name] for name in self._in_force.models_of(target))

    def _head(self, contract: Contract) -> Iterator[tuple[str, str]]:
        contracts = self._tables.contracts
        if words := no_currency(contract.currency):
            yield contract.place, words
        if contract.extends is not None and contract.extends not in contracts:
            near = did_you_mean(contract.extends, contracts)
            words = f"extends '{contract.extends}', which is not a contract.{near} Name one of this folder"
            yield contract.place, words
        elif contract.extends is not None:
            last = chain_of(contract, contracts)[-1]
            if last.extends is not None and last.extends in contracts:
                yield contract.place, f"extends '{contract.extends}', which leads back to it. Leave one extends out"
        for example in contract.examples:
            if example.at is not None and not contract.holds(utc(example.at)):
                until = f" until {contract.until}" if contract.until else ""
                words = f"the contract is from {contract.begins}{until}. Write at within it"
                yield example.place, f"the example is at an instant without these prices: {words}"

    def _targets(self, contract: Contract) -> Iterator[tuple[str, str]]:
        for override in contract.overrides:
            messages = list(self._wrong_names(override.target))
            yield from ((override.source, words) for words in messages)
            if messages:
                continue
            if words := override.target.idle_except(self._named):
                yield override.source, words
                continue
            models = self.selected(override.target)
            if not models:
                yield override.source, f"matches nothing: no model is of {override.target}"
                continue
            if override.amount is not None:
                other = next((model for model in models if model.currency != contract.currency), None)
                if other:
                    words = f"is in {contract.currency}, and {other.model} in {other.currency}"
                    hint = f"Name models of {contract.currency}, or write currency: {other.currency} in the contract"
                    yield override.source, f"{override.kind} {words}. {hint}"
            surcharges = (model.model for model in models if model.type == "surcharge")
            if override.group in ACCESS and (name := next(surcharges, None)):
                words = f"{override.kind} of {name}, which text models may charge"
                yield override.source, f"{words}. Name the text models instead"
            if not override.target.of_whole_models and (words := self._never_met(override.target)):
                yield override.source, words

    def _wrong_names(self, target: OverrideTarget) -> Iterator[str]:
        for names in (target, *target.excluded):
            yield from (words for _, words in (*names.unclear(), *names.unknown(self._known)))

    def _never_met(self, target: OverrideTarget) -> str:
        key = target.model_dump_json()
        if key not in self._unmet:
            versions = [version for model in self.selected(target) for version in model.versions]
            charges = [(version, charge) for version in versions for charge in version.charges]
            self._unmet[key] = unknown_value(target, charges, self._tables.meters)
        return self._unmet[key]

    def _unclear_models(self, chain: ContractChain) -> list[AnyModel]:
        """Return the models for which two overrides might contradict each other; empty for most contracts."""
        models: dict[str, AnyModel] = {}
        for number, contract in enumerate(chain):
            inherited = (override for other in chain[number + 1 :] for override in other.overrides)
            bounds = [override for override in inherited if override.kind in BOUNDS]
            for one, other in (*combinations(contract.overrides, 2), *product(contract.overrides, bounds)):
                if _may_contradict(one, other, one_layer=other not in bounds) and not _apart(one.target, other.target):
                    names = {model.model for model in self.selected(other.target)}
                    models |= {model.model: model for model in self.selected(one.target) if model.model in names}
        return list(models.values())


def meets(target: OverrideTarget, charges: Iterable[VersionCharge], meters: Meters) -> bool:
    """Return True if a target matches a rate of these charges, or a part of one."""
    return any(True for _ in _met(target, charges, meters))


def _met(target: OverrideTarget, charges: Iterable[VersionCharge], meters: Meters) -> Iterator[tuple[Charge, Rate]]:
    """Yield each rate that a target matches, whole or in part, with its charge."""
    for version, charge in charges:
        for rate in charge.rates:
            if inside(target, charge, rate, version, meters) is not None:
                yield charge, rate


def never_met(target: OverrideTarget, charges: Sequence[VersionCharge], meters: Meters) -> str:
    """Say why a target matches no rate of these charges; empty if it matches one."""
    if meets(target, charges, meters):
        return ""
    names = list(dict.fromkeys(charge.charge for _, charge in charges))
    for name in target.charge or ():
        if name not in names:
            return f"matches nothing: {target} has no charge '{name}'.{meant_or_allowed(name, names)}"
    named = ", ".join(f"{name}: {' | '.join(values)}" for name, values in target.conditions.items())
    words = f"matches nothing: no rate{f' of {target}' if str(target) else ''} is for {named}"
    return f"{words}.{_meant(target, charges, meters)} Name what its rates or factors name"


def unknown_value(target: OverrideTarget, charges: Sequence[VersionCharge], meters: Meters) -> str:
    """Say which value of a target's conditions matches no rate, or why the target does not; empty if all match.

    A misspelt value in a list would otherwise go unnoticed beside the others.
    """
    conditions = target.conditions
    alone = [{**conditions, name: (value,)} for name, values in conditions.items() for value in values] or [conditions]
    targets = (target.model_copy(update={"conditions": values}) for values in alone)
    return next(filter(None, (never_met(one, charges, meters) for one in targets)), "")


def _meant(target: OverrideTarget, charges: Iterable[VersionCharge], meters: Meters) -> str:
    """Suggest known words for the first condition of a target, or value of one, that these charges do not know."""
    known: dict[str, dict[str, None]] = {}
    for version, charge in charges:
        priced = version.conditions_of(charge).items()
        of_rates = ({**charge.implied(rate), **rate.attributes} for rate in charge.rates)
        named: list[Mapping[str, Iterable[str]]] = [*of_rates, domains_of(version, charge)]
        named.append({name: [*sorted(values), *_default(name, meters)] for name, values in priced})
        for name, values in (condition for conditions in named for condition in conditions.items()):
            known.setdefault(name, {}).update(dict.fromkeys(values))
    for name, wanted in target.conditions.items():
        if name not in known:
            return f"{meant_or_allowed(name, known)}." if known else ""
        for value in wanted:
            if value not in known[name]:
                return f"{meant_or_allowed(value, known[name])}."
    return ""


def _default(name: str, meters: Meters) -> tuple[str, ...]:
    condition = meters.condition.get(name)
    return (condition.default,) if condition and condition.default else ()


def _may_contradict(one: Override, other: Override, *, one_layer: bool) -> bool:
    if one.group == other.group and one.group not in ACCESS:
        return one_layer and not (one.rank.above(other.rank) or other.rank.above(one.rank))
    bounds = {override.group: override for override in (one, other)}
    if bounds.keys() != {*BOUNDS}:
        return False
    least, most = bounds["at_least"], bounds["at_most"]
    same_conditions = least.target.conditions.keys() == most.target.conditions.keys()
    return not same_conditions or (least.amount or 0) > (most.amount or 0)


def _apart(one: OverrideTarget, other: OverrideTarget) -> bool:
    """Return True if no rate can match both targets, whatever the tables say."""
    if any(set(values).isdisjoint(other.conditions.get(name, values)) for name, values in one.conditions.items()):
        return True
    parts = ((getattr(one, part), getattr(other, part)) for part in ("model", "family", "type", "charge"))
    return any(values and others and set(values).isdisjoint(others) for values, others in parts)


def _chains_held(chain: ContractChain, span: VersionSpan) -> Iterator[ContractChain]:
    """Yield the contracts of a chain that hold at the start of a span, and each time one begins or ends within it."""
    edges = {utc(day) for contract in chain for day in (contract.begins, contract.until) if day}
    for at in sorted({span.since, *edges}):
        if span.since <= at and (span.until is None or at < span.until):
            yield [contract for contract in chain if contract.holds(at)]
