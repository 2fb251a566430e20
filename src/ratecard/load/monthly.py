"""Rules between the terms of a month and the tables to which they apply. Each finding is (path, message)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations

from ratecard.base.messages import Finding
from ratecard.base.suggestions import meant_or_allowed
from ratecard.load.checks import check_currency
from ratecard.tables.card import AnyModel
from ratecard.tables.contract import Contract
from ratecard.tables.monthly import COMMITMENT, Term
from ratecard.tables.selection import known_names
from ratecard.tables.units import Unit

# A model, one of its charges, and the unit of that charge.
_Charged = tuple[str, str, str]


class TermChecks:
    """Checks of terms against tables; targets that are the same in many contracts are looked up once."""

    def __init__(self, models: Mapping[str, AnyModel], families: Mapping[str, str], units: Mapping[str, Unit]) -> None:
        self._models, self._families, self._units = models, families, units
        self._meant: dict[tuple[str | None, str | None, str], dict[_Charged, None]] = {}

    def of(self, terms: Sequence[Term]) -> Iterator[Finding]:
        """Check that each term covers something in the tables, and that no two terms of a step cover the same."""
        for index, term in enumerate(terms):
            for path, words in self._names(term):
                yield (index, *path), words
        for (index, one), (number, other) in combinations(enumerate(terms), 2):
            if shared := self._shared(one, other):
                words = f"is over {shared} too, as {one.kind} ({one.source or f'term {index + 1}'})"
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
    def _charges(self) -> list[tuple[_Charged, AnyModel]]:
        return [
            ((name, charge.charge, charge.unit), model)
            for name, model in self._models.items()
            for version in model.versions
            for charge in version.charges
        ]

    @cached_property
    def _named(self) -> Mapping[str, Mapping[str, str]]:
        return {
            name: {"model": name, "family": self._families.get(name, ""), "type": model.type}
            for name, model in self._models.items()
        }

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
        charges = sorted({charge for (_, charge, _), _ in self._charges})
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
            words = f"is over models of several currencies ({examples}), and a statement is in one"
            yield (term.kind,), f"{words}. Name models of one currency: for"
        if not self._over(term):
            unit_words = f" that has lines in {term.unit}" if term.unit else ""
            yield (term.kind,), f"is over nothing: no model of the tables{unit_words} fits all that it names"

    def _shared(self, one: Term, other: Term) -> str:
        """Return, as text, a model and charge that two terms of a step both cover in a month; empty without one."""
        if one.step != other.step or (one.currency and other.currency and one.currency != other.currency):
            return ""
        if any(
            first.until and second.begins and first.until <= second.begins
            for first, second in ((one, other), (other, one))
        ):
            return ""
        shared = [charged for charged in self._over(other) if charged in self._over(one)]
        return f"{shared[0][0]} ({shared[0][1]})" if shared else ""

    def _over(self, term: Term) -> dict[_Charged, None]:
        """Return every model and charge that a term covers, whatever its conditions."""
        key = (term.unit, term.currency, term.target.model_dump_json())
        if key not in self._meant:
            counts = self._units[term.unit].counts if term.unit and term.unit in self._units else None
            plain = term.model_copy(update={"target": term.target.model_copy(update={"conditions": {}})})
            self._meant[key] = {
                place: None
                for place, model in self._charges
                if (counts is None or (place[2] in self._units and self._units[place[2]].counts == counts))
                and (term.currency is None or term.currency == model.currency)
                and plain.means({**self._named[place[0]], "charge": place[1]}, {})
            }
        return self._meant[key]
