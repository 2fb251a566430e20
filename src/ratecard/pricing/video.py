"""Compile one version of a video model into a function from a body to a quote."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from ratecard.base.messages import MOST_NAMES, field_names
from ratecard.base.money import ROUNDING, step, total
from ratecard.methods import METHODS
from ratecard.rating.compiling import Calculator, Compiling
from ratecard.rating.quote import PricedVersion, Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.fields import Field
from ratecard.requests.video import VideoRequests, in_order
from ratecard.tables.card import Tables
from ratecard.tables.limits import Rates
from ratecard.tables.video import VideoModel, VideoVersion

VideoPricer = Callable[[dict[str, Any], SourceVideo | None], Quote]
# The totals of bodies that differ in one field only: body without it, source, its name and its values; None where the
# body has no price.
VideoTotals = Callable[[Mapping[str, Any], SourceVideo | None, str, Iterable[Any]], list[Decimal | None]]

_NONE: tuple[str, ...] = ()


def price_video(
    model: VideoModel, version: VideoVersion, tables: Tables, api_wide: Mapping[str, Field], rates: Rates
) -> VideoPricer:
    """Compile the function that quotes bodies at one version. The function raises `QuoteError`.

    What does not depend on the body is computed here, once. A quote is then one look-up per field, one look-up and one
    multiplication per charge, and one rounding. The loop is written for speed: a call per step would cost more.
    """
    schema, calculators = _compiled(model, version, tables, api_wide)
    active, inert, defaults, complete = schema.active.get, schema.inert.get, schema.defaults, schema.complete
    settle, refuse = schema.settle, schema.refuse
    first, several = calculators[0], len(calculators) > 1
    priced = PricedVersion(model.model, "video", model.currency, version.effective, tables.digest, rates)
    finest, quantize = step(version.rounding.places), ROUNDING.quantize

    def quote(body: dict[str, Any], source: SourceVideo | None) -> Quote:
        shape, ignored, further = defaults.copy(), _NONE, _NONE
        try:
            for field, given in body.items():
                accept = active(field)
                if accept is not None:
                    value = shape[field] = accept(given)
                    if value is None:
                        refuse(body, source)
                else:
                    accept = inert(field)
                    if accept is not None:
                        if accept(given) is None:
                            refuse(body, source)
                        ignored += (field,)
                    elif field != "model":
                        further += (field,)
        except TypeError:  # an unhashable value
            refuse(body, source)
        if len(shape) < complete:
            refuse(body, source)
        if settle is not None and settle(shape, source):
            refuse(body, source)
        if several:
            lines = tuple([calculate(shape) for calculate in calculators])
            exact = total([line.amount for line in lines])
        else:
            line = first(shape)
            lines, exact = (line,), line.amount
        if len(ignored) > 1:
            ignored = in_order(ignored)
        if further:
            ignored += field_names(further, MOST_NAMES - len(ignored))
        return Quote(priced, quantize(exact, finest), exact, lines, ignored)

    return quote


def total_videos(
    model: VideoModel, version: VideoVersion, tables: Tables, api_wide: Mapping[str, Field]
) -> VideoTotals:
    """Compile the function that totals many bodies that differ in one field, as `price_video` would total each.

    Only that field is checked for each body, by itself and by the rule across fields.
    """
    schema, calculators = _compiled(model, version, tables, api_wide)
    settle, first, several = schema.settle, calculators[0], len(calculators) > 1
    finest, quantize = step(version.rounding.places), ROUNDING.quantize

    def totals(
        body: Mapping[str, Any], source: SourceVideo | None, name: str, values: Iterable[Any]
    ) -> list[Decimal | None]:
        if name not in schema.fields:
            raise ValueError(f"'{name}' is not a field of a video body: {', '.join(schema.fields)}")
        shared, problems = schema.read(body)
        problems = [problem for problem in problems if problem[0] != (name,)]
        field, active, found = schema.fields[name], name in schema.active, list[Decimal | None]()
        for given in values:
            try:
                value = None if problems else field.accept(given)
            except TypeError:  # an unhashable value
                value = None
            if value is None:
                found.append(None)
                continue
            shape = shared.copy()
            if active:
                shape[name] = value
            if settle is not None and settle(shape, source):
                found.append(None)
                continue
            exact = total([calculate(shape).amount for calculate in calculators]) if several else first(shape).amount
            found.append(quantize(exact, finest))
        return found

    return totals


def _compiled(
    model: VideoModel, version: VideoVersion, tables: Tables, api_wide: Mapping[str, Field]
) -> tuple[VideoRequests, tuple[Calculator, ...]]:
    """What a version accepts, and how it charges."""
    calculators = []
    for number, charge in enumerate(version.charges):
        compiling = Compiling(model.model, version, charge, tables.units[charge.unit].per, first=number == 0)
        calculators.append(METHODS[charge.method].calculator(charge, compiling))
    return VideoRequests(version, api_wide), tuple(calculators)
