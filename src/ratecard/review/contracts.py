"""The differences between the contracts of two cards, and which of these changes are refused.

A contract that has begun may not be edited, ended early or taken away without a `correction`; nor may a new one begin
in the past. What a correction changes is booked as a refund or a charge, in the month of the booking; old rows stay.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain

from ratecard.base.errors import Fault
from ratecard.base.instants import utc
from ratecard.base.money import text
from ratecard.card import RateCard
from ratecard.contracts.checks import ContractChecks, fault_at
from ratecard.contracts.overlay import layers_of
from ratecard.examples import Worked
from ratecard.notes import reached_by
from ratecard.review.difference import ADDED, CHANGED, OF_CONTRACT, REMOVED, Difference, factor
from ratecard.review.rates import Terms, term_changes
from ratecard.tables.card import Tables, meaning
from ratecard.tables.contract import Contract, Override
from ratecard.tables.monthly import Term, described_terms
from ratecard.tables.scalars import value_text
from ratecard.tables.selection import names_of_model

# A price of five times another, or a fifth, may be a slip: of the unit, or `factor: 0.2` for a discount of 20 %.
_FAR = Decimal(5)
_HINT = "say `correction: reason` in it; what was booked stays, and the difference is booked now"


def contract_refusals(old: RateCard, new: RateCard, as_of: datetime, revision: str) -> Iterator[Fault]:
    """Yield a fault for each change of contracts that is refused, at its line."""
    checks = ContractChecks(new.tables)
    for name, contract in new.contracts.items():
        before = old.contracts.get(name)
        if before is not None and _same(before, contract):
            continue
        for place, words in _of_change(before, contract, as_of):
            yield fault_at(place, name, words)
        for override in contract.overrides:
            if reason := checks.idle(contract, override):
                yield fault_at(override.source, name, f"{override.kind} {reason}. Leave it out, or name what there is")
    yield from _meant_otherwise(old, new, as_of)
    for name in sorted(new.in_force.kept - old.in_force.kept):
        model = old.tables.models.get(name)
        if model is not None and model.versions[-1].begins <= as_of:
            yield from _taken_away(name, new, old)
    for name, contract in old.contracts.items():
        if name not in new.contracts and utc(contract.begins) <= as_of:
            words = f"contract '{name}' vanished, and has had prices since {contract.begins}"
            yield fault_at(f"{revision}:{contract.place}", name, f"{words}. Put it back, and end it by until")


def _meant_otherwise(old: RateCard, new: RateCard, as_of: datetime) -> Iterator[Fault]:
    """Refuse an edit of a unit or a family that changes an override or a term in effect, unless its file says why."""
    before, after = old.tables, new.tables
    units = {name for name, unit in before.units.items() if after.units.get(name, unit) != unit}
    begun = (name for name, model in before.models.items() if model.versions[-1].begins <= as_of)
    names = [
        [names_of_model(side.models[name], side.families) for side in (before, after)]
        for name in begun
        if name in after.models
    ]
    moved = [(was, now) for was, now in names if was != now]
    for holder, rule in _in_effect(old, new, as_of) if units or moved else ():
        words = [f"unit {unit}, which it counts in, was edited" for unit in sorted(units & _units(rule, before))]
        words += [
            f"{now['model']} moved from family {was['family']} to {now['family']}"
            for was, now in moved
            if rule.target.fits(was) != rule.target.fits(now)
        ]
        if words:
            hint = f"Put that back; if it is meant, {_HINT}"
            yield fault_at(rule.source, holder, f"{rule.kind} is in effect, and {words[0]}. {hint}")


def _in_effect(old: RateCard, new: RateCard, as_of: datetime) -> Iterator[tuple[str, Override | Term]]:
    """Yield the overrides and terms in effect, each with its contract, unless a new correction excuses edits."""
    terms = [] if is_corrected(old.tables.monthly_correction, new.tables.monthly_correction) else [*new.tables.monthly]
    held = [("monthly", term) for term in terms]
    for name, contract in new.contracts.items():
        before = old.contracts.get(name)
        if before and utc(before.begins) <= as_of and not is_corrected(before.correction, contract.correction):
            yield from ((name, override) for override in contract.overrides)
            held += [(name, term) for term in contract.terms]
    yield from ((name, term) for name, term in held if term.begins is None or utc(term.begins) <= as_of)


def is_corrected(before: str | None, after: str | None) -> bool:
    """Return True for a `correction` that was not there before."""
    return after is not None and after != before


def earlier_correction(reason: str | None) -> str:
    """Return why the `correction` that was there before does not excuse a further edit; empty without one."""
    return f"'{reason}' is the reason of an earlier correction; if this is one too, say why" if reason else ""


def _units(rule: Override | Term, tables: Tables) -> set[str]:
    """Return the units of the amounts that an override or a term states."""
    if isinstance(rule, Term):
        return {rule.measure}
    models = ContractChecks(tables).selected(rule.target) if rule.amount is not None else ()
    return {charge.unit for model in models for version in model.versions for charge in version.charges}


def _taken_away(model: str, new: RateCard, old: RateCard) -> Iterator[Fault]:
    """Refuse `only` for a model that had a price for everyone, unless its contract says why."""
    for name, contract in new.contracts.items():
        before = old.contracts.get(name)
        if is_corrected(before.correction if before else None, contract.correction):
            continue
        for override in layers_of([contract], new.tables.models[model], new.tables.families)[0]:
            if override.only:
                words = f"only takes {model} away from everyone else, who had a price for it"
                yield fault_at(override.source, name, f"{words}. Keep a new model; if this is meant, {_HINT}")


def _of_change(before: Contract | None, contract: Contract, as_of: datetime) -> Iterator[tuple[str, str]]:
    if is_corrected(before.correction if before else None, contract.correction):
        return
    name = contract.contract
    if before is None or utc(before.begins) > as_of:
        if contract.begins < as_of.astimezone(UTC).date():
            words = f"contract '{name}' begins on {contract.begins}, in the past"
            yield contract.place, f"{words}. Let it begin later; if it was agreed so, {_HINT}"
        return
    if _prolonged(before, contract) and before.holds(as_of):
        return
    first = term_changes(_terms(before), _terms(contract))[0]
    words = f"contract '{name}' has begun, and was edited: {first.term}: {first.old or 'none'} -> {first.new or 'none'}"
    hint = "Put it back as it was and write another contract from a later day"
    if contract.correction:
        words += f". {earlier_correction(contract.correction)}"
    yield contract.place, f"{words}. {hint}; or {_HINT}"


def _same(one: Contract, other: Contract) -> bool:
    """Return True if two contracts mean the same: the order may differ, or `factor` be written for `percent`."""
    alike = meaning(one) == meaning(other) and set(one.accounts) == set(other.accounts)
    return alike or _terms(one) == _terms(other)


def _prolonged(before: Contract, contract: Contract) -> bool:
    """Return True if a contract ends later than before, and nothing else differs."""
    later = contract.until is None or (before.until is not None and contract.until > before.until)
    return later and _same(before.model_copy(update={"until": contract.until}), contract)


def contract_changes(old: RateCard, new: RateCard, at: datetime | None = None) -> Iterator[Difference]:
    """Yield the contracts that differ, and those with an override that ends because the new list retires its model.

    With `at`, yield only those that hold at this instant, on one side or the other.
    """
    checks = [ContractChecks(card.tables) for card in (old, new)]
    for name in sorted({*old.contracts, *new.contracts}):
        before, after = old.contracts.get(name), new.contracts.get(name)
        sides = zip((before, after), checks, strict=True)
        ends = [dict(ended(contract, check)) if contract else {} for contract, check in sides]
        note = "; ".join(words for at, words in ends[1].items() if words != ends[0].get(at))
        changed = term_changes(_terms(before), _terms(after)) if before != after else ()
        known = after or before
        holds = at is None or any(contract.holds(at) for contract in (before, after) if contract)
        if known and holds and (changed or note):
            kind = ADDED if before is None else REMOVED if after is None else CHANGED
            days, where = (known.begins, known.until), (known.currency, known.place)
            yield Difference(f"{OF_CONTRACT}{name}", kind, *days, note, *where, terms=changed)


def ended(contract: Contract, checks: ContractChecks) -> Iterator[tuple[str, str]]:
    """Yield the `file:line` of each override that ends before its contract, and why."""
    for override in contract.overrides:
        if words := checks.ending(contract, override):
            yield override.source, f"{override.kind} ({override.source}) {words}"


def contract_notes(card: RateCard, examples: Iterable[Worked]) -> Iterator[Fault]:
    """Yield a note for each contract without accounts, and each override that ends early or has an unlikely price.

    An override ends early where its models are retired. Its price is likely if a worked example reaches it. A contract
    that extends one of other days has a note too.
    """
    reached = reached_by(examples)
    checks = ContractChecks(card.tables)
    extended = {contract.extends for contract in card.contracts.values()}
    for contract in card.contracts.values():
        if not contract.accounts and contract.contract not in extended:
            words = "is for no account, and no contract extends it, so that nobody has its prices. Name accounts"
            yield fault_at(contract.place, contract.contract, f"contract '{contract.contract}' {words}")
        base = card.contracts.get(contract.extends or "")
        if base and not base.overlaps(utc(contract.begins), utc(contract.until) if contract.until else None):
            words = f"'{base.contract}', which is from {base.begins}{f' until {base.until}' if base.until else ''}"
            hint = (
                "on no day of this contract, so that it takes nothing from it. Correct the dates, or leave extends out"
            )
            yield fault_at(contract.place, contract.contract, f"extends {words}: {hint}")
        for place, words in ended(contract, checks):
            yield fault_at(place, contract.contract, words)
        for override in contract.overrides:
            words = _unlikely(override, filter(None, checks.listed(contract, override)))
            if words and override.source not in reached:
                hint = "If it is meant, write an example that reaches it, worked by hand"
                yield fault_at(override.source, contract.contract, f"{words}. {hint}")


def _unlikely(override: Override, listed: Iterable[Decimal]) -> str:
    """Say why the price of an override may be a slip, beside these list prices; empty if it is likely."""
    kind, times, amount = override.kind, override.times, override.amount
    if times is not None:
        words = f"{kind} makes {value_text(times)} times the list price. 20 % less is percent: -20%"
        return "" if 1 / _FAR < times <= 1 else words
    first = next(prices := iter(listed), None)
    if not amount or not first or any((factor(amount, price) or 1) < _FAR for price in chain([first], prices)):
        return ""
    # A bound on the far side of the list price is a promise for later, and no example reaches it.
    beyond = kind == ("at_most" if amount > first else "at_least")
    return "" if beyond else f"{kind} {text(amount)} is far from each list price that it is for, like {text(first)}"


def _terms(contract: Contract | None) -> Terms:
    if contract is None:
        return {}
    head = contract.model_dump(include={"until", "source", "extends", "correction", "currency"}, exclude_none=True)
    terms: Terms = {"from": str(contract.begins), **{name: str(value) for name, value in head.items()}}
    terms["accounts"] = value_text(contract.accounts, in_order=False)
    if contract.monthly is not None:
        terms |= described_terms(contract.terms) or {"monthly": "[]"}
    for override in contract.overrides:
        target, kind = override.target, override.kind
        parts = [str(target), *(f"except {models}" for models in target.excluded)]
        parts += [f"charge {value_text(target.charge)}"] if target.charge else []
        parts += [f"{name} {value_text(values)}" for name, values in sorted(target.conditions.items())]
        group = f" {kind}" if override.group != "price" else ""
        term = f"{', '.join(parts)}:{group}".removesuffix(":")
        terms[term] = (
            f"x {value_text(override.times)}" if override.times is not None else value_text(getattr(override, kind))
        )
    return terms
