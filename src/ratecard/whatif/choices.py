"""The choices of a day: models, families and types that have a price, and the rates of a model."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.money import text
from ratecard.candidates.rates import attributes_of, charge_of, factors_of
from ratecard.card import RateCard
from ratecard.whatif.draft import Where


class RateChoice(NamedTuple):
    """One rate or factor of a model: its charge, attributes, unit and amount, which is None if the day lacks it.

    A factor has no unit; a factor of a whole version has no charge.
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


class Choices(NamedTuple):
    """The models, families and types that have a price on a day, by the words of a change `scale`, and their rates."""

    card: RateCard
    day: date

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the names of models, families and types, by `model`, `family` and `type`."""
        parts = self._parts()
        groups = {part: sorted({model[part] for model in parts} - {""}) for part in ("family", "type")}
        return {"model": [model["model"] for model in parts], **groups}

    def _parts(self) -> list[dict[str, str]]:
        """Return the name, the type and the family of each model; a model without a family has an empty one."""
        families, models = self.card.tables.families, self.card.listed.at(self.day).models()
        return [{"model": model.model, "type": model.type, "family": families.get(model.model, "")} for model in models]

    def rates(self, model: str) -> Sequence[RateChoice]:
        """Return the rates and factors of a model, in the order of its table; empty if it has no price."""
        tables, meters = self.card.tables.models.get(model), self.card.tables.meters
        version = tables.version_at(self.day) if tables and not tables.retired_at(self.day) else None
        if tables is None or version is None:
            return []
        self.card.prove(tables, version)
        rates = [
            RateChoice(charge.charge, tuple(attributes_of(charge, rate, meters).items()), rate.rate, charge.unit)
            for charge in version.charges
            for rate in charge.rates
        ]
        for at, factor in factors_of(version).items():
            where = tuple((name, (value,)) for name, value in factor.conditions.items())
            rates.append(RateChoice(charge_of(version, at), where, factor.factor, "", "factor"))
        return rates

    def conditions(self, part: str, names: Sequence[str]) -> Sequence[tuple[str, tuple[str, ...]]]:
        """Return the attributes of the rates of some models, families or types, each with values that share a rate."""
        models = [model["model"] for model in self._parts() if model[part] in names]
        rates = (choice for model in models for choice in self.rates(model) if choice.word == "rate")
        return sorted({condition for choice in rates for condition in choice.where})

    def exceptions(self, part: str, names: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return the families and models, as (`family` or `model`, name), that families or types can leave out."""
        chosen = [model for model in self._parts() if part != "model" and model[part] in names]
        smaller = ("family", "model") if part == "type" else ("model",)
        return [(kind, name) for kind in smaller for name in sorted({model[kind] for model in chosen} - {""})]
