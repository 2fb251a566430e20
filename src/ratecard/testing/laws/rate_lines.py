"""Laws of where the price of a line comes from."""

import re
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

from hypothesis import strategies as st

from ratecard.tables.rate import Rate
from ratecard.tables.video_charges import UpscaleRate
from ratecard.testing.case import Case, expect
from ratecard.testing.laws.law import Law, any_case
from ratecard.words.money import text

_RATE = re.compile(r"""\brate["']?\s*:\s*["']?([*\w.-]+)""")
_NUMBER = re.compile(r"\d+(\.\d+)?", re.ASCII)
# What is checked by the law of tiers, of bands, and of buckets.
_BY_QUANTITY = {"up_to", "seconds", "context", "tokens"}


def a_line_names_the_line_of_its_rate(case: Case, data: st.DataObject) -> None:
    """The `file:line` of every line holds a rate of its model, and times markup that is what a unit costs."""
    asked = case.ask(data.draw(case.requests))
    for line in asked.quote.lines:
        found = rates_at(case, line.source)
        expect(bool(found), f"No rate of {case} stands at {line.source}", asked)
        unit_rates = {price for charge, rate in found for price in _unit_rates(charge, rate)}
        expect(Fraction(line.unit_rate) in unit_rates, f"{line.sku} is not charged at the rate of its line", asked)
        if not case.files:
            continue
        written = numbers_at(case, line.source)
        stands = any(rate.rate in written for _, rate in found)
        shown = ", ".join(map(text, written)) or "no rate"
        expect(stands, f"{line.source} holds {shown}, not {text(found[0][1].rate)}", asked)


def a_line_is_charged_at_the_rate_that_fits(case: Case, data: st.DataObject) -> None:
    """The attributes of a line's rate are those of the request: its resolution, its sound, its quality."""
    asked = case.ask(data.draw(case.requests))
    for line in asked.quote.lines:
        fits = any(_fits(case, asked.request.body, rate) for _, rate in rates_at(case, line.source))
        expect(fits, f"{line.sku} is charged at the rate of something else", asked)


def rates_at(case: Case, source: str) -> list[tuple[Any, Rate]]:
    """The rates that stand at a `file:line`, with their charges."""
    versions = [case.version, *(version for _, version in case.further())]
    charges = chain.from_iterable(version.charges for version in versions)
    return [(charge, rate) for charge in charges for rate in charge.rates if rate.source == source]


def numbers_at(case: Case, source: str) -> list[Decimal]:
    """The rates as a person wrote them at a `file:line`; one given by its name (*name) stands where it is named."""
    name, _, line = source.rpartition(":")
    lines = case.texts.get(name, [])[int(line) - 1 :]
    below, whole = "\n".join(lines[:3]), "\n".join(case.texts.get(name, []))
    words = [match[1] for match in _RATE.finditer(below) if match.start() <= len(lines[0])]
    numbers = chain.from_iterable(
        re.findall(rf"&{re.escape(word[1:])}\s+[\"']?([\d.]+)", whole) if word[0] == "*" else [word] for word in words
    )
    return [Decimal(number) for number in numbers if _NUMBER.fullmatch(number)]


def _unit_rates(charge: Any, rate: Rate) -> list[Fraction]:
    """What a unit costs at a rate; from a frame rate on it is multiplied."""
    price = Fraction(rate.rate) * Fraction(charge.markup)
    return [price, price * Fraction(charge.frame_rate.factor)] if isinstance(charge, UpscaleRate) else [price]


def _fits(case: Case, body: dict[str, Any], rate: Rate) -> bool:
    named = {name: values for name, values in rate.attributes.items() if name not in _BY_QUANTITY}
    if case.found.type == "video":
        return all(case.offer.attribute(body, name) in values for name, values in named.items())
    return all(body[name] in values for name, values in named.items() if name in body)


LAWS = (
    Law(a_line_names_the_line_of_its_rate, any_case),
    Law(a_line_is_charged_at_the_rate_that_fits, any_case),
)
