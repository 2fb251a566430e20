"""What one field cannot know: rules between the parts of a model. Each finding is (path into the model, message)."""

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ratecard.tables.charge import Charge
from ratecard.tables.rate import ANY
from ratecard.tables.selection import Accepting, domains_of, missing, overlaps, tiers
from ratecard.tables.version import Model, Version
from ratecard.tables.vocabulary import Unit
from ratecard.words.currency import ISO_4217
from ratecard.words.suggest import did_you_mean
from ratecard.words.tree import Path

Finding = tuple[Path, str]


def check_model(model: Model[Any], units: Mapping[str, Unit] | None) -> Iterator[Finding]:
    """Every rule that a model of any type obeys. `units` is None where units.yaml itself is at fault."""
    yield from check_currency(("currency",), model.currency)
    if not model.versions:
        yield ("versions",), "versions is empty. A model without a known price does not belong in the tables"
        return
    for index, (newer, older) in enumerate(pairwise(model.versions)):
        if newer.effective <= older.effective:
            path = ("versions", index + 1, "effective")
            yield path, f"effective {older.effective} must be before {newer.effective}: versions stand newest first"
    first = model.versions[-1].effective
    if model.retired and model.retired.on <= first:
        yield ("retired", "on"), f"retired on {model.retired.on}, but the first version takes effect on {first}"
    for index, version in enumerate(model.versions):
        yield from ((("versions", index, *path), words) for path, words in _check_version(version, units))


def check_currency(path: Path, currency: str) -> Iterator[Finding]:
    """A currency is named by its code."""
    if currency not in ISO_4217:
        yield path, f"currency '{currency}' is not an ISO 4217 code. Write three capitals, like USD"


def _check_version(version: Version, units: Mapping[str, Unit] | None) -> Iterator[Finding]:
    if not version.charges:
        yield ("charges",), "charges is empty. A version without a known price does not belong in the tables"
    if not version.examples:
        yield ("examples",), "examples is empty. Write at least one request with its total, worked by hand"
    names: set[str] = set()
    for number, charge in enumerate(version.charges):
        if charge.charge.casefold() in names:
            yield ("charges", number, "charge"), f"charge '{charge.charge}' stands twice; give each its own name"
        names.add(charge.charge.casefold())
        if units is not None:
            yield from ((("charges", number, *path), words) for path, words in check_unit(charge, units))


def check_references(model: Model[Any], models: Mapping[str, Model[Any]], broken: Collection[str]) -> Iterator[Finding]:
    """What a model names of other models is in the tables; those that are `broken` have faults of their own."""
    successor = model.retired.successor if model.retired else None
    if successor is not None and successor not in models and successor not in broken:
        near = did_you_mean(successor, models)
        yield ("retired", "successor"), f"successor '{successor}' is not in the tables.{near} Name a model's id"
    for index, version in enumerate(model.versions):
        for kind, name in getattr(version, "surcharges", {}).items():
            if name not in broken and (name not in models or models[name].type != "surcharge"):
                known = [other.model for other in models.values() if other.type == "surcharge"]
                words = f"surcharge '{name}' is not in the tables.{did_you_mean(name, known)} Known: {', '.join(known)}"
                yield ("versions", index, "surcharges", kind), words


def check_unit(charge: Charge, units: Mapping[str, Unit]) -> Iterator[Finding]:
    """A charge has a unit that exists and counts what its method counts."""
    fitting = [unit.unit for unit in units.values() if unit.counts in charge.METERS]
    if charge.unit not in units:
        near = did_you_mean(charge.unit, fitting)
        allowed = f"Allowed for {charge.method}: {', '.join(fitting)}"
        yield ("unit",), f"unit '{charge.unit}' is not in units.yaml.{near} {allowed}"
    elif charge.unit not in fitting:
        counts = f"counts a {units[charge.unit].counts}, but {charge.method} counts a {' or '.join(charge.METERS)}"
        yield ("unit",), f"unit '{charge.unit}' {counts}. Allowed: {', '.join(fitting)}"


def check_rates(version: Accepting, charge: Charge) -> Iterator[Finding]:
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


def _wrong_attributes(version: Accepting, charge: Charge) -> Iterator[Finding]:
    allowed = (*charge.ATTRIBUTES, "rate")
    for index, rate in enumerate(charge.rates):
        for attribute, values in rate.attributes.items():
            path = ("rates", index, attribute)
            if attribute not in charge.ATTRIBUTES:
                words = f"unknown key '{attribute}' in a rate of {charge.method}.{did_you_mean(attribute, allowed)}"
                yield path, f"{words} Allowed: {', '.join(allowed)}"
            elif attribute == "up_to":
                yield from ((path, words) for words in _wrong_tier(values))
            else:
                accepted = version.values_of(attribute)
                has = f"It accepts: {', '.join(accepted)}" if accepted else "It offers no choice of it"
                for value in (value for value in values if value not in accepted):
                    yield path, f"{attribute} '{value}' is not accepted by this version. {has}"
    edges = tiers(charge.rates)
    if "up_to" in charge.ATTRIBUTES and ANY not in edges:
        words = f"the tiers end at {edges[-1]}. Add a last one" if edges else "no rate names its tier. Write one"
        yield ("rates",), f"{words}: up_to: any"


def _wrong_tier(values: tuple[str, ...]) -> Iterator[str]:
    for value in values:
        if value != ANY and not (value.isascii() and value.isdigit() and value[0] != "0"):
            yield f"up_to '{value}' is not a height in pixels. Write digits like 720, or any for the last tier"
