"""Settle the terms of a month over its lines: included amounts, tiers, the commitment and the minimum, in this order.

These are pure functions: lines in the order of time and terms go in, exact amounts come out. Amounts are fractions,
because a part of a line need not be a decimal.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from ratecard.base.money import plain_text
from ratecard.statements.lines import CORRECTION_LINE, REFUND_LINE, Line, Rated, StatementError, exact_text
from ratecard.tables.meters import Unit
from ratecard.tables.monthly import COMMITMENT, GRADUATED, INCLUDED, MONTHLY_MINIMUM, VOLUME, MonthlyTier, Term

# The kind of the line that limits refunds to what was paid, and that of refunds of earlier months.
NEVER_PAID = {REFUND_LINE: "refunds", CORRECTION_LINE: "refunds of earlier months"}
_ZERO = Fraction(0)
# The steps that are settled line by line.
_INCLUDES, _TIERS = 0, 1


@dataclass(frozen=True, slots=True)
class TermLine:
    """A line of the terms of a month: what a term adds to the charges, or takes from them.

    `quantity` is in `unit` (a unit or a currency): the included amount that was used, the part in a tier, the amount
    that was drawn or is short. `balance` is that of a commitment before and after the line, `name` the one that it has
    among the terms of its contract.
    """

    kind: str
    words: str
    source: str
    quantity: Fraction
    unit: str
    amount: Fraction
    balance: tuple[Fraction, Fraction] | None = None
    name: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the line as a dict; numbers are text, fractions where no decimal holds them."""
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


# The paid share of booked amounts, by request and SKU.
PaidShares = Mapping[tuple[str, str], Fraction]
# The remaining balance of each commitment.
Balances = Mapping[Term, Fraction]


class Settled(NamedTuple):
    """The lines of the terms, the balances left, and the paid share of refunded requests."""

    terms: tuple[TermLine, ...]
    balances: Balances
    paid: PaidShares


def settle_month(
    lines: Iterable[Line],
    terms: Sequence[Term],
    units: Mapping[str, Unit],
    currency: str,
    balances: Balances | None = None,
    *,
    refunded: Collection[str] = (),
    paid_before: PaidShares | None = None,
) -> Settled:
    """Settle the terms of one month over its lines, which come in the order of time.

    `terms` are those that hold in the month; `balances` has the balance of each commitment at the beginning of the
    month. Terms do not apply to refunds, and terms in another currency are left out. A request that is
    `refunded`, now or later, gets back at most what was paid for it: reductions by included amounts and tiers stay.
    `paid_before` has the paid shares of requests of earlier months. Raises `StatementError` if two terms of one step
    apply to a line, and for a commitment without a balance.
    """
    terms = [term for term in terms if term.currency in (None, currency)]
    finder = _Finder(terms, units)
    included = {term: _Included(term) for term in terms if term.kind == INCLUDED}
    tiered = {term: _Tiered(term, currency) for term in terms if term.kind in (GRADUATED, VOLUME)}
    charges = defaultdict[Rated, Fraction](Fraction)
    refunds: list[Line] = []
    kept: list[tuple[Line, Fraction, Fraction | None]] = []
    for line in _with_parts(lines):
        if not line.rated.is_usage:
            refunds.append(line)
            continue
        amount, quantity = line.charged, Fraction(line.quantity)
        if (match := finder.term(line.rated, _INCLUDES)) is not None:
            share = included[match.term].left_of(match.measure(quantity, amount), amount)
            amount, quantity = amount * share, quantity * share
        price: Fraction | None = amount
        if (match := finder.term(line.rated, _TIERS)) is not None:
            price = tiered[match.term].take(line.rated, match.measure(quantity, amount), amount)
        else:
            charges[line.rated] += amount
        if line.request in refunded:
            kept.append((line, amount, price))
    term_lines = [included_term.line() for included_term in included.values()]
    for tiers in tiered.values():
        term_lines += tiers.charge(charges)
    left = dict(balances or {})
    for term in (term for term in terms if term.kind == COMMITMENT):
        term_lines.append(_drawn(term, _charged(term, charges, finder), left))
    for term in (term for term in terms if term.kind == MONTHLY_MINIMUM):
        term_lines += _true_up(term, _charged(term, charges, finder))
    times = {rated: times for tiers in tiered.values() for rated, times in tiers.times(charges).items()}
    paid = {**(paid_before or {}), **_paid(kept, times)}
    return Settled((*term_lines, *_never_paid(refunds, paid, currency)), left, paid)


def _with_parts(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines; a charge that several balances paid is settled whole on its first row, which has its units.

    Its rows are of one instant, and no term of units could meet the further ones. Lines of one instant are in the order
    of their SKUs, as those of a ledger are: so a usage and its ledger have one statement.
    """
    for _, of_instant in groupby(lines, attrgetter("instant")):
        group = sorted(of_instant, key=lambda line: line.rated.sku)
        firsts = {_charge(line): number for number, line in enumerate(group) if line.quantity and line.request}
        for number, line in enumerate(group):
            first = firsts.get(_charge(line), number)
            if line.rated.is_usage and not line.quantity and first != number:
                group[first] = group[first]._replace(settled=group[first].charged + line.charged)
                group[number] = line._replace(settled=_ZERO)
        yield from group


def _charge(line: Line) -> tuple[object, ...]:
    return line.request, line.rated.sku, line.rated.unit_rate, line.rated.kind


def _paid(kept: Iterable[tuple[Line, Fraction, Fraction | None]], times: Mapping[Rated, Fraction]) -> PaidShares:
    """Return the paid share of requests, from their lines, each with the amount not included and its price in tiers.

    Tiers of `volume` have no price (None) before all lines are known: then it is the amount times the rate's factor.
    """
    booked, paid = defaultdict[tuple[str, str], Fraction](Fraction), defaultdict[tuple[str, str], Fraction](Fraction)
    for line, amount, price in kept:
        key = (line.request, line.rated.sku)
        booked[key] += line.charged
        paid[key] += amount * times.get(line.rated, Fraction(1)) if price is None else price
    return {key: min(paid[key] / charged, Fraction(1)) for key, charged in booked.items() if charged}


def _never_paid(refunds: Iterable[Line], paid: PaidShares, currency: str) -> list[TermLine]:
    """Return the lines that lower refunds by what terms had taken off these requests; empty without reductions."""
    sums = dict.fromkeys(NEVER_PAID, _ZERO)
    for line in refunds:
        sums[line.rated.kind] -= line.charged * (1 - paid.get((line.request, line.rated.sku), Fraction(1)))
    words = "what terms had taken off the refunded requests"
    return [
        TermLine(NEVER_PAID[kind], f"{NEVER_PAID[kind]}: {words}", "", amount, currency, amount)
        for kind, amount in sums.items()
        if amount
    ]


class _Found(NamedTuple):
    """A term that applies to a line, and the factor from the unit of the line to its own; None for a term of money."""

    term: Term
    times: Fraction | None

    def measure(self, quantity: Fraction, amount: Fraction) -> Fraction:
        """Return the part of a line that the term measures."""
        return amount if self.times is None else quantity * self.times


class _Finder:
    """The finder of the one term of a step that applies to lines of a rate; it looks up each rate once."""

    def __init__(self, terms: Sequence[Term], units: Mapping[str, Unit]) -> None:
        self._terms, self._units = terms, units
        self.term = cache(self._term)

    def _term(self, rated: Rated, step: int) -> _Found | None:
        """Return the term of a step that applies to lines of a rate. Raises `StatementError` if two apply."""
        matches = [match for term in self._terms if term.step == step if (match := self._for(term, rated))]
        if len(matches) > 1:
            two_terms = " and ".join(f"{match.term.kind} ({match.term.source})" for match in matches[:2])
            words = f"SKU {rated.sku} of {rated.model} meets two terms of one step: {two_terms}"
            raise StatementError(f"{words}. Write in one of them what it is for, or leaves out: for, except")
        return matches[0] if matches else None

    def _for(self, term: Term, rated: Rated) -> _Found | None:
        if not rated.meets(term):
            return None
        if term.currency is not None:
            return _Found(term, None)
        if rated.unit is None:
            words = f"SKU {rated.sku} of {rated.model} does not say its unit, and {term.kind} ({term.source}) needs it"
            raise StatementError(f"{words}: a video in the ledger has its total alone. Make the statement of the usage")
        if not rated.counts or rated.unit not in self._units:
            return None
        line_unit, term_unit = self._units[rated.unit], self._units[term.unit or ""]
        return _Found(term, Fraction(line_unit.per, term_unit.per)) if line_unit.counts == term_unit.counts else None


class _Included:
    """An included amount that is used up in the order of time."""

    def __init__(self, term: Term) -> None:
        self.term, self.used, self.credit = term, _ZERO, _ZERO

    def left_of(self, measure: Fraction, amount: Fraction) -> Fraction:
        """Use up the included part of a line, and return the share of the line that is left to be paid."""
        included = min(measure, Fraction(self.term.amount) - self.used)
        if not included:
            return Fraction(1)
        self.used += included
        self.credit += amount * included / measure
        return 1 - included / measure

    def line(self) -> TermLine:
        """Return the line of the term: the quantity that it included, and the cost of that, below zero."""
        words = f"included: {plain_text(self.term.amount)} {self.term.measure}"
        return TermLine(INCLUDED, words, self.term.source, self.used, self.term.measure, -self.credit)


class _Tiered:
    """Tiers over the sum of lines in a month: each part in its own tier, or everything in the tier of the sum."""

    def __init__(self, term: Term, currency: str) -> None:
        self.term, self._currency, self._whole = term, currency, _ZERO
        # The part of each rate in a tier: its measure, and its amount at contract prices.
        self._parts: dict[tuple[int, Rated], tuple[Fraction, Fraction]] = {}

    def take(self, rated: Rated, measure: Fraction, amount: Fraction) -> Fraction | None:
        """Put a line into its tiers and return its price; None for `volume`, whose tier is not known before the end."""
        lower, self._whole = self._whole, self._whole + measure
        if self.term.kind == VOLUME or not measure:
            self._add(0, rated, measure, amount)
            return None if self.term.kind == VOLUME else priced(self.term.tiers[0], measure, amount)
        price = _ZERO
        for number, tier in enumerate(self.term.tiers):
            upper = self._whole if tier.up_to is None else min(Fraction(tier.up_to), self._whole)
            if upper > lower:
                part = upper - lower, amount * (upper - lower) / measure
                self._add(number, rated, *part)
                price += priced(tier, *part)
                lower = upper
        return price

    def _add(self, number: int, rated: Rated, measure: Fraction, amount: Fraction) -> None:
        known = self._parts.get((number, rated), (_ZERO, _ZERO))
        self._parts[number, rated] = (known[0] + measure, known[1] + amount)

    def charge(self, charges: defaultdict[Rated, Fraction]) -> list[TermLine]:
        """Add the price of each rate in its tiers to the charges, and return a line for each tier in use."""
        chosen = tier_at(self.term.tiers, self._whole) if self.term.kind == VOLUME else None
        sums: dict[int, tuple[Fraction, Fraction]] = {}
        for (number, rated), (measure, amount) in self._parts.items():
            at = number if chosen is None else chosen
            price = priced(self.term.tiers[at], measure, amount)
            charges[rated] += price
            known = sums.get(at, (_ZERO, _ZERO))
            sums[at] = (known[0] + measure, known[1] + price - amount)
        return [
            TermLine(self.term.kind, self._words(at), self.term.source, measure, self.term.measure, change)
            for at, (measure, change) in sorted(sums.items())
        ]

    def times(self, charges: Mapping[Rated, Fraction]) -> dict[Rated, Fraction]:
        """Return the factor of each rate from its amount before the tiers to its charge after them."""
        before = defaultdict[Rated, Fraction](Fraction)
        for (_, rated), (_, amount) in self._parts.items():
            before[rated] += amount
        return {rated: charges[rated] / amount for rated, amount in before.items() if amount}

    def _words(self, at: int) -> str:
        unit, tier = self.term.measure, self.term.tiers[at]
        above = self.term.tiers[at - 1].up_to if at else None
        edges = [f"above {plain_text(above)}"] if above is not None else []
        edges += [f"up to {plain_text(tier.up_to)}"] if tier.up_to is not None else []
        price = _times_text(tier.times or Decimal(0))
        if tier.rate is not None:
            price = f"{plain_text(tier.rate)} {self._currency} per {unit}"
        return f"{self.term.kind}: {' '.join([*edges, unit]) if edges else f'all {unit}'} at {price}"


def _times_text(times: Decimal) -> str:
    percent = (Fraction(times) - 1) * 100
    sign = "+" if percent > 0 else ""
    return f"{sign}{exact_text(percent)} % of contract prices" if percent else "contract prices"


def tier_at(tiers: Sequence[MonthlyTier], total: Fraction) -> int:
    """Return the number of the tier in which a sum lies; a sum exactly at an edge is in the lower tier.

    >>> tiers = (MonthlyTier(up_to=Decimal(10), rate=Decimal(2)), MonthlyTier(rate=Decimal(1)))
    >>> [tier_at(tiers, Fraction(total)) for total in ("9.99", "10", "10.01")]
    [0, 0, 1]
    """
    return next(number for number, tier in enumerate(tiers) if tier.up_to is None or total <= tier.up_to)


def priced(tier: MonthlyTier, measure: Fraction, amount: Fraction) -> Fraction:
    """Price a part in a tier: its measure at the rate of the tier, or its amount at contract prices by the factor."""
    if tier.rate is not None:
        return measure * Fraction(tier.rate)
    return amount * Fraction(tier.times or 0)


def _charged(term: Term, charges: Mapping[Rated, Fraction], finder: _Finder) -> Fraction:
    """Add up the charges, after the tiers, to which a term applies."""
    terms = ((finder.term(rated, term.step), amount) for rated, amount in charges.items())
    return sum((amount for match, amount in terms if match is not None and match.term is term), _ZERO)


def _drawn(term: Term, charged: Fraction, balances: dict[Term, Fraction]) -> TermLine:
    """Draw charges from the balance of a commitment. Raises `StatementError` if the balance is not known."""
    if term not in balances:
        words = f"commitment ({term.source}): what is left of it at the beginning of the month is not known"
        raise StatementError(f"{words}. Give the usage since {term.begins}, or an opening balance")
    before = balances[term]
    drawn = max(_ZERO, min(before, charged))
    balances[term] = before - drawn
    words = f"commitment: {plain_text(term.amount)} {term.measure} from {term.begins}"
    balance = (before, before - drawn)
    return TermLine(COMMITMENT, words, term.source, drawn, term.measure, -drawn, balance, term.name)


def _true_up(term: Term, charged: Fraction) -> list[TermLine]:
    """Return the line that lifts charges to a minimum; amounts that a commitment paid count, refunds do not."""
    short = Fraction(term.amount) - charged
    words = f"minimum: {plain_text(term.amount)} {term.measure}"
    return [TermLine(MONTHLY_MINIMUM, words, term.source, short, term.measure, short)] if short > 0 else []
