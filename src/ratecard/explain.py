"""Where the prices of a model come from: its version in effect, and the line of every rate."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic import BaseModel

from ratecard.price_book import PriceBook
from ratecard.tables.charge import Charge
from ratecard.tables.version import Model, Version
from ratecard.words.money import multiply, plain, text

# A charge's own words beyond these are what its method needs: frames per second, tiers, sizes.
_SHOWN_ELSEWHERE = {"charge", "method", "unit", "markup", "rates"}


class ExplainedRate(NamedTuple):
    """One rate: how much, how that is made, where it stands, and under which attributes it is the rate."""

    unit_rate: Decimal
    made_of: str
    source: str
    attributes: str


class ExplainedCharge(NamedTuple):
    """One priced part: its method, its unit, what else its method reads from the table, and its rates."""

    charge: str
    method: str
    unit: str
    options: dict[str, str]
    rates: tuple[ExplainedRate, ...]

    def to_dict(self) -> dict[str, Any]:
        """The charge with its rates as text."""
        rates = [rate._asdict() | {"unit_rate": text(rate.unit_rate)} for rate in self.rates]
        return self._asdict() | {"rates": rates}


class Explanation(NamedTuple):
    """What a table says of a model at one instant. `facts` are its dates and evidence, in words."""

    model: str
    name: str
    currency: str
    facts: dict[str, str]
    accepts: dict[str, str]
    charges: tuple[ExplainedCharge, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as text, for programs."""
        facts = {name.lower().replace(" ", "_"): value for name, value in self.facts.items()}
        own = {"model": self.model, "name": self.name, "currency": self.currency}
        return {**own, **facts, "accepts": self.accepts, "charges": [charge.to_dict() for charge in self.charges]}


def explain(prices: PriceBook, name: str) -> Explanation:
    """Where a model's prices come from. Raises `QuoteError` for one that has no price at this instant."""
    model, version = prices.in_effect(name)
    prices.card.prove(model, version)
    accepts = _described(getattr(version, "accepts", None))
    defaults = getattr(version, "defaults", {})
    if defaults:
        accepts["where left out"] = ", ".join(f"{field} {value}" for field, value in defaults.items())
    charges = tuple(_charge(charge) for charge in version.charges)
    return Explanation(model.model, model.name, model.currency, _facts(model, version), accepts, charges)


def _facts(model: Model[Any], version: Version) -> dict[str, str]:
    days = [each.effective for each in model.versions]
    facts = {
        "Effective": str(version.effective),
        "Announced": str(version.announced or ""),
        "Earlier versions": ", ".join(str(day) for day in days if day < version.effective),
        "Later versions": ", ".join(str(day) for day in days if day > version.effective),
        "Retires": str(model.retired.on) if model.retired else "",
        "Source": version.source,
        "Checked": str(version.checked),
        "Evidence": version.evidence or "",
        "Rounding": _words(getattr(version, "rounding", None)),
    }
    return {name: value for name, value in facts.items() if value}


def _charge(charge: Charge) -> ExplainedCharge:
    rates = tuple(
        ExplainedRate(
            plain(multiply(rate.rate, charge.markup)),
            f"{text(rate.rate)} x {text(charge.markup)}" if charge.markup != 1 else "",
            rate.source,
            ", ".join(f"{attribute} {' | '.join(values)}" for attribute, values in rate.attributes.items()),
        )
        for rate in charge.rates
    )
    options = {name: value for name, value in _described(charge).items() if name not in _SHOWN_ELSEWHERE}
    return ExplainedCharge(charge.charge, charge.method, charge.unit, options, rates)


def _described(part: BaseModel | None) -> dict[str, str]:
    """The keys of a part of a table, each with its value as a table would write it; what is not written is left out."""
    if part is None:
        return {}
    found = {name: _words(getattr(part, name)) for name in type(part).model_fields}
    return {name: words for name, words in found.items() if words}


def _words(value: Any) -> str:
    if value is None or value == {}:
        return ""
    if isinstance(value, BaseModel):
        return ", ".join(f"{key.rstrip('_')} {words}" for key, words in _described(value).items())
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_words(one)}" for key, one in value.items())
    if isinstance(value, tuple):
        if hasattr(value, "width"):
            return "x".join(map(str, value))
        # Of a list of parts, such as sizes, the values say enough.
        items = [" ".join(_described(one).values()) if isinstance(one, BaseModel) else _words(one) for one in value]
        return ", ".join(_ranges(items))
    return text(value) if isinstance(value, Decimal) else str(value)


def _ranges(items: Iterable[str]) -> list[str]:
    """`3s, 4s, 5s` as `3s..5s`, the way that a table writes it."""
    runs: list[list[str]] = []
    for item in items:
        last = runs[-1][-1] if runs else ""
        if last[:-1].isdigit() and item == f"{int(last[:-1]) + 1}s":
            runs[-1].append(item)
        else:
            runs.append([item])
    return [word for run in runs for word in ([f"{run[0]}..{run[-1]}"] if len(run) > 2 else run)]
