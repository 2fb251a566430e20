"""Prices a shape with the code that prices single requests: an amount per request, and a rate per summed quantity.

The rates are read off quotes of small usages; no formula is repeated here.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.money import EXACT, places_of, plain, total
from ratecard.price_book import PriceBook
from ratecard.rating.quote import LineItem, Quote
from ratecard.requests.body import INVALID
from ratecard.requests.token_usage import usage_of_buckets
from ratecard.simulation.pricing.outcome import (
    NOT_ADDED,
    ROUNDING_PART,
    LinesLater,
    Outcome,
    PricedLine,
    PricedShape,
    Refused,
)
from ratecard.simulation.usage.columns import LAYOUTS, LENGTH
from ratecard.simulation.usage.predicates import BY_BUCKET, Predicates
from ratecard.simulation.usage.shape import ShapeRequest, UsageShape, request_of
from ratecard.tables.meters import COMPLETION, PROMPT

# What a usage says of searches; beside the tokens that are summed, the rest of it are type, model and conditions.
_SEARCHED = {column.path[0] for column in LAYOUTS["text"].attributes}
# Finer amounts leave no digits for their sum.
_MOST_PLACES = 24
_NO_LINE = PricedLine("", "", "", Decimal(0), 0, Decimal(0))


class _Tokens(NamedTuple):
    """The rates of the buckets at a tier, and the SKUs of their lines: further lines of a request are of searches."""

    price: PricedShape
    skus: frozenset[str]


class _Usages(NamedTuple):
    """The counts of the usages that the rates of a tier are read off.

    `together`: one token of each bucket that is used; `alone`: the prompt; `nothing`. `buckets`: for each bucket with a
    rate its number, the tokens of it where it is of the prompt (0: of the completion), and the counts.
    """

    together: dict[str, Any]
    alone: dict[str, Any]
    nothing: dict[str, Any]
    buckets: tuple[tuple[int, int, dict[str, Any]], ...]


class ShapePrices:
    """Prices shapes in one price book, to be added in one currency. What many shapes share is kept."""

    def __init__(self, prices: PriceBook, predicates: Predicates, currency: str) -> None:
        self._prices, self._predicates, self._currency = prices, predicates, currency
        self._tokens: dict[tuple[object, ...], _Tokens] = {}
        self._usages: dict[tuple[object, ...], _Usages] = {}
        # One price for all requests that are charged the same, whose lines are made when they are asked for.
        self._apart, self._by_total = LinesLater(self._lines), dict[tuple[str, str], Outcome]()

    def price(self, shape: UsageShape) -> Outcome:
        """Price each row of a shape. Raises `QuoteError` that says why none of them has a price."""
        layout = LAYOUTS.get(shape.type or "")
        quantities = layout.quantities if layout else ()
        given = self._request_of(shape) if quantities or self._predicates.counts else None
        if given is None or given.predicates is None or not quantities:
            quote = self._quote(given or self._request_of(shape), shape.type)
            if given and given.counted:
                charged = _sum(charged_lines(quote), quote.currency)
                return self._addable(self._with_counts(charged, given.usage, given.counted))
            return self._of_total(quote.total, quote.currency)
        if len(quantities) == 1:
            none = {**given.usage, quantities[0].name: 0}
            price = _counted(self._prices, given.usage, quantities[0].name)
        else:
            price = self._with_tokens(given.usage, given.predicates)
            used = self._predicates.split(given.usage["type"], given.predicates)[1]
            none = {**given.usage, **self._counted({PROMPT: 0, COMPLETION: 0}, used)}
        return self._addable(self._with_counts(price, none, given.counted) if given.counted else price)

    def by_length(
        self, shape: UsageShape, lengths: Iterable[int | Decimal | str]
    ) -> tuple[str, list[Decimal | QuoteError]]:
        """The currency, and the total of a video that is this shape with each of these lengths, or why it has none.

        Raises `QuoteError` that says why none of them has a price.
        """
        given = self._request_of(shape)
        del given.usage["type"]
        answers = self._prices.video_answers(given.usage, LENGTH, lengths, source=given.source)
        return self._prices.in_effect(given.usage["model"])[0].currency, answers

    def of_answer(self, answer: Decimal | QuoteError, currency: str) -> Outcome:
        """The price of all shapes that come to a total; or why they have none."""
        return Refused.of(answer) if isinstance(answer, QuoteError) else self._of_total(answer, currency)

    def _of_total(self, total: Decimal, currency: str) -> Outcome:
        """The price of all shapes that sum only requests, and come to this total."""
        key = (str(total), currency)
        if (found := self._by_total.get(key)) is None:
            found = self._by_total[key] = self._addable(PricedShape((total,), self._apart, currency))
        return found

    def quote(self, shape: UsageShape) -> Quote:
        """The quote of one row of a shape, of which only requests are summed. Raises `QuoteError`."""
        return self._quote(self._request_of(shape), shape.type)

    def _addable(self, price: PricedShape) -> Outcome:
        """A price, if it can be added to others."""
        if max(map(places_of, price.amounts)) > _MOST_PLACES:  # some may be zeros
            price = price._replace(amounts=tuple(map(plain, price.amounts)))
            if max(map(places_of, price.amounts)) > _MOST_PLACES:
                return Refused(f"charged to more than {_MOST_PLACES} decimals, which cannot be added", NOT_ADDED)
        if price.currency != self._currency:
            return Refused(f"charged in {price.currency}, and amounts are added in {self._currency}", NOT_ADDED)
        return price

    def _lines(self, shape: UsageShape) -> tuple[PricedLine, ...]:
        """The lines of a shape that sums only requests, quoted again, and one for what its rounding adds or takes."""
        return charged_lines(self.quote(shape))

    def _request_of(self, shape: UsageShape) -> ShapeRequest:
        try:
            return request_of(shape, self._predicates.counts)
        except ValueError as error:
            raise QuoteError(INVALID, [(("source",), str(error))]) from None

    def _quote(self, given: ShapeRequest, type_: str | None) -> Quote:
        if type_ == "video":
            del given.usage["type"]
            return self._prices.quote_video(given.usage, source=given.source)
        return self._prices.rate(given.usage)

    def _with_counts(self, price: PricedShape, none: dict[str, Any], counted: Iterable[tuple[int, str]]) -> PricedShape:
        """A price and what one of each count by meter adds to the quote of a usage that has none of what is summed."""
        before, lines = list(self._prices.rate(none).lines), list(price.lines)
        layout = LAYOUTS[none["type"]]
        first = 1 + len(self._predicates.buckets.names if layout.buckets else layout.quantities)
        for number, meter in counted:
            own = before.copy()
            for line in self._prices.rate({**none, "counts": {**none["counts"], meter: 1}}).lines:
                if line in own:
                    own.remove(line)
                else:
                    lines.append(_line(line, first + number))
        return _sum(lines, price.currency)

    def _with_tokens(self, usage: Mapping[str, Any], number: int) -> PricedShape:
        """Price the buckets of tokens at the tier of the prompt, and the searches, which are charged per request.

        `number` is that of the predicates.
        """
        tier, used = self._predicates.split(usage["type"], number)
        plain = {name: value for name, value in usage.items() if name not in _SEARCHED}
        key, searched = (tier, used, *((name, _hashable(value)) for name, value in plain.items())), None
        # A name that is not a model's may have parameters of a search behind it.
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
        """Read off the rates of the buckets at a tier, and under the conditions of a usage.

        Raises `QuoteError` if a used bucket has no price.
        """
        model = usage.get("model")
        if isinstance(model, str) and (plain := self._prices.plain_name(model)) != model:
            usage = usage | {"model": plain}
        key = (usage["type"], tier, used, self._prompt_in(tier, usage, used))
        if (asked := self._usages.get(key)) is None:
            asked = self._usages[key] = self._usages_of(*key)
        if used:
            self._prices.rate(usage | asked.together)
        alone = self._prices.rate(usage | asked.alone)
        # What a request is charged whatever its tokens.
        fixed = self._prices.rate(usage | asked.nothing)
        skus, apart = (frozenset(line.sku for line in quote.lines) for quote in (alone, fixed))
        lines = [_line(line, 0) for line in fixed.lines]
        for number, several, counts in asked.buckets:
            own = alone if counts == asked.alone else self._prices.rate(usage | counts)
            without = apart if several else skus
            lines += [_line(line, number, several or 1) for line in own.lines if line.sku not in without]
        return _Tokens(_sum(lines, alone.currency), skus)

    def _usages_of(self, type_: str, tier: int, used: frozenset[str], prompt: int) -> _Usages:
        """The usages of a type at a tier, the shortest of which has this prompt."""
        unused, several = set(self._predicates.lacking.get(type_, ())) - used, self._predicates.prompt_in(tier)
        buckets, found = self._predicates.buckets, list[tuple[int, int, dict[str, Any]]]()
        for number, name in enumerate(buckets.names, 1):
            own = (name, *buckets.wholes[name])
            if name in unused:
                continue
            if buckets.in_completion(name):
                found.append((number, 0, self._counted({PROMPT: prompt} | dict.fromkeys(own, 1), used)))
            elif several:
                found.append((number, several, self._counted({COMPLETION: 0} | dict.fromkeys(own, several), used)))
        alone, nothing = ({PROMPT: count, COMPLETION: 0} for count in (prompt, 0))
        counted = self._together(prompt, used), self._counted(alone, used), self._counted(nothing, used)
        return _Usages(*counted, tuple(found))

    def _prompt_in(self, tier: int, usage: Mapping[str, Any], used: frozenset[str]) -> int:
        """The shortest prompt of the tier; 0 for rows without own tokens of the prompt where these have no price."""
        prompt = self._predicates.prompt_in(tier)
        if PROMPT in self._predicates.lacking.get(usage["type"], ()) and PROMPT not in used:
            try:
                self._prices.rate({**usage, **self._counted({PROMPT: prompt, COMPLETION: 0}, used)})
            except QuoteError:
                return 0
        return prompt

    def _together(self, prompt: int, used: frozenset[str]) -> dict[str, Any]:
        """Count one token of each of these buckets: what is refused of it, is refused of all such rows."""
        buckets, counts = self._predicates.buckets, {PROMPT: 0, COMPLETION: 0}
        for name in buckets.names:
            for each in (name, *buckets.wholes[name]) if name in used else ():
                counts[each] = counts.get(each, 0) + 1
        counts[PROMPT] = max(counts[PROMPT], prompt)
        return self._counted(counts, used)

    def _counted(self, counts: dict[str, int], used: frozenset[str]) -> dict[str, Any]:
        """Inclusive counts as the rows have them: as `usage`, or by bucket."""
        by_bucket = BY_BUCKET in used or not self._predicates.in_usage
        return {"tokens": counts} if by_bucket else usage_of_buckets(counts)


def _hashable(value: Any) -> Any:
    """A value of a usage as part of a key."""
    return tuple(value.items()) if value.__class__ is dict else value


def charged_lines(quote: Quote) -> tuple[PricedLine, ...]:
    """The lines of what each request is charged, and one for what the rounding of its total adds or takes."""
    lines = [_line(line, 0) for line in quote.lines]
    if quote.total != quote.exact:
        rounding = EXACT.subtract(quote.total, quote.exact)
        lines.append(PricedLine(ROUNDING_PART, "", "", rounding, 0, rounding))
    return tuple(lines)


def _counted(prices: PriceBook, usage: Mapping[str, Any], name: str) -> PricedShape:
    """The price of a shape with one summed quantity: the quote of none is per request, what one adds is its rate."""
    none, one = (prices.rate({**usage, name: count}) for count in (0, 1))
    before = {line.sku: _line(line, 0) for line in none.lines}
    lines = [line for line in before.values() if line.amount]
    for line in (_line(each, 1) for each in one.lines):
        fixed = before.get(line.sku, _NO_LINE)
        amount, quantity = EXACT.subtract(line.amount, fixed.amount), EXACT.subtract(line.quantity, fixed.quantity)
        lines.append(line._replace(amount=amount, quantity=quantity))
    return _sum(lines, one.currency)


def _line(line: LineItem, number: int, count: int = 1) -> PricedLine:
    """Make a priced line, per one of what `number` numbers, of a line that a quote has for `count` of it."""
    amount, quantity = line.amount, line.quantity
    if count != 1:
        amount, quantity = EXACT.divide(amount, Decimal(count)), EXACT.divide(quantity, Decimal(count))
    rate = line.rate
    return PricedLine(rate.sku, rate.source, rate.unit, rate.unit_rate, number, amount, quantity, None, rate.factors)


def _sum(lines: Iterable[PricedLine], currency: str) -> PricedShape:
    found = tuple(lines)
    last = max((line.number for line in found), default=0)
    amounts = (total([line.amount for line in found if line.number == number]) for number in range(1 + last))
    return PricedShape(tuple(amounts), found, currency)
