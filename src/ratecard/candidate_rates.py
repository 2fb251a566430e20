"""Which rates of a version a change moves, and to what. Every refusal is (path into the change, message)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from ratecard.load.checks import Finding
from ratecard.tables.candidate import SetRate
from ratecard.tables.charge import Charge
from ratecard.tables.metered_charges import Tokens
from ratecard.tables.rate import Rate
from ratecard.tables.version import Version
from ratecard.words.money import multiply, places_of, plain, text
from ratecard.words.suggest import did_you_mean

# What a table can hold: see `read_number`.
_PLACES, _MOST = 12, Decimal(10) ** 15


class At(NamedTuple):
    """A rate of a version: the number of its charge, and its number there."""

    charge: int
    rate: int


class Refusal(Exception):  # noqa: N818
    """Why a change cannot be made."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(findings)
        self.findings = findings


def moved(version: Version, amounts: Mapping[At, Decimal], place: str) -> dict[str, tuple[Charge, ...]]:
    """The charges of a version, as an update of it, with other amounts at some of its rates."""
    charges = [
        charge.model_copy(
            update={
                "rates": tuple(
                    rate.model_copy(update={"rate": amounts[At(c, r)], "source": place})
                    if At(c, r) in amounts
                    else rate
                    for r, rate in enumerate(charge.rates)
                )
            }
        )
        for c, charge in enumerate(version.charges)
    ]
    return {"charges": tuple(charges)}


def rates_of(version: Version) -> dict[At, Rate]:
    """Every rate of a version."""
    return {At(c, r): rate for c, charge in enumerate(version.charges) for r, rate in enumerate(charge.rates)}


def scaled(version: Version, factor: Decimal) -> dict[At, Decimal]:
    """Every rate that a factor changes. Raises `Refusal` where an amount would have more digits than a table holds."""
    amounts, wrong = {}, []
    for at, rate in rates_of(version).items():
        amount = plain(multiply(rate.rate, factor))
        if places_of(amount) > _PLACES:
            wrong.append(f"{text(rate.rate)} ({rate.source}) x {text(factor)} has more than {_PLACES} decimal places")
        elif amount >= _MOST:
            wrong.append(f"{text(rate.rate)} ({rate.source}) x {text(factor)} has more than 15 digits")
        elif amount != rate.rate:
            amounts[at] = amount
    if wrong:
        others = f", and {len(wrong) - 1} more rates of the model" if len(wrong) > 1 else ""
        raise Refusal((("factor",), f"{wrong[0]}{others}. Choose a factor with fewer digits, or set the rates"))
    return amounts


def found(name: str, version: Version, change: SetRate) -> list[At]:
    """The rates that a `set` means. Raises `Refusal` where that is none, or is not clear."""
    charges = {c: charge for c, charge in enumerate(version.charges) if change.charge in (None, charge.charge)}
    if not charges:
        known = [charge.charge for charge in version.charges]
        near = did_you_mean(change.charge or "", known)
        words = f"matches nothing: {name} has no charge '{change.charge}'.{near} Allowed: {', '.join(known)}"
        raise Refusal((("charge",), words))
    wrong = list(_unknown(name, charges.values(), change))
    if wrong:
        raise Refusal(*wrong)
    matching: list[At] = []
    for c, charge in charges.items():
        for r, rate in enumerate(charge.rates):
            has = attributes_of(charge, rate)
            shared = [set(has.get(attribute, ())) & set(wanted) for attribute, wanted in change.where.items()]
            if not all(shared):
                continue
            for attribute, wanted in change.where.items():
                if not set(has[attribute]) <= set(wanted):
                    words = f"the rate at {rate.source} is for {attribute} {', '.join(has[attribute])} together"
                    wrong.append((("where", attribute), f"{words}; name them all, or split its line first"))
            matching.append(At(c, r))
    if not matching:
        each = (_words(charge, rate) for charge in charges.values() for rate in charge.rates)
        every = "; ".join(filter(None, dict.fromkeys(each)))
        wrong.append((("where",), f"matches nothing: no rate of {name} is for all of this together. It has: {every}"))
    wrong += _unclear(name, version, matching, change)
    if wrong:
        raise Refusal(*wrong)
    return matching


def attributes_of(charge: Charge, rate: Rate) -> dict[str, tuple[str, ...]]:
    """What a rate is for; of tokens, a rate that names no context is that of the base context."""
    default = {"context": ("base",)} if isinstance(charge, Tokens) else {}
    return {**default, **rate.attributes}


def _unknown(name: str, charges: Collection[Charge], change: SetRate) -> Iterator[Finding]:
    """Attributes and values of `where` that no rate names."""
    known: dict[str, dict[str, None]] = {}
    for charge in charges:
        for rate in charge.rates:
            for attribute, values in attributes_of(charge, rate).items():
                known.setdefault(attribute, {}).update(dict.fromkeys(values))
    for attribute, wanted in change.where.items():
        if attribute not in known:
            near, allowed = did_you_mean(attribute, known), ", ".join(known) or "none, leave where out"
            words = f"matches nothing: no rate of {name} names '{attribute}'.{near} Allowed: {allowed}"
            yield ("where", attribute), words
            continue
        for value in wanted:
            if value not in known[attribute]:
                near, allowed = did_you_mean(value, known[attribute]), ", ".join(known[attribute])
                words = f"matches nothing: no rate of {name} is for {attribute} '{value}'.{near} Allowed: {allowed}"
                yield ("where", attribute), words


def _unclear(name: str, version: Version, matching: Iterable[At], change: SetRate) -> Iterator[Finding]:
    """One amount for rates that differ is meant only where their differences are named."""
    rates, known = rates_of(version), [version.charges[c].charge for c in dict.fromkeys(at.charge for at in matching)]
    if len(known) > 1:
        yield (("set",), f"fits rates of {len(known)} charges of {name}. Name one. charge: {' | '.join(known)}")
        return
    chosen = [(rates[at], attributes_of(version.charges[at.charge], rates[at])) for at in matching]
    if len({rate.rate for rate, _ in chosen}) < 2:
        return
    differing: dict[str, dict[str, None]] = {}
    for attribute in dict.fromkeys(attribute for _, has in chosen for attribute in has):
        if attribute not in change.where and len({has.get(attribute) for _, has in chosen}) > 1:
            differing[attribute] = dict.fromkeys(value for _, has in chosen for value in has.get(attribute, ()))
    if differing:
        shown = ", ".join(f"{text(rate.rate)} ({rate.source})" for rate, _ in chosen)
        allowed = "; ".join(f"{attribute}: {' | '.join(values)}" for attribute, values in differing.items())
        yield ("where",), f"fits {len(chosen)} different rates of {name}: {shown}. Say in where which. {allowed}"


def _words(charge: Charge, rate: Rate) -> str:
    return ", ".join(f"{name} {' | '.join(values)}" for name, values in attributes_of(charge, rate).items())
