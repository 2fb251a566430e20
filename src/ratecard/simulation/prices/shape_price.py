"""The price of a shape, by the code that prices single requests: an amount per request, and a rate per summed quantity.

The rates come from the price book, so that no formula is repeated here.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.money import EXACT, places_of, plain, total
from ratecard.line_items.quote import LineItem, LineRate, Quote
from ratecard.price_book import PriceBook
from ratecard.requests.counters import usage_of_buckets
from ratecard.simulation.groups.predicates import BY_BUCKET, Predicates
from ratecard.simulation.groups.shapes import ShapeRequest, UsageShape, request_of
from ratecard.simulation.prices.outcome import (
    NOT_ADDED,
    ROUNDING_PART,
    Outcome,
    PricedLine,
    PricedShape,
    Refused,
)
from ratecard.simulation.rows.columns import LAYOUTS, LENGTH
from ratecard.tables.meters import COMPLETION, PROMPT

# The fields of a usage that say how much was searched; its other fields are summed tokens, type, model and conditions.
_SEARCHED = {column.path[0] for column in LAYOUTS["text"].attributes}
# The most decimals of amounts that are added: 36 for a rate with 30 by the million, fewer if sums have no digits left.
PLACES_ADDED, FEWER_PLACES_ADDED = 36, 24


class _Tokens(NamedTuple):
    """The rates of the buckets at a tier, and the SKUs of tokens: lines with other SKUs are those of searches."""

    price: PricedShape
    skus: frozenset[str]


def quote_of(prices: PriceBook, request: ShapeRequest) -> Quote:
    """Return the quote of a request of a shape. Raises `QuoteError` if it has no price."""
    if request.usage.get("type") == "video":
        body = {name: value for name, value in request.usage.items() if name != "type"}
        return prices.quote_video(body, source=request.source)
    return prices.rate(request.usage)


class ShapePrices:
    """The prices of shapes in one price book, which are added up in one currency. What many shapes share is kept."""

    def __init__(self, prices: PriceBook, predicates: Predicates, currency: str, places: int = PLACES_ADDED) -> None:
        self._prices, self._predicates, self._currency, self._places = prices, predicates, currency, places
        self._tokens: dict[tuple[object, ...], _Tokens] = {}
        # All requests with the same total share one price, whose lines are made when they are needed.
        self._by_total = dict[tuple[str, str], Outcome]()

    def price(self, shape: UsageShape) -> Outcome:
        """Return the price of each row of a shape. Raises `QuoteError` where the rows have no price."""
        layout = LAYOUTS.get(shape.type or "")
        quantities = layout.quantities if layout else ()
        request = request_of(shape, self._predicates.counts)
        if request.predicates is None or not quantities:
            quote = quote_of(self._prices, request)
            if request.counted:
                charged = _sum(charged_lines(quote), quote.currency)
                return self._addable(self._with_counts(charged, request.usage, request.counted))
            return self._of_total(quote.total, quote.currency)
        prompt = 0
        if len(quantities) == 1:
            none = {**request.usage, quantities[0].name: 0}
            price = self._of_quantity(none, quantities[0].name)
        else:
            price = self._with_tokens(request.usage, request.predicates)
            tier, used = self._predicates.split(request.usage["type"], request.predicates)
            prompt = self._predicates.prompt_in(tier)
            none = {**request.usage, **self._counted({PROMPT: 0, COMPLETION: 0}, used)}
        return self._addable(self._with_counts(price, none, request.counted, prompt) if request.counted else price)

    def by_length(
        self, shape: UsageShape, lengths: Iterable[int | Decimal | str]
    ) -> tuple[str, list[Decimal | QuoteError]]:
        """Return the currency, and for each length the total of a video of this shape, or its refusal.

        Raises `QuoteError` where a video of this shape has no price, whatever its length.
        """
        request = request_of(shape, self._predicates.counts)
        del request.usage["type"]
        answers = self._prices._video_totals(request.usage, LENGTH, lengths, source=request.source)
        return self._prices.in_effect(request.usage["model"])[0].currency, answers

    def of_answer(self, answer: Decimal | QuoteError, currency: str) -> Outcome:
        """Return the price of all shapes with a total, or why they have none."""
        return Refused.of(answer) if isinstance(answer, QuoteError) else self._of_total(answer, currency)

    def _of_total(self, total: Decimal, currency: str) -> Outcome:
        """Return the price of all shapes that sum only requests and have this total."""
        key = (str(total), currency)
        if (outcome := self._by_total.get(key)) is None:
            outcome = self._by_total[key] = self._addable(PricedShape((total,), self._lines, currency))
        return outcome

    def _addable(self, price: PricedShape) -> Outcome:
        """Return a price if it can be added to others, else a refusal."""
        if max(map(places_of, price.amounts)) > FEWER_PLACES_ADDED:  # some decimals may be zeros
            price = price._replace(amounts=tuple(map(plain, price.amounts)))
            if max(map(places_of, price.amounts)) > self._places:
                return Refused(f"charged to more than {self._places} decimals, which cannot be added", NOT_ADDED)
        if price.currency != self._currency:
            return Refused(f"charged in {price.currency}, and amounts are added in {self._currency}", NOT_ADDED)
        return price

    def _lines(self, shape: UsageShape) -> tuple[PricedLine, ...]:
        """Quote a shape that sums only requests once more, and return the lines."""
        return charged_lines(quote_of(self._prices, request_of(shape, self._predicates.counts)))

    def _of_quantity(self, none: dict[str, Any], name: str) -> PricedShape:
        """Price a shape with one summed quantity; `none` is its usage with a quantity of zero."""
        shape = self._prices.rates_of(none, [name])
        lines = [_line(line, 0) for line in shape.lines if line.amount]
        lines += [_line_of(rate, 1) for rate in shape.rates[name]]
        return _sum(lines, shape.metered.model.currency)

    def _with_counts(
        self, price: PricedShape, none: dict[str, Any], counted: Iterable[tuple[int, str]], prompt: int = 0
    ) -> PricedShape:
        """Add the rates of counts by meter to a price; `none` is the usage without counts."""
        layout = LAYOUTS[none["type"]]
        first = 1 + len(self._predicates.buckets.names if layout.buckets else layout.quantities)
        meters = {f"counts.{meter}": first + number for number, meter in counted}
        rates = self._prices.rates_of(none, meters, prompt=prompt).rates
        lines = [_line_of(rate, number) for meter, number in meters.items() for rate in rates[meter]]
        return _sum((*price.lines, *lines), price.currency)

    def _with_tokens(self, usage: Mapping[str, Any], number: int) -> PricedShape:
        """Price the buckets of tokens at the tier of the prompt, and the searches, which are charged per request.

        `number` is that of the predicates.
        """
        tier, used = self._predicates.split(usage["type"], number)
        plain = {name: value for name, value in usage.items() if name not in _SEARCHED}
        key, searched = (tier, used, *((name, _hashable(value)) for name, value in plain.items())), None
        # A name that no model has may end in parameters of a search.
        if len(plain) != len(usage) or usage.get("model") not in self._prices.tables.models:
            searched = self._prices.rate({**usage, **self._together(self._prompt_in(tier, usage, used), used)})
        if key not in self._tokens:
            self._tokens[key] = self._rates(plain, tier, used)
        price, skus = self._tokens[key]
        if searched is None:
            return price
        lines = [_line(line, 0) for line in searched.lines if line.sku not in skus]
        return _sum((*lines, *price.lines), price.currency)

    def _rates(self, usage: dict[str, Any], tier: int, used: frozenset[str]) -> _Tokens:
        """Return the rates of the buckets at a tier, and under the conditions of a usage.

        Raises `QuoteError` if a used bucket has no price.
        """
        model = usage.get("model")
        if isinstance(model, str) and (plain := self._prices.plain_name(model)) != model:
            usage = usage | {"model": plain}
        # Include the lines of the shortest prompt, even for rows without prompt tokens: they are not lines of searches.
        together = self._prices.rate({**usage, **self._together(self._prompt_in(tier, usage, used), used)})
        shortest, numbers = self._predicates.prompt_in(tier), self._numbers(usage["type"], tier, used)
        none = usage | self._counted({PROMPT: 0, COMPLETION: 0}, used)
        shape = self._prices.rates_of(none, numbers, prompt=shortest)
        for bucket in numbers.keys() - shape.rates.keys():
            counts = self._prices.tables.meters.counts_in(bucket, 1, shortest)
            self._prices.rate({**usage, **self._counted(counts, used)})  # this raises, because a bucket has no price
        lines = [_line(line, 0) for line in shape.lines]
        lines += [_line_of(rate, number) for name, number in numbers.items() for rate in shape.rates[name]]
        skus = {line.sku for line in together.lines} | {line.sku for line in lines}
        return _Tokens(_sum(lines, together.currency), frozenset(skus))

    def _numbers(self, type_: str, tier: int, used: frozenset[str]) -> dict[str, int]:
        """Return the number of each bucket with a rate; only those of the completion where prompts have no tokens."""
        unused, buckets = set(self._predicates.lacking.get(type_, ())) - used, self._predicates.buckets
        return {
            name: number
            for number, name in enumerate(buckets.names, 1)
            if name not in unused and (self._predicates.prompt_in(tier) or buckets.in_completion(name))
        }

    def _prompt_in(self, tier: int, usage: Mapping[str, Any], used: frozenset[str]) -> int:
        """Return the shortest prompt of the tier; 0 for rows without prompt tokens if these have no price."""
        prompt = self._predicates.prompt_in(tier)
        if PROMPT in self._predicates.lacking.get(usage["type"], ()) and PROMPT not in used:
            try:
                self._prices.rate({**usage, **self._counted({PROMPT: prompt, COMPLETION: 0}, used)})
            except QuoteError:
                return 0
        return prompt

    def _together(self, prompt: int, used: frozenset[str]) -> dict[str, Any]:
        """Return counts of one token in each used bucket: where these are refused, all such rows are refused."""
        buckets, counts = self._predicates.buckets, {PROMPT: 0, COMPLETION: 0}
        for name in buckets.names:
            for bucket in (name, *buckets.wholes[name]) if name in used else ():
                counts[bucket] = counts.get(bucket, 0) + 1
        counts[PROMPT] = max(counts[PROMPT], prompt)
        return self._counted(counts, used)

    def _counted(self, counts: dict[str, int], used: frozenset[str]) -> dict[str, Any]:
        """Return inclusive counts as the rows have them: as `usage`, or by bucket."""
        by_bucket = BY_BUCKET in used or not self._predicates.in_usage
        return {"tokens": counts} if by_bucket else usage_of_buckets(counts)


def _hashable(value: Any) -> Any:
    """Return a value of a usage as part of a key."""
    return tuple(value.items()) if value.__class__ is dict else value


def charged_lines(quote: Quote) -> tuple[PricedLine, ...]:
    """Return the charged lines of each request, and one for what the rounding of its total adds or takes."""
    lines = [_line(line, 0) for line in quote.lines]
    if quote.total != quote.exact:
        rounding = EXACT.subtract(quote.total, quote.exact)
        lines.append(PricedLine(ROUNDING_PART, "", "", rounding, 0, rounding))
    return tuple(lines)


def _line(line: LineItem, number: int) -> PricedLine:
    """Return a line of a quote, as an amount per request (`number` 0) or per unit of a quantity."""
    rate = line.rate
    parts = (rate.sku, rate.source, rate.unit, rate.unit_rate, number, line.amount, line.quantity, None, rate.factors)
    return PricedLine(*parts, line.list_source)


def _line_of(rate: LineRate, number: int) -> PricedLine:
    """Return the line for one unit of the quantity with a number."""
    return _line(LineItem(rate, 1, rate.price(1)), number)


def _sum(lines: Iterable[PricedLine], currency: str) -> PricedShape:
    charged = tuple(lines)
    last = max((line.number for line in charged), default=0)
    amounts = (total([line.amount for line in charged if line.number == number]) for number in range(1 + last))
    return PricedShape(tuple(amounts), charged, currency)
