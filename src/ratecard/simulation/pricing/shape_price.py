"""Prices a shape with the code that prices single requests: an amount per request, and a rate per summed quantity.

The rates are read off quotes of small usages; no formula is repeated here.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.money import EXACT, total
from ratecard.price_book import PriceBook
from ratecard.rating.quote import LineItem, Quote
from ratecard.requests.body import INVALID
from ratecard.requests.service_parameters import split_model
from ratecard.requests.token_usage import usage_of_buckets
from ratecard.simulation.pricing.outcome import NOTHING, ROUNDING_PART, PricedLine, PricedShape
from ratecard.simulation.usage.columns import BUCKETS, LAYOUTS
from ratecard.simulation.usage.plan import QUANTITIES
from ratecard.simulation.usage.predicates import Predicates
from ratecard.simulation.usage.shape import UsageShape, asked
from ratecard.tables.token_rates import counts_in

# What a usage has of which nothing but tokens is charged.
_PLAIN = {"type", "model"}
_NO_LINE = PricedLine("", "", "", Decimal(0), 0, Decimal(0))


class _Tokens(NamedTuple):
    """The rates of the buckets at a tier, and the SKUs of a request that searches for nothing."""

    price: PricedShape
    skus: frozenset[str]


class ShapePrices:
    """Prices shapes in one price book. What many of them share, the rates of tokens, is asked of the book once."""

    def __init__(self, prices: PriceBook, predicates: Predicates) -> None:
        self._prices, self._predicates = prices, predicates
        self._tokens: dict[tuple[str, Any, int, frozenset[str]], _Tokens] = {}

    def price(self, shape: UsageShape) -> PricedShape:
        """What each row of a shape is charged. Raises `QuoteError`: why none of them can be priced."""
        try:
            given = asked(shape)
        except ValueError as error:
            raise QuoteError(INVALID, [(("source",), str(error))]) from None
        if shape.type == "video":
            del given.usage["type"]
            return whole_units(self._prices.quote_video(given.usage, source=given.source))
        layout = LAYOUTS.get(shape.type or "")
        quantities = layout.quantities if layout else ()
        if not quantities or given.predicates is None:
            return whole_units(self._prices.rate(given.usage))
        if len(quantities) == 1:
            return _counted(self._prices, given.usage, quantities[0].name)
        return self._with_tokens(given.usage, given.predicates)

    def _with_tokens(self, usage: Mapping[str, Any], asked: int) -> PricedShape:
        """Four buckets of tokens at the tier of the prompt, and what was searched, which is charged a request."""
        tier, used = self._predicates.split(usage["type"], asked)
        key, searched = (usage["type"], usage.get("model"), tier, used), None
        # A name of no model may have the parameters of a search.
        if usage.keys() != _PLAIN or usage["model"] not in self._prices.tables.models:
            searched = self._prices.rate({**usage, "usage": _usage(self._predicates.prompt_in(tier))})
        if key not in self._tokens:
            self._tokens[key] = self._rates(*key)
        price, skus = self._tokens[key]
        if searched is None:
            return price
        lines = [_line(line, 0) for line in searched.lines if line.sku not in skus]
        return _sum((*lines, *price.lines), price.currency)

    def _rates(self, type_: str, model: Any, tier: int, used: frozenset[str]) -> _Tokens:
        """The rates of the buckets of a tier; of those without a price, the ones that are used, which is an error."""
        unused, prompt = set(self._predicates.lacking.get(type_, ())) - used, self._predicates.prompt_in(tier)
        if isinstance(model, str) and model not in self._prices.tables.models:
            model = split_model(model)[0]
        plain = {"type": type_, "model": model}
        alone = self._prices.rate({**plain, "usage": _usage(prompt)})
        skus, lines = frozenset(line.sku for line in alone.lines), []
        for number, bucket in enumerate(BUCKETS, 1):
            if bucket in unused:
                continue
            if bucket == "output":
                more = self._prices.rate({**plain, "usage": _usage(prompt, completion_tokens=1)})
                lines += [_line(line, number) for line in more.lines if line.sku not in skus]
            elif prompt:
                counts = counts_in(self._prices.tables.meters, bucket, prompt)
                some = self._prices.rate(plain | usage_of_buckets(counts)) if bucket != "input" else alone
                lines += [_line(line, number, prompt) for line in some.lines]
        return _Tokens(_sum(lines, alone.currency), skus)


def whole_units(quote: Quote) -> PricedShape:
    """Nothing is summed but requests: the total, and what rounding it took as a line of its own."""
    lines = [_line(line, 0) for line in quote.lines]
    if quote.total != quote.exact:
        rounding = EXACT.subtract(quote.total, quote.exact)
        lines.append(PricedLine(ROUNDING_PART, "", "", rounding, 0, rounding))
    return PricedShape((quote.total, *NOTHING[1:]), tuple(lines), quote.currency)


def _counted(prices: PriceBook, usage: Mapping[str, Any], name: str) -> PricedShape:
    """One quantity: the difference that one of it makes."""
    none, one = (prices.rate({**usage, name: count}) for count in (0, 1))
    before = {line.sku: _line(line, 0) for line in none.lines}
    lines = [line for line in before.values() if line.amount]
    for line in (_line(each, 1) for each in one.lines):
        fixed = before.get(line.sku, _NO_LINE)
        amount, quantity = EXACT.subtract(line.amount, fixed.amount), EXACT.subtract(line.quantity, fixed.quantity)
        lines.append(line._replace(amount=amount, quantity=quantity))
    return _sum(lines, one.currency)


def _usage(prompt: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": 0, **more}


def _line(line: LineItem, number: int, of: int = 1) -> PricedLine:
    """A line of a quote; `of` is for how many it was asked."""
    amount, quantity = line.amount, line.quantity
    if of != 1:
        amount, quantity = EXACT.divide(amount, Decimal(of)), EXACT.divide(quantity, Decimal(of))
    return PricedLine(line.sku, line.source, line.unit, line.unit_rate, number, amount, quantity)


def _sum(lines: Iterable[PricedLine], currency: str) -> PricedShape:
    found = tuple(lines)
    amounts = (total([line.amount for line in found if line.number == number]) for number in range(1 + QUANTITIES))
    return PricedShape(tuple(amounts), found, currency)
