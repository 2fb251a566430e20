"""Prices that change by more than a factor: a slip of the decimal point, unless the new version expects it."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from ratecard.diff.change import CHANGED, Change, factor
from ratecard.diff.compare import days_of
from ratecard.diff.side import Priceable, Side
from ratecard.diff.stretch import same, stretches
from ratecard.diff.wording import amounts, subject
from ratecard.tables.version import Version
from ratecard.words.errors import Fault
from ratecard.words.money import from_fraction, text

_PLACES = 2


class Step(NamedTuple):
    """How many times as much or as little something costs, in words, and where; None is from or to nothing."""

    times: Fraction | None
    words: str
    place: str


def steep_steps(old: Side, new: Side, most: Decimal) -> Iterator[Fault]:
    """Every new or edited version with a price beyond the factor, at its steepest rate, unless it expects that."""
    days = days_of(old, new)
    for name in sorted(old.card.tables.models.keys() & new.card.tables.models.keys()):
        told: set[date] = set()
        for change in stretches(name, old, new, days):
            version = _written(name, change, old, new) if change.kind == CHANGED else None
            if version is None or version.effective in told:
                continue
            step = _steepest(change)
            if not _allowed(step, version.expected_change, most):
                told.add(version.effective)
                file, _, line = (step.place or version.place).rpartition(":")
                yield Fault(file, int(line), (name,), f"{name}: {step.words}{_hint(step, version, most)}")


def _written(name: str, change: Change, old: Side, new: Side) -> Version | None:
    """The version in effect on the new side, if it is new there or was edited."""
    after = Priceable(*new.card.at(change.effective).in_effect(name), new.card.tables.units)
    model, units = old.card.tables.models[name], old.card.tables.units
    before = (Priceable(model, each, units) for each in model.versions if each.effective == after.version.effective)
    return None if any(same(each, after) for each in before) else after.version


def _steepest(change: Change) -> Step:
    """The steepest step of any rate, or of any price where that is steeper still."""
    found = [Step(Fraction(1), "", "")]
    for rate in change.rates:
        if rate.old and rate.new:
            was, now = amounts(rate)
            words = f"{subject(rate)} goes from {was} ({rate.old.source}) to {now}"
            found.append(Step(factor(rate.old.each, rate.new.each), words, rate.new.source))
    cells = change.cells.steepest
    if cells:
        words = f"the price of {cells.cell or 'a request'} goes from {text(cells.old)} to {text(cells.new)}"
        found.append(Step(factor(cells.old, cells.new), words, ""))
    return max(found, key=lambda step: (step.times is None, step.times or 0))


def _allowed(step: Step, expected: Decimal | None, most: Decimal) -> bool:
    if step.times is None:
        return expected is not None
    enough = [Fraction(most), *(_either_way(expected) if expected else ())]
    return any(step.times <= each for each in enough)


def _either_way(expected: Decimal) -> tuple[Fraction, Fraction]:
    """A quarter as much is four times as little."""
    return Fraction(expected), 1 / Fraction(expected)


def _hint(step: Step, version: Version, most: Decimal) -> str:
    times = "" if step.times is None else text(_rounded_up(step.times))
    by = f", by a factor of {times}; without a word at most {text(most)}" if times else ""
    said = f", which says {text(version.expected_change)}" if version.expected_change else ""
    return f"{by}. If that is right, say `expected_change: {times or 1}` in version {version.effective}{said}"


def _rounded_up(times: Fraction) -> Decimal:
    """To two decimal places, never below: what is written must be enough."""
    scale = 10**_PLACES
    return from_fraction(Fraction(-(-times.numerator * scale // times.denominator), scale), _PLACES)
