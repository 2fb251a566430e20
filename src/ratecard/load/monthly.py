"""Rules between the terms of a month and the tables that they are over. Each finding is (path, message)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from ratecard.base.messages import Finding
from ratecard.base.money import ISO_4217
from ratecard.base.suggestions import did_you_mean
from ratecard.tables.card import AnyModel
from ratecard.tables.contract import Contract
from ratecard.tables.monthly import COMMITMENT, Term
from ratecard.tables.units import Unit


def check_terms(
    terms: Sequence[Term], models: Mapping[str, AnyModel], families: Mapping[str, str], units: Mapping[str, Unit]
) -> Iterator[Finding]:
    """Check that each term is over something that the tables have, and that no two of one step are over the same."""
    for index, term in enumerate(terms):
        for path, words in _check_names(term, models, families, units):
            yield (index, *path), words
    for (index, one), (number, other) in combinations(enumerate(terms), 2):
        if shared := overlap(one, other, models, families, units):
            words = f"is over {shared} too, as {one.kind} ({one.source or f'term {index + 1}'})"
            better = "Write in one of them what it is for, or leaves out: for, except, from, until"
            yield (number, other.kind), f"{words}. {better}"


def check_terms_of(
    contract: Contract, models: Mapping[str, AnyModel], families: Mapping[str, str], units: Mapping[str, Unit]
) -> Iterator[Finding]:
    """Check the terms of a contract as `check_terms` does, and that they hold in whole months within it."""
    terms = contract.monthly or ()
    for index, term in enumerate(terms):
        for key, day, edge in (("from", term.begins, contract.begins), ("until", term.until, contract.until)):
            if day is None and edge is not None and edge.day != 1:
                words = f"has no {key}, and the contract's {key} {edge} is within a month: nothing is prorated"
                yield (index,), f"{words}. Write {key}, the first day of a month"
        outside = (term.begins and term.begins < contract.begins) or (
            contract.until and term.until and term.until > contract.until
        )
        if outside:
            until = f" until {contract.until}" if contract.until else ""
            yield (index,), f"holds outside of the contract, which is from {contract.begins}{until}"
    yield from check_terms(contract.terms, models, families, units)


def _check_names(
    term: Term, models: Mapping[str, AnyModel], families: Mapping[str, str], units: Mapping[str, Unit]
) -> Iterator[Finding]:
    if term.currency is not None and term.currency not in ISO_4217:
        words = f"currency '{term.currency}' is not an ISO 4217 code. Write three capitals, like USD"
        yield ("currency",), words
    if term.kind == COMMITMENT and term.begins is None:
        yield (), "has no from. Write the month in which the commitment begins, like from: 2026-10-01"
    if term.unit is not None and term.unit not in units:
        near = did_you_mean(term.unit, units)
        yield ("unit",), f"unit '{term.unit}' is not in units.yaml.{near} Allowed: {', '.join(units)}"
        return
    known: Mapping[str, Collection[str]] = {
        "type": {model.type for model in models.values()},
        "family": {*families.values()},
        "model": {*models},
        "charge": {charge.charge for model in models.values() for each in model.versions for charge in each.charges},
    }
    named = [(part, values) for names in (term.target, *term.target.excluded) for part, values in names.named]
    named += [("charge", term.target.charge or ())]
    for name, values in named:
        for value in values:
            if value not in known[name]:
                yield ("for",), f"{name} '{value}' is not in the tables.{did_you_mean(value, sorted(known[name]))}"
                return
    if not _meant(term, models, families, units):
        of = f" that has lines in {term.unit}" if term.unit else ""
        yield (term.kind,), f"is over nothing: no model of the tables{of} fits all that it names"


def overlap(
    one: Term,
    other: Term,
    models: Mapping[str, AnyModel],
    families: Mapping[str, str],
    units: Mapping[str, Unit],
) -> str:
    """Name a model and charge that two terms of one step are over in one month; empty where there is none."""
    if one.step != other.step or (one.currency and other.currency and one.currency != other.currency):
        return ""
    if (one.until and other.begins and one.until <= other.begins) or (
        other.until and one.begins and other.until <= one.begins
    ):
        return ""
    found = _meant(one, models, families, units)
    shared = [each for each in _meant(other, models, families, units) if each in found]
    return f"{shared[0][0]} ({shared[0][1]})" if shared else ""


def _meant(
    term: Term, models: Mapping[str, AnyModel], families: Mapping[str, str], units: Mapping[str, Unit]
) -> dict[tuple[str, str, str], None]:
    """The model, charge and unit of everything that a term is over; conditions are not looked at."""
    counts = units[term.unit].counts if term.unit and term.unit in units else None
    plain = term.model_copy(update={"target": term.target.model_copy(update={"conditions": {}})})
    return {
        (name, charge.charge, charge.unit): None
        for name, model in models.items()
        for version in model.versions
        for charge in version.charges
        if (counts is None or (charge.unit in units and units[charge.unit].counts == counts))
        and (term.currency is None or term.currency == model.currency)
        and plain.means(
            {"type": model.type, "family": families.get(name, ""), "model": name, "charge": charge.charge}, {}
        )
    }
