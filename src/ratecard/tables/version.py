"""A version: the rates of one model from one effective date until the next."""

from datetime import date
from typing import Generic, Literal, TypeVar

from pydantic import Field

from ratecard.tables.rate import SOURCE_KEY, Charge
from ratecard.tables.scalars import Address, Amount, Day, Frozen, Integer, Positive, Text


class Rounding(Frozen):
    """Decimal places of a quote: the total is rounded once, to `places`; each line's amount to `line_places`."""

    places: Integer
    mode: Literal["half-up"]
    line_places: Integer = 12


class Example(Frozen):
    """A request that a person priced by hand or saw quoted: its total, and its `file:line`."""

    total: Amount
    place: str = Field(default="", alias=SOURCE_KEY)


class Version(Frozen):
    """The rates of a model of any type from one effective date until the next.

    `effective` is the first day of these rates, from 00:00 UTC; `announced` the day on which they were published;
    `checked` the last day on which a person compared them with `source`; `reference` a page to open for that.
    `ratecard check --against` asks for two more: `correction` says why a version that was already in effect was
    changed, `expected_change` by what factor its rates differ from the version before.
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
    """The first day on which a model is not served any more, and its successor."""

    on: Day
    successor: Text | None = None


AnyVersion = TypeVar("AnyVersion", bound=Version)


class Model(Frozen, Generic[AnyVersion]):
    """A model, by the id that requests name, with its versions, newest first."""

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
