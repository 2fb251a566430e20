"""Find the rates of a version that a change means, and their new amounts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from ratecard.base.messages import Finding
from ratecard.base.money import MOST_PLACES, multiply, places_of, plain, text
from ratecard.base.suggestions import did_you_mean
from ratecard.tables.candidate import RoundRate, Scale, SetRate
from ratecard.tables.metered import Tokens
from ratecard.tables.rate import Charge, Rate
from ratecard.tables.version import Version

# The bound of a rate in a table: see `read_number`.
_MOST = Decimal(10) ** 15


class At(NamedTuple):
    """The place of a rate in a version: the index of its charge, and its index in that."""

    charge: int
    rate: int


class Refusal(Exception):  # noqa: N818
    """A change that cannot be made; `findings` say why."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(findings)
        self.findings = findings


def moved(version: Version, amounts: Mapping[At, Decimal], place: str) -> dict[str, tuple[Charge, ...]]:
    """The `charges` of a version, for `model_copy`, with other amounts at some of its rates."""
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
    """Every rate of a version, by its place."""
    return {At(c, r): rate for c, charge in enumerate(version.charges) for r, rate in enumerate(charge.rates)}


def scaled(version: Version, change: Scale, meant: Collection[At]) -> dict[At, Decimal]:
    """The new amounts of those of the `meant` rates that a factor changes.

    Raises `Refusal` if an amount would have more digits than a table allows, or is rounded to zero.
    """
    amounts, wrong, times = {}, [], change.times
    rates = rates_of(version)
    for at in meant:
        rate = rates[at]
        amount = plain(multiply(rate.rate, times))
        words = f"{text(rate.rate)} ({rate.source}) x {text(times)}"
        if change.round is not None and amount:
            amount = rounded(amount, change.round)
            if not amount:
                wrong.append(("round", f"{words} is rounded to 0", "a smaller step"))
                continue
        if places_of(amount) > MOST_PLACES:
            wrong.append(
                (change.word, f"{words} has more than {MOST_PLACES} decimal places", "a factor with fewer digits")
            )
        elif amount >= _MOST:
            wrong.append((change.word, f"{words} has more than 15 digits", "a factor with fewer digits"))
        elif amount != rate.rate:
            amounts[at] = amount
    if wrong:
        key, words, better = wrong[0]
        others = f", and {len(wrong) - 1} more rates of the model" if len(wrong) > 1 else ""
        raise Refusal(((key,), f"{words}{others}. Choose {better}, or set the rates"))
    return amounts


def rounded(amount: Decimal, to: RoundRate) -> Decimal:
    """Round an amount to a multiple of a step, exactly; a tie of `half-up` goes up.

    >>> rounded(Decimal("0.0841"), RoundRate(to=Decimal("0.005"), mode="up"))
    Decimal('0.085')
    """
    steps = Fraction(amount) / Fraction(to.to)
    nearest = {"up": -(-steps // 1), "down": steps // 1, "half-up": (2 * steps + 1) // 2}
    return plain(multiply(to.to, Decimal(nearest[to.mode])))


def rates_to_scale(versions: Sequence[tuple[str, Version]], change: Scale) -> list[list[At]]:
    """The rates that a `scale` means, for each of these (model, version) pairs; empty for a model without any.

    Raises `Refusal` for an attribute or value that no version has, for a rate that is meant only in part, if no rate is
    meant at all, and for a model that has such rates in one of its versions but not in another.
    """
    if change.charge is None and not change.where:
        return [list(rates_of(version)) for _, version in versions]
    names = dict.fromkeys(name for name, _ in versions)
    called = next(iter(names)) if len(names) == 1 else "these models"
    charges = [
        charge for _, version in versions for charge in version.charges if change.charge in (None, charge.charge)
    ]
    if not charges:
        raise _no_charge(
            called, change.charge or "", [charge.charge for _, each in versions for charge in each.charges]
        )
    wrong = list(_unknown(called, charges, change.where))
    if wrong:
        raise Refusal(*wrong)
    found = []
    for _, version in versions:
        fitting, partly = _fitting(_charges(version, change.charge), change.where)
        found.append(fitting)
        wrong += partly
    kept = {name for (name, _), fitting in zip(versions, found, strict=True) if fitting}
    if not kept and not wrong:
        wrong.append(_nothing(called, charges))
    for (name, version), fitting in zip(versions, found, strict=True):
        if name in kept and not fitting:
            words = f"matches nothing of {name} from {version.effective} on ({version.place}), which is in the window"
            wrong.append((("where",) if change.where else ("charge",), f"{words} of this candidate"))
    if wrong:
        raise Refusal(*dict.fromkeys(wrong))
    return found


def rates_to_set(name: str, version: Version, change: SetRate) -> list[At]:
    """The rates that a `set` means. Raises `Refusal` if there are none, or it is not clear which."""
    charges = _charges(version, change.charge)
    if not charges:
        raise _no_charge(name, change.charge or "", [charge.charge for charge in version.charges])
    wrong = list(_unknown(name, charges.values(), change.where))
    if wrong:
        raise Refusal(*wrong)
    matching, wrong = _fitting(charges, change.where)
    if not matching:
        wrong.append(_nothing(name, charges.values()))
    wrong += _unclear(name, version, matching, change)
    if wrong:
        raise Refusal(*wrong)
    return matching


def _charges(version: Version, name: str | None) -> dict[int, Charge]:
    return {c: charge for c, charge in enumerate(version.charges) if name in (None, charge.charge)}


def _fitting(charges: Mapping[int, Charge], where: Mapping[str, Sequence[str]]) -> tuple[list[At], list[Finding]]:
    """The rates that match `where`, and a problem for each of them that also applies to other values."""
    matching: list[At] = []
    wrong: list[Finding] = []
    for c, charge in charges.items():
        for r, rate in enumerate(charge.rates):
            has = attributes_of(charge, rate)
            if not all(set(has.get(attribute, ())) & set(wanted) for attribute, wanted in where.items()):
                continue
            for attribute, wanted in where.items():
                if not set(has[attribute]) <= set(wanted):
                    words = f"the rate at {rate.source} is for {attribute} {', '.join(has[attribute])} together"
                    wrong.append((("where", attribute), f"{words}; name them all, or split its line first"))
            matching.append(At(c, r))
    return matching, wrong


def _no_charge(name: str, given: str, charges: Iterable[str]) -> Refusal:
    known = list(dict.fromkeys(charges))
    verb = "have" if name == "these models" else "has"
    words = f"matches nothing: {name} {verb} no charge '{given}'.{did_you_mean(given, known)}"
    return Refusal((("charge",), f"{words} Allowed: {', '.join(known)}"))


def _nothing(name: str, charges: Iterable[Charge]) -> Finding:
    each = (_words(charge, rate) for charge in charges for rate in charge.rates)
    every = "; ".join(filter(None, dict.fromkeys(each)))
    verb = "They have" if name == "these models" else "It has"
    return ("where",), f"no rate of {name} matches all of these conditions. {verb}: {every}"


def attributes_of(charge: Charge, rate: Rate) -> dict[str, tuple[str, ...]]:
    """The attributes of a rate; for tokens, a rate that names no context is of the base context."""
    default = {"context": ("base",)} if isinstance(charge, Tokens) else {}
    return {**default, **rate.attributes}


def _unknown(name: str, charges: Iterable[Charge], where: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """The problems of attributes and values of `where` that no rate names."""
    known: dict[str, dict[str, None]] = {}
    for charge in charges:
        for rate in charge.rates:
            for attribute, values in attributes_of(charge, rate).items():
                known.setdefault(attribute, {}).update(dict.fromkeys(values))
    for attribute, wanted in where.items():
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
    """The problem of one new amount for rates that differ, unless `where` names how they differ."""
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
