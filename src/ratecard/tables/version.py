"""A version: the rates of one model from one effective date until the next."""

from datetime import date
from typing import Generic, Literal, TypeVar

from pydantic import Field

from ratecard.tables.rate import SOURCE_KEY, Charge
from ratecard.tables.scalars import Address, Amount, Day, Frozen, Integer, Positive, Text


class Rounding(Frozen):
    """How the amounts of a quote are rounded: the total once, to `places`; each line's amount to `line_places`."""

    places: Integer
    mode: Literal["half-up"]
    line_places: Integer = 12


class Example(Frozen):
    """A request that a person priced by hand or saw quoted: its total, and the line on which it stands."""

    total: Amount
    place: str = Field(default="", alias=SOURCE_KEY)


class Version(Frozen):
    """What every type of model records about its prices.

    `effective` is the first day of these rates, from 00:00 UTC; `announced` the day on which they were made known;
    `checked` the last day on which a person compared them with `source`, for which `reference` is a page to open.
    `correction` says why a version that was in effect already reads differently now, `expected_change` by what factor
    its rates are meant to differ from the ones before: `ratecard check --against` asks for them.
    """

    effective: Day
    announced: Day | None = None
    checked: Day
    source: Text
    reference: Address | None = None
    evidence: Text | None = None
    correction: Text | None = None
    expected_change: Positive | None = None
    charges: tuple[Charge, ...]
    examples: tuple[Example, ...]
    place: str = Field(default="", alias=SOURCE_KEY)


class Retirement(Frozen):
    """From when a model is no longer served, and what takes its place."""

    on: Day
    successor: Text | None = None


AnyVersion = TypeVar("AnyVersion", bound=Version)


class Model(Frozen, Generic[AnyVersion]):
    """One model that customers name, with its dated versions, newest first."""

    model: Text
    name: Text
    type: str
    currency: Text
    retired: Retirement | None = None
    versions: tuple[AnyVersion, ...]

    def version_on(self, day: date) -> AnyVersion | None:
        """The version in effect on a day; None before the first one."""
        return next((version for version in self.versions if version.effective <= day), None)

    def retired_on(self, day: date) -> bool:
        """Whether the model is retired on a day."""
        return self.retired is not None and self.retired.on <= day
