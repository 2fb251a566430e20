"""A shape priced by the ordinary scalar code: an amount a request, and a rate for each of its summed quantities.

Linear is what the layouts declare so; the rates are then read off quotes of small usages, and no formula is repeated.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.price_book import PriceBook
from ratecard.rating.line_item import LineItem
from ratecard.rating.quote import Quote
from ratecard.rating.tokens import BUCKETS
from ratecard.requests.body import INVALID
from ratecard.requests.service_parameters import split_model
from ratecard.simulation.columns import LAYOUTS
from ratecard.simulation.predicates import Predicates
from ratecard.simulation.roll_up_sql import QUANTITIES
from ratecard.simulation.shape import Asked, Shape, asked
from ratecard.words.errors import QuoteError
from ratecard.words.money import EXACT, total

# Of one request, then of one of each quantity.
Vector = tuple[Decimal, ...]
_NONE: Vector = (Decimal(0),) * (1 + QUANTITIES)
# The part of a total that no rate says: what rounding to the cent adds or takes.
ROUNDING = "rounding"


class PricedLine(NamedTuple):
    """What one rate adds to each row of a shape: its SKU, its `file:line`, the unit rate, and the amounts."""

    sku: str
    source: str
    unit: str
    unit_rate: Decimal
    amounts: Vector


class PricedShape(NamedTuple):
    """What each row of a shape is charged: `fixed` a request, and a rate for each quantity; and the lines of it."""

    amounts: Vector
    lines: tuple[PricedLine, ...]
    currency: str


def price_shape(prices: PriceBook, shape: Shape, predicates: Predicates) -> PricedShape:
    """The price of a shape in a book. Raises `QuoteError`: why no row of the shape can be priced."""
    try:
        given = asked(shape)
    except ValueError as error:
        raise QuoteError(INVALID, [(("source",), str(error))]) from None
    if shape.type == "video":
        body = {name: value for name, value in given.usage.items() if name != "type"}
        return whole(prices.quote_video(body, source=given.source))
    layout = LAYOUTS.get(shape.type or "")
    quantities = layout.quantities if layout else ()
    if not quantities or given.predicates is None:
        return whole(prices.rate(given.usage))
    if len(quantities) == 1:
        return _counted(prices, given.usage, quantities[0].name)
    return _tokens(prices, given, predicates)


def whole(quote: Quote) -> PricedShape:
    """Nothing is summed but requests: the total, and what rounding it took as a line of its own."""
    lines = [_line(line, 0, line.amount) for line in quote.lines]
    if quote.total != quote.exact:
        rounding = EXACT.subtract(quote.total, quote.exact)
        lines.append(PricedLine(ROUNDING, "", "", rounding, _at(0, rounding)))
    return PricedShape(_at(0, quote.total), tuple(lines), quote.currency)


def _counted(prices: PriceBook, usage: Mapping[str, Any], name: str) -> PricedShape:
    """One quantity: the difference that one of it makes."""
    none, one = (prices.rate({**usage, name: count}) for count in (0, 1))
    before = {line.sku: line.amount for line in none.lines}
    lines = [_line(line, 0, before[line.sku]) for line in none.lines if line.amount]
    lines += [_line(line, 1, EXACT.subtract(line.amount, before.get(line.sku, Decimal(0)))) for line in one.lines]
    return _sum(lines, one.currency)


def _tokens(prices: PriceBook, given: Asked, predicates: Predicates) -> PricedShape:
    """Four buckets of tokens at the tier of the prompt, and what was searched, which is charged a request."""
    tier, used = predicates.split(given.usage["type"], given.predicates or 0)
    unused = set(predicates.lacking.get(given.usage["type"], ())) - used
    prompt = predicates.prompt_in(tier)
    plain = {"type": given.usage.get("type"), "model": given.usage.get("model")}
    if isinstance(plain["model"], str) and plain["model"] not in prices.card.tables.models:
        plain["model"] = split_model(plain["model"])[0]
    first = prices.rate({**given.usage, "usage": _usage(prompt)})
    alone = prices.rate({**plain, "usage": _usage(prompt)})
    in_tokens = {line.sku for line in alone.lines}
    lines = [_line(line, 0, line.amount) for line in first.lines if line.sku not in in_tokens]
    for number, bucket in enumerate(BUCKETS, 1):
        if bucket in unused:
            continue
        if bucket == "output":
            more = prices.rate({**plain, "usage": _usage(prompt, completion_tokens=1)})
            lines += [_line(line, number, line.amount) for line in more.lines if line.sku not in in_tokens]
        elif prompt:
            some = alone if bucket == "input" else prices.rate({**plain, "usage": _all_in(bucket, prompt)})
            lines += [_line(line, number, EXACT.divide(line.amount, Decimal(prompt))) for line in some.lines]
    return _sum(lines, alone.currency)


def _usage(prompt: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": 0, **more}


def _all_in(bucket: str, prompt: int) -> dict[str, Any]:
    name = "cached_tokens" if bucket == "cache_input" else "cache_creation_input_tokens"
    return _usage(prompt, prompt_tokens_details={name: prompt})


def _line(line: LineItem, number: int, amount: Decimal) -> PricedLine:
    return PricedLine(line.sku, line.source, line.unit, line.unit_rate, _at(number, amount))


def _at(number: int, amount: Decimal) -> Vector:
    return (*_NONE[:number], amount, *_NONE[number + 1 :])


def _sum(lines: Iterable[PricedLine], currency: str) -> PricedShape:
    found = tuple(lines)
    amounts = tuple(total([line.amounts[number] for line in found]) for number in range(1 + QUANTITIES))
    return PricedShape(amounts, found, currency)
