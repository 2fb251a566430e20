"""Where the prices of a model come from: its version in effect, and the line of every rate."""

from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.card import PriceBook
from ratecard.tables.version import Version
from ratecard.words.money import multiply, plain, text


class ExplainedRate(NamedTuple):
    """One rate: for what, per what, how it is made, and where it stands."""

    charge: str
    method: str
    attributes: str
    unit: str
    unit_rate: Decimal
    made_of: str
    source: str


class Explanation(NamedTuple):
    """What a table says of a model at one instant."""

    model: str
    name: str
    currency: str
    version: Version
    earlier: tuple[date, ...]
    later: tuple[date, ...]
    retires: date | None
    accepts: dict[str, str]
    rates: tuple[ExplainedRate, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as text, for programs."""
        return {
            "model": self.model,
            "name": self.name,
            "currency": self.currency,
            "effective": self.version.effective.isoformat(),
            "checked": self.version.checked.isoformat(),
            "source": self.version.source,
            "evidence": self.version.evidence,
            "earlier_versions": [day.isoformat() for day in self.earlier],
            "later_versions": [day.isoformat() for day in self.later],
            "retires": self.retires and self.retires.isoformat(),
            "accepts": self.accepts,
            "rates": [rate._asdict() | {"unit_rate": text(rate.unit_rate)} for rate in self.rates],
        }


def explain(prices: PriceBook, name: str) -> Explanation:
    """Where a model's prices come from. Raises `QuoteError` for one that has no price at this instant."""
    model, version = prices.in_effect(name)
    rates = tuple(
        ExplainedRate(
            charge.charge,
            charge.method,
            ", ".join(f"{attribute} {'|'.join(values)}" for attribute, values in rate.attributes.items()),
            charge.unit,
            plain(multiply(rate.rate, charge.markup)),
            f"{text(rate.rate)} x {text(charge.markup)}" if charge.markup != 1 else "",
            rate.source,
        )
        for charge in version.charges
        for rate in charge.rates
    )
    dates = [each.effective for each in model.versions]
    return Explanation(
        model.model,
        model.name,
        model.currency,
        version,
        tuple(day for day in dates if day < version.effective),
        tuple(day for day in dates if day > version.effective),
        model.retired.on if model.retired else None,
        _accepts(version),
        rates,
    )


def _accepts(version: Version) -> dict[str, str]:
    accepts = getattr(version, "accepts", None)
    if accepts is None:
        return {}
    found = {}
    for name in type(accepts).model_fields:
        value = getattr(accepts, name)
        if isinstance(value, tuple):
            found[name] = ", ".join(map(str, value))
        elif isinstance(value, str):
            found[name] = value
        elif isinstance(value, dict):
            found |= {name: ", ".join(f"{key} = {word}" for key, word in value.items())} if value else {}
        elif value is not None:
            found[name] = ", ".join(f"{key} {number}" for key, number in value.model_dump().items())
    return found
