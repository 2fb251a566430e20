"""Compile one version of a video model into a function from a body to a quote."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from sys import intern
from typing import Any

from ratecard.base.errors import QuoteError
from ratecard.base.layouts import Layouts
from ratecard.base.money import ROUNDING, step, total
from ratecard.methods.method import method_of
from ratecard.rating.compiling import AmountOf, Compiling
from ratecard.rating.quote import PricedVersion, Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.fields import Field, RequestShape
from ratecard.requests.video import BodyLayout, VideoRequests, ignored_names
from ratecard.tables.card import Tables
from ratecard.tables.limits import Rates
from ratecard.tables.video import VideoModel, VideoVersion

VideoPricer = Callable[[dict[str, Any], SourceVideo | None], Quote]
# The totals of bodies that differ in one field only: body without it, source, its name and its values. A body without a
# price has its refusal.
VideoTotals = Callable[[Mapping[str, Any], SourceVideo | None, str, Iterable[Any]], list[Decimal | QuoteError]]

# How many quotes by words are kept for all models of a card together: more than clients ask for.
MOST_QUOTES = 10_000


def price_video(
    model: VideoModel,
    version: VideoVersion,
    tables: Tables,
    api_wide: Mapping[str, Field],
    rates: Rates,
    recent: dict[Any, Quote],
) -> VideoPricer:
    """Compile the function that quotes bodies at one version. The function raises `QuoteError`.

    What does not depend on the body is computed here, once, and what depends on its names alone once for each layout. A
    quote is then one look-up per field, one look-up and at most one multiplication per charge, and one rounding. What
    fixed words alone decide is kept in `recent`, so that it is quoted once. The function is written for speed: a
    call per step would cost more.
    """
    schema, charges = VideoRequests(version, api_wide), _charges(model, version, tables)
    calculators = [method_of(each.charge).calculator(each) for each in charges]
    layouts, defaults = Layouts(schema.layout), schema.defaults
    settle, refuse, replaced = schema.settle, schema.refuse, schema.replaced
    currency, effective = model.currency, version.effective
    priced = PricedVersion(model.model, "video", currency, effective, tables.digest, rates, contract=tables.contract)
    finest, quantize = step(version.rounding.places), ROUNDING.quantize

    def quote_layout(body: dict[str, Any], layout: BodyLayout, source: SourceVideo | None) -> Quote:
        shape = defaults.copy()
        try:
            for field, accept in layout.active:
                shape[field] = value = accept(body[field])
                if value is None:
                    refuse(body, source)
            for field, accept in layout.inert:
                if accept(body[field]) is None:
                    refuse(body, source)
        except TypeError:  # an unhashable value
            refuse(body, source)
        if not layout.complete or (settle is not None and settle(shape, source)):
            refuse(body, source)
        lines = (*[calculate(shape) for calculate in calculators],)
        exact = lines[0].amount if len(lines) == 1 else total([line.amount for line in lines])
        ignored = layout.ignored if source is None else ignored_names((*layout.ignored, *replaced(body, source)))
        return Quote(priced, quantize(exact, finest), exact, lines, ignored)

    def quote_words(body: dict[str, Any], layout: BodyLayout, words: Callable[[dict[str, Any]], Any]) -> Quote:
        quote = quote_layout(body, layout, None)
        if len(recent) >= MOST_QUOTES:
            recent.clear()
        # Few words make many keys: all of them have the same few texts.
        texts = {name: intern(value) if value.__class__ is str else value for name, value in body.items()}
        recent[layout, words(texts)] = quote
        return quote

    def quote(body: dict[str, Any], source: SourceVideo | None) -> Quote:
        layout = layouts[(*body,)]
        words = layout.words
        if words is None or source is not None:
            return quote_layout(body, layout, source)
        for name in layout.booleans:
            if body[name].__class__ is not bool:  # a number may equal a boolean
                refuse(body, source)
        try:
            return recent[layout, words(body)]
        except KeyError:
            return quote_words(body, layout, words)
        except TypeError:  # an unhashable value
            refuse(body, source)

    return quote


def total_videos(
    model: VideoModel, version: VideoVersion, tables: Tables, api_wide: Mapping[str, Field]
) -> VideoTotals:
    """Compile the function that totals many bodies that differ in one field, as `price_video` would total each.

    Only that field is checked for each body. Where nothing but the seconds of reference video follows from its value,
    all else is settled once.
    """
    schema = VideoRequests(version, api_wide)
    charges = [method_of(each.charge).amounts_of(each) for each in _charges(model, version, tables)]
    settle, finest, quantize = schema.settle, step(version.rounding.places), ROUNDING.quantize

    def by_seconds(shape: RequestShape) -> AmountOf:
        amount, *others = (charge(shape) for charge in charges)
        if others:
            return lambda seconds: quantize(total([amount(seconds), *(each(seconds) for each in others)]), finest)
        return lambda seconds: quantize(amount(seconds), finest)

    def totals(
        body: Mapping[str, Any], source: SourceVideo | None, name: str, values: Iterable[Any]
    ) -> list[Decimal | QuoteError]:
        if name not in schema.fields:
            raise ValueError(f"'{name}' is not a field of a video body: {', '.join(schema.fields)}")
        shared, problems = schema.read(body)
        problems = [problem for problem in problems if problem[0] != (name,)]
        accept, active = schema.fields[name].accept, name in schema.active
        only_seconds = schema.by_seconds(shared, name)

        def answer(given: Any, value: Any) -> Callable[[Any], Decimal | QuoteError]:
            shape = {**shared, name: value} if active else shared.copy()
            if value is None or problems or (settle is not None and settle(shape, source)):
                refusal = schema.refusal({**body, name: given}, source)
                return lambda _: refusal
            total_of, seconds = by_seconds(shape), shape["reference_seconds"]
            if only_seconds and value:
                return total_of
            found = total_of(seconds)
            return lambda _: found

        found, known = list[Decimal | QuoteError](), None
        for given in values:
            try:
                value = accept(given)
            except TypeError:  # an unhashable value
                value = None
            one = known if value else None
            if one is None:
                one = answer(given, value)
                if value and (only_seconds or not active):
                    known = one
            found.append(one(value))
        return found

    return totals


def _charges(model: VideoModel, version: VideoVersion, tables: Tables) -> Iterator[Compiling]:
    """The charges of a version, to be compiled."""
    for number, charge in enumerate(version.charges):
        yield Compiling(model.model, version, charge, tables.units[charge.unit].per, first=number == 0)
