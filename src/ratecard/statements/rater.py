"""Rate the rows of an account, each at its own instant, by the prices of its contract, as lines of a statement."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.instants import next_month, utc
from ratecard.base.money import EXACT, USD, is_balance
from ratecard.card import RateCard
from ratecard.contracts.checks import meets
from ratecard.ledger.files import REQUEST
from ratecard.line_items.ledger_entry import ONE, LedgerEntry, changing_balances, unknown_worth
from ratecard.line_items.quote import MINIMUM, LineItem, Quote
from ratecard.price_book import PriceBook
from ratecard.requests.metered import type_left_out
from ratecard.requests.service_parameters import model_named
from ratecard.simulation.billing import ModelInEffect, sold_by_sku
from ratecard.simulation.groups.shapes import request_of
from ratecard.simulation.prices.outcome import ROUNDING_PART, Refused
from ratecard.simulation.prices.pricer import no_type
from ratecard.simulation.prices.shape_price import quote_of
from ratecard.statements.lines import CORRECTION_LINE, NOWHERE, Line, Rated, RatePlace, with_added, with_own_sources
from ratecard.statements.rows import AccountRows, Bookings, booked_entry, charged_at
from ratecard.tables.contract import Contract
from ratecard.tables.monthly import Term
from ratecard.tables.selection import OverrideTarget, names_of_model

# The most marks that are kept with their compiled prices: few terms name charges or conditions. And the most names of
# models for which a mark remembers whether it can match them: rows may name anything.
_MOST_MARKS, _MOST_NAMES = 64, 1_000
_MARK = "mark"


class Mark:
    """The target of a term, laid over the list as an override that changes no price; `key` is the target as text.

    Conditions are resolved in one way so. A line that the target is for has a `listed` rate, as under any override.
    """

    def __init__(self, card: RateCard, key: str) -> None:
        self.key, self.target = key, OverrideTarget.model_validate_json(key)
        override = {"for": self.target, "factor": "1"}
        head = {"contract": _MARK, "from": "0001-01-01", "source": "the term of a month"}
        self._contract = Contract.model_validate({**head, "overrides": [override]})
        self._card = RateCard(replace(card.tables, contracts={_MARK: self._contract}), proves=False)
        self.can_meet = lru_cache(_MOST_NAMES)(self._can_meet)

    def book(self, instant: datetime) -> PriceBook:
        """Return the prices of the list at an instant, marked."""
        return self._card.under([self._contract], instant)

    def _can_meet(self, name: str) -> bool:
        """Return True if a model has a rate that the target is for, in any version, or is not known."""
        tables = self._card.tables
        if (model := tables.models.get(name)) is None:
            return True
        charges = [(version, charge) for version in model.versions for charge in version.charges]
        fits = self.target.fits(names_of_model(model, tables.families))
        return fits and meets(self.target, charges, tables.meters)


_mark = lru_cache(_MOST_MARKS)(Mark)


def marked_by_sku(lines: Iterable[LineItem]) -> dict[str, bool]:
    """Return True or False for each SKU whose lines are all marked or all unmarked; other SKUs are left out."""
    marked: dict[str, set[bool]] = {}
    for line in lines:
        if line.unit != MINIMUM:
            marked.setdefault(line.sku, set()).add(line.rate.listed is not None)
    return {sku: True in of_sku for sku, of_sku in marked.items() if len(of_sku) == 1}


def marked_skus(book: PriceBook, name: str) -> dict[str, bool]:
    """Return whether each SKU of a model is marked in a book; of a video no SKU, because it has its total alone."""
    model = book.tables.models.get(name)
    if model is None or model.type == "video":
        return {}
    try:
        sales = sold_by_sku(ModelInEffect.of(book, name))
    except QuoteError:
        return {}
    return marked_by_sku(sale.line for sold in sales.values() for sale in sold)


# For targets of terms, by their keys: by SKU, True if its lines meet the target.
_Marked = Sequence[tuple[str, Mapping[str, bool]]]
_Met = tuple[tuple[str, bool], ...]


def _met(marked: _Marked, sku: str) -> _Met:
    """Return which targets the lines of a SKU meet, as far as that is known."""
    return tuple((key, skus[sku]) for key, skus in marked if sku in skus)


# The most cards that are kept with a source for each rate; a simulation compares few.
_MOST_CARDS = 8


@lru_cache(_MOST_CARDS)
def _traced(card: RateCard) -> tuple[RateCard, Mapping[str, RatePlace]]:
    """Return the card with a source of its own for each rate, and the place of each rate by this source."""
    tables, places = with_own_sources(card.tables)
    return card if tables is card.tables else RateCard(tables, base=card._base, proves=card._proves), places


class Unrated(NamedTuple):
    """Rows without a price for one reason: how many, when the first one was sent, and their model."""

    reason: str
    rows: int
    first: datetime
    model: str


class _Books(NamedTuple):
    """The prices of the account, those of the list, and those of the list under each mark, in one period."""

    prices: PriceBook
    listed: PriceBook
    marked: Sequence[PriceBook]


class AccountRater:
    """The rater of an account's rows in a month; rows of one day between two changes share a price book."""

    def __init__(self, card: RateCard, rows: AccountRows, currency: str, month: date, terms: Iterable[Term]) -> None:
        self.rows, self.currency, self.month = rows, currency, month
        self.card, self._places = _traced(card)
        self._changes = card.changes_between(utc(month), utc(next_month(month)), account=rows.account)
        self._books: dict[tuple[int, date], _Books] = {}
        keys = dict.fromkeys(term.target_key for term in terms if not term.target.of_whole_models)
        self._marks = [_mark(self.card, key) for key in keys]
        self._marked_skus = cache(marked_skus)
        self._bookings = Bookings(self._places, card.tables.families, currency)
        self._changing = changing_balances(limits.rates for limits in card.tables.limits)
        self._rated: dict[tuple[object, ...], Rated] = {}
        self.unrated: dict[tuple[str, str], Unrated] = {}
        self.digests: set[str] = set()
        # The number of rows that are on the statement of another currency.
        self.elsewhere = Counter[str]()

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the month, rated or as booked; rows without a price are counted in `unrated`."""
        for instant, row in self.rows.of(self.month):
            try:
                if self.rows.is_ledger:
                    entry = booked_entry(row, self.card.tables.limits)
                    if entry.amount > 0 and (charged := charged_at(row)) is not None and instant < charged:
                        words = f"which is of {charged.isoformat()}"
                        raise ValueError(f"timestamp: a refund must not be before its charge, {words}")
                    # Balances pay for requests that are priced in US dollars.
                    if not self._is_elsewhere(USD if is_balance(entry.currency) else entry.currency):
                        rates = self._at(self._paid_at(entry, row, instant)).listed.limits.rates
                        line = self._bookings.line(entry, instant, self._at(instant).listed, rates)
                        kind = CORRECTION_LINE if entry.amount > 0 and self._is_of_earlier(row) else line.rated.kind
                        model, sku = line.rated.model, line.rated.sku
                        met = _met(self._marked(instant, (model,), (sku,), partial(self._marked_skus, name=model)), sku)
                        yield line._replace(rated=line.rated._replace(met=met, kind=kind))
                else:
                    yield from self._rate(row, instant)
            except QuoteError as error:
                self._without_price(Refused.of(error).reason, row, instant)
            except ValueError as error:
                self._without_price(str(error), row, instant)

    def _paid_at(self, entry: LedgerEntry, row: Mapping[str, str], instant: datetime) -> datetime:
        """Return the instant at which the balance of a row paid: a refund is worth what the balance was worth then."""
        if entry.amount <= 0 or entry.currency not in self._changing:
            return instant
        if (charged := charged_at(row)) is None:
            raise ValueError(unknown_worth(entry.currency))
        return charged

    def _is_of_earlier(self, row: Mapping[str, str]) -> bool:
        """Return True for a refund of a request that was charged before this month, or is not in the usage."""
        charged = charged_at(row)
        return bool(row.get(REQUEST)) and (charged is None or charged < utc(self.month))

    def _is_elsewhere(self, currency: str) -> bool:
        """Return True for a row of another currency, and count it."""
        if currency != self.currency:
            self.elsewhere[currency] += 1
        return currency != self.currency

    def _without_price(self, reason: str, row: Mapping[str, str], instant: datetime) -> None:
        # A row of a ledger may name its model in its notes alone.
        key = (reason, row.get("model") or row.get("notes", ""))
        known = self.unrated.get(key) or Unrated(reason, 0, instant, key[1])
        self.unrated[key] = known._replace(rows=known.rows + 1)

    def _rate(self, row: Mapping[str, str], instant: datetime) -> Iterator[Line]:
        if not row.get("type") and (typed := self._type_of(row)):
            row = {**row, "type": typed}
        shape = self.rows.usage_of(row)
        if shape.type is None:
            raise ValueError(no_type(shape.model, self.card))
        books, request = self._at(instant), request_of(shape)
        quote = quote_of(books.prices, request)
        if not self._is_elsewhere(quote.currency):
            self.digests.add(quote.digest)
            list_total = quote.total if books.prices is books.listed else quote_of(books.listed, request).total
            models = {self._places.get(line.list_source, NOWHERE).model or quote.model for line in quote.lines}
            skus = [line.sku for line in quote.lines]
            marked = self._marked(instant, models, skus, lambda book: marked_by_sku(quote_of(book, request).lines))
            yield from with_added(list(self._lines(quote, instant, list_total, marked)))

    def _type_of(self, row: Mapping[str, str]) -> str:
        model = model_named(self.card.tables, row.get("model"))
        return type_left_out(row, model.type) if model else ""

    def _at(self, instant: datetime) -> _Books:
        """Return the prices at an instant; they are the same in one day between two changes."""
        period = bisect_right(self._changes, instant), instant.date()
        if period not in self._books:
            prices = self.card.at(instant, account=self.rows.account)
            listed = self.card.listed.at(instant) if prices.contract else prices
            self._books[period] = _Books(prices, listed, [mark.book(instant) for mark in self._marks])
        return self._books[period]

    def _marked(
        self,
        instant: datetime,
        models: Collection[str],
        skus: Iterable[str],
        skus_in: Callable[[PriceBook], Mapping[str, bool]],
    ) -> _Marked:
        """Return the key of each mark, and whether the lines of each SKU have it: as `skus_in` says, if any can."""
        books = zip(self._marks, self._at(instant).marked, strict=True)
        return [
            (mark.key, skus_in(book) if any(map(mark.can_meet, models)) else dict.fromkeys(skus, False))
            for mark, book in books
        ]

    def _lines(self, quote: Quote, instant: datetime, list_total: Decimal, marked: _Marked) -> Iterator[Line]:
        """Yield the lines of a quote, and one for the rounding of its total, so that they add up to the charge."""
        list_sum = Decimal(0)
        for line in quote.lines:
            list_sum = EXACT.add(list_sum, line.list_amount)
            quantity = line.amount if line.unit == MINIMUM else line.quantity
            yield Line(instant, self._of(line, quote, _met(marked, line.sku)), quantity, line.amount, line.list_amount)
        rounding, list_rounding = EXACT.subtract(quote.total, quote.exact), EXACT.subtract(list_total, list_sum)
        if rounding or list_rounding:
            # Only totals of videos are rounded; for others, this adds the rest up to the minimum of the list.
            yield Line(instant, self._of(None, quote), Decimal(0), rounding, list_rounding)

    def _of(self, line: LineItem | None, quote: Quote, met: _Met = ()) -> Rated:
        """Return the part that lines of one SKU and rate share; without a line, that of a model's rounding."""
        # A contract's rate stays when the list changes, so that its lines may have several list rates.
        rates = line and line.unit != MINIMUM and (line.unit_rate, line.list_rate, line.list_source)
        key = (line and (line.sku, line.source, rates), quote.model, quote.contract, met)
        if key not in self._rated:
            self._rated[key] = self._made(line, quote)._replace(met=met)
        return self._rated[key]

    def _made(self, line: LineItem | None, quote: Quote) -> Rated:
        tables = self.card.tables
        # A minimum has no rate, though it may be on the line of one.
        place = self._places.get(line.list_source, NOWHERE) if line and line.unit != MINIMUM else NOWHERE
        name = place.model or quote.model
        origin = (quote.contract or "", name, tables.models[name].type, tables.families.get(name, ""))
        if line is None:
            sku = ROUNDING_PART if tables.models[name].type == "video" else f"{name}-{MINIMUM}"
            return Rated(sku, "", Decimal(0), "", Decimal(0), "", *origin)
        # A minimum adds another amount to each request, so it is counted in money.
        rates = (ONE, ONE) if line.unit == MINIMUM else (line.unit_rate, line.list_rate)
        sources = [self._places.get(source, NOWHERE).source or source for source in (line.source, line.list_source)]
        parts = (line.sku, line.unit, rates[0], sources[0], rates[1], sources[1])
        return Rated(*parts, *origin, place.charge, place.attributes)
