"""A shape of billed rows: its entry, and its price per unit, or the price of one row that is priced by itself."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.messages import echo
from ratecard.base.money import USD, minus, multiply
from ratecard.ledger.files import PRICES
from ratecard.line_items.ledger_entry import currencies, price_field, unknown_currency, worths
from ratecard.line_items.quote import Quote
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.simulation.prices.outcome import PricedLine, PricedShape
from ratecard.simulation.prices.pricer import NO_INSTANT
from ratecard.simulation.prices.shape_price import charged_lines
from ratecard.simulation.rows.billing_export import CHARGE, entry_of, number_of
from ratecard.tables.limits import Rates


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
