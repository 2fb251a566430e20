"""The price of the rows of an entry: of each unit where units were summed, of the row where it stands by itself."""

from decimal import Decimal

from ratecard.rating.line_item import LineItem
from ratecard.rating.quote import Quote
from ratecard.simulation.ledger_entry import Entry
from ratecard.simulation.priced_shape import PricedLine, PricedShape, Vector, whole
from ratecard.simulation.roll_up_sql import QUANTITIES
from ratecard.words.money import minus, multiply

# Where the amount of a row, of a unit and of a billed amount stand among the amounts of a shape.
_ROW, _UNIT, _AMOUNT = 0, 1, 2
_USD = "USD"


def as_billed(entry: Entry) -> PricedShape:
    """The ledger's own amounts, which are negative where something was charged."""
    place, amount = (_ROW, minus(entry.odd.amount)) if entry.odd else (_AMOUNT, Decimal(-1))
    return _one(PricedLine(entry.sku, "", "", entry.price, _at(place, amount)))


def at_rate(entry: Entry, line: LineItem) -> PricedShape:
    """Units times the unit rate of a line."""
    return _one(PricedLine(entry.sku, line.source, line.unit, line.unit_rate, _of_units(entry, line.unit_rate)))


def at_price(entry: Entry, source: str) -> PricedShape:
    """Units times the price that they were billed at."""
    return _one(PricedLine(entry.sku, source, "clip", entry.price, _of_units(entry, entry.price)))


def at_total(entry: Entry, quote: Quote) -> PricedShape:
    """Units times the total of a quote, by its lines."""
    price = whole(quote)
    lines = tuple(line._replace(amounts=_of_units(entry, line.amounts[_ROW])) for line in price.lines)
    return price._replace(amounts=_of_units(entry, quote.total), lines=lines)


def _of_units(entry: Entry, amount: Decimal) -> Vector:
    return _at(_ROW, multiply(entry.odd.units, amount)) if entry.odd else _at(_UNIT, amount)


def _at(place: int, amount: Decimal) -> Vector:
    return tuple(amount if number == place else Decimal(0) for number in range(1 + QUANTITIES))


def _one(line: PricedLine) -> PricedShape:
    return PricedShape(line.amounts, (line,), _USD)
