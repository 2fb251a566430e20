"""Rules between the parts of a version that is not video; those of one charge are its method's."""

from collections.abc import Iterator
from functools import partial

from ratecard.base.messages import Finding
from ratecard.base.suggestions import meant_or_allowed
from ratecard.load.checks import check_line_places
from ratecard.methods import METHODS
from ratecard.methods.conditions import at_each_condition, check_factors, check_not_sold, check_without_rate
from ratecard.methods.findings import CheckOfCharge, below
from ratecard.methods.hours import at_each_hour
from ratecard.methods.method import AUDIO_BODY, method_of
from ratecard.tables.metered import MeteredModel, MeteredVersion, TextModel, Tokens
from ratecard.tables.meters import TOKEN, Meters
from ratecard.tables.rate import Conditioned


def check_metered(model: MeteredModel | TextModel, meters: Meters) -> Iterator[Finding]:
    """Check the rules for models that are not video, beyond those for all models."""
    allowed = [name for name, method in METHODS.items() if model.type in method.TYPES]
    for index, version in enumerate(model.versions):
        seen: set[str] = set()
        yield from below(("versions", index), check_factors(version.factors, meters))
        yield from below(("versions", index, "defaults"), _check_defaults(version))
        yield from below(("versions", index), check_not_sold(version, meters))
        if version.searches and version.tokens is None:
            yield (
                ("versions", index, "surcharges"),
                "surcharges have no effect here: only a model that is charged by tokens has them",
            )
        yield from below(("versions", index), check_line_places(version.line_places))
        if version.minimum and model.type == "surcharge":
            words = "minimum is that of a request, and a surcharge is part of one. Write at_least, or a minimum there"
            yield ("versions", index, "minimum"), words
        for number, charge in enumerate(version.charges):
            at = ("versions", index, "charges", number)
            if charge.method not in allowed:
                choices = meant_or_allowed(charge.method, allowed)
                yield (*at, "method"), f"method {charge.method} does not price {model.type}.{choices}"
                continue
            method = METHODS[charge.method]
            if not method.BESIDE:
                # Only one charge may bill what a body of audio requests.
                if (
                    seen
                    and (charge.method in seen or AUDIO_BODY in method.KINDS)
                    and not (method.SEVERAL and seen == {charge.method})
                ):
                    yield (*at, "method"), f"method {charge.method}: a second charge would never be billed; keep one"
                seen.add(charge.method)
            yield from below(at, _check_charge(version, charge, model.type, meters))


def _check_defaults(version: MeteredVersion) -> Iterator[Finding]:
    """Check that each default is a word of a choice that the charges of the version let a request leave out."""
    if not version.default_values:
        return
    charges = list(map(method_of, version.charges))
    allowed = {name: charge.words_of(name) for charge in charges for name in charge.DEFAULTED if charge.words_of(name)}
    for name, value in version.default_values.items():
        if name not in allowed:
            yield (name,), f"'{name}' cannot have a default.{meant_or_allowed(name, tuple(allowed) or ('none here',))}"
        elif value not in allowed[name]:
            yield (name,), f"default '{value}' of {name} is not accepted. Allowed: {', '.join(allowed[name])}"


def _check_charge(version: MeteredVersion, charge: Conditioned, type_: str, meters: Meters) -> Iterator[Finding]:
    """Check a charge as its method does: at each of its hours, and under each of the conditions that its rates name."""
    check: CheckOfCharge = lambda held: method_of(held).check(version, type_, meters)  # noqa: E731
    by_tokens = isinstance(charge, Tokens)
    yield from check_factors(charge.factors, meters, version.factors)
    meter = meters.by_name.get(TOKEN) if by_tokens else None
    yield from check_without_rate(charge.without_rate or {}, meter, meters.conditions)
    if not by_tokens:  # rates of tokens are chosen together with buckets and tiers
        check = partial(at_each_condition, version, meters=meters, check=check)
    yield from at_each_hour(version, charge, check)
