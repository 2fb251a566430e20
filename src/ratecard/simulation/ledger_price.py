"""The price of the rows of an entry: of each unit where units were summed, of the row where it stands by itself."""

from decimal import Decimal

from ratecard.rating.line_item import LineItem
from ratecard.rating.quote import Quote
from ratecard.simulation.ledger_entry import Entry
from ratecard.simulation.ledger_usage import CHARGE
from ratecard.simulation.priced_shape import PricedLine, PricedShape, whole
from ratecard.words.money import minus, multiply

# Where the amount of a row, of a unit and of a billed amount stand among the amounts of a shape.
_ROW, _UNIT, _AMOUNT = 0, 1, 2
# What a video is charged by.
CLIP = "clip"


def as_billed(entry: Entry, currency: str) -> PricedShape:
    """The ledger's own amounts, which are negative where something was charged, at what their currency is worth."""
    place, amount = (_ROW, minus(entry.odd.amount)) if entry.odd else (_AMOUNT, Decimal(-1))
    charged = multiply(amount, entry.worth)
    line = PricedLine(entry.sku, "", "", entry.price, place, charged, *_of_units(entry, Decimal(1))[::-1])
    # A price per unit is known only where it makes the amount.
    return _one(line, entry.price if entry.kind == CHARGE else None, currency)


def at_rate(entry: Entry, line: LineItem, currency: str) -> PricedShape:
    """Units times the unit rate of a line."""
    number, quantity = _of_units(entry, Decimal(1))
    amount, rate = multiply(quantity, line.unit_rate), line.unit_rate
    return _one(PricedLine(entry.sku, line.source, line.unit, rate, number, amount, quantity), rate, currency)


def at_price(entry: Entry, source: str, currency: str) -> PricedShape:
    """Units times the price that they were billed at."""
    number, quantity = _of_units(entry, Decimal(1))
    amount, price = multiply(quantity, entry.price), entry.price
    return _one(PricedLine(entry.sku, source, CLIP, price, number, amount, quantity), price, currency)


def at_total(entry: Entry, quote: Quote) -> PricedShape:
    """Units times the total of a quote, by its lines."""
    lines = []
    for line in whole(quote).lines:
        number, amount = _of_units(entry, line.amount)
        lines.append(line._replace(number=number, amount=amount, quantity=_of_units(entry, line.quantity)[1]))
    charged = PricedLine("", "", "", quote.total, *_of_units(entry, quote.total))
    return PricedShape(charged.amounts, tuple(lines), quote.currency, unit_price=quote.total, unit=CLIP)


def _of_units(entry: Entry, amount: Decimal) -> tuple[int, Decimal]:
    """Where an amount of a unit stands, and what it comes to."""
    return (_ROW, multiply(entry.odd.units, amount)) if entry.odd else (_UNIT, amount)


def _one(line: PricedLine, price: Decimal | None, currency: str) -> PricedShape:
    return PricedShape(line.amounts, (line,), currency, unit_price=price, unit=line.unit)
