"""What can be chosen on a day: models, families and types that have a price, and the rates of a model."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.money import text
from ratecard.candidates.rates import attributes_of, charge_of, factors_of
from ratecard.card import RateCard
from ratecard.whatif.draft import Where


class RateChoice(NamedTuple):
    """One rate or factor of a model: its charge, its attributes, its unit, and its amount; None if the day has none.

    A factor has no unit; that of a whole version has no charge.
    """

    charge: str
    where: Where
    amount: Decimal | None
    unit: str
    word: str = "rate"

    @property
    def label(self) -> str:
        """Name a rate: `video, resolution 720p, audio true: 0.161 per video_second`, or `tokens: times 0.5`."""
        charge = self.charge or "every charge"
        words = ", ".join([charge, *(f"{name} {' or '.join(values)}" for name, values in self.where)])
        if self.amount is None:
            return f"{words}: no such {self.word} on this day"
        return f"{words}: {f'{text(self.amount)} per {self.unit}' if self.unit else f'times {text(self.amount)}'}"


def names_of(card: RateCard, day: date) -> Mapping[str, Sequence[str]]:
    """Return the models, families and types that have a price on a day, each by the word of `scale`."""
    models = card.at(day).models()
    families = {card.tables.families[each.model] for each in models if each.model in card.tables.families}
    types = {each.type for each in models}
    return {"model": [each.model for each in models], "family": sorted(families), "type": sorted(types)}


def rates_on(card: RateCard, day: date, model: str) -> Sequence[RateChoice]:
    """Return the rates and factors of a model on a day, in the order of its table; empty if it has no price."""
    tables = card.tables.models.get(model)
    version = tables.version_at(day) if tables and not tables.retired_at(day) else None
    if tables and version:
        card.prove(tables, version)
    if version is None:
        return []
    rates = [
        RateChoice(
            charge.charge, tuple(attributes_of(charge, rate, card.tables.meters).items()), rate.rate, charge.unit
        )
        for charge in version.charges
        for rate in charge.rates
    ]
    factors = [
        RateChoice(
            charge_of(version, at),
            tuple((name, (value,)) for name, value in each.conditions.items()),
            each.factor,
            "",
            "factor",
        )
        for at, each in factors_of(version).items()
    ]
    return rates + factors


def conditions_on(card: RateCard, day: date, part: str, names: Sequence[str]) -> Sequence[tuple[str, tuple[str, ...]]]:
    """Return the attributes of the rates of some models, families or types, each with values that share a rate."""
    conditions: dict[tuple[str, tuple[str, ...]], None] = {}
    for model in card.at(day).models():
        of = {"model": model.model, "family": card.tables.families.get(model.model), "type": model.type}
        if of[part] in names:
            for choice in rates_on(card, day, model.model):
                conditions.update(dict.fromkeys(choice.where if choice.word == "rate" else ()))
    return sorted(conditions)


def exceptions_on(card: RateCard, day: date, part: str, names: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return the families and models, as (`family` or `model`, name), that families or types can leave out."""
    families, models = dict[tuple[str, str], None](), dict[tuple[str, str], None]()
    for model in card.at(day).models():
        family = card.tables.families.get(model.model)
        if {"family": family, "type": model.type}.get(part) in names:
            models["model", model.model] = None
            if family and part == "type":
                families["family", family] = None
    return [*sorted(families), *sorted(models)]
