"""What the rows of one shape of a billing export have in common."""

import json
from decimal import Decimal
from typing import NamedTuple

from ratecard.rating.ledger_entry import CURRENCIES
from ratecard.simulation.ledger_usage import entry_of
from ratecard.simulation.shape import Shape
from ratecard.words.money import READING, places_of, plain
from ratecard.words.wording import echo

# Digits before and after the point of a number that can be priced.
_MOST_DIGITS, _MOST_PLACES = 15, 18


class Odd(NamedTuple):
    """The numbers of a row that is priced by itself: what the engine could not read."""

    units: Decimal
    amount: Decimal


class Entry(NamedTuple):
    """SKU, model, price of a unit, and whether the amounts are `charge`, `disputed` (not units x price) or `credit`."""

    sku: str
    model: str
    price: Decimal
    kind: str
    odd: Odd | None


def read_entry(shape: Shape) -> Entry:
    """The entry of a shape. Raises `ValueError`: what is wrong with these rows, by the name of the field."""
    values = shape.values()
    sku, currency = values.get("ledger_sku"), values.get("ledger_currency")
    if not sku:
        raise ValueError("sku: missing")
    if currency not in CURRENCIES:
        words = f"{echo(currency)} has no worth in USD that is known" if currency else "missing"
        raise ValueError(f"currency: {words}. Allowed: {', '.join(CURRENCIES)}")
    if "ledger_odd" not in values:
        return Entry(sku, shape.model or "", Decimal(values["ledger_price"]), values["ledger_entry"], None)
    units, price, amount = (_number(name, given) for name, given in json.loads(values["ledger_odd"]).items())
    return Entry(sku, shape.model or "", price, entry_of(units, price, amount), Odd(units, amount))


def _number(name: str, given: str | None) -> Decimal:
    if not given:
        raise ValueError(f"{name}: missing")
    number = READING.create_decimal(given)
    if not number.is_finite():
        raise ValueError(f"{name}: {echo(given)} is not a number")
    if number.adjusted() >= _MOST_DIGITS or places_of(plain(number)) > _MOST_PLACES:
        raise ValueError(f"{name}: {echo(given)} has more than {_MOST_DIGITS} digits or {_MOST_PLACES} decimals")
    return number
