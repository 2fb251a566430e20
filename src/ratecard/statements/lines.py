"""Lines of a month: the charges of a request by rate, their sums by SKU and rate, and the place of each rate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from ratecard.base.errors import RateCardError
from ratecard.base.money import add, as_decimal, plain_text
from ratecard.candidates.rates import attributes_of
from ratecard.line_items.quote import MINIMUM
from ratecard.tables.card import Tables
from ratecard.tables.meters import Meters
from ratecard.tables.monthly import Term
from ratecard.tables.rate import Charge, Rate

# The kinds of a line: usage, a refund, or a refund of what an earlier month charged.
USAGE_LINE, REFUND_LINE, CORRECTION_LINE = "usage", "refund", "correction"
OF_EARLIER = "of an earlier month"
_ZERO = Fraction(0)


class StatementError(RateCardError):
    """A statement that cannot be made: rows without a price, or terms that contradict each other."""


class Rated(NamedTuple):
    """The part that lines of one SKU at one rate share.

    `unit` is None if it is not known, as for a video in the ledger. `charge` and `attributes` are those of the list
    rate; empty for a line without a rate of the list, such as a minimum. `paid_in` is the balance that paid a booked
    line, and `worth` the worth of one unit of that balance. `met` says, by the key of a target, whether the lines meet
    it; it lacks the targets for which that is not known.
    """

    sku: str
    unit: str | None
    unit_rate: Decimal
    source: str
    list_rate: Decimal | None
    list_source: str
    contract: str
    model: str
    type: str
    family: str
    charge: str = ""
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    kind: str = USAGE_LINE
    paid_in: str = ""
    worth: Decimal = Decimal(1)
    met: tuple[tuple[str, bool], ...] = ()

    @property
    def is_usage(self) -> bool:
        """Return True for usage, and False for a refund."""
        return self.kind == USAGE_LINE

    @property
    def named(self) -> dict[str, str]:
        """Return type, family and model, by which terms name lines."""
        return {"type": self.type, "family": self.family, "model": self.model}

    def meets(self, term: Term) -> bool:
        """Return True if a term is for these lines. Raises `StatementError` if they do not say so."""
        target = term.target
        if target.of_whole_models or not target.fits(self.named):
            return target.fits(self.named)
        if not self.counts:
            return False
        met = dict(self.met).get(term.target_key)
        if met is None:
            named = {**({"charge": target.charge} if target.charge else {}), **target.conditions}
            wanted = ", ".join(f"{name}: {' | '.join(values)}" for name, values in named.items())
            words = f"SKU {self.sku} of {self.model} does not say if it is for {wanted}"
            hint = "Make the statement of the usage, or leave charge and conditions out of the term"
            raise StatementError(f"{words}, and {term.kind} ({term.source}) needs it. {hint}")
        return met

    @property
    def counts(self) -> bool:
        """Return True if its unit counts something: a minimum and a rounding count nothing."""
        return self.unit not in ("", MINIMUM)


class Line(NamedTuple):
    """One line of one request: its instant, its rate, its quantity, and its exact amounts at contract and at list.

    `settled` is the amount to which terms apply: with its part of the rounding and the minimum of the request, and
    zero for the lines of these two; None if it is the amount itself. `request` is the id of a booked request.
    """

    instant: datetime
    rated: Rated
    quantity: Decimal
    amount: Decimal
    list_amount: Decimal | None = None
    settled: Fraction | None = None
    request: str = ""

    @property
    def charged(self) -> Fraction:
        """Return the amount that the terms of the month settle."""
        return Fraction(self.amount) if self.settled is None else self.settled


def with_added(lines: Sequence[Line]) -> list[Line]:
    """Give each line of a request its part of what rounding and a minimum add, in proportion to the amounts.

    So if terms make a line free, its part of these is free too, and nothing is left of a free request.
    """
    added = [line for line in lines if not line.rated.counts]
    counted = [line for line in lines if line.rated.counts]
    rest, sum_ = sum(Fraction(line.amount) for line in added), sum(Fraction(line.amount) for line in counted)
    if not rest or not counted:
        return list(lines)
    shares = [Fraction(line.amount) / sum_ if sum_ else Fraction(not at) for at, line in enumerate(counted)]
    parts = zip(counted, shares, strict=True)
    settled = [line._replace(settled=Fraction(line.amount) + share * rest) for line, share in parts]
    return [*settled, *(line._replace(settled=_ZERO) for line in added)]


class StatementLine(NamedTuple):
    """The lines of a month at one rate, added up; `list_amount` is None where the list is not known."""

    rated: Rated
    lines: int
    quantity: Decimal
    amount: Decimal
    list_amount: Decimal | None


class Sums:
    """The sums of lines by SKU and rate, made while the lines pass, because a month may have millions."""

    def __init__(self) -> None:
        self._sums: dict[Rated, StatementLine] = {}

    def passing(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Add up lines, and yield each of them."""
        for line in lines:
            # What a line meets decides its terms, and not its place on the statement.
            rated = line.rated._replace(met=()) if line.rated.met else line.rated
            known = self._sums.get(rated) or StatementLine(rated, 0, Decimal(0), Decimal(0), Decimal(0))
            listed = None
            if known.list_amount is not None and line.list_amount is not None:
                listed = add(known.list_amount, line.list_amount)
            quantity, amount = add(known.quantity, line.quantity), add(known.amount, line.amount)
            self._sums[rated] = StatementLine(rated, known.lines + 1, quantity, amount, listed)
            yield line

    def sorted(self) -> tuple[StatementLine, ...]:
        """Return the sums of usage, then those of refunds, in the order of model, SKU and place of the rate."""
        return tuple(self._sums[rated] for rated in sorted(self._sums, key=_order))


def _order(rated: Rated) -> tuple[object, ...]:
    list_rate = "" if rated.list_rate is None else plain_text(rated.list_rate)
    places = rate_order(rated.source, list_rate, rated.list_source)
    return (not rated.is_usage, rated.model, rated.sku, *places, _by_value(plain_text(rated.unit_rate)), str(rated))


def rate_order(source: str, list_rate: str, list_source: str) -> tuple[object, ...]:
    """Return the key that sorts lines of a SKU by their rates; an edit above the rates of a file keeps their order.

    >>> sorted(("m.yaml:10", "m.yaml:9"), key=lambda place: rate_order(place, "1", place))
    ['m.yaml:9', 'm.yaml:10']
    """
    (file, number), (list_file, list_number) = (place.rpartition(":")[::2] for place in (source, list_source))
    return file, _by_value(number), _by_value(list_rate), list_file, _by_value(list_number)


def _by_value(digits: str) -> tuple[int, str, str]:
    """Return the key that sorts numbers without a sign by value, as they are written in decimals."""
    integer, _, places = digits.partition(".")
    return len(integer), integer, places


def exact_text(amount: Fraction | Decimal) -> str:
    """Write an exact amount: as a decimal, or as a fraction where no decimal holds it.

    >>> exact_text(Fraction(1, 8)), exact_text(Fraction(1, 3)), exact_text(Decimal("2.50"))
    ('0.125', '1/3', '2.5')
    """
    exact = as_decimal(amount) if isinstance(amount, Fraction) else amount
    return plain_text(exact) if isinstance(exact, Decimal) else str(exact)


class RatePlace(NamedTuple):
    """The model and the charge of a rate, its attributes, and its `file:line`."""

    model: str
    charge: str
    attributes: tuple[tuple[str, tuple[str, ...]], ...]
    source: str


# The place of a line without a rate of the list.
NOWHERE = RatePlace("", "", (), "")


def with_own_sources(tables: Tables) -> tuple[Tables, dict[str, RatePlace]]:
    """Return the tables with a source of its own for each rate, and the place of the rate by this source.

    Several rates may be on one line of YAML, and all that a candidate scales have the line of the change.
    """
    of_line: dict[str, dict[RatePlace, int]] = {}
    for model in tables.models.values():
        for version in model.versions:
            for charge in version.charges:
                for rate in charge.rates:
                    place = _place(model.model, charge, rate, tables.meters)
                    on_line = of_line.setdefault(place.source, {})
                    on_line.setdefault(place, len(on_line))
    places = {_numbered(place, of_line): place for line_places in of_line.values() for place in line_places}
    shared = {place.model for line_places in of_line.values() if len(line_places) > 1 for place in line_places}
    if not shared:
        return tables, places

    def renamed(name: str, charge: Charge) -> Charge:
        rates = ((rate, _place(name, charge, rate, tables.meters)) for rate in charge.rates)
        return charge.with_rates(rate.model_copy(update={"source": _numbered(place, of_line)}) for rate, place in rates)

    models = dict(tables.models)
    for name in shared:
        versions = (
            version.model_copy(update={"charges": tuple(renamed(name, charge) for charge in version.charges)})
            for version in models[name].versions
        )
        models[name] = models[name].model_copy(update={"versions": tuple(versions)})
    return replace(tables, models=models), places


def _place(model: str, charge: Charge, rate: Rate, meters: Meters) -> RatePlace:
    return RatePlace(model, charge.charge, tuple(sorted(attributes_of(charge, rate, meters).items())), rate.source)


def _numbered(place: RatePlace, of_line: Mapping[str, Mapping[RatePlace, int]]) -> str:
    """Return the source of a rate, with its number on the line if it is not alone there."""
    on_line = of_line[place.source]
    return f"{place.source}#{on_line[place]}" if len(on_line) > 1 else place.source
