"""The check that every combination of attributes that a version accepts fits exactly one rate of a charge."""

from collections.abc import Iterator

from ratecard.base.messages import Finding
from ratecard.methods.conditions import check_attribute
from ratecard.methods.hours import at_each_hour
from ratecard.tables.rate import ANY, Accepting, Charge, domains_of, missing, overlaps, tiers


def check_rates(version: Accepting, charge: Charge) -> Iterator[Finding]:
    """Check, at each hour of a charge, that every combination of attributes that is accepted fits exactly one rate."""
    yield from at_each_hour(version, charge, lambda held: _check_rates(version, held))


def _check_rates(version: Accepting, charge: Charge) -> Iterator[Finding]:
    if not charge.rates:
        yield ("rates",), "rates is empty. Write at least one rate"
        return
    wrong = list(_wrong_attributes(version, charge))
    yield from wrong
    if wrong:
        return
    domains = domains_of(version, charge)
    for index, earlier, combination in overlaps(charge.rates, domains):
        other = charge.rates[earlier].source.rpartition(":")[2]
        yield ("rates", index), f"two rates for {combination or 'the same thing'} (the other in line {other}); keep one"
    for combination in missing(charge.rates, domains):
        yield ("rates",), f"no rate for {combination}, which this version accepts. Add one, or do not accept it"


def _wrong_attributes(version: Accepting, charge: Charge) -> Iterator[Finding]:
    known = dict.fromkeys(charge.ATTRIBUTES, ())
    for index, rate in enumerate(charge.rates):
        for attribute, values in rate.attributes.items():
            path = ("rates", index, attribute)
            if attribute not in known:
                yield from check_attribute(index, rate, attribute, known, f" in a rate of {charge.method}")
            elif attribute == "up_to":
                yield from ((path, words) for words in _wrong_tier(values))
            else:
                accepted = version.values_of(attribute)
                hint = f"It accepts: {', '.join(accepted)}" if accepted else "It offers no choice of it"
                for value in (value for value in values if value not in accepted):
                    yield path, f"{attribute} '{value}' is not accepted by this version. {hint}"
    edges = tiers(charge.rates)
    if "up_to" in charge.ATTRIBUTES and ANY not in edges:
        words = f"the tiers end at {edges[-1]}. Add a last one" if edges else "no rate names its tier. Write one"
        yield ("rates",), f"{words}: up_to: any"


def _wrong_tier(values: tuple[str, ...]) -> Iterator[str]:
    for value in values:
        if value != ANY and not (value.isascii() and value.isdigit() and value[0] != "0"):
            yield f"up_to '{value}' is not a height in pixels. Write digits like 720, or any for the last tier"
