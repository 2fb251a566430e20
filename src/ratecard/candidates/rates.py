"""The rates of a version to which a change applies, and their new amounts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from ratecard.base.messages import Finding, Path
from ratecard.base.money import MOST_PLACES, multiply, places_of, plain, text
from ratecard.base.suggestions import did_you_mean
from ratecard.tables.candidate import RoundRate, Scale, SetRate
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Charge, Rate, RateFactor
from ratecard.tables.version import Version

# The bound of a rate in a table: see `read_number`.
_MOST = Decimal(10) ** 15


# The index for factors of the version itself, which do not belong to a charge.
_OWN = -1


class At(NamedTuple):
    """The place of a rate or a factor in a version: the index of its charge (or `_OWN`), and its number there."""

    charge: int
    number: int
    part: Literal["rates", "factors"] = "rates"

    @property
    def path(self) -> Path:
        """Return its place in a version of a table."""
        holder: Path = () if self.charge == _OWN else ("charges", self.charge)
        return (*holder, self.part, self.number, self.part[:-1])


class Refusal(Exception):  # noqa: N818
    """A change that cannot be made; `findings` say why."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(findings)
        self.findings = findings


def moved(version: Version, amounts: Mapping[At, Decimal], place: str) -> dict[str, Any]:
    """Return the fields of a version, for `model_copy`, with new amounts for some rates and factors."""

    def lines_of(part: Literal["rates", "factors"], lines: Sequence[Rate | RateFactor], charge: int) -> dict[str, Any]:
        new = (
            line.model_copy(update={part[:-1]: amounts[at], "source": place}) if at in amounts else line
            for at, line in ((At(charge, number, part), line) for number, line in enumerate(lines))
        )
        return {part: tuple(new)} if lines else {}

    charges = (
        charge.model_copy(
            update=lines_of("rates", charge.rates, index) | lines_of("factors", charge.multipliers, index)
        )
        for index, charge in enumerate(version.charges)
    )
    return {"charges": tuple(charges), **lines_of("factors", version.multipliers, _OWN)}


def rates_of(version: Version) -> dict[At, Rate]:
    """Return every rate of a version, by its place."""
    return {
        At(index, number): rate
        for index, charge in enumerate(version.charges)
        for number, rate in enumerate(charge.rates)
    }


def factors_of(version: Version) -> dict[At, RateFactor]:
    """Return every factor of a version and of its charges, by its place."""
    parts: list[tuple[int, Version | Charge]] = [*enumerate(version.charges), (_OWN, version)]
    return {
        At(index, number, "factors"): factor for index, part in parts for number, factor in enumerate(part.multipliers)
    }


def charge_of(version: Version, at: At) -> str:
    """Return the name of the charge of a rate or factor; empty for a factor of the version itself."""
    return "" if at.charge == _OWN else version.charges[at.charge].charge


def amounts_of(version: Version) -> dict[At, Decimal]:
    """Return every rate and factor of a version, by its place."""
    rates = {at: rate.rate for at, rate in rates_of(version).items()}
    return rates | {at: factor.factor for at, factor in factors_of(version).items()}


def source_of(version: Version, at: At) -> str:
    """Return the `file:line` of a rate or factor."""
    return (rates_of(version).get(at) or factors_of(version)[at]).source


def _factors_to_set(name: str, version: Version, change: SetRate) -> list[At]:
    """Return the factor that a `set` changes, with exactly these conditions. Raises `Refusal` unless there is one."""
    known = {
        at: factor for at, factor in factors_of(version).items() if change.charge in (None, charge_of(version, at))
    }
    if not known:
        charge_words = f" of charge '{change.charge}'" if change.charge else ""
        raise Refusal((("factor",), f"matches nothing: no factor{charge_words} of {name} can be set; it has none"))
    wanted = {attribute: set(values) for attribute, values in change.where.items()}
    fits = [at for at, factor in known.items() if {key: {value} for key, value in factor.conditions.items()} == wanted]
    if not fits:
        words = (", ".join(f"{key} {value}" for key, value in factor.conditions.items()) for factor in known.values())
        every = "; ".join(words)
        raise Refusal((("where",), f"no factor of {name} is for exactly these conditions. It has: {every}"))
    if len(fits) > 1:
        names = " | ".join(filter(None, (charge_of(version, at) for at in fits)))
        raise Refusal((("set",), f"fits factors of {len(fits)} charges of {name}. Name one. charge: {names}"))
    return fits


def scaled(version: Version, change: Scale, places: Collection[At]) -> dict[At, Decimal]:
    """Return the changed amounts of the rates at `places`. Raises `Refusal` for too many digits, and for a zero."""
    amounts, problems, times = {}, [], change.times
    rates = rates_of(version)
    for at in places:
        rate = rates[at]
        amount = plain(multiply(rate.rate, times))
        words = f"{text(rate.rate)} ({rate.source}) x {text(times)}"
        if change.round is not None and amount:
            amount = rounded(amount, change.round)
            if not amount:
                problems.append(("round", f"{words} is rounded to 0", "a smaller step"))
                continue
        if places_of(amount) > MOST_PLACES:
            problems.append(
                (change.word, f"{words} has more than {MOST_PLACES} decimal places", "a factor with fewer digits")
            )
        elif amount >= _MOST:
            problems.append((change.word, f"{words} has more than 15 digits", "a factor with fewer digits"))
        elif amount != rate.rate:
            amounts[at] = amount
    if problems:
        key, words, better = problems[0]
        others = f", and {len(problems) - 1} more rates of the model" if len(problems) > 1 else ""
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


def rates_to_scale(versions: Sequence[tuple[str, Version]], change: Scale, meters: Meters) -> list[list[At]]:
    """Return the rates that a `scale` changes, for each of these (model, version) pairs; empty for a model without any.

    Raises `Refusal` for an attribute or value that no version has, for a rate that `where` covers only in part, if no
    rate fits, and for a model that has such rates in one of its versions but not in another.
    """
    matching, findings = _meant(versions, change, meters)
    kept = {name for (name, _), fitting in zip(versions, matching, strict=True) if fitting}
    for (name, version), fitting in zip(versions, matching, strict=True):
        if name in kept and not fitting:
            words = f"matches nothing of {name} from {version.effective} on ({version.place}), which is in the window"
            findings.append((("where",) if change.where else ("charge",), f"{words} of this candidate"))
    if findings:
        raise Refusal(*dict.fromkeys(findings))
    return matching


def lines_to_set(name: str, version: Version, change: SetRate, meters: Meters) -> list[At]:
    """Return the rates, or the factor, that a `set` changes. Raises `Refusal` if none fits, or it is unclear which."""
    if change.factor is not None:
        return _factors_to_set(name, version, change)
    [matching], findings = _meant([(name, version)], change, meters)
    findings += _unclear(name, version, matching, change, meters)
    if findings:
        raise Refusal(*findings)
    return matching


def _meant(
    versions: Sequence[tuple[str, Version]], change: SetRate | Scale, meters: Meters
) -> tuple[list[list[At]], list[Finding]]:
    """Return the rates of each version that a change is for, and the findings. Raises `Refusal` for unknown names."""
    names = {name for name, _ in versions}
    called = names.pop() if len(names) == 1 else "these models"
    charges = [charge for _, version in versions for charge in _charges(version, change.charge).values()]
    if not charges:
        has = (charge.charge for _, version in versions for charge in version.charges)
        raise _no_charge(called, change.charge or "", has)
    if change.where and (unknown := list(_unknown(called, charges, change.where, meters))):
        raise Refusal(*unknown)
    fitted = [_fitting(_charges(version, change.charge), change.where, meters) for _, version in versions]
    matching, findings = [fitting for fitting, _ in fitted], [problem for _, problems in fitted for problem in problems]
    if not any(matching):
        findings.append(_nothing(called, charges, meters))
    return matching, findings


def _charges(version: Version, name: str | None) -> dict[int, Charge]:
    return {index: charge for index, charge in enumerate(version.charges) if name in (None, charge.charge)}


def _fitting(
    charges: Mapping[int, Charge], where: Mapping[str, Sequence[str]], meters: Meters
) -> tuple[list[At], list[Finding]]:
    """Return the rates that match `where`, and a problem for each one that also applies to other values."""
    if not where:
        return [At(index, number) for index, charge in charges.items() for number in range(len(charge.rates))], []
    matching: list[At] = []
    findings: list[Finding] = []
    for index, charge in charges.items():
        for number, rate in enumerate(charge.rates):
            has = attributes_of(charge, rate, meters)
            if not all(set(has.get(attribute, ())) & set(wanted) for attribute, wanted in where.items()):
                continue
            for attribute, wanted in where.items():
                if not set(has[attribute]) <= set(wanted):
                    words = f"the rate at {rate.source} is for {attribute} {', '.join(has[attribute])} together"
                    findings.append((("where", attribute), f"{words}; name them all, or split its line first"))
            matching.append(At(index, number))
    return matching, findings


def _no_charge(name: str, given: str, charges: Iterable[str]) -> Refusal:
    known = list(dict.fromkeys(charges))
    verb = "have" if name == "these models" else "has"
    words = f"matches nothing: {name} {verb} no charge '{given}'.{did_you_mean(given, known)}"
    return Refusal((("charge",), f"{words} Allowed: {', '.join(known)}"))


def _nothing(name: str, charges: Iterable[Charge], meters: Meters) -> Finding:
    named = (_words(charge, rate, meters) for charge in charges for rate in charge.rates)
    every = "; ".join(filter(None, dict.fromkeys(named)))
    verb = "They have" if name == "these models" else "It has"
    return ("where",), f"no rate of {name} matches all of these conditions. {verb}: {every}"


def attributes_of(charge: Charge, rate: Rate, meters: Meters) -> dict[str, tuple[str, ...]]:
    """Return the attributes of a rate, and those that it implies without naming them.

    A rate of tokens without a tier is for the base context. If other rates of the charge name a condition, a rate
    without it is for the default of the condition, if there is one.
    """
    named = {name for other in charge.rates for name in other.attributes}
    defaults = {
        name: (condition.default,)
        for name, condition in meters.condition.items()
        if condition.default and name in named and name not in rate.attributes
    }
    return {**charge.implied(rate), **rate.attributes, **defaults}


def _unknown(
    name: str, charges: Iterable[Charge], where: Mapping[str, Sequence[str]], meters: Meters
) -> Iterator[Finding]:
    """Yield the problems of attributes and values of `where` that no rate names."""
    known: dict[str, dict[str, None]] = {}
    for charge in charges:
        for rate in charge.rates:
            for attribute, values in attributes_of(charge, rate, meters).items():
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


def _unclear(name: str, version: Version, matching: Sequence[At], change: SetRate, meters: Meters) -> Iterator[Finding]:
    """Yield a problem if one new amount is for rates that differ, unless `where` names how they differ."""
    charges = {at: version.charges[at.charge] for at in matching}
    rates, known = rates_of(version), list(dict.fromkeys(charge.charge for charge in charges.values()))
    if len(known) > 1:
        yield (("set",), f"fits rates of {len(known)} charges of {name}. Name one. charge: {' | '.join(known)}")
        return
    chosen = [(rates[at], attributes_of(charges[at], rates[at], meters)) for at in matching]
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


def _words(charge: Charge, rate: Rate, meters: Meters) -> str:
    return ", ".join(f"{name} {' | '.join(values)}" for name, values in attributes_of(charge, rate, meters).items())
