"""Compile one version of a video model into a function from a body to a quote."""

from collections.abc import Callable, Mapping
from typing import Any

from ratecard.base.messages import MOST_NAMES, field_names
from ratecard.base.money import ROUNDING, step, total
from ratecard.rating.compiling import Compiling
from ratecard.rating.quote import PricedVersion, Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.rating.video import calculator
from ratecard.requests.fields import Field
from ratecard.requests.video import VideoRequests, in_order
from ratecard.tables.card import Tables
from ratecard.tables.limits import Rates
from ratecard.tables.video import VideoModel, VideoVersion

VideoPricer = Callable[[dict[str, Any], SourceVideo | None], Quote]

_NONE: tuple[str, ...] = ()


def price_video(
    model: VideoModel, version: VideoVersion, tables: Tables, api_wide: Mapping[str, Field], rates: Rates
) -> VideoPricer:
    """Compile the function that quotes bodies at one version. The function raises `QuoteError`.

    What does not depend on the body is computed here, once. A quote is then one look-up per field, one look-up and one
    multiplication per charge, and one rounding. The loop is written for speed: a call per step would cost more.
    """
    schema = VideoRequests(version, api_wide)
    active, inert, defaults, complete = schema.active.get, schema.inert.get, schema.defaults, schema.complete
    settle, refuse = schema.settle, schema.refuse
    calculators = tuple(
        calculator(Compiling(model.model, version, charge, tables.units[charge.unit].per, first=number == 0))
        for number, charge in enumerate(version.charges)
    )
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
