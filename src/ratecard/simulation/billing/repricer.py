"""The re-rating of a billing export by SKU: exact, or refused.

A SKU means all requests that are charged by it under the prices at the row's own time. If another card would charge
them all alike, that is the price; a change that a SKU cannot express is the reason for a refusal.
"""

from collections.abc import Callable, Hashable, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypeVar

from ratecard.base.errors import QuoteError
from ratecard.base.identity import Identity
from ratecard.base.messages import echo
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard
from ratecard.line_items.ledger_entry import price_field, unknown_worth
from ratecard.line_items.quote import MINIMUM, LineItem
from ratecard.price_book import PriceBook
from ratecard.review.sides import Side
from ratecard.simulation.billing.entry import BilledRow, as_billed, at_price, at_total, read_entry
from ratecard.simulation.billing.skus import (
    Clips,
    ModelInEffect,
    SkuSale,
    line_in,
    model_of,
    same_rates,
    sold_by_sku,
    structural,
)
from ratecard.simulation.groups.predicates import Predicates
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.simulation.prices.outcome import Outcome, PricedShape, Refused
from ratecard.simulation.prices.pricer import NO_INSTANT, Pricer
from ratecard.simulation.rows.billing_export import CREDIT, DISPUTED, NO_CHARGE

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

    def price(self, side: Side, shape: UsageShape, basis: Hashable = None) -> Outcome:
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

    def basis(self, side: Side, shape: UsageShape) -> Hashable:
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

        Raises `ValueError` for a SKU that charges no clip.
        """
        try:
            if shape.moment is None or _of_contract(shape):
                return None
            was, _ = self._versions(self.billed, shape.moment, entry)
        except (QuoteError, ValueError):
            return None
        if was.model.type == "video":
            cell = self._clips_of(was).nearest(entry.sku, entry.price)
            return cell and ListedPrice(cell.quote.total, cell.row()["source"])
        sales = self._sales_of(was).get(entry.sku)
        return ListedPrice(sales[0].line.unit_rate, sales[0].line.source, not _rounded(sales)) if sales else None

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
                if was.version is not now.version:
                    raise ValueError(f"a request of {was.model.model} costs a minimum, and a row is not all of one")
                if entry.sku == f"{was.model.model}-{MINIMUM}":
                    return at_price(entry, was.version.minimum_place, self.currency, MINIMUM)
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
            raise ValueError(f"SKU {entry.sku} is none of {was.model.model}")
        clips = self._clips_of(was)
        if _once(self._same, _pair(was, now), lambda: same_rates(was, now)):
            cell = next(iter(clips.cells(entry.sku, entry.price)), None)
            return (
                at_total(entry, now.book.quote_video(cell.body))
                if cell
                else at_price(entry, now.version.place, self.currency)
            )
        self._same_structure(was, now)
        quote = clips.repriced(entry.sku, entry.price, now.book)
        return at_total(entry, quote) if quote else at_price(entry, now.version.place, self.currency)

    def _same_structure(self, was: ModelInEffect, now: ModelInEffect) -> None:
        if changes := _once(self._structural, _pair(was, now), lambda: structural(was, now)):
            raise ValueError(f"{was.model.model}: {changes}")

    def _versions(self, side: Side, moment: date, entry: BilledRow) -> tuple[ModelInEffect, ModelInEffect]:
        """Return the version under which a row was billed, and the version under which a side charges it."""
        billed, now = self._book(self.billed, moment), self._book(side, moment)
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
