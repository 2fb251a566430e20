"""Lay a contract over the tables: the same models, whose versions have the rates of the contract.

Its rates are ordinary lines of tables, so the code that compiles, resolves and lists rates does not know contracts. A
line is split if an override is for only some of its values; and if overrides name conditions that the list prices by
factors, each combination of these conditions gets a line of its own.

For each rate one override wins: those of the contract itself come first, and those of the contract that it extends are
used where it has none. If two match, the one that names more wins; the order of the file means nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any, NamedTuple, cast

from ratecard.base.errors import Fault, TableError
from ratecard.base.instants import utc
from ratecard.base.money import multiply, plain, text
from ratecard.line_items.conditions import RateResolver
from ratecard.tables.card import AnyModel, ModelsOnDemand, Tables, digest, meaning, same_prices
from ratecard.tables.contract import Contract, Override
from ratecard.tables.metered import BEGINS, CONTEXT, MeteredVersion
from ratecard.tables.meters import Meters
from ratecard.tables.rate import WINDOW, Charge, Conditioned, ListRate, Rate, RateFactor, domains_of, less
from ratecard.tables.selection import OverrideTarget, names_of_model
from ratecard.tables.version import Retirement, Version

# A contract, then those that it extends.
ContractChain = Sequence[Contract]
# Instants, each with the names of the contracts that hold from then on, and the models that are withheld by them.
Later = tuple[tuple[datetime, tuple[str, ...], frozenset[str]], ...]
# The overrides of each contract of a chain that are for one rate.
Layers = Sequence[Sequence[Override]]


class UnclearError(Exception):
    """Two overrides without a winner, or a lower bound above the upper one: (the second override, message)."""

    def __init__(self, override: Override, message: str) -> None:
        super().__init__(override, message)
        self.override, self.message = override, message


def winner(layers: Layers, group: str) -> Override | None:
    """Return the winning override of a group; None if no override is in the group. Raises `UnclearError`."""
    for layer in layers:
        rivals = [override for override in layer if override.group == group]
        if rivals:
            return _most_specific(rivals)
    return None


def _most_specific(rivals: Sequence[Override]) -> Override:
    best = rivals[0]
    for rival in rivals[1:]:
        if rival.rank.above(best.rank):
            best = rival
    for rival in rivals:
        if rival is not best and not best.rank.above(rival.rank):
            first, second = sorted((best, rival), key=lambda override: _line(override.source))
            words = f"{second.kind} and {first.kind} ({first.source}) apply to the same rate, and neither names more"
            raise UnclearError(second, f"{words}. Name more in one of them, or leave one out by except")
    return best


def _line(source: str) -> tuple[str, int]:
    file, _, line = source.rpartition(":")
    return file, int(line or 0)


def contract_price(
    list_rate: Decimal, factors: Sequence[RateFactor], layers: Layers
) -> tuple[Decimal, Override | None, Decimal]:
    """Return the price of one unit, the override that sets it (or None), and the price in the list.

    The winning factor or rate is applied first, then `at_most`, then `at_least`. `list_rate` is after markup. `factors`
    are those of conditions: they multiply it, and a rate or bound that does not name them. Raises `UnclearError`.
    """
    amount = listed = _times(list_rate, factors, {})
    if override := winner(layers, "price"):
        amount = multiply(amount, override.times) if override.times is not None else _stated(override, factors)
    most, least = winner(layers, "at_most"), winner(layers, "at_least")
    if most and least and _stated(least, factors) > _stated(most, factors):
        first, second = sorted((most, least), key=lambda bound: _line(bound.source))
        words = f"{second.kind} {text(_stated(second, ()))} and {first.kind} {text(_stated(first, ()))}"
        raise UnclearError(second, f"{words} ({first.source}) contradict each other: at_least is above at_most")
    if most and amount > _stated(most, factors):
        amount, override = _stated(most, factors), most
    if least and amount < _stated(least, factors):
        amount, override = _stated(least, factors), least
    return plain(amount), override, plain(listed)


def _stated(override: Override, factors: Iterable[RateFactor]) -> Decimal:
    return _times(override.amount or Decimal(0), factors, override.target.conditions)


def _times(amount: Decimal, factors: Iterable[RateFactor], named: Mapping[str, object]) -> Decimal:
    """Multiply an amount by the factors of conditions that are not named."""
    for factor in factors:
        if factor.conditions.keys().isdisjoint(named):
            amount = multiply(amount, factor.factor)
    return amount


# Attributes of tiers and hours: a rate has them only if it names them.
_NAMED_ALONE = (*BEGINS, *WINDOW)


def tables_under(
    tables: Tables, chain: ContractChain, withheld: frozenset[str] = frozenset(), later: Later = ()
) -> Tables:
    """Return the tables as the accounts of a contract see them; without a chain, those of the list.

    Models that are `withheld` are left out. Contracts that hold `later` make versions of their own, so that changes of
    price can be announced. A model is made at its first look-up.
    """
    view = copy(tables)
    models: Mapping[str, AnyModel] = tables.models
    if withheld:
        models = {name: _without_successor(model, withheld) for name, model in models.items() if name not in withheld}
        aliases = {alias: name for alias, name in tables.aliases.items() if name in models}
        patterns = tuple(pattern for pattern in tables._patterns if pattern[1] in models)
        _set(view, aliases=aliases, _patterns=patterns, models=models, digest=tables.digest)
    if chain or later:
        _set(view, models=ModelsOnDemand(models, lambda name: model_under(models[name], tables, chain, later)))
    if chain:
        digits = digest([tables.digest, *(f"{index} {meaning(contract)}" for index, contract in enumerate(chain))])
        _set(view, digest=digits, contract=chain[0].contract, list_tables=tables)
    return view


def _without_successor(model: AnyModel, withheld: frozenset[str]) -> AnyModel:
    if model.retired is None or model.retired.successor not in withheld:
        return model
    return model.model_copy(update={"retired": model.retired.model_copy(update={"successor": None})})


def _set(view: Tables, **parts: Any) -> None:
    for name, value in parts.items():
        object.__setattr__(view, name, value)


def layers_of(chain: ContractChain, model: AnyModel, families: Mapping[str, str]) -> Layers:
    """Return, for each contract of a chain, the overrides that apply to a model; `families` has the family of each."""
    named = names_of_model(model, families)
    return [[override for override in contract.overrides if override.target.fits(named)] for contract in chain]


def model_under(model: AnyModel, tables: Tables, chain: ContractChain, later: Later = ()) -> AnyModel:
    """Return a model with the prices of a contract; the model itself if the contract has no prices for it.

    Versions without a price within the term keep those of the list, so overrides cannot be unclear for them.
    Raises `TableError` if a candidate has brought overrides together that contradict each other.
    """
    chains = [chain, *([tables.contracts[name] for name in names] for _, names, _ in later)]
    layers = [layers_of(contracts, model, tables.families) for contracts in chains]
    if not any(layer for layers_of_chain in layers for layer in layers_of_chain):
        return model
    try:
        versions, *others = map(partial(_versions_under, model, tables), chains, layers)
        for (at, _, withheld), later_versions in zip(later, others, strict=True):
            # Models that the account can no longer use then have no prices. A model needs a version.
            begun = () if model.model in withheld else _from(at, later_versions, versions, model)
            versions = [*begun, *_until(at, versions)] or versions
    except UnclearError as error:
        file, _, line = error.override.source.rpartition(":")
        name = next(contract.contract for contract in tables.contracts.values() if error.override in contract.overrides)
        raise TableError([Fault(file, int(line), (name,), f"{model.model}: {error.message}")]) from None
    # The end of its access is announced to an account like a retirement.
    end = next((at for at, _, withheld in later if model.model in withheld), None)
    ended = {} if end is None or model.retired_at(end) else {"retired": Retirement(on=end.date())}
    return model.model_copy(update={"versions": tuple(versions), **ended})


def _versions_under(model: AnyModel, tables: Tables, chain: ContractChain, layers: Layers) -> list[Version]:
    if not any(layers):
        return list(model.versions)
    versions: list[Version] = []
    terms = [{span.version.begins for span in in_term(model, contract)} for contract in chain]
    for version in model.versions:
        held = [layer for layer, term in zip(layers, terms, strict=True) if version.begins in term]
        versions.append(version_under(version, held, tables.meters) if version.begins in terms[0] else version)
    return versions


def _until(at: datetime, versions: Iterable[Version]) -> Iterator[Version]:
    return (version for version in versions if version.begins < at)


def _from(at: datetime, versions: Sequence[Version], before: Sequence[Version], model: AnyModel) -> Iterator[Version]:
    """Yield the versions from an instant on, newest first; the one in effect then begins there if its prices differ."""
    yield from (version for version in versions if version.begins >= at)
    in_effect = next(_until(at, versions), None)
    replaced = next(_until(at, before), None)
    has_other = model.retired_at(at) or any(version.begins == at for version in versions)
    if in_effect and replaced and not (has_other or same_prices(in_effect, replaced)):
        # The account knew these terms when its contract was signed, so the change was announced with the prices.
        announced = in_effect.announced or in_effect.begins.date()
        yield in_effect.model_copy(update={"effective": at.date(), "announced": announced})


class VersionSpan(NamedTuple):
    """A version, and the time in which it has a price in a term; `until` is excluded, or None without an end."""

    version: Version
    since: datetime
    until: datetime | None


def in_term(model: AnyModel, contract: Contract) -> Iterator[VersionSpan]:
    """Yield the versions of a model that have a price in the term of a contract."""
    last = [utc(day) for day in (contract.until, model.retired.on if model.retired else None) if day]
    ends = [None, *(version.begins for version in model.versions[:-1])]
    for version, end in zip(model.versions, ends, strict=True):
        begins = max(utc(contract.begins), version.begins)
        until = min([*last, *([end] if end else [])], default=None)
        if until is None or begins < until:
            yield VersionSpan(version, begins, until)


def version_under(version: Version, layers: Layers, meters: Meters) -> Version:
    """Return a version with the rates of a contract. Raises `UnclearError`."""
    charges = tuple(_charge_under(charge, version, layers, meters) for charge in version.charges)
    changed: dict[str, Any] = {"charges": charges}
    if isinstance(version, MeteredVersion) and version.minimum is not None:
        model_layers = [[override for override in layer if override.target.of_whole_models] for layer in layers]
        price = winner(model_layers, "price")
        if price and price.times is not None:
            changed |= {"minimum": plain(multiply(version.minimum, price.times)), "minimum_place": price.source}
    return version.model_copy(update=changed)


def inside(
    target: OverrideTarget, charge: Charge, rate: Rate, version: Version, meters: Meters
) -> Mapping[str, Any] | None:
    """Return the attributes of the part of a rate that a target matches; None if it matches no part.

    Conditions that the rate does not name are left to `_by_conditions`.
    """
    if target.of_whole_models:
        return rate.attributes
    if target.charge and charge.charge not in target.charge:
        return None
    attributes: dict[str, tuple[str, ...]] = dict(rate.attributes)
    has = {**charge.implied(rate), **rate.attributes}
    for name, wanted in target.conditions.items():
        if name in has or name in _NAMED_ALONE:
            values = has.get(name, ())
        elif isinstance(charge, Conditioned) and name in meters.condition:
            default = meters.condition[name].default
            priced = version.conditions_of(charge)
            if name in priced and not {*priced[name], default}.isdisjoint(wanted):
                continue
            values = ()
        else:
            values = domains_of(version, charge).get(name, ())
        shared = tuple(value for value in values if value in wanted)
        if not shared:
            return None
        if name != CONTEXT or CONTEXT in rate.attributes:
            attributes[name] = shared
    return attributes


class _Line(NamedTuple):
    """A rate, or a part of one, with the overrides that apply to it under their conditions."""

    rate: Rate
    layers: Layers


def _charge_under(charge: Charge, version: Version, layers: Layers, meters: Meters) -> Charge:
    lines = list(_split(charge, version, layers, meters))
    overrides = [(line, override) for line in lines for layer in line.layers for override in layer]
    if not overrides:
        return charge
    names = _conditions_to_write(charge, version, overrides)
    if names and isinstance(charge, Conditioned):
        rates = list(_by_conditions(charge, cast(MeteredVersion, version), lines, names, meters))
    else:
        rates = [_priced(charge, line.rate, (), line.layers) for line in lines]
    return charge.model_copy(update={"rates": tuple(rates), "markup": Decimal(1)})


def _split(charge: Charge, version: Version, layers: Layers, meters: Meters) -> Iterator[_Line]:
    """Yield the lines of a charge, split so that the same overrides apply to all values of a line."""

    def parts(line: _Line, number: int, override: Override) -> Iterator[_Line]:
        """Yield the part of a line to which an override applies, and the rest of the line."""
        attributes = inside(override.target, charge, line.rate, version, meters)
        if attributes is None:
            yield line
            return
        is_whole = attributes == line.rate.attributes
        part = line.rate if is_whole else line.rate.model_copy(update={"attributes": attributes})
        yield _Line(part, [[*layer, override] if index == number else layer for index, layer in enumerate(line.layers)])
        if not is_whole:
            rests = less(line.rate, [part], domains_of(version, charge))
            yield from (_Line(rest, line.layers) for rest in rests)

    for rate in charge.rates:
        lines = [_Line(rate, [[] for _ in layers])]
        for number, layer in enumerate(layers):
            for override in layer:
                lines = [part for line in lines for part in parts(line, number, override)]
        yield from lines


def _priced(charge: Charge, rate: Rate, factors: Sequence[RateFactor], layers: Layers) -> Rate:
    """Return a rate of a charge with the price of a contract, after markup and these factors."""
    amount, override, listed = contract_price(charge.unit_rate(rate), factors, layers)
    if override is None:
        return rate.model_copy(update={"rate": amount})
    return rate.model_copy(update={"rate": amount, "source": override.source, "listed": ListRate(listed, rate.source)})


# The functions below are for conditions that the list prices by factors, and that an override names.


def _conditions_to_write(charge: Charge, version: Version, overrides: Iterable[tuple[_Line, Override]]) -> set[str]:
    """Return the conditions that overrides name but some of their rates do not, and those of the same factors."""
    named = {name for line, override in overrides for name in override.target.conditions.keys() - line.rate.attributes}
    names = named - {*charge.ATTRIBUTES, *WINDOW}
    factors, before = (*charge.multipliers, *version.multipliers), -1
    while names and len(names) != before:
        before = len(names)
        names |= {name for factor in factors if not names.isdisjoint(factor.conditions) for name in factor.conditions}
    return names


def _by_conditions(
    charge: Conditioned, version: MeteredVersion, lines: Sequence[_Line], names: set[str], meters: Meters
) -> Iterator[Rate]:
    """Yield the lines of a charge for each combination of these conditions that is sold.

    All of its lines name these conditions, so the same line wins for a request as in the list. The default of a
    condition is not written where the list does not name the condition.
    """
    resolver, domains = RateResolver(charge, meters, version.factors), domains_of(version, charge)
    factors = [factor for factor in (*charge.factors, *version.factors) if not names.isdisjoint(factor.conditions)]
    for line in lines:
        named, refused = charge.conditions_of(line.rate), False
        unnamed = [factor for factor in factors if factor.conditions.keys().isdisjoint(named)]
        other_attributes = {name: values for name, values in line.rate.attributes.items() if name not in names}
        for values in product(*(named.get(name) or _values(name, resolver, meters) for name in sorted(names))):
            full = dict(zip(sorted(names), values, strict=True))
            written = {
                name: value for name, value in full.items() if name in named or value != meters.condition[name].default
            }
            # The values that a rate names of other conditions do not affect what is sold, so one of them is enough.
            stated = {name: full.get(name, named_values[0]) for name, named_values in named.items()}
            if resolver.factored(line.rate, stated, full).unmet:
                refused = True
                continue
            held = [factor for factor in unnamed if factor.conditions.items() <= full.items()]
            layers = [[override for override in layer if _holds(override.target, full)] for layer in line.layers]
            attributes = other_attributes | {name: (value,) for name, value in written.items()}
            rate = line.rate.model_copy(update={"attributes": attributes})
            rivals = [
                _bare(other.rate, names) for other in lines if _names_more(other.rate, line.rate, charge, full, written)
            ]
            for part in less(rate, rivals, domains):
                yield _priced(charge, part, held, layers)
        if refused and any(meters.condition[name].default is None for name in names - named.keys()):
            yield line.rate.model_copy(update={"rate": charge.unit_rate(line.rate)})


def _values(name: str, resolver: RateResolver, meters: Meters) -> Sequence[str]:
    """Return the values of a condition that have a price, and its default, in the order of meters.yaml."""
    priced = resolver.named.get(name, set())
    condition = meters.condition[name]
    return [value for value in condition.values if value in priced or value == condition.default]


def _holds(target: OverrideTarget, full: Mapping[str, str]) -> bool:
    return all(full[name] in wanted for name, wanted in target.conditions.items() if name in full)


def _names_more(
    other: Rate, rate: Rate, charge: Conditioned, full: Mapping[str, str], written: Mapping[str, str]
) -> bool:
    """Return True if `other` has the tier and hours of `rate`, and the list would take it under these conditions."""
    if any(other.attributes.get(name) != rate.attributes.get(name) for name in _NAMED_ALONE):
        return False
    more, conditions = charge.conditions_of(other), charge.conditions_of(rate)
    is_more = more.keys() > conditions.keys() and more.keys() - conditions.keys() <= written.keys()
    return is_more and all(full[name] in values for name, values in more.items() if name in full)


def _bare(rate: Rate, names: Iterable[str]) -> Rate:
    kept = {name: values for name, values in rate.attributes.items() if name not in names}
    return rate.model_copy(update={"attributes": kept})
