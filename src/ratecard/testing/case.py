"""A case to try laws on (a model at one instant), laws about every valid table, and the error of a broken law."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from math import ceil, floor
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ratecard.base.errors import QuoteError
from ratecard.base.money import ROUNDING, step, text
from ratecard.line_items.quote import MINIMUM, LineItem, Quote
from ratecard.methods.method import Method, method_of
from ratecard.price_book import PriceBook
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.rate import Charge, CountedCharge
from ratecard.tables.version import Version
from ratecard.testing.offer import Offer, Request
from ratecard.testing.usage_strategies import metered_usages, token_usages
from ratecard.testing.video_strategies import requests_of
from ratecard.views.sheet import Cell, price_cells


class BrokenLawError(AssertionError):
    """A law that does not hold. The message shows the requests, their line items, and the lines of the tables."""


class Quoted(NamedTuple):
    """A request with its quote."""

    request: Request
    quote: Quote
    case: "Case"

    @property
    def exact(self) -> Fraction:
        """Return the exact amount."""
        return Fraction(self.quote.exact)

    @property
    def counted(self) -> list[LineItem]:
        """Return the lines of counted things: all lines except the minimum's."""
        return [line for line in self.quote.lines if line.unit != MINIMUM]

    def of(self, *charges: Charge) -> Fraction:
        """Return the sum of the lines of these charges."""
        sources = {rate.source for charge in charges for rate in charge.rates}
        return sum((Fraction(line.amount) for line in self.quote.lines if line.source in sources), Fraction(0))

    def __str__(self) -> str:
        quote, rows = self.quote, [f"  {self.request}"]
        for line in quote.lines:
            amount = f"{text(line.quantity)} {line.unit} x {text(line.unit_rate)} = {text(line.amount)}"
            rows += [f"    {line.sku}: {amount}", f"      {self.case.shown(line.source)}"]
        return "\n".join([*rows, f"    total {text(quote.total)} {quote.currency}, exact {text(quote.exact)}"])


class Case:
    """One model of a price book. A broken law shows the lines of `files`: its tables by name, as bytes."""

    def __init__(self, prices: PriceBook, model: str, files: Mapping[str, bytes] | None = None) -> None:
        self.prices, self.model, self.files = prices, model, files or {}

    def __repr__(self) -> str:
        return f"{self.model} on {self.prices.day}"

    @cached_property
    def found(self) -> AnyModel:
        """Return the model."""
        return self.prices.in_effect(self.model)[0]

    @cached_property
    def version(self) -> Any:
        """Return its version in effect."""
        return self.prices._at_hour(self.prices.in_effect(self.model)[1])

    @cached_property
    def offer(self) -> Offer:
        """Return the offer of the version of a video model."""
        return Offer(self.prices, self.found, self.version)

    @cached_property
    def requests(self) -> st.SearchStrategy[Request]:
        """Return a strategy of its valid requests, including those with a source video."""
        if not isinstance(self.version, MeteredVersion):
            return requests_of(self.offer)
        return metered_usages(self.prices, self.found, self.version).map(Request)

    @cached_property
    def tokens(self) -> st.SearchStrategy[Request]:
        """Return a strategy of its valid requests of tokens alone."""
        return token_usages(self.prices, self.found, self.version).map(Request)

    @cached_property
    def cells(self) -> list[Cell]:
        """Return its price sheet. Raises `BrokenLawError` for a cell without a price."""
        try:
            return list(price_cells(self.prices, self.model))
        except QuoteError as error:
            raise BrokenLawError(f"The price sheet of {self} has a cell without a price: {error}") from None

    @cached_property
    def texts(self) -> dict[str, list[str]]:
        """Return the lines of every table."""
        return {name: content.decode("utf-8-sig").splitlines() for name, content in self.files.items()}

    def charges(self, field: str) -> list[Any]:
        """Return the charges that read a field or whose rates name it, as they are without conditions."""
        return [charge for charge in self.plain(self.found, self.version).charges if field in charge.fields]

    @cached_property
    def readings(self) -> list[tuple[Method, set[str]]]:
        """Return each charge with the fields that it reads in usages of the model's own type; empty for video."""
        if not isinstance(self.version, MeteredVersion):
            return []
        metered = self.prices._compiler.metered(self.found, self.version, self.prices.limits.rates).under({})
        charges = map(method_of, metered.version.charges)
        charge_readings = [(charge, charge.reading(metered, self.found.type)) for charge in charges]
        return [
            (charge, {*reading.fields, *reading.further} - {*reading.inert})
            for charge, reading in charge_readings
            if reading
        ]

    def reading(self, field: str) -> list[Any]:
        """Return the charges that depend on a field of usages of the model's own type."""
        return [charge for charge, fields in self.readings if field in fields]

    def further(self) -> list[tuple[AnyModel, Version]]:
        """Return the surcharges in effect that the model's requests may have."""
        named = [self.prices.in_effect(name) for name in self.version.searches.values()]
        return [(model, self.prices._at_hour(version)) for model, version in named]

    def plain(self, model: AnyModel, version: Version) -> Version:
        """Return a version as it is for requests that state no condition."""
        if not isinstance(version, MeteredVersion):
            return version
        return self.prices._compiler.metered(model, version, self.prices.limits.rates).under({}).version

    def per(self, unit: str) -> int:
        """Return the number of counted things in one unit."""
        return self.prices.tables.units[unit].per

    def price(self, charge: Charge, count: Fraction | int) -> Fraction:
        """Return the price of a count by a charge with one rate, worked out anew: options, unit and rounding."""
        once = self.prices.tables.units[charge.unit].counts == "prompt"
        left = Fraction(1 if once else count)
        if isinstance(charge, CountedCharge):
            left = max(left - Fraction(charge.included or 0), Fraction(0))
            left = max(left, Fraction(charge.at_least or 0)) if left else left
            block = Fraction(charge.started or 0)
            left = ceil(left / block) * block if block else left
        amount = left * Fraction(charge.rates[0].rate) * Fraction(charge.markup) / self.per(charge.unit)
        places = 10 ** self.places_of(charge)
        divisor = amount.denominator
        while divisor % 2 == 0 or divisor % 5 == 0:
            divisor //= 2 if divisor % 2 == 0 else 5
        return amount if divisor == 1 else Fraction(floor(amount * places + Fraction(1, 2)), places)

    def places_of(self, charge: Charge) -> int:
        """Return the decimal places of a charge's amounts, from the version or search that has the charge."""
        versions = (self.plain(*one) for one in ((self.found, self.version), *self.further()))
        holders: Any = (version for version in versions if charge in version.charges)
        return next(12 if version.line_places is None else version.line_places for version in holders)

    def rounded(self, exact: Decimal) -> Decimal:
        """Round an exact amount as the table rounds totals; only video is rounded."""
        if self.found.type != "video":
            return exact
        return ROUNDING.quantize(exact, step(self.version.rounding.places))

    def shown(self, source: str) -> str:
        """Return a `file:line`, and the text of that line."""
        name, _, line = source.rpartition(":")
        lines = self.texts.get(name, [])
        exists = line.isdigit() and 0 < int(line) <= len(lines)
        return f"{source}: {lines[int(line) - 1].strip()}" if exists else source

    def ask(self, request: Request, form: Any = None) -> Quoted:
        """Quote a valid request. Raises `BrokenLawError` if it is refused."""
        try:
            return Quoted(request, request.price(self.prices, form), self)
        except QuoteError as error:
            raise BrokenLawError(f"A valid request was refused: {error}\n  {request}") from None
        except Exception as error:
            error.add_note(f"asked for {self}:\n  {request}")
            raise


def expect(holds: bool, words: str, *asked: Quoted) -> None:
    """Raise `BrokenLawError` with the words, the requests and their quotes, unless the law holds."""
    if not holds:
        raise BrokenLawError("\n".join([words, *map(str, asked)]))


Trial = Callable[[Case, st.DataObject], None]
_Condition = Callable[[Case], bool]
# This is enough to find a mistake that most requests show; all shipped tables are checked in less than a minute.
MAX_EXAMPLES = 10


class Law(NamedTuple):
    """A function (case, data) that raises `BrokenLawError`, and a function that says whether it applies to a case."""

    trial: Trial
    applies: _Condition

    @property
    def name(self) -> str:
        """Return the name of the function, in words."""
        return self.trial.__name__.replace("_", " ")

    @property
    def statement(self) -> str:
        """Return the law as a sentence."""
        return (self.trial.__doc__ or "").strip()


def applies_to(condition: _Condition) -> Callable[[Trial], Law]:
    """Return the decorator that makes a function the law of the cases that meet a condition."""
    return lambda trial: Law(trial, condition)


def check(law: Law, case: Case, *, max_examples: int = MAX_EXAMPLES) -> None:
    """Try a law on a case with `max_examples` random requests, always the same ones.

    Raises `BrokenLawError` with the simplest request that breaks it.

    >>> from datetime import date
    >>> from ratecard import load_rate_card
    >>> from ratecard.testing import LAWS
    >>> case = Case(load_rate_card().at(date(2026, 10, 1)), "ovi-image-to-video")
    >>> for law in LAWS:
    ...     if law.applies(case):
    ...         check(law, case, max_examples=2)
    """
    _attempts(max_examples)(law=law, case=case)


@cache
def _attempts(max_examples: int) -> Callable[..., None]:
    """Return the trial of all laws, made once, because Hypothesis reads the source of every function that it gets."""

    @seed(0)
    @settings(
        max_examples=max_examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def attempt(law: Law, case: Case, data: st.DataObject) -> None:
        law.trial(case, data)

    return attempt


def any_case(case: Case) -> bool:
    """Return True for every model except models of RPC after the first one, which are never charged."""
    return case.found.type != "rpc" or next(case.prices._in_effect_all("rpc"))[0] is case.found


def of_type(*types: str) -> _Condition:
    """Return the condition of models of these types."""
    return lambda case: any_case(case) and case.found.type in types


def charged_by(field: str) -> _Condition:
    """Return the condition of models with a charge that depends on a field, or whose rates name it as an attribute."""
    return lambda case: any_case(case) and any(field in charge.fields for charge in case.version.charges)


def reading(field: str) -> _Condition:
    """Return the condition of models with a charge whose method reads a field of usages."""
    return lambda case: any_case(case) and bool(case.reading(field))
