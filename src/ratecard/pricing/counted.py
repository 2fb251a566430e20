"""Price counted usages: read the fields of all charges of a version, and make all of their lines."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from ratecard.base.errors import QuoteError
from ratecard.base.messages import Problems
from ratecard.line_items.conditions import NotSoldError, accepted_conditions, wrong_conditions
from ratecard.line_items.quote import Quote
from ratecard.line_items.tokens import MOST_STATED
from ratecard.methods import METHODS, method_of
from ratecard.methods.metered import Metered, Rater
from ratecard.methods.method import AUDIO_BODY, Lines, UsageReading
from ratecard.requests.body import INVALID, mapping_of
from ratecard.requests.fields import RequestShape
from ratecard.requests.metered import LISTED, UsageSchema, count_listed, read_counts
from ratecard.requests.service_parameters import Suffix
from ratecard.requests.token_usage import read_conditions

Made = TypeVar("Made")
# The key of a usage's stated conditions in its shape.
CONDITIONS = "conditions"
NO_CONDITIONS: Mapping[str, str] = {}
# The types of usage that may count tokens, even if their model has no price of tokens.
_OF_TOKENS = METHODS["tokens"].TYPES


def price_counted(metered: Metered, kind: str) -> Rater | None:
    """Compile the function that rates usages of a kind at one version; None if it has no price for them.

    A kind is a type of usage, or `audio` for a quote body, in which unknown fields are not an error.
    """
    readings = readings_of(metered, kind)
    if not readings:
        return None
    body, named = kind == AUDIO_BODY, metered.version.conditions
    conditions = accepted_conditions([named], metered.meters)
    if body:  # other fields of its requests may have the names of conditions
        conditions = {name: conditions[name] for name in named}
    schema, type_ = together(readings, metered, conditions), metered.model.type if body else kind
    lines, wrong = lines_under(metered, kind, readings), wrong_conditions(metered.version, metered.meters)
    meters = {name for reading in readings for name in reading.meters}

    def rate(usage: Mapping[str, Any], suffix: Suffix) -> Quote:
        if type_ in _OF_TOKENS and "tokens" in usage:
            usage = _without_no_tokens(usage)
        unpriced: tuple[str, ...] = ()
        if LISTED in usage and not body:
            usage, unpriced = count_listed(usage, meters)
        shape, ignored = schema.read(usage, body=body)
        try:
            if unsold := wrong(shape.get(CONDITIONS, NO_CONDITIONS)):
                raise NotSoldError(unsold)
            return metered.quote(lines(shape), ignored + unpriced, type_=type_)
        except NotSoldError as refusal:
            raise QuoteError(INVALID, [((name,), words) for name, words in refusal.problems]) from None

    return rate


def _without_no_tokens(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a usage without its `tokens` if all are 0, because a model without a price of tokens refuses them."""
    counts = mapping_of(usage["tokens"])
    counts_nothing = counts is not None and not any(counts.values())
    return {name: value for name, value in usage.items() if name != "tokens"} if counts_nothing else usage


def lines_under(metered: Metered, kind: str, readings: Sequence[UsageReading]) -> Lines:
    """Compile the function from the shape of a usage of a kind to its lines, under the conditions that it states.

    `readings` are those of a usage that states no condition.
    """
    if metered.under({}) is metered:
        return _lines(readings)
    lines_of = once_for_each(lambda stated: _lines(readings_of(metered, kind, stated)))
    return lambda shape: lines_of(shape.get(CONDITIONS, NO_CONDITIONS))(shape)


def once_for_each(make: Callable[[Mapping[str, str]], Made]) -> Callable[[Mapping[str, str]], Made]:
    """Return a function like `make` that keeps its recent results, by the stated conditions."""
    made = lru_cache(MOST_STATED)(lambda items: make(dict(items)))
    return lambda stated: made((*stated.items(),))


def _lines(readings: Sequence[UsageReading]) -> Lines:
    if len(readings) == 1:
        return readings[0].lines
    calculators = [reading.lines for reading in readings]
    return lambda shape: [line for calculator in calculators for line in calculator(shape)]


def readings_of(metered: Metered, kind: str, stated: Mapping[str, str] = NO_CONDITIONS) -> list[UsageReading]:
    """Return what each charge of a version reads from usages of a kind under these conditions.

    The list is empty for usages of another type than the model's if only charges that may be beside any other ones
    would price them.
    """
    of_type, held = kind == metered.model.type, metered.under(stated)
    readings, priced = [], of_type
    for charge in held.version.charges:
        method = method_of(charge)
        if (method.BESIDE or of_type or kind in method.KINDS) and (reading := method.reading(held, kind)):
            readings.append(reading._replace(meters=method.meters(held)))
            priced = priced or not method.BESIDE
    return readings if priced else []


def together(
    readings: Sequence[UsageReading], metered: Metered, conditions: Mapping[str, Mapping[str, str]] | None = None
) -> UsageSchema:
    """Return one schema with the fields of all these readings, and the conditions.

    A field has no effect if it has none in every reading that has the field. A field with the name of a condition is
    read as one only if some charge of the version names the condition.
    """
    fields = {name: field for reading in readings for name, field in reading.fields.items()}
    defaults = {name: value for reading in readings for name, value in reading.defaults.items()}
    required = [name for reading in readings for name in reading.required]
    inert = [name for name in fields if all(name in reading.inert for reading in readings if name in reading.fields)]
    meters = {name: meterage for reading in readings for name, meterage in reading.meters.items()}
    settles = [reading.settle for reading in readings if reading.settle]
    sold, counted = metered.version.conditions, metered.meters.counted
    accepted = {name: spellings for name, spellings in (conditions or {}).items() if name in sold or name not in fields}

    def settle(usage: Mapping[str, Any], shape: RequestShape, problems: Problems) -> None:
        for rule in settles:
            rule(usage, shape, problems)
        if meters:
            shape["counts"] = read_counts(usage, meters, counted, problems)
        if not stated.isdisjoint(usage):
            shape[CONDITIONS] = read_conditions(usage, accepted, problems)

    stated = accepted.keys()
    further = (*(name for reading in readings for name in reading.further), *(("counts",) if meters else ()), *stated)
    settling = settle if settles or meters or accepted else None
    unsaid = stated - sold.keys()
    return UsageSchema(fields, defaults, required, inert, further, settling, unsaid)
