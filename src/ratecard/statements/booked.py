"""Rows of a ledger as lines of a statement: booked amounts, which are never rated again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ratecard.base.errors import LedgerError, QuoteError
from ratecard.base.money import is_balance, minus, multiply
from ratecard.ledger.files import CONTRACT, entry_in
from ratecard.line_items.ledger_entry import LedgerEntry, worths
from ratecard.price_book import PriceBook
from ratecard.simulation.billing.skus import ModelInEffect, model_of, sold_by_sku
from ratecard.simulation.rows.billing_export import EXPORT_NAMES
from ratecard.statements.lines import REFUND_LINE, USAGE_LINE, Line, Rated
from ratecard.statements.places import NOWHERE, RatePlace
from ratecard.tables.limits import Limits

REQUEST = "requestId"
_DETAILS = (REQUEST, "inferenceExecutionTime", "promptTokens", "completionTokens")
# The columns of an export that are read.
BOOKED_NAMES = tuple(dict.fromkeys((*EXPORT_NAMES, *_DETAILS, CONTRACT)))
_VIDEO = "video"


def booked_entry(row: Mapping[str, str], limits: Sequence[Limits]) -> LedgerEntry:
    """Read the ledger entry of a row of an export. Raises `ValueError` that says what is wrong with it."""
    details = {name: row[name] for name in _DETAILS if row.get(name)}
    notes = row.get("model") or row.get("notes")
    try:
        return entry_in({**row, "notes": notes, "inferenceDetails": details}, [each.rates for each in limits], 1)
    except LedgerError as error:
        raise ValueError(str(error).removeprefix("row 1: ")) from None


class Bookings:
    """The rows of a ledger for an account, as lines; the tables are asked once what a SKU counts."""

    def __init__(self, places: Mapping[str, RatePlace], families: Mapping[str, str], currency: str) -> None:
        self._places, self._families, self._currency = places, families, currency
        self._sold: dict[tuple[str, object], dict[str, tuple[str, RatePlace]]] = {}

    def line(self, entry: LedgerEntry, instant: datetime, prices: PriceBook) -> Line:
        """Make the line of an entry: what was booked, in the currency of the statement, and units as they are.

        Raises `ValueError` for a currency without a worth in it.
        """
        payers = worths(self._currency, prices.limits.rates)
        worth = entry.worth if entry.worth is not None else payers.get(entry.currency)
        if worth is None:
            words = f"currency: {entry.currency} has no worth in {self._currency}"
            raise ValueError(f"{words}, in which the statement is. Allowed: {', '.join(payers)}")
        amount = multiply(minus(entry.amount), worth)
        kind = REFUND_LINE if entry.amount > 0 else USAGE_LINE
        rated = self._rated(entry, kind, prices)
        if is_balance(entry.currency):
            rated = rated._replace(paid_in=entry.currency, worth=worth)
        return Line(instant, rated, entry.unit, amount, request=entry.details.request_id if entry.details else "")

    def _rated(self, entry: LedgerEntry, kind: str, prices: PriceBook) -> Rated:
        name = model_of(prices, entry.notes, entry.sku)
        model = prices.tables.models.get(name)
        unit, place = self._unit(name, entry.sku, prices) if model and model.type != _VIDEO else (None, NOWHERE)
        type_, family = model.type if model else "", self._families.get(name, "")
        contract = entry.contract or ""
        rated = Rated(entry.sku, unit, entry.price_per_unit, "", None, "", contract, name, type_, family)
        return rated._replace(charge=place.charge, attributes=place.attributes, kind=kind)

    def _unit(self, name: str, sku: str, prices: PriceBook) -> tuple[str | None, RatePlace]:
        """Return the unit that a SKU of a model counts, and the place of its rate."""
        try:
            now: Any = ModelInEffect.of(prices, name)
        except QuoteError:
            return None, NOWHERE
        key = (name, now.version.effective)
        if key not in self._sold:
            sales = {each: sold[0].line for each, sold in sold_by_sku(now).items()}
            self._sold[key] = {
                each: (line.unit, self._places.get(line.source, NOWHERE)) for each, line in sales.items()
            }
        return self._sold[key].get(sku, (None, NOWHERE))
