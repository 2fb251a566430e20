"""Rules between the terms of a month and the tables to which they apply. Each finding is (path, message)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations

from ratecard.base.messages import Finding
from ratecard.base.suggestions import meant_or_allowed
from ratecard.contracts.checks import VersionCharge, meets, unknown_value
from ratecard.load.checks import check_currency
from ratecard.tables.card import AnyModel
from ratecard.tables.contract import Contract
from ratecard.tables.meters import Meters, Unit
from ratecard.tables.monthly import COMMITMENT, Term
from ratecard.tables.selection import OverrideTarget, known_names, names_of_model

# A model, one of its charges, and the unit of that charge.
_Charged = tuple[str, str, str]


class TermChecks:
    """Checks of terms against tables; targets that are the same in many contracts are looked up once."""

    def __init__(
        self,
        models: Mapping[str, AnyModel],
        families: Mapping[str, str],
        units: Mapping[str, Unit],
        meters: Meters,
    ) -> None:
        self._models, self._families, self._units, self._meters = models, families, units, meters
        self._meant: dict[tuple[str | None, str | None, str], dict[_Charged, None]] = {}
        self._unmet: dict[tuple[str | None, str | None, str], str] = {}

    def of(self, terms: Sequence[Term]) -> Iterator[Finding]:
        """Check that each term covers something in the tables, and that no two terms of a step cover the same."""
        for index, term in enumerate(terms):
            for path, words in self._names(term):
                yield (index, *path), words
        for (index, one), (number, other) in combinations(enumerate(terms), 2):
            if shared := self._shared(one, other):
                words = f"covers {shared} too, as does {one.kind} ({one.source or f'term {index + 1}'})"
                better = "Write in one of them what it is for, or leaves out: for, except, from, until"
                yield (number, other.kind), f"{words}. {better}"

    def of_contract(self, contract: Contract) -> Iterator[Finding]:
        """Check the terms of a contract, and that they hold in whole months within it."""
        for index, term in enumerate(contract.monthly or ()):
            for key, day, edge in (("from", term.begins, contract.begins), ("until", term.until, contract.until)):
                if day is None and edge is not None and edge.day != 1:
                    words = f"has no {key}, and the contract's {key} {edge} is within a month: nothing is prorated"
                    yield (index,), f"{words}. Write {key}, the first day of a month"
            early = term.begins and term.begins < contract.begins
            if early or (contract.until and term.until and term.until > contract.until):
                until = f" until {contract.until}" if contract.until else ""
                yield (index,), f"holds outside of the contract, which is from {contract.begins}{until}"
            begins, ends = term.begins or contract.begins, term.until or contract.until
            if not early and ends and ends <= begins:
                yield (index,), f"holds in no month: it is from {begins} until {ends}"
            models = {name for name, _, _ in self._over(term)}
            other = next(
                (model for name in sorted(models) if (model := self._models[name]).currency != contract.currency), None
            )
            if other is not None and any(tier.rate is not None for tier in term.tiers):
                words = f"has rates of a unit in {contract.currency}, and {other.model} is in {other.currency}"
                hint = f"Name models of {contract.currency}, or write currency: {other.currency} in the contract"
                yield (index, term.kind), f"{words}. {hint}"
        yield from self.of(contract.terms)

    @cached_property
    def _charges(self) -> Mapping[_Charged, Sequence[VersionCharge]]:
        """Return each charge of the tables in the versions that have it."""
        charges: dict[_Charged, list[VersionCharge]] = {}
        for name, model in self._models.items():
            for version in model.versions:
                for charge in version.charges:
                    charges.setdefault((name, charge.charge, charge.unit), []).append((version, charge))
        return charges

    @cached_property
    def _named(self) -> Mapping[str, Mapping[str, str | None]]:
        return {name: names_of_model(model, self._families) for name, model in self._models.items()}

    @cached_property
    def _known(self) -> Mapping[str, Collection[str]]:
        return known_names(self._models, self._families)

    def _names(self, term: Term) -> Iterator[Finding]:
        if term.currency is not None:
            yield from check_currency(("currency",), term.currency)
        if term.kind == COMMITMENT and term.begins is None:
            yield (), "has no from. Write the month in which the commitment begins, like from: 2026-10-01"
        if term.unit is not None and term.unit not in self._units:
            yield ("unit",), f"unit '{term.unit}' is not in units.yaml.{meant_or_allowed(term.unit, self._units)}"
            return
        unknown = [words for names in (term.target, *term.target.excluded) for _, words in names.unknown(self._known)]
        charges = sorted({charge for _, charge, _ in self._charges})
        for name in term.target.charge or ():
            if name not in charges:
                unknown.append(f"charge '{name}' is not in the tables.{meant_or_allowed(name, charges)}")
        if unknown:
            yield ("for",), unknown[0]
            return
        if words := term.target.idle_except(self._named.values()):
            yield ("for",), words
            return
        currencies = {self._models[name].currency: name for name, _, _ in self._over(term)}
        if term.unit is not None and len(currencies) > 1:
            examples = " and ".join(f"{name} in {currency}" for currency, name in sorted(currencies.items())[:2])
            words = f"covers models of several currencies ({examples}), and a statement is in one"
            yield (term.kind,), f"{words}. Name models of one currency: for"
        if not self._over(term):
            unit_words = f" that has lines in {term.unit}" if term.unit else ""
            yield (term.kind,), f"covers nothing: no model of the tables{unit_words} fits all that it names"
        elif words := self._never_met(term):
            yield ("for",), words

    def _never_met(self, term: Term) -> str:
        """Say which value of a term's conditions matches no rate that the term covers; empty if all match."""
        key = _key_of(term)
        if key not in self._unmet:
            charges = [charge for place in self._over(term) for charge in self._charges[place]]
            self._unmet[key] = unknown_value(term.target, charges, self._meters)
        return self._unmet[key]

    def _shared(self, one: Term, other: Term) -> str:
        """Return, as text, a model and charge that two terms of a step both cover in a month; empty without one."""
        if one.step != other.step or (one.currency and other.currency and one.currency != other.currency):
            return ""
        if any(
            first.until and second.begins and first.until <= second.begins
            for first, second in ((one, other), (other, one))
        ):
            return ""
        over, conditions = self._over(one), _of_both(one.target.conditions, other.target.conditions)
        if not all(conditions.values()):
            return ""
        both = OverrideTarget(conditions=conditions)
        shared = (place for place in self._over(other) if place in over)
        met = next((place for place in shared if meets(both, self._charges[place], self._meters)), None)
        return f"{met[0]} ({met[1]})" if met else ""

    def _over(self, term: Term) -> dict[_Charged, None]:
        """Return every model and charge that a term covers, whatever its conditions."""
        key = _key_of(term)
        if key not in self._meant:
            counts = self._units[term.unit].counts if term.unit and term.unit in self._units else None
            self._meant[key] = {
                place: None
                for place in self._charges
                if (counts is None or (place[2] in self._units and self._units[place[2]].counts == counts))
                and (term.currency is None or term.currency == self._models[place[0]].currency)
                and term.means({**self._named[place[0]], "charge": place[1]})
            }
        return self._meant[key]


def _key_of(term: Term) -> tuple[str | None, str | None, str]:
    return (term.unit, term.currency, term.target_key)


def _of_both(one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the conditions that both have in common; a condition without any value means that nothing meets both."""
    merged = {**one, **other}
    return {name: tuple(value for value in values if value in one.get(name, values)) for name, values in merged.items()}
