"""Re-rate a billing export.

Prices the rows of a billing export by SKU: exactly, or not at all.

A SKU stands for all requests that are charged by it under the prices at the row's own time. Where they would all be
charged alike under another card, that is the price; a change that a SKU cannot express is the reason of a refusal.

Ledger rows that do not agree with the prices under which they were billed: counted, never mended.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date
from typing import Any, TypeVar

from ratecard.base.errors import QuoteError
from ratecard.card import RateCard
from ratecard.changes.sides import Side
from ratecard.price_book import PriceBook
from ratecard.rating.ledger_entry import price_field
from ratecard.rating.quote import LineItem
from ratecard.simulation.billing.entry import BilledRow, as_billed, at_price, at_rate, at_total, read_entry
from ratecard.simulation.billing.skus import (
    Clips,
    SkuInEffect,
    SkuSale,
    model_of,
    same_rates,
    sold_by_sku,
    standing_line,
    structural,
)
from ratecard.simulation.pricing.pricer import NO_INSTANT, Outcome, Pricer, Refused
from ratecard.simulation.pricing.shape_price import PricedShape
from ratecard.simulation.pricing.sides import AsBilled
from ratecard.simulation.usage.billing_export import CREDIT, DISPUTED
from ratecard.simulation.usage.predicates import Predicates
from ratecard.simulation.usage.roll_up import Counted
from ratecard.simulation.usage.shape import UsageShape

_AGAIN = "re-rate from usage"
Known = TypeVar("Known")


class LedgerPricer(Pricer):
    """Prices shapes of ledger rows; `billed` is the card under which they were billed, each at its own time."""

    def __init__(self, predicates: Predicates, billed: RateCard, currency: str = "USD") -> None:
        super().__init__(predicates, currency)
        self.billed = Side("billed", billed)
        self._known: dict[Hashable, Any] = {}

    def price(self, side: Side, shape: UsageShape) -> Outcome:
        """What a side charges for the rows of a shape, or why that cannot be said."""
        self._sides[id(side.card)] = side
        try:
            entry = self._entry(shape)
            if isinstance(side, AsBilled):
                return as_billed(entry, self.currency)
            if entry.kind == CREDIT:
                raise ValueError("amount: above zero, or units or price below: a refund or a credit, which has no rate")
            if shape.moment is None:
                raise ValueError(NO_INSTANT)
            was, now = self._standings(side, shape.moment, entry)
        except QuoteError as error:
            return Refused.of(error)
        except ValueError as error:
            return Refused(str(error))
        priced: Outcome = self._once((entry, id(was.version), id(now.version)), lambda: self._priced(was, now, entry))
        return priced

    def alike(self, one: Side, other: Side, shape: UsageShape) -> bool:
        """A row of a bill says more than its model: each is asked."""
        return False

    def dispute(self, shape: UsageShape) -> str:
        """What of these rows does not agree with the prices under which they were billed; empty where all does."""
        try:
            entry = self._entry(shape)
            if entry.kind == DISPUTED:
                return f"amount: is not unit x {price_field(self.currency)}"
            if entry.kind == CREDIT or shape.moment is None:
                return ""
            was, _ = self._standings(self.billed, shape.moment, entry)
        except (QuoteError, ValueError):
            return ""  # it has no price at all, and is among the unpriced
        if was.model.type == "video":
            wrong = self._clips(was).disputed(entry.sku, entry.price)
        else:
            sold = self._sold(was).get(entry.sku)
            wrong = sold is not None and sold[0].line.unit_rate != entry.price
        return f"{price_field(self.currency)}: is not the price that was in effect" if wrong else ""

    def _entry(self, shape: UsageShape) -> BilledRow:
        """The entry of a shape, at what balances were worth when it was billed."""
        rates = self.billed.card.at(shape.moment).limits.rates if shape.moment else None
        return read_entry(shape, self.currency, rates)

    def _priced(self, was: SkuInEffect, now: SkuInEffect, entry: BilledRow) -> Outcome:
        try:
            if now.model.currency != self.currency:
                raise ValueError(f"charged in {now.model.currency}, and the ledger is in {self.currency}")
            if was.model.type == "video":
                return self._clip(was, now, entry)
            return at_rate(entry, self._line(was, now, entry.sku), self.currency)
        except QuoteError as error:
            return Refused.of(error)
        except ValueError as error:
            return Refused(f"structure: {error}; {_AGAIN}")

    def _line(self, was: SkuInEffect, now: SkuInEffect, sku: str) -> LineItem:
        """The line of a SKU: the same for every request that it stands for."""
        sold = self._sold(was).get(sku)
        if not sold:
            raise ValueError(f"SKU {sku} is not in the version of {was.version.effective} of {was.model.model}")
        if was.version is now.version:
            return sold[0].line
        self._same_structure(was, now)
        return standing_line(sku, sold, now)

    def _clip(self, was: SkuInEffect, now: SkuInEffect, entry: BilledRow) -> PricedShape:
        """A clip is charged its total: known as long as nothing changes, then found by the requests that have it."""
        if entry.kind == DISPUTED:
            raise ValueError(f"amount: is not unit x {price_field(self.currency)}, and a clip has no other price")
        if not entry.sku.startswith(f"{was.model.model}-"):
            raise ValueError(f"SKU {entry.sku} is none of {was.model.model}")
        clips = self._clips(was)
        same = self._once(("same", id(was.version), id(now.version)), lambda: same_rates(was, now))
        if same:
            cell = next(iter(clips.cells(entry.sku, entry.price)), None)
            return (
                at_total(entry, now.book.quote_video(cell.body))
                if cell
                else at_price(entry, now.version.place, self.currency)
            )
        self._same_structure(was, now)
        quote = clips.repriced(entry.sku, entry.price, now.book)
        return at_total(entry, quote) if quote else at_price(entry, now.version.place, self.currency)

    def _same_structure(self, was: SkuInEffect, now: SkuInEffect) -> None:
        changed = self._once(("structure", id(was.version), id(now.version)), lambda: structural(was, now))
        if changed:
            raise ValueError(f"{was.model.model}: {changed}")

    def _standings(self, side: Side, moment: date, entry: BilledRow) -> tuple[SkuInEffect, SkuInEffect]:
        """The version under which a row was billed, and the one that a side charges it by."""
        billed, now = self._book(self.billed, moment), self._book(side, moment)
        name = model_of(billed, entry.model, entry.sku)
        if name != entry.model and entry.model in billed.tables.models:
            charged = SkuInEffect.of(now, entry.model).version
            if name not in charged.surcharges.values():
                raise ValueError(f"structure: {entry.model} has no {name} there; {_AGAIN}")
        try:
            was = SkuInEffect.of(billed, name)
        except QuoteError as error:  # what it was billed by is not known, so that no prices say what it would be
            raise ValueError(Refused.of(error).reason) from None
        return was, SkuInEffect.of(now, name)

    def _book(self, side: Side, moment: date) -> PriceBook:
        day = side.at.astimezone(UTC).date() if side.at else moment
        return self._once(("book", id(side.card), day), lambda: side.card.at(day))

    def _sold(self, was: SkuInEffect) -> dict[str, list[SkuSale]]:
        return self._once(("sold", id(was.version)), lambda: sold_by_sku(was))

    def _clips(self, was: SkuInEffect) -> Clips:
        return self._once(("clips", id(was.version)), lambda: Clips(was))

    def _once(self, key: Hashable, make: Callable[[], Known]) -> Known:
        """Worked out once: identities stand for versions, whose cards stay in `_sides`."""
        if key not in self._known:
            self._known[key] = make()
        known: Known = self._known[key]
        return known


_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Disputed:
    """Rows whose amount or price is not what it should have been: how many, why, and a few of their shapes."""

    reason: str
    rows: int
    examples: tuple[dict[str, Any], ...] = field(hash=False)


def disputes(counted: Sequence[Counted], pricer: Pricer) -> tuple[Disputed, ...]:
    """The disputed rows of a billing export by reason, the most first; none of any other usage."""
    found: dict[str, list[Counted]] = {}
    if not isinstance(pricer, LedgerPricer):
        return ()
    for each in counted:
        if reason := pricer.dispute(each.shape):
            found.setdefault(reason, []).append(each)
    rows = (
        Disputed(reason, sum(each.requests for each in shapes), tuple(each.shape.row() for each in shapes[:_EXAMPLES]))
        for reason, shapes in found.items()
    )
    return tuple(sorted(rows, key=lambda row: (-row.rows, row.reason)))
