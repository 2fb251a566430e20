"""Price usages of what is counted: all that the charges of a version read, and all of their lines."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ratecard.base.messages import Problems
from ratecard.methods import METHODS
from ratecard.methods.metered import Metered, Rater
from ratecard.methods.method import UsageReading
from ratecard.rating.quote import Quote
from ratecard.requests.body import mapping_of
from ratecard.requests.counts import read_counts
from ratecard.requests.fields import RequestShape
from ratecard.requests.metered import Settle, UsageSchema
from ratecard.requests.token_usage import read_conditions
from ratecard.tables.meters import Meters

# The quote bodies of speech, transcription and music, which name the API's own two fields.
AUDIO_BODY = "audio"
# The types of usage that may count tokens, whatever their model has a price of.
_OF_TOKENS = ("text", "embedding")


def price_counted(metered: Metered, kind: str) -> Rater | None:
    """Compile the function that rates usages of a kind at one version; None if it has no price for them.

    A kind is a type of usage, or `audio` for a quote body, in which unknown fields are no error.
    """
    readings = [reading for _, reading in readings_of(metered, kind)]
    if not readings:
        return None
    schema, type_ = together(readings, metered), metered.model.type if kind == AUDIO_BODY else kind
    calculators = [reading.lines for reading in readings]
    only = calculators[0] if len(calculators) == 1 else lambda shape: [line for of in calculators for line in of(shape)]

    def rate(usage: Mapping[str, Any], suffix: Mapping[str, Any]) -> Quote:
        if type_ in _OF_TOKENS and "tokens" in usage:
            usage = _without_no_tokens(usage)
        shape, ignored = schema.read(usage, body=kind == AUDIO_BODY)
        return metered.quote(only(shape), ignored, type_=type_)

    return rate


def _without_no_tokens(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    """A usage without its `tokens`, if it counts none; a model that has no price of tokens refuses any others."""
    counts = mapping_of(usage["tokens"])
    none = counts is not None and not any(counts.values())
    return {name: value for name, value in usage.items() if name != "tokens"} if none else usage


def readings_of(metered: Metered, kind: str) -> list[tuple[bool, UsageReading]]:
    """What each charge of a version reads from usages of a kind, and whether it may be beside any others.

    Empty for usages of another type than the model's, if only charges of the latter sort would price them.
    """
    found = []
    for charge in metered.version.charges:
        method = METHODS[charge.method]
        if method.beside or kind == metered.model.type or kind in method.kinds:
            reading = method.reading(charge, metered, kind)
            found += [(method.beside, reading)] if reading else []
    own = kind == metered.model.type or not all(beside for beside, _ in found)
    return found if own else []


def _counts(readings: Sequence[UsageReading], metered: Metered) -> tuple[tuple[str, ...], Settle | None]:
    """The keys of counts and conditions that charges know, and the function that reads them; None if there are none."""
    meters = {name: meterage for reading in readings for name, meterage in reading.meters.items()}
    if not meters:
        return (), None
    accepted = accepted_conditions([reading.conditions for reading in readings], metered.meters)
    declared = metered.meters.counted

    def settle(usage: Mapping[str, Any], shape: RequestShape, problems: Problems) -> None:
        shape["counts"] = read_counts(usage, meters, declared, problems)
        shape["conditions"] = read_conditions(usage, accepted, problems)

    return ("counts", *accepted), settle


def accepted_conditions(named: Sequence[Mapping[str, Collection[str]]], meters: Meters) -> dict[str, dict[str, str]]:
    """The conditions that usages may state, with every spelling of the values that some rate or factor names."""
    return {
        name: each.spellings({value for conditions in named for value in conditions.get(name, ())})
        for name, each in meters.condition.items()
    }


def together(readings: list[UsageReading], metered: Metered) -> UsageSchema:
    """The fields of all of these; one has no effect if it has none for each that has it."""
    fields = {name: field for reading in readings for name, field in reading.fields.items()}
    defaults = {name: value for reading in readings for name, value in reading.defaults.items()}
    required = [name for reading in readings for name in reading.required]
    inert = [name for name in fields if all(name in each.inert for each in readings if name in each.fields)]
    keys, counts = _counts(readings, metered)
    settles = [reading.settle for reading in readings if reading.settle] + ([counts] if counts else [])

    def settle(usage: Mapping[str, Any], shape: RequestShape, problems: Problems) -> None:
        for each in settles:
            each(usage, shape, problems)

    further = (*(name for reading in readings for name in reading.further), *keys)
    return UsageSchema(fields, defaults, required, inert, further, settle if settles else None)
