"""What the rows of one shape of a billing export have in common."""

import json
from decimal import Decimal
from typing import NamedTuple

from ratecard.ledger.writing import PRICES
from ratecard.rating.ledger_entry import price_field
from ratecard.rating.payment import worths
from ratecard.simulation.ledger_usage import entry_of
from ratecard.simulation.pricer import NO_INSTANT
from ratecard.simulation.shape import Shape
from ratecard.tables.limits import Rates
from ratecard.words.currency import BALANCES, CURRENCIES, USD, unknown_currency
from ratecard.words.money import READING, places_of, plain
from ratecard.words.wording import echo

# Digits before and after the point of a number that can be priced.
_MOST_DIGITS, _MOST_PLACES = 15, 18


class Odd(NamedTuple):
    """The numbers of a row that is priced by itself: what the engine could not read."""

    units: Decimal
    amount: Decimal


class Entry(NamedTuple):
    """SKU, model, price of a unit, and whether the amounts are `charge`, `disputed` (not units x price) or `credit`.

    `worth` is what one of the currency of the amounts is worth in that of the price.
    """

    sku: str
    model: str
    price: Decimal
    kind: str
    odd: Odd | None
    worth: Decimal


def read_entry(shape: Shape, currency: str, rates: Rates | None) -> Entry:
    """The entry of a shape, priced in a currency; `rates` were in effect then, and are not known without an instant.

    Raises `ValueError`: what is wrong with these rows, by the name of the field.
    """
    values = shape.values()
    sku, charged = values.get("ledger_sku"), values.get("ledger_currency") or ""
    if not sku:
        raise ValueError("sku: missing")
    worth = _worth(charged, currency, rates)
    if "ledger_odd" not in values:
        return Entry(sku, shape.model or "", Decimal(values["ledger_price"]), values["ledger_entry"], None, worth)
    given = json.loads(values["ledger_odd"])
    own = price_field(charged)
    other = next(name for name in PRICES if name != own)
    if given.pop(other):
        raise ValueError(f"{other}: of a row in {charged}, whose price is {own}")
    units, price, amount = (_number(name, given[name]) for name in ("unit", own, "amount"))
    return Entry(sku, shape.model or "", price, entry_of(units, price, amount, worth), Odd(units, amount), worth)


def _worth(charged: str, currency: str, rates: Rates | None) -> Decimal:
    """What one of the currency of a row is worth in the one that amounts are added in."""
    if not charged:
        raise ValueError(f"currency: missing. Allowed: {', '.join(CURRENCIES)}")
    payers = worths(currency, rates)
    if charged in payers:
        return payers[charged]
    if rates is None and charged in BALANCES and currency == USD:
        raise ValueError(NO_INSTANT)
    if not unknown_currency(charged):
        raise ValueError(f"currency: charged in {charged}, and amounts are added in {currency}")
    allowed = ", ".join(sorted(payers, key=currency.__ne__))
    raise ValueError(f"currency: {echo(charged)} has no worth in {currency} that is known. Allowed: {allowed}")


def _number(name: str, given: str | None) -> Decimal:
    if not given:
        raise ValueError(f"{name}: missing")
    number = READING.create_decimal(given)
    if not number.is_finite():
        raise ValueError(f"{name}: {echo(given)} is not a number")
    if number.adjusted() >= _MOST_DIGITS or places_of(plain(number)) > _MOST_PLACES:
        raise ValueError(f"{name}: {echo(given)} has more than {_MOST_DIGITS} digits or {_MOST_PLACES} decimals")
    return number
