"""Rate the rows of an account, each at its own instant, by the prices of its contract, as lines of a statement."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.instants import utc
from ratecard.base.money import EXACT, multiply
from ratecard.card import RateCard
from ratecard.price_book import PriceBook
from ratecard.rating.quote import LineItem, Quote
from ratecard.requests.body import INVALID
from ratecard.simulation.groups.shape import UsageShape, request_of
from ratecard.simulation.prices.outcome import ROUNDING_PART, Refused
from ratecard.simulation.prices.pricer import NO_TYPE
from ratecard.statements.booked import Bookings, entry_of_row
from ratecard.statements.lines import Line, Rated
from ratecard.statements.places import Place, places_in
from ratecard.statements.rows import AccountRows


class Unrated(NamedTuple):
    """Rows without a price: why, how many, and when the first one was sent."""

    reason: str
    rows: int
    first: datetime
    model: str


class Rater:
    """Rates the rows of one account, and names those that have no price.

    Prices of one day between two changes are one price book.
    """

    def __init__(self, card: RateCard, account: str, currency: str, first: date, end: date) -> None:
        self.card, self.account, self.currency = card, account, currency
        self._changes = card.changes_between(utc(first), utc(end))
        self._books: dict[tuple[int, date], tuple[PriceBook, PriceBook]] = {}
        self._places = places_in(card.tables)
        self._bookings = Bookings(self._places, card.tables.families, currency)
        self._rated: dict[tuple[object, ...], Rated] = {}
        self.unrated: dict[tuple[str, str], Unrated] = {}
        self.digests: set[str] = set()

    def lines(self, rows: AccountRows, first: date, end: date) -> Iterator[Line]:
        """Rate the rows of some days, or read what was booked; what has no price is kept in `unrated`."""
        for instant, row in rows.of(first, end):
            try:
                if rows.is_ledger:
                    entry = entry_of_row(row, self.card.tables.limits)
                    yield self._bookings.line(entry, instant, self._book(instant)[1])
                else:
                    yield from self._rate(rows, row, instant)
            except QuoteError as error:
                self._without_price(Refused.of(error).reason, row, instant)
            except ValueError as error:
                self._without_price(str(error), row, instant)

    def _without_price(self, reason: str, row: Mapping[str, str], instant: datetime) -> None:
        key = (reason, row.get("model", ""))
        known = self.unrated.get(key) or Unrated(reason, 0, instant, row.get("model", ""))
        self.unrated[key] = known._replace(rows=known.rows + 1)

    def _rate(self, rows: AccountRows, row: Mapping[str, str], instant: datetime) -> Iterator[Line]:
        if not row.get("type") and (typed := self._type_of(row)):
            row = {**row, "type": typed}
        shape = rows.usage_of(row)
        if shape.type is None:
            raise ValueError(NO_TYPE)
        own, listed = self._book(instant)
        quote = _quote(own, shape)
        if quote.currency != self.currency:
            words = f"charged in {quote.currency}, and the statement is in {self.currency}"
            raise ValueError(f"{words}. Make a statement of each: --currency {quote.currency}")
        self.digests.add(quote.digest)
        list_total = quote.total if own is listed else _quote(listed, shape).total
        yield from self._lines(quote, instant, list_total)

    def _type_of(self, row: Mapping[str, str]) -> str:
        name = row.get("model", "")
        model = self.card.tables.models.get(name) or self.card.tables.models.get(name.partition(":")[0])
        return model.type if model else ""

    def _book(self, instant: datetime) -> tuple[PriceBook, PriceBook]:
        """The prices of the account at an instant, and those of the list."""
        place = (bisect_right(self._changes, instant), instant.date())
        if place not in self._books:
            listed = self.card.at(instant)
            self._books[place] = (self._own_book(instant, listed), listed)
        return self._books[place]

    def _own_book(self, instant: datetime, listed: PriceBook) -> PriceBook:
        return listed

    def _lines(self, quote: Quote, instant: datetime, list_total: Decimal) -> Iterator[Line]:
        """The lines of a quote, and one for what the rounding of its total adds, so that they come to what is charged."""
        of_list = Decimal(0)
        for line in quote.lines:
            rated = self._of(line, quote)
            at_list = line.amount if rated.list_rate == rated.unit_rate else multiply(line.quantity, _list(rated))
            of_list = EXACT.add(of_list, at_list)
            yield Line(instant, rated, line.quantity, line.amount, at_list)
        rounding, list_rounding = EXACT.subtract(quote.total, quote.exact), EXACT.subtract(list_total, of_list)
        if rounding or list_rounding:
            key = (ROUNDING_PART, quote.model)
            if key not in self._rated:
                family = self.card.tables.families.get(quote.model, "")
                type_ = self.card.tables.models[quote.model].type
                self._rated[key] = Rated(
                    ROUNDING_PART, "", Decimal(0), "", Decimal(0), "", self._contract(quote), quote.model, type_, family
                )
            yield Line(instant, self._rated[key], Decimal(0), rounding, list_rounding)

    def _of(self, line: LineItem, quote: Quote) -> Rated:
        key = (line.sku, line.source, line.unit_rate, line.unit, quote.model)
        if key not in self._rated:
            list_rate, list_source = line.unit_rate, line.source
            place = self._places.get(list_source) or Place(quote.model, "", ())
            model = self.card.tables.models[place.model]
            family = self.card.tables.families.get(place.model, "")
            self._rated[key] = Rated(
                line.sku,
                line.unit,
                line.unit_rate,
                line.source,
                list_rate,
                list_source,
                self._contract(quote),
                place.model,
                model.type,
                family,
                place.charge,
                place.attributes,
            )
        return self._rated[key]

    def _contract(self, quote: Quote) -> str:
        return ""


def _list(rated: Rated) -> Decimal:
    return rated.unit_rate if rated.list_rate is None else rated.list_rate


def _quote(prices: PriceBook, shape: UsageShape) -> Quote:
    try:
        request = request_of(shape)
    except ValueError as error:
        raise QuoteError(INVALID, [(("source",), str(error))]) from None
    if shape.type == "video":
        del request.usage["type"]
        return prices.quote_video(request.usage, source=request.source)
    return prices.rate(request.usage)
