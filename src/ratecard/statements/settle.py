"""Settle the terms of a month over its lines: included amounts, tiers, the commitment and the minimum, in this order.

These are pure functions: lines in the order of time and terms go in, exact amounts come out. Amounts are fractions,
because a part of a line need not be a decimal.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from ratecard.base.money import plain_text
from ratecard.statements.lines import Line, Rated, StatementError, exact_text
from ratecard.tables.monthly import COMMITMENT, GRADUATED, INCLUDED, MONTHLY_MINIMUM, VOLUME, MonthlyTier, Term
from ratecard.tables.units import Unit

_ZERO = Fraction(0)
# The steps that are settled line by line.
_INCLUDES, _TIERS = 0, 1


@dataclass(frozen=True, slots=True)
class TermLine:
    """One line of the terms of a month: what a term adds to the charges, or takes from them.

    `quantity` is what it is of, in `unit` (a unit or a currency): the included amount that was used, what lies in a
    tier, what was drawn or is short. `balance` is what a commitment had before and has after it.
    """

    kind: str
    words: str
    source: str
    quantity: Fraction
    unit: str
    amount: Fraction
    balance: tuple[Fraction, Fraction] | None = None

    def to_dict(self) -> dict[str, str]:
        """The line as a dict; numbers are text, fractions where no decimal holds them."""
        record = {
            "term": self.kind,
            "words": self.words,
            "source": self.source,
            "quantity": exact_text(self.quantity),
            "unit": self.unit,
            "amount": exact_text(self.amount),
        }
        if self.balance is None:
            return record
        return record | {"opening_balance": exact_text(self.balance[0]), "balance": exact_text(self.balance[1])}


class Settled(NamedTuple):
    """The lines of the terms, what the usage at each rate comes to after the tiers, and the balances left."""

    terms: tuple[TermLine, ...]
    charges: Mapping[Rated, Fraction]
    balances: Mapping[str, Fraction]


def settle_month(
    lines: Iterable[Line],
    terms: Sequence[Term],
    units: Mapping[str, Unit],
    currency: str,
    balances: Mapping[str, Fraction] | None = None,
) -> Settled:
    """Settle the terms of one month over its lines, which come in the order of time.

    `terms` are those that hold in the month; `balances` has what each commitment (by its `file:line`) has left at the
    beginning of the month. Refunds are in no term, and of the terms of money those in another currency are left out.
    Raises `StatementError` for a line that two terms of one step are for, and for a commitment without a balance.
    """
    terms = [term for term in terms if term.currency in (None, currency)]
    finder = _Finder(terms, units)
    included = {term.source: _Included(term) for term in terms if term.kind == INCLUDED}
    tiered = {term.source: _Tiered(term) for term in terms if term.kind in (GRADUATED, VOLUME)}
    charges: dict[Rated, Fraction] = {}
    for line in lines:
        if not line.rated.is_usage:
            continue
        amount, quantity = Fraction(line.amount), Fraction(line.quantity)
        if (found := finder.term(line.rated, _INCLUDES)) is not None:
            share = included[found.term.source].left_of(found.measure(quantity, amount), amount)
            amount, quantity = amount * share, quantity * share
        if (found := finder.term(line.rated, _TIERS)) is not None:
            tiered[found.term.source].take(line.rated, found.measure(quantity, amount), amount)
        else:
            charges[line.rated] = charges.get(line.rated, _ZERO) + amount
    found_lines = [each.line() for each in included.values()]
    for tiers in tiered.values():
        found_lines += tiers.charge(charges)
    left = dict(balances or {})
    for term in (term for term in terms if term.kind == COMMITMENT):
        found_lines.append(_drawn(term, _charged(term, charges, finder), left))
    for term in (term for term in terms if term.kind == MONTHLY_MINIMUM):
        found_lines += _true_up(term, _charged(term, charges, finder))
    return Settled(tuple(found_lines), charges, left)


class _Found(NamedTuple):
    """A term that is for a line, and how many units of the term one of the line is; None for a term of money."""

    term: Term
    times: Fraction | None

    def measure(self, quantity: Fraction, amount: Fraction) -> Fraction:
        """What of a line the term measures."""
        return amount if self.times is None else quantity * self.times


class _Finder:
    """Finds the one term of a step that is for lines of a rate; asked once for each rate."""

    def __init__(self, terms: Sequence[Term], units: Mapping[str, Unit]) -> None:
        self._terms, self._units = terms, units
        self._known: dict[tuple[Rated, int], _Found | None] = {}

    def term(self, rated: Rated, step: int) -> _Found | None:
        """Return the term of a step for lines of a rate. Raises `StatementError` for two of them."""
        place = (rated, step)
        if place not in self._known:
            found = [each for term in self._terms if term.step == step if (each := self._for(term, rated))]
            if len(found) > 1:
                both = " and ".join(f"{each.term.kind} ({each.term.source})" for each in found[:2])
                words = f"SKU {rated.sku} of {rated.model} meets two terms of one step: {both}"
                raise StatementError(f"{words}. Write in one of them what it is for, or leaves out: for, except")
            self._known[place] = found[0] if found else None
        return self._known[place]

    def _for(self, term: Term, rated: Rated) -> _Found | None:
        if not term.means(rated.named, dict(rated.attributes)):
            return None
        if term.currency is not None:
            return _Found(term, None)
        if rated.unit is None:
            words = f"SKU {rated.sku} of {rated.model} does not say its unit, and {term.kind} ({term.source}) needs it"
            raise StatementError(f"{words}: a video in the ledger has its total alone. Make the statement of the usage")
        if not rated.counts or rated.unit not in self._units:
            return None
        theirs, own = self._units[rated.unit], self._units[term.unit or ""]
        return _Found(term, Fraction(theirs.per, own.per)) if theirs.counts == own.counts else None


class _Included:
    """An included amount that is used up in the order of time."""

    def __init__(self, term: Term) -> None:
        self.term, self.credit = term, _ZERO
        self._whole, self._amount = _ZERO, Fraction(term.amount)

    @property
    def used(self) -> Fraction:
        """What is used of the amount."""
        return _between(_ZERO, self._whole, self._amount)

    def left_of(self, measure: Fraction, amount: Fraction) -> Fraction:
        """Take what is still included of a line, and return the share of it that is left to be paid.

        A rounding may be below zero: it gives back what it lies in.
        """
        before = self.used
        self._whole += measure
        taken = self.used - before
        if not taken:
            return Fraction(1)
        self.credit += amount * taken / measure
        return 1 - taken / measure

    def line(self) -> TermLine:
        """The line of the term: what was used of it, and minus what that would have cost."""
        unit, whole = self.term.unit or self.term.currency or "", Fraction(self.term.amount)
        words = f"included: {exact_text(whole)} {unit}"
        return TermLine(INCLUDED, words, self.term.source, self.used, unit, -self.credit)


class _Tiered:
    """Tiers over what lines come to in a month: each part in its own tier, or all of it in that of the whole."""

    def __init__(self, term: Term) -> None:
        self.term, self._whole = term, _ZERO
        # What of each rate lies in a tier: the measure, and what it comes to at contract prices.
        self._parts: dict[tuple[int, Rated], tuple[Fraction, Fraction]] = {}

    def take(self, rated: Rated, measure: Fraction, amount: Fraction) -> None:
        """RatePlace a line in its tiers; of `volume`, in the first one until all is known."""
        before, self._whole = self._whole, self._whole + measure
        if self.term.kind == VOLUME or not measure:
            self._add(0, rated, measure, amount)
            return
        low, high = min(before, self._whole), max(before, self._whole)
        lower = low
        for number, tier in enumerate(self.term.tiers):
            upper = high if tier.up_to is None else _between(lower, Fraction(tier.up_to), high)
            if part := upper - lower:
                # A rounding below zero is taken from the tiers in which it lies.
                part = part if measure > 0 else -part
                self._add(number, rated, part, amount * part / measure)
            lower = upper

    def _add(self, number: int, rated: Rated, measure: Fraction, amount: Fraction) -> None:
        known = self._parts.get((number, rated), (_ZERO, _ZERO))
        self._parts[number, rated] = (known[0] + measure, known[1] + amount)

    def charge(self, charges: dict[Rated, Fraction]) -> list[TermLine]:
        """Add what each rate comes to in its tiers to the charges, and return a line for each tier that has some."""
        chosen = tier_at(self.term.tiers, self._whole) if self.term.kind == VOLUME else None
        sums: dict[int, tuple[Fraction, Fraction]] = {}
        for (number, rated), (measure, amount) in self._parts.items():
            at = number if chosen is None else chosen
            price = priced(self.term.tiers[at], measure, amount)
            charges[rated] = charges.get(rated, _ZERO) + price
            known = sums.get(at, (_ZERO, _ZERO))
            sums[at] = (known[0] + measure, known[1] + price - amount)
        unit = self.term.unit or self.term.currency or ""
        return [
            TermLine(self.term.kind, self._words(at), self.term.source, measure, unit, change)
            for at, (measure, change) in sorted(sums.items())
        ]

    def _words(self, at: int) -> str:
        unit, tier = self.term.unit or self.term.currency or "", self.term.tiers[at]
        above = self.term.tiers[at - 1].up_to if at else None
        edges = [f"above {plain_text(above)}"] if above is not None else []
        edges += [f"up to {plain_text(tier.up_to)}"] if tier.up_to is not None else []
        price = (
            f"{plain_text(tier.rate)} per {unit}" if tier.rate is not None else _times_text(tier.times or Decimal(0))
        )
        return f"{self.term.kind}: {' '.join([*edges, unit]) if edges else f'all {unit}'} at {price}"


def _between(least: Fraction, amount: Fraction, most: Fraction) -> Fraction:
    return max(least, min(amount, most))


def _times_text(times: Decimal) -> str:
    percent = (Fraction(times) - 1) * 100
    sign = "+" if percent > 0 else ""
    return f"{sign}{exact_text(percent)} % of contract prices" if percent else "contract prices"


def tier_at(tiers: Sequence[MonthlyTier], whole: Fraction) -> int:
    """Return the number of the tier in which a whole lies; what is exactly at an edge is in the lower one.

    >>> tiers = (MonthlyTier(up_to=Decimal(10), rate=Decimal(2)), MonthlyTier(rate=Decimal(1)))
    >>> [tier_at(tiers, Fraction(whole)) for whole in ("9.99", "10", "10.01")]
    [0, 0, 1]
    """
    return next(number for number, tier in enumerate(tiers) if tier.up_to is None or whole <= tier.up_to)


def priced(tier: MonthlyTier, measure: Fraction, amount: Fraction) -> Fraction:
    """Price what lies in a tier: at its rate, or by its factor of what it comes to at contract prices."""
    if tier.rate is not None:
        return measure * Fraction(tier.rate)
    return amount * Fraction(tier.times or 0)


def _charged(term: Term, charges: Mapping[Rated, Fraction], finder: _Finder) -> Fraction:
    """What the lines that a term is for come to after the tiers."""
    meant = (amount for rated, amount in charges.items() if _is(finder.term(rated, term.step), term))
    return sum(meant, _ZERO)


def _is(found: _Found | None, term: Term) -> bool:
    return found is not None and found.term is term


def _drawn(term: Term, charged: Fraction, balances: dict[str, Fraction]) -> TermLine:
    """Draw charges from what a commitment has left."""
    if term.source not in balances:
        words = f"commitment ({term.source}): what is left of it at the beginning of the month is not known"
        raise StatementError(f"{words}. Give the usage since {term.begins}, or an opening balance")
    before = balances[term.source]
    drawn = max(_ZERO, min(before, charged))
    balances[term.source] = before - drawn
    unit = term.currency or ""
    words = f"commitment: {plain_text(term.amount)} {unit} from {term.begins}"
    return TermLine(COMMITMENT, words, term.source, drawn, unit, -drawn, (before, before - drawn))


def _true_up(term: Term, charged: Fraction) -> list[TermLine]:
    """The line that lifts charges to a minimum; what a commitment paid counts, and what is paid back does not."""
    short = Fraction(term.amount) - charged
    unit = term.currency or ""
    words = f"minimum: {plain_text(term.amount)} {unit}"
    return [TermLine(MONTHLY_MINIMUM, words, term.source, short, unit, short)] if short > 0 else []
