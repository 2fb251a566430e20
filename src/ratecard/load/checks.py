"""What one field cannot know: rules between the parts of a model. Each finding is (path into the model, message)."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ratecard.tables.charge import Charge
from ratecard.tables.rate import ANY
from ratecard.tables.selection import domains_of, missing, overlaps, tiers
from ratecard.tables.version import Model
from ratecard.tables.video import VideoVersion
from ratecard.tables.vocabulary import Unit
from ratecard.words.suggest import did_you_mean
from ratecard.words.tree import Path

Finding = tuple[Path, str]


def check_model(model: Model[Any], units: Mapping[str, Unit]) -> Iterator[Finding]:
    """Every rule that a model of any type obeys."""
    if not (len(model.currency) == 3 and model.currency.isalpha() and model.currency.isupper()):
        yield ("currency",), f"currency '{model.currency}' is not an ISO 4217 code. Write three capitals, like USD"
    for index, (newer, older) in enumerate(pairwise(model.versions)):
        if newer.effective <= older.effective:
            path = ("versions", index + 1, "effective")
            yield path, f"effective {older.effective} must be before {newer.effective}: versions stand newest first"
    first = model.versions[-1].effective
    if model.retired and model.retired.on <= first:
        yield ("retired", "on"), f"retired on {model.retired.on}, but the first version takes effect on {first}"
    for index, version in enumerate(model.versions):
        at: Path = ("versions", index)
        if not version.charges:
            yield (*at, "charges"), "charges is empty. A version without a known price does not belong in the tables"
        if not version.examples:
            yield (*at, "examples"), "examples is empty. Write at least one request with its total, worked by hand"
        for number, charge in enumerate(version.charges):
            place = (*at, "charges", number)
            yield from ((place + path, words) for path, words in check_unit(charge, units))
            if isinstance(version, VideoVersion):
                yield from ((place + path, words) for path, words in check_rates(version, charge))


def check_unit(charge: Charge, units: Mapping[str, Unit]) -> Iterator[Finding]:
    """A charge has a unit that exists and counts what its method counts."""
    fitting = [unit.unit for unit in units.values() if unit.counts in charge.METERS]
    if charge.unit not in units:
        near = did_you_mean(charge.unit, fitting)
        yield (
            ("unit",),
            f"unit '{charge.unit}' is not in units.yaml.{near} Allowed for {charge.method}: {', '.join(fitting)}",
        )
    elif charge.unit not in fitting:
        counts = units[charge.unit].counts
        yield (
            ("unit",),
            (
                f"unit '{charge.unit}' counts a {counts}, but {charge.method} counts a {' or '.join(charge.METERS)}. "
                f"Allowed: {', '.join(fitting)}"
            ),
        )


def check_rates(version: VideoVersion, charge: Charge) -> Iterator[Finding]:
    """Every combination of attributes that a version accepts fits exactly one rate of the charge."""
    if not charge.rates:
        yield ("rates",), "rates is empty. Write at least one rate"
        return
    wrong = list(_wrong_attributes(version, charge))
    yield from wrong
    if wrong:
        return
    domains = domains_of(version, charge)
    for index, earlier, combination in overlaps(charge.rates, tuple(domains), domains):
        other = charge.rates[earlier].source.rpartition(":")[2]
        yield ("rates", index), f"two rates for {combination or 'the same thing'} (the other in line {other}); keep one"
    for combination in missing(charge.rates, tuple(domains), domains):
        yield ("rates",), f"no rate for {combination}, which this version accepts. Add one, or do not accept it"


def _wrong_attributes(version: VideoVersion, charge: Charge) -> Iterator[Finding]:
    for index, rate in enumerate(charge.rates):
        for attribute, values in rate.attributes.items():
            path = ("rates", index, attribute)
            if attribute not in charge.ATTRIBUTES:
                allowed = ", ".join((*charge.ATTRIBUTES, "rate"))
                near = did_you_mean(attribute, (*charge.ATTRIBUTES, "rate"))
                yield path, f"unknown key '{attribute}' in a rate of {charge.method}.{near} Allowed: {allowed}"
            elif attribute == "up_to":
                yield from ((path, words) for words in _wrong_tier(values))
            else:
                accepted = version.values_of(attribute)
                for value in values:
                    if value not in accepted:
                        has = f"It accepts: {', '.join(accepted)}" if accepted else "It offers no choice of it"
                        yield path, f"{attribute} '{value}' is not accepted by this version. {has}"
    edges = tiers(charge.rates)
    if edges and ANY not in edges:
        yield ("rates",), f"the tiers end at {edges[-1]}. Add a last one: up_to: any"


def _wrong_tier(values: tuple[str, ...]) -> Iterator[str]:
    for value in values:
        if value != ANY and not (value.isascii() and value.isdigit() and value[0] != "0"):
            yield f"up_to '{value}' is not a height in pixels. Write digits like 720, or any for the last tier"
