"""The differences between two cards, as plain values."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from ratecard.base.messages import plural
from ratecard.base.money import from_fraction, text

CHANGED, ADDED, REMOVED, RETIRED = "changed", "added", "removed", "retired"
MARKS = {CHANGED: "~", ADDED: "+", REMOVED: "-", RETIRED: "-"}
# The prefix of a contract's name in a difference. The space keeps it apart from models, whose names have none.
OF_CONTRACT = "contract "
_PERCENT_PLACES = 2


def percent_text(old: Decimal | Fraction, new: Decimal | Fraction) -> str:
    """Return the change from `old` to `new` in percent of `old`, with a sign; empty where `old` is zero.

    Rounds half-up to two decimal places; a change that would round to zero is `+<0.01%` or `-<0.01%`.

    >>> percent_text(Decimal("0.154"), Decimal("0.17")), percent_text(Decimal(3), Decimal(2))
    ('+10.39%', '-33.33%')
    """
    if not old:
        return ""
    change = 100 * (Fraction(new) - Fraction(old)) / Fraction(old)
    sign = "+" if change > 0 else "-"
    digits = text(from_fraction(abs(change), _PERCENT_PLACES))
    return f"{sign}{'<0.01' if digits == '0' and change else digits}%"


def factor(old: Decimal | Fraction, new: Decimal | Fraction) -> Fraction | None:
    """Return the greater amount divided by the smaller one; None if only one of both is zero.

    >>> factor(Decimal(1), Decimal(4)), factor(Decimal(4), Decimal(1)), factor(Decimal(0), Decimal(1))
    (Fraction(4, 1), Fraction(4, 1), None)
    """
    if old == new:
        return Fraction(1)
    return max(Fraction(new) / Fraction(old), Fraction(old) / Fraction(new)) if old and new else None


class Priced(NamedTuple):
    """One rate for one combination of attributes, its markup included, with its unit and `file:line`.

    `each` is the price of one counted thing, which makes rates of different units comparable. An `implied` price has no
    rate of its own; it follows from another.
    """

    amount: Decimal
    unit: str
    each: Fraction
    source: str
    implied: bool = False
    currency: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the rate, its unit and its place as text, with `implied` only for an implied price."""
        priced = {"rate": text(self.amount), "unit": self.unit, "source": self.source}
        return {**priced, "implied": True} if self.implied else priced


class RateChange(NamedTuple):
    """One rate that differs, with its charge and attributes. A side without such a rate is None."""

    charge: str
    attributes: str
    old: Priced | None
    new: Priced | None

    @property
    def kind(self) -> str:
        """Return `changed`, `added` or `removed`."""
        return ADDED if self.old is None else REMOVED if self.new is None else CHANGED

    @property
    def mark(self) -> str:
        """Return `~`, `+` or `-`."""
        return MARKS[self.kind]

    @property
    def percent(self) -> str:
        """Return the change of the price in percent; empty without two prices, or if the old one is zero."""
        return percent_text(self.old.each, self.new.each) if self.old and self.new else ""

    @property
    def by(self) -> str:
        """Return text like `+10.39%`, or `from zero`."""
        return self.percent or ("from zero" if self.old and self.new else "")

    @property
    def subject(self) -> str:
        """Return the charge and attributes: `video, audio true`."""
        return f"{self.charge}, {self.attributes}" if self.attributes else self.charge

    @property
    def unit(self) -> str:
        """Return the unit of both rates, or of the only one; empty if they differ."""
        units = {side.unit for side in (self.old, self.new) if side}
        return units.pop() if len(units) == 1 else ""

    @property
    def currency(self) -> str:
        """Return the currency of both rates, or of the only one, as two are not compared; a factor has none."""
        return next(side.currency for side in (self.old, self.new) if side)

    @property
    def amounts(self) -> tuple[str, str]:
        """Return both rates as text, with their units if these differ."""
        old, new = (
            "" if side is None else text(side.amount) if self.unit else f"{text(side.amount)} per {side.unit}"
            for side in (self.old, self.new)
        )
        return old, new

    @property
    def places(self) -> list[str]:
        """Return `file:line` of the old and of the new rate, or of the only one."""
        return [side.source for side in (self.old, self.new) if side]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as text; a side without such a rate is null."""
        named = {"change": self.kind, "charge": self.charge, "attributes": self.attributes}
        priced = {name: side and side.to_dict() for name, side in (("old", self.old), ("new", self.new))}
        return {**named, **priced, "percent": self.percent or None}


class TermChange(NamedTuple):
    """A condition that differs, like `accepts duration`; each side as a table writes it, or empty."""

    term: str
    old: str
    new: str

    @property
    def kind(self) -> str:
        """Return `changed`, or `added` or `removed` if only one side has the condition."""
        return CHANGED if self.old and self.new else ADDED if self.new else REMOVED


class CellChange(NamedTuple):
    """One price cell of a model that differs: the request, and both totals."""

    model: str
    cell: str
    old: Decimal
    new: Decimal

    @property
    def ratio(self) -> Fraction | None:
        """Return the new total divided by the old one; None if the old one is zero."""
        return Fraction(self.new) / Fraction(self.old) if self.old else None

    @property
    def by(self) -> str:
        """Return text like `+10.87%`, or `from zero`."""
        return percent_text(self.old, self.new) or "from zero"

    def __str__(self) -> str:
        return f"{text(self.old)} -> {text(self.new)} ({self.by})"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as text."""
        amounts = {"old": text(self.old), "new": text(self.new)}
        return {**self._asdict(), **amounts, "percent": percent_text(self.old, self.new) or None}


class Cells(NamedTuple):
    """The price cells of a model: those whose total differs, how many were added or removed, and `of` how many."""

    differing: tuple[CellChange, ...] = ()
    added: int = 0
    removed: int = 0
    of: int = 0
    # The cell whose exact price differs by the greatest factor.
    steepest: CellChange | None = None

    @property
    def affected(self) -> int:
        """Return the number of cells with another price, a new price or no price any more."""
        return len(self.differing) + self.added + self.removed

    def __str__(self) -> str:
        return f"{self.affected:,} of {plural(self.of, 'price cell')}"


class Difference(NamedTuple):
    """The differences of one model or shared file from a day on, and until another day if they end."""

    model: str
    kind: str
    effective: date
    until: date | None
    note: str
    currency: str
    place: str
    rates: tuple[RateChange, ...] = ()
    terms: tuple[TermChange, ...] = ()
    cells: Cells = Cells()

    @property
    def when(self) -> str:
        """Return text like `from 2026-10-16`, or `from 2026-10-16, before 2026-11-01`."""
        return f"from {self.effective}{f', before {self.until}' if self.until else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as text, in the order of a report."""
        rise, fall = extremes(self.cells.differing)
        return {
            "model": self.model,
            "change": self.kind,
            "effective": self.effective.isoformat(),
            "until": self.until and self.until.isoformat(),
            "note": self.note,
            "currency": self.currency,
            "source": self.place,
            "rates": [rate.to_dict() for rate in self.rates],
            "terms": [term._asdict() for term in self.terms],
            "price_cells": {"affected": self.cells.affected, "of": self.cells.of},
            "worst_rise": rise and rise.to_dict(),
            "worst_fall": fall and fall.to_dict(),
        }


def extremes(cells: tuple[CellChange, ...]) -> tuple[CellChange | None, CellChange | None]:
    """Return the worst rise and the worst fall; among equal ones, the first."""
    rising = [(cell.ratio, cell) for cell in cells if cell.new > cell.old]
    falling = [(cell.ratio, cell) for cell in cells if cell.new < cell.old]
    # A rise from zero is worse than any percentage; the highest new total is the worst of these.
    rise = max(rising, key=lambda pair: (pair[0] is None, pair[0] or pair[1].new), default=(None, None))
    fall = min(falling, key=lambda pair: pair[0] or 0, default=(None, None))
    return rise[1], fall[1]
