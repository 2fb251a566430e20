"""The re-rating of a billing export by SKU: exact, or refused.

A SKU means all requests that are charged by it under the prices at the row's own time: those whose quote has a line
with that SKU; a video clip is billed at its total, so its requests are found by their total. If another card would
charge them all alike, that is the price; a change that a SKU cannot express is the reason for a refusal.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from ratecard.base.errors import QuoteError
from ratecard.base.layouts import Identity
from ratecard.base.messages import echo
from ratecard.base.money import EXACT, USD, minus, multiply, text
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard
from ratecard.ledger.files import PRICES
from ratecard.line_items.ledger_entry import currencies, price_field, unknown_currency, unknown_worth, worths
from ratecard.line_items.quote import MINIMUM, LineItem, Quote
from ratecard.methods.method import edge_usages, unit_usages
from ratecard.price_book import PriceBook
from ratecard.review.difference import TermChange
from ratecard.review.rates import Terms, rate_changes, term_changes, terms_of
from ratecard.review.sides import Priceable, Side
from ratecard.simulation.groups.predicates import Predicates
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.simulation.prices.outcome import Outcome, PricedLine, PricedShape, Refused
from ratecard.simulation.prices.pricer import NO_INSTANT, Pricer
from ratecard.simulation.prices.shape_price import charged_lines
from ratecard.simulation.rows.billing_export import CHARGE, CREDIT, DISPUTED, NO_CHARGE, entry_of, number_of
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.limits import Rates
from ratecard.tables.metered import MeteredVersion
from ratecard.views.sheet import Cell, price_cells


class ModelInEffect(NamedTuple):
    """A model that has a price in a book, with its version there."""

    book: PriceBook
    model: AnyModel
    version: Any

    @classmethod
    def of(cls, book: PriceBook, name: str) -> "ModelInEffect":
        """Return a model in effect. Raises `QuoteError` with the reason if it has no price."""
        model, version = book.in_effect(name)
        return cls(book, model, book._at_hour(version))


class SkuSale(NamedTuple):
    """A request, and its line of one SKU."""

    request: Mapping[str, Any]
    line: LineItem


def model_of(book: PriceBook, named: str, sku: str) -> str:
    """Return the model that a row names, else the one with the longest name that the SKU begins with.

    A search that a text model makes is charged by the rates of the search.
    """
    models = book.tables.models
    if named in models:
        version = models[named].version_at(book.instant)
        searches = version.searches.values() if version else ()
        return next((search for search in searches if sku.startswith(f"{search}-")), named)
    return max((name for name in models if sku.startswith(f"{name}-")), key=len, default=named)


def sold_by_sku(in_effect: ModelInEffect) -> dict[str, list[SkuSale]]:
    """Return every SKU of a version that is not video, with a request for each way in which it is charged."""
    sales: dict[str, list[SkuSale]] = {}
    for request in _requests(in_effect.model, in_effect.version, in_effect.book.tables):
        try:
            quote = in_effect.book.rate(request)
        except QuoteError:
            continue  # a combination that has no price
        # The minimum adds a different amount to each request, so that it has no rate.
        for line in (line for line in quote.lines if line.unit != MINIMUM):
            sales.setdefault(line.sku, []).append(SkuSale(request, line))
    return sales


def _requests(model: AnyModel, version: MeteredVersion, tables: Tables) -> Iterator[dict[str, Any]]:
    """Yield every request that may have its own rate; a value that is left out may have another meaning later."""
    yield from unit_usages(model, version, tables)
    yield {"type": model.type, "model": model.model}
    yield from edge_usages(model, version, tables)


def line_in(sku: str, sold: list[SkuSale], now: ModelInEffect) -> LineItem:
    """Return the line of these requests in another version. Raises `ValueError` where they differ.

    Raises `QuoteError` where a request has no price there.
    """
    lines: dict[tuple[object, ...], LineItem] = {}
    place, errors = f"the version of {now.version.effective} of {now.model.model}", []
    for request, was in sold:
        try:
            line = next((line for line in now.book.rate(request).lines if line.sku == sku), None)
        except QuoteError as error:
            errors.append(error)
            continue
        if line is None:
            raise ValueError(f"SKU {sku} is not in {place}, or not for each of its requests")
        if (line.quantity, line.unit) != (was.quantity, was.unit):
            raise ValueError(f"SKU {sku} counts something else in {place}")
        lines[line.unit_rate, line.source] = line
    if errors and not lines:
        raise errors[0]
    if errors:
        raise ValueError(f"SKU {sku} is not in {place} for each of its requests")
    if len({rate for rate, _ in lines}) > 1:
        raise ValueError(f"SKU {sku} has more than one rate in {place}")
    return next(iter(lines.values()))


_REFERENCE = "reference_video_total_duration"


class Clips:
    """Every price cell of a video version by the SKU of the row that it makes."""

    def __init__(self, in_effect: ModelInEffect) -> None:
        self.in_effect = in_effect
        self._cells: dict[str, list[Cell]] = {}
        for cell in price_cells(in_effect.book, in_effect.model.model):
            self._cells.setdefault(cell.quote.lines[0].sku, []).append(cell)

    def cells(self, sku: str, billed: Decimal) -> list[Cell]:
        """Return the requests of a SKU that cost this amount; empty where the price depends on a measured video."""
        return [] if self.measured(sku) else [cell for cell in self._cells.get(sku, ()) if cell.quote.total == billed]

    def nearest(self, sku: str, billed: Decimal) -> Cell | None:
        """Return the request of a SKU with the price nearest to this amount; None if a measured video decides it.

        Raises `ValueError` for a SKU that charges no request.
        """
        if self.measured(sku):
            return None
        if sku not in self._cells:
            raise ValueError(f"sku: no request of {self.in_effect.model.model} is charged by it")
        return min(self._cells[sku], key=lambda cell: EXACT.subtract(cell.quote.total, billed).copy_abs())

    def measured(self, sku: str) -> bool:
        """Return True if the price depends on seconds or pixels of a sent video, which no row holds."""
        version = self.in_effect.version
        cells = (cell for sku_cells in self._cells.values() for cell in sku_cells)
        if version.accepts.reference_video_total_duration and not any(_REFERENCE in cell.body for cell in cells):
            return any("video_input" in charge.ATTRIBUTES for charge in version.charges)
        return any(cell.video or _REFERENCE in cell.body for cell in self._cells.get(sku, ()))

    def repriced(self, sku: str, billed: Decimal, now: PriceBook) -> Quote | None:
        """Quote the requests of a row in another book; None if the rates, and so the charge, are the same.

        Raises `QuoteError` where the book refuses them, and `ValueError` where they would not all cost the same.
        """
        cells = self._cells.get(sku, [])
        if not cells:
            raise ValueError(f"no request is known for SKU {sku}")
        if self.measured(sku):
            if all(cell.video is None for cell in cells) and _same_rates(cells, now):
                return None
            raise ValueError(f"the price of SKU {sku} depends on the video that was sent, and its rates changed")
        quotes, errors = [], []
        for cell in self.cells(sku, billed):
            try:
                quotes.append(now.quote_video(cell.body))
            except QuoteError as error:
                errors.append(error)
        if errors:
            if quotes:
                raise ValueError(f"some requests of SKU {sku} that were charged {text(billed)} would have no price")
            raise errors[0]
        if not quotes:
            raise ValueError(f"no request of SKU {sku} was charged {text(billed)}")
        totals = sorted({quote.total for quote in quotes})
        if len(totals) > 1:
            words = " or ".join(map(text, totals))
            raise ValueError(f"requests of SKU {sku} that were charged {text(billed)} would be charged {words}")
        return quotes[0]


def _same_rates(cells: Sequence[Cell], now: PriceBook) -> bool:
    """Return True if each of these requests has the same lines at the same rates in another book."""
    try:
        return all(_rates(cell.quote) == _rates(now.quote_video(cell.body)) for cell in cells)
    except QuoteError:
        return False


def _rates(quote: Quote) -> list[tuple[str, Decimal]]:
    return [(line.sku, line.unit_rate) for line in quote.lines]


# The beginnings of terms that change no price, or that are in the rates already.
_FREE = ("context_tokens", "surcharges ", "mode", "markup of ")
_ACCEPTS = "accepts "
_SHOWN = 3


def structural(was: ModelInEffect, now: ModelInEffect) -> str:
    """Return in words which conditions differ; empty if only rates do."""
    changes = list(_binding(was, term_changes(_terms(was), _terms(now))))
    more = [f"and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    words = (
        f"{change.term} was {change.old or 'not set'}, is {change.new or 'not set'}" for change in changes[:_SHOWN]
    )
    return "; ".join([*words, *more])


def same_rates(was: ModelInEffect, now: ModelInEffect) -> bool:
    """Return True if two versions charge the same for every request."""
    if was.version is now.version:
        return True
    return not structural(was, now) and not rate_changes(_priceable(was), _priceable(now))


def _binding(was: ModelInEffect, changes: Iterable[TermChange]) -> Iterator[TermChange]:
    """Yield the changes that matter, without changes to a field for which requests had to choose a value."""
    for change in changes:
        field = change.term.removeprefix(_ACCEPTS)
        choices = getattr(getattr(was.version, "accepts", None), field, None)
        chosen = field != change.term and field != "audio" and isinstance(choices, tuple) and len(choices) > 1
        if not change.term.startswith(_FREE) and not chosen:
            yield change


def _terms(in_effect: ModelInEffect) -> Terms:
    """Return the conditions, and what each unit counts: a unit may count something else in another folder."""
    units = in_effect.book.tables.units
    counted = {f"what {charge.charge} counts": units[charge.unit].counts for charge in in_effect.version.charges}
    return {**terms_of(_priceable(in_effect)), **counted}


def _priceable(in_effect: ModelInEffect) -> Priceable:
    return Priceable(in_effect.model, in_effect.version, in_effect.book.tables.units)


class Odd(NamedTuple):
    """The numbers of a row that is priced by itself, because the engine could not read them."""

    units: Decimal
    amount: Decimal


class BilledRow(NamedTuple):
    """The SKU, model and price per unit of billed rows, and their kind: charge, disputed (not units x price) or credit.

    `worth`: one unit of the currency of the amounts, in the currency of the price.
    """

    sku: str
    model: str
    price: Decimal
    kind: str
    odd: Odd | None
    worth: Decimal


def read_entry(shape: UsageShape, currency: str, rates: Rates | None, stated: Sequence[Rates]) -> BilledRow:
    """Return the entry of a shape, priced in a currency; `rates` were in effect then, None without an instant.

    `stated`: the rates of all times, newest first. Raises `ValueError` with the name of the field and what is wrong.
    """
    values = shape.values()
    sku, row_currency = values.get("ledger_sku"), values.get("ledger_currency") or ""
    if not sku:
        raise ValueError("sku: missing")
    worth = _worth(row_currency, currency, rates, stated)
    if "ledger_odd" not in values:
        return BilledRow(sku, shape.model or "", Decimal(values["ledger_price"]), values["ledger_entry"], None, worth)
    numbers = json.loads(values["ledger_odd"])
    price_name = price_field(row_currency)
    other = next(name for name in PRICES if name != price_name)
    if numbers.pop(other):
        raise ValueError(f"{other}: of a row in {row_currency}, whose price is {price_name}")
    units, price, amount = (number_of(name, numbers[name]) for name in ("unit", price_name, "amount"))
    # The sum of all rows of its charge, if several balances paid it.
    parts = [Decimal(numbers[name]) for name in ("part_unit", "part_amount") if numbers.get(name)]
    kind = entry_of(units, price, amount, worth, (parts[0], parts[1]) if parts else None)
    return BilledRow(sku, shape.model or "", price, kind, Odd(units, amount), worth)


def _worth(charged: str, currency: str, rates: Rates | None, stated: Sequence[Rates]) -> Decimal:
    """Return what one unit of a row's currency is worth in the currency of the sums."""
    if not charged:
        raise ValueError(f"currency: missing. Allowed: {', '.join(currencies(*stated))}")
    payers = worths(currency, rates)
    if charged in payers:
        return payers[charged]
    if rates is None and any(charged in dated_rates.stated for dated_rates in stated) and currency == USD:
        raise ValueError(NO_INSTANT)
    if not unknown_currency(charged, *stated):
        raise ValueError(f"currency: charged in {charged}, and amounts are added in {currency}")
    allowed = ", ".join(sorted(payers, key=currency.__ne__))
    raise ValueError(f"currency: {echo(charged)} has no worth in {currency} that is known. Allowed: {allowed}")


# The places of the amount of a row, of a unit and of a billed amount among the amounts of a shape.
_ROW, _UNIT, _AMOUNT = 0, 1, 2
# The unit of a video's price.
CLIP = "clip"


def as_billed(entry: BilledRow, currency: str) -> PricedShape:
    """Price a row by its own amount, which is negative for a charge, at the worth of its currency."""
    place, amount = (_ROW, minus(entry.odd.amount)) if entry.odd else (_AMOUNT, Decimal(-1))
    charged = multiply(amount, entry.worth)
    line = PricedLine(entry.sku, "", "", entry.price, place, charged, *_of_units(entry, Decimal(1))[::-1])
    # The price per unit is known only if the amount is units x price.
    return _one(line, entry.price if entry.kind == CHARGE else None, currency)


def at_price(
    entry: BilledRow, source: str, currency: str, unit: str = CLIP, price: Decimal | None = None
) -> PricedShape:
    """Price units at a price per unit, by default the price at which they were billed."""
    number, quantity = _of_units(entry, Decimal(1))
    price = entry.price if price is None else price
    line = PricedLine(entry.sku, source, unit, price, number, multiply(quantity, price), quantity)
    return _one(line, price, currency)


def at_total(entry: BilledRow, quote: Quote) -> PricedShape:
    """Price units at the total of a quote, by its lines."""
    lines = []
    for line in charged_lines(quote):
        number, amount = _of_units(entry, line.amount)
        lines.append(line._replace(number=number, amount=amount, quantity=_of_units(entry, line.quantity)[1]))
    charged = PricedLine("", "", "", quote.total, *_of_units(entry, quote.total))
    return PricedShape(charged.amounts, tuple(lines), quote.currency, unit_price=quote.total, unit=CLIP)


def _of_units(entry: BilledRow, amount: Decimal) -> tuple[int, Decimal]:
    """Return an amount per unit and its place; for a row that is priced by itself, the amount of all its units."""
    return (_ROW, multiply(entry.odd.units, amount)) if entry.odd else (_UNIT, amount)


def _one(line: PricedLine, price: Decimal | None, currency: str) -> PricedShape:
    return PricedShape(line.amounts, (line,), currency, unit_price=price, unit=line.unit)


BY_USAGE = "re-rate from usage"
# The reason to dispute every row of a request and a SKU except the first one.
AGAIN = "requestId: this request is charged by this SKU already"
CONTRACT_ROW = f"contract: the row has the price of a contract, and not that of the list; {BY_USAGE}"


class ListedPrice(NamedTuple):
    """A price per unit that was in effect, and its `file:line`; if units are rounded, their amount is not exact."""

    price: Decimal
    source: str = ""
    units_are_exact: bool = True


class Dispute(NamedTuple):
    """A reason why rows are wrong, what they say, and the price that they should have; None if it is unknown."""

    reason: str
    entry: BilledRow
    expected: ListedPrice | None


class LedgerPricer(Pricer):
    """The pricer of ledger rows; `billed` is the card under which they were billed, each at its own time."""

    noun = "row"

    def __init__(self, predicates: Predicates, billed: RateCard, currency: str = "USD") -> None:
        super().__init__(predicates, currency)
        self.billed = Side("billed", billed)
        self._price_books: dict[tuple[RateCard, date], PriceBook] = {}
        # Keyed by the version under which rows were billed.
        self._sales: dict[Identity, dict[str, list[SkuSale]]] = {}
        self._clips: dict[Identity, Clips] = {}
        # Keyed by that version and the version under which they are charged.
        self._charged: dict[tuple[BilledRow, Identity, Identity], Outcome] = {}
        self._same: dict[tuple[Identity, Identity], bool] = {}
        self._structural: dict[tuple[Identity, Identity], str] = {}

    def price(self, side: Side, shape: UsageShape, known: Hashable = None) -> Outcome:
        """Price the rows of a shape under a side, or say why that is not possible."""
        try:
            entry = self._entry(shape)
            if not side.has_rates:
                return as_billed(entry, self.currency)
            if entry.kind == CREDIT:
                raise ValueError("amount: above zero, or units or price below: a refund or a credit, which has no rate")
            if shape.moment is None:
                raise ValueError(NO_INSTANT)
            if _of_contract(shape):
                raise ValueError(CONTRACT_ROW)
            was, now = self._versions(side, shape.moment, entry)
        except QuoteError as error:
            return Refused.of(error)
        except ValueError as error:
            return Refused(str(error))
        key = (entry, Identity(was.version), Identity(now.version))
        return _once(self._charged, key, lambda: self._priced(was, now, entry))

    def state(self, side: Side, shape: UsageShape) -> Hashable:
        """Return the moment of a row: a bill was charged by the prices of that moment."""
        return shape.moment

    def alike(self, one: Side, other: Side, shape: UsageShape) -> bool:
        """Return False: the price of a billed row depends on more than its model, so that every shape is priced."""
        return False

    def dispute(self, shape: UsageShape) -> str:
        """Return in words what contradicts the prices under which these rows were billed; empty if nothing does."""
        disputed = self.disputed(shape)
        return disputed.reason if disputed else ""

    def disputed(self, shape: UsageShape) -> Dispute | None:
        """Return the dispute of rows that contradict the prices under which they were billed; None if they agree.

        Rows without any price also have no dispute: they are reported as unpriced.
        """
        try:
            entry = self._entry(shape)
        except (QuoteError, ValueError):
            return None
        if entry.kind == CREDIT:
            return None
        try:
            expected = self._expected(shape, entry)
        except ValueError as error:
            return Dispute(str(error), entry, None)
        if shape.values().get("ledger_again"):
            return Dispute(AGAIN, entry, ListedPrice(Decimal(0), expected.source if expected else ""))
        field = price_field(self.currency)
        if entry.kind == DISPUTED and (expected is None or expected.units_are_exact):
            return Dispute(f"amount: is not unit x {field}", entry, expected or ListedPrice(entry.price))
        if expected and expected.price != entry.price:
            return Dispute(f"{field}: is not the price that was in effect", entry, expected)
        return None

    def is_checked(self, shape: UsageShape) -> bool:
        """Return True if the prices can say what these rows should have cost."""
        try:
            return self._expected(shape, self._entry(shape)) is not None
        except (QuoteError, ValueError):
            return False

    def _expected(self, shape: UsageShape, entry: BilledRow) -> ListedPrice | None:
        """Return the price per unit that was in effect; None if it is unknown, or depends on what rows do not say.

        The price of a contract is what its row says; SKUs and units are those of the list. Raises `ValueError` for a
        SKU that charges no clip.
        """
        try:
            if shape.moment is None:
                return None
            if of_contract := _of_contract(shape):
                book = self._book(Side("listed", self.billed.card.listed), shape.moment)
                was = ModelInEffect.of(book, model_of(book, entry.model, entry.sku))
            else:
                was, _ = self._versions(self.billed, shape.moment, entry)
        except (QuoteError, ValueError):
            return None
        if was.model.type == "video":
            cell = None if of_contract else self._clips_of(was).nearest(entry.sku, entry.price)
            return cell and ListedPrice(cell.quote.total, cell.row()["source"])
        if not (sales := self._sales_of(was).get(entry.sku)):
            return None
        price, source = (entry.price, "") if of_contract else (sales[0].line.unit_rate, sales[0].line.source)
        return ListedPrice(price, source, not _rounded(sales))

    def _entry(self, shape: UsageShape) -> BilledRow:
        """Return the entry of a shape, with the worth of balances when they paid."""
        moment, values = shape.moment, shape.values()
        if charged_on := values.get("ledger_charged_on"):
            if charged_on == NO_CHARGE:
                raise ValueError(unknown_worth(values["ledger_currency"]))
            moment = date.fromisoformat(charged_on)
        rates = self.billed.card.at(moment).limits.rates if moment else None
        return read_entry(shape, self.currency, rates, [limits.rates for limits in self.billed.card.tables.limits])

    def _priced(self, was: ModelInEffect, now: ModelInEffect, entry: BilledRow) -> Outcome:
        try:
            if now.model.currency != self.currency:
                raise ValueError(f"charged in {now.model.currency}, and the ledger is in {self.currency}")
            if was.model.type == "video":
                return self._clip(was, now, entry)
            if was.version.minimum or now.version.minimum:
                if not self._charge_alike(was, now):
                    raise ValueError(f"a request of {was.model.model} costs a minimum, and a row is not all of one")
                if entry.sku == f"{was.model.model}-{MINIMUM}":
                    return at_price(entry, now.version.minimum_place, self.currency, MINIMUM)
            line = self._line(was, now, entry.sku)
            return at_price(entry, line.source, self.currency, line.unit, line.unit_rate)
        except QuoteError as error:
            return Refused.of(error)
        except ValueError as error:
            return Refused(f"structure: {error}; {BY_USAGE}")

    def _line(self, was: ModelInEffect, now: ModelInEffect, sku: str) -> LineItem:
        """Return the line of a SKU, which is the same for every request charged by it."""
        sales = self._sales_of(was).get(sku)
        if not sales:
            raise ValueError(f"SKU {sku} is not in the version of {was.version.effective} of {was.model.model}")
        if _rounded(sales):
            raise ValueError(f"the units of SKU {sku} are rounded")
        if was.version is now.version:
            return sales[0].line
        self._same_structure(was, now)
        return line_in(sku, sales, now)

    def _clip(self, was: ModelInEffect, now: ModelInEffect, entry: BilledRow) -> PricedShape:
        """Price a clip by its total: unchanged if the rates are, else the new total of the requests with this total."""
        if entry.kind == DISPUTED:
            raise ValueError(f"amount: is not unit x {price_field(self.currency)}, and a clip has no other price")
        if not entry.sku.startswith(f"{was.model.model}-"):
            raise ValueError(f"SKU {entry.sku} does not belong to {was.model.model}")
        clips = self._clips_of(was)
        if self._charge_alike(was, now):
            cell = next(iter(clips.cells(entry.sku, entry.price)), None)
            return (
                at_total(entry, now.book.quote_video(cell.body))
                if cell
                else at_price(entry, now.version.place, self.currency)
            )
        self._same_structure(was, now)
        quote = clips.repriced(entry.sku, entry.price, now.book)
        return at_total(entry, quote) if quote else at_price(entry, now.version.place, self.currency)

    def _charge_alike(self, was: ModelInEffect, now: ModelInEffect) -> bool:
        """Return True if two versions charge every request the same: another side may load the same version anew."""
        return _once(self._same, _pair(was, now), lambda: same_rates(was, now))

    def _same_structure(self, was: ModelInEffect, now: ModelInEffect) -> None:
        if changes := _once(self._structural, _pair(was, now), lambda: structural(was, now)):
            raise ValueError(f"{was.model.model}: {changes}")

    def _versions(self, side: Side, moment: date, entry: BilledRow) -> tuple[ModelInEffect, ModelInEffect]:
        """Return the version under which a row was billed, and the version under which a side charges it."""
        billed, now = self._book(self.billed, moment), self._book(side, moment)
        if entry.model in self.billed.card.tables.models and billed.tables.named(entry.model) is None:
            words = f"contract: {entry.model} is kept for accounts with a contract, and the row names none"
            raise ValueError(f"{words}; {BY_USAGE}")
        name = model_of(billed, entry.model, entry.sku)
        if not name:
            raise ValueError(f"sku: '{entry.sku}' begins with no model, and the row names none")
        if name == entry.model and billed.tables.named(name) is None:
            hint = did_you_mean(entry.sku, billed.tables.models)
            raise ValueError(f"sku: '{entry.sku}' begins with no model, and no model is called {echo(name)}.{hint}")
        if name != entry.model and entry.model in billed.tables.models:
            charged = ModelInEffect.of(now, entry.model).version
            if name not in charged.surcharges.values():
                raise ValueError(f"structure: {entry.model} has no {name} there; {BY_USAGE}")
        try:
            was = ModelInEffect.of(billed, name)
        except QuoteError as error:  # without the billed price, the new price is unknown
            raise ValueError(Refused.of(error).reason) from None
        return was, ModelInEffect.of(now, name)

    def _book(self, side: Side, moment: date) -> PriceBook:
        day = side.at or moment
        return _once(self._price_books, (side.card, day), lambda: side.card.at(day))

    def _sales_of(self, was: ModelInEffect) -> dict[str, list[SkuSale]]:
        return _once(self._sales, Identity(was.version), lambda: sold_by_sku(was))

    def _clips_of(self, was: ModelInEffect) -> Clips:
        return _once(self._clips, Identity(was.version), lambda: Clips(was))


def _of_contract(shape: UsageShape) -> bool:
    return bool(shape.values().get("ledger_contract"))


def _rounded(sold: Sequence[SkuSale]) -> bool:
    """Return True if the part of the unit for one counted thing is not a decimal, so that rows have rounded units."""
    return any(isinstance(sale.line.rate.of_unit, Fraction) for sale in sold)


def _pair(was: ModelInEffect, now: ModelInEffect) -> tuple[Identity, Identity]:
    return Identity(was.version), Identity(now.version)


Key = TypeVar("Key")
Known = TypeVar("Known")


def _once(known: dict[Key, Known], key: Key, make: Callable[[], Known]) -> Known:
    """Return the value that is kept under a key; it is made the first time."""
    if key not in known:
        known[key] = make()
    return known[key]
