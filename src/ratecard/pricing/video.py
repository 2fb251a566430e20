"""Compile one version of a video model into a function from a body to a quote."""

from collections.abc import Callable, Mapping
from functools import cache
from sys import intern
from typing import Any

from ratecard.base.layouts import Layouts
from ratecard.base.money import ROUNDING, step, total
from ratecard.line_items.compiling import Compiling, LineBySeconds
from ratecard.line_items.quote import LineItem, PricedVersion, Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.methods.method import method_of
from ratecard.requests.fields import Field, RequestShape
from ratecard.requests.video import REFERENCE_SECONDS, BodyLayout, VideoRequests, ignored_names
from ratecard.tables.card import Tables
from ratecard.tables.limits import Rates
from ratecard.tables.video import SOURCE_MATCHED_DURATIONS, VideoModel, VideoVersion

VideoPricer = Callable[[dict[str, Any], SourceVideo | None], Quote]
# The most combinations of words that are kept for all models of a card together, which is more than clients use.
MOST_KEPT = 10_000
# By layout and words: a quote, or its lines by the seconds of reference video; None if these also decide the rates.
KeptByWords = dict[Any, Any]


def price_video(
    model: VideoModel,
    version: VideoVersion,
    tables: Tables,
    api_wide: Mapping[str, Field],
    rates: Rates,
    recent: KeptByWords,
) -> VideoPricer:
    """Compile the function that quotes bodies at one version. The function raises `QuoteError`.

    Values that do not depend on the body are computed here, once, and those that depend only on its names once for each
    layout. A quote is then one look-up per field, one look-up and at most one multiplication per charge, and one
    rounding. Quotes that depend only on fixed words are kept in `recent`. The function is written for speed: a call per
    step would cost more.
    """
    schema, name = VideoRequests(version, api_wide), model.model
    charges = [
        Compiling(name, version, charge, tables.units[charge.unit].per, first=number == 0)
        for number, charge in enumerate(version.charges)
    ]
    calculators = [method_of(compiling.charge).calculator(compiling) for compiling in charges]
    # Compiled at the first request with reference video: most models never have one.
    by_seconds = cache(lambda: [method_of(compiling.charge).by_seconds(compiling) for compiling in charges])
    layouts, defaults = Layouts(schema.layout), schema.defaults
    settle, refuse, replaced = schema.settle, schema.refuse, schema.replaced
    currency, effective = model.currency, version.effective
    priced = PricedVersion(name, "video", currency, effective, tables.digest, rates, contract=tables.contract)
    finest, quantize = step(version.rounding.places), ROUNDING.quantize

    def shape_of(body: dict[str, Any], layout: BodyLayout, source: SourceVideo | None) -> RequestShape:
        shape = defaults.copy()
        try:
            for field, accept in layout.active:
                shape[field] = value = accept(body[field])
                if value is None:
                    refuse(body, source)
            for field, accept in layout.inert:
                if accept(body[field]) is None:
                    refuse(body, source)
        except TypeError:  # a value is unhashable
            refuse(body, source)
        if not layout.complete or (settle is not None and settle(shape, source)):
            refuse(body, source)
        return shape

    def quote_lines(lines: tuple[LineItem, ...], ignored: tuple[str, ...]) -> Quote:
        exact = lines[0].amount if len(lines) == 1 else total([line.amount for line in lines])
        return Quote(priced, quantize(exact, finest), exact, lines, ignored)

    def quote_layout(body: dict[str, Any], layout: BodyLayout, source: SourceVideo | None) -> Quote:
        shape, ignored = shape_of(body, layout, source), layout.ignored
        if source is not None:
            ignored = ignored_names((*ignored, *replaced(body, source)))
        return quote_lines((*[calculate(shape) for calculate in calculators],), ignored)

    def keep(body: dict[str, Any], layout: BodyLayout, words: Callable[[dict[str, Any]], Any]) -> Any:
        """Make and keep the result for a body's words: its quote, or its lines by the seconds of reference video."""
        kept: Quote | list[LineBySeconds] | None = None
        if layout.seconds is None:
            kept = quote_layout(body, layout, None)
        else:
            shape = shape_of(body, layout, None)
            # A source-matched duration depends on the seconds of reference video.
            if body.get("duration", defaults.get("duration")) not in SOURCE_MATCHED_DURATIONS:
                kept = [line_of(shape) for line_of in by_seconds()]
        if len(recent) >= MOST_KEPT:
            recent.clear()
        # Many keys consist of few words, so interned texts save memory.
        texts = {name: intern(value) if value.__class__ is str else value for name, value in body.items()}
        recent[layout, words(texts)] = kept
        return kept

    def quote(body: dict[str, Any], source: SourceVideo | None) -> Quote:
        layout = layouts[(*body,)]
        words, accept = layout.words, layout.seconds
        if words is None or source is not None:
            return quote_layout(body, layout, source)
        seconds = None
        for name in layout.booleans:
            if body[name].__class__ is not bool:  # a number may equal a boolean
                refuse(body, source)
        # Wrong seconds are refused; 0 seconds mean no reference video, so that the words decide another price.
        if accept is not None and not (seconds := accept(body[REFERENCE_SECONDS])):
            return quote_layout(body, layout, source)
        try:
            kept = recent[layout, words(body)]
        except KeyError:
            kept = keep(body, layout, words)
        except TypeError:  # a value is unhashable
            refuse(body, source)
        if accept is None:
            quoted: Quote = kept
            return quoted
        if kept is None:
            return quote_layout(body, layout, source)
        return quote_lines((*[line(seconds) for line in kept],), layout.ignored)

    return quote
