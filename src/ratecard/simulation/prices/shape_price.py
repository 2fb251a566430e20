"""Prices a shape with the code that prices single requests: an amount per request, and a rate per summed quantity.

The rates are read off quotes of small usages; no formula is repeated here.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import product, zip_longest
from operator import attrgetter
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.money import EXACT, places_of, plain, total
from ratecard.price_book import PriceBook
from ratecard.rating.quote import LineItem, Quote
from ratecard.requests.body import INVALID
from ratecard.requests.counters import usage_of_buckets
from ratecard.requests.token_usage import read_tokens
from ratecard.simulation.groups.predicates import BY_BUCKET, Predicates
from ratecard.simulation.groups.shape import ShapeRequest, UsageShape, request_of
from ratecard.simulation.prices.outcome import (
    NOT_ADDED,
    ROUNDING_PART,
    LinesLater,
    Outcome,
    PricedLine,
    PricedShape,
    Refused,
)
from ratecard.simulation.rows.columns import LAYOUTS, LENGTH
from ratecard.tables.meters import COMPLETION, PROMPT

# What a usage says of searches; beside the tokens that are summed, the rest of it are type, model and conditions.
_SEARCHED = {column.path[0] for column in LAYOUTS["text"].attributes}
# Finer amounts leave no digits for their sum.
_MOST_PLACES = 24
# As many buckets are counted by one usage: its counts stay far below `MOST_TOKENS`.
_TOGETHER = 8
_NUMBER = attrgetter("number")
_NO_LINE = PricedLine("", "", "", Decimal(0), 0, Decimal(0))


class _Tokens(NamedTuple):
    """The rates of the buckets at a tier, and the SKUs of tokens: further lines of a request are of searches."""

    price: PricedShape
    skus: frozenset[str]


class _Asked(NamedTuple):
    """A usage that the rates of some buckets are read off: its counts, and how many tokens of each bucket it has.

    `own` has these numbers of tokens, the highest first, each with the number of its bucket; 0 where its rate is read
    off another usage. Each is more than all after it together: so the count of a line says the tokens of which buckets
    it charges.
    """

    counts: dict[str, Any]
    own: tuple[tuple[int, int], ...]

    def charged(self, count: int | Decimal) -> Iterator[int]:
        """The numbers of the buckets whose tokens a line of this count charges. Raises `ValueError` for any other."""
        left = count
        for tokens, number in self.own:
            if left >= tokens:
                left -= tokens
                yield number
        if left:
            raise ValueError(f"a line counts {count} tokens, which are not those of some buckets: {self.own}")


class ShapePrices:
    """Prices shapes in one price book, to be added in one currency. What many shapes share is kept."""

    def __init__(self, prices: PriceBook, predicates: Predicates, currency: str) -> None:
        self._prices, self._predicates, self._currency = prices, predicates, currency
        self._tokens: dict[tuple[object, ...], _Tokens] = {}
        self._usages: dict[tuple[object, ...], tuple[_Asked, ...]] = {}
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
        # With the lines of the shortest prompt, also where the rows have no own tokens of it: they are not of searches.
        together = self._prices.rate({**usage, **self._together(self._prompt_in(tier, usage, used), used)})
        # What a request is charged whatever its tokens.
        fixed = self._prices.rate(usage | self._counted({PROMPT: 0, COMPLETION: 0}, used))
        apart, found = {line.sku for line in fixed.lines}, list[PricedLine]()
        key = (usage["type"], tier, used)
        if (usages := self._usages.get(key)) is None:
            usages = self._usages[key] = tuple(self._usages_of(*key))
        for asked in usages:
            for line in self._prices.rate(usage | asked.counts).lines:
                if line.sku not in apart:
                    found += [_line(line, number, line.count) for number in asked.charged(line.count) if number]
        lines = [*(_line(line, 0) for line in fixed.lines), *sorted(found, key=_NUMBER)]
        skus = {line.sku for line in together.lines} | {line.sku for line in lines}
        return _Tokens(_sum(lines, fixed.currency), frozenset(skus))

    def _usages_of(self, type_: str, tier: int, used: frozenset[str]) -> Iterator[_Asked]:
        """The usages of a type at a tier that count tokens of every bucket with a rate, as few as there can be."""
        unused, shortest = set(self._predicates.lacking.get(type_, ())) - used, self._predicates.prompt_in(tier)
        names = self._predicates.buckets.names
        numbers = {name: number for number, name in enumerate(names, 1) if name not in unused}
        completion = [name for name in numbers if self._predicates.buckets.in_completion(name)]
        prompt = [name for name in numbers if name not in completion] if shortest else []
        # As many of the prompt as one of its tier has tokens for.
        longest = self._predicates.thresholds[tier : tier + 1]
        prompts = self._in_parts(prompt, min(_TOGETHER, (longest[0] + 1).bit_length() - 1) if longest else _TOGETHER)
        for of_prompt, of_completion in zip_longest(prompts, self._in_parts(completion, _TOGETHER), fillvalue=()):
            # The completion is charged at the tier of some prompt.
            before = of_prompt or (prompts[0] if prompts else ())
            own = [(1 << at, name, name in of_prompt) for at, name in enumerate(before)]
            if own:
                rest = shortest - sum(tokens for tokens, *_ in own[:-1])
                own[-1] = (max(rest, own[-1][0]), *own[-1][1:])
            total = sum(tokens for tokens, *_ in own)
            own += [(1 << total.bit_length() + at, name, True) for at, name in enumerate(of_completion)]
            counts = {PROMPT: 0, COMPLETION: 0}
            for tokens, name, _ in own:
                for each in (name, *self._predicates.buckets.wholes[name]):
                    counts[each] = counts.get(each, 0) + tokens
            numbered = ((tokens, numbers[name] if is_read else 0) for tokens, name, is_read in reversed(own))
            yield _Asked(self._counted(counts, used), tuple(numbered))

    def _in_parts(self, names: Iterable[str], most: int) -> list[tuple[str, ...]]:
        """Buckets in parts of at most `most`, none of which has two that can have tokens in common."""
        buckets, found = self._predicates.buckets, list[tuple[str, ...]]()
        overlapping = {frozenset(pair) for *pair, _ in buckets.overlaps}
        for name in names:
            own = (name, *buckets.wholes[name])
            for at, part in enumerate(found):
                others = {each for other in part for each in (other, *buckets.wholes[other])}
                if len(part) < most and overlapping.isdisjoint(map(frozenset, product(own, others))):
                    found[at] = (*part, name)
                    break
            else:
                found.append((name,))
        return found

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


def has_wrong_tokens(shape: UsageShape) -> bool:
    """Whether the counts of tokens of a shape are wrong by themselves, so that every card refuses its rows."""
    layout = LAYOUTS.get(shape.type or "")
    if not (layout and layout.buckets and shape.irregular):
        return False
    usage, problems = request_of(shape).usage, list[Any]()
    if "usage" in usage:  # which has flat counts alone, so that no condition of a model is within it
        read_tokens(usage["usage"], problems, shape.type == "text", {}, {})
    return bool(problems)


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


def _line(line: LineItem, number: int, count: int | Decimal = 1) -> PricedLine:
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
