"""A version: the rates of one model from one effective date until the next."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Generic, Literal, TypeVar

from pydantic import Field

from ratecard.base.instants import utc
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Charge, RateFactor, named_conditions
from ratecard.tables.scalars import (
    SOURCE_KEY,
    Address,
    Amount,
    Day,
    Effective,
    Frozen,
    Id,
    Integer,
    Positive,
    Text,
    Words,
)


class Rounding(Frozen):
    """Decimal places of a quote: the total is rounded once, to `places`; each line's amount to `line_places`."""

    places: Integer
    mode: Literal["half-up"]
    line_places: Integer = 12


class Example(Frozen):
    """A request that a person priced by hand or saw quoted: its total, and its `file:line`.

    `at` is an instant whose hour the request has; without it, the request has that of the version's beginning.
    """

    total: Amount
    at: Effective | None = None
    place: str = Field(default="", alias=SOURCE_KEY)


class Version(Frozen):
    """The rates of a model of any type from one effective instant until the next.

    `effective` is the first day of these rates, from 00:00 UTC, or their first instant; `announced` the day of their
    publication;
    `checked` the last day on which a person compared them with `source`; `reference` a page to open for that.
    `ratecard check --against` asks for two more: `correction` says why a version that was already in effect was
    changed, `expected_change` by what factor its rates differ from the version before.
    """

    effective: Effective
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

    @property
    def searches(self) -> Mapping[str, str]:
        """Return the surcharge model of each search, or of anything else that requests are surcharged for."""
        return {}

    @property
    def multipliers(self) -> tuple[RateFactor, ...]:
        """Return the factors on the rates of all its charges."""
        return ()

    @property
    def conditions(self) -> dict[str, set[str]]:
        """Return the conditions that rates and factors name, each with its values."""
        return named_conditions(self.charges, self.multipliers)

    def conditions_of(self, charge: Charge) -> dict[str, set[str]]:
        """Return the conditions that the rates and factors of one charge name, each with its values."""
        return named_conditions([charge], self.multipliers)

    def needed(self, meters: Meters) -> dict[str, set[str]]:
        """Return the named conditions without a default, each with its values: every usage must state them."""
        declared = ((name, meters.condition.get(name), values) for name, values in self.conditions.items())
        return {name: values for name, condition, values in declared if condition and condition.default is None}

    def first_values(self, meters: Meters) -> dict[str, str]:
        """Return the first value of each condition that every usage has to state."""
        return {name: min(values) for name, values in self.needed(meters).items()}

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Return every value of an attribute that a rate names, in the order of the table."""
        return tuple(dict.fromkeys(value for charge in self.charges for value in charge.values_of(attribute)))

    def refuses(self, stated: Mapping[str, str], meters: Meters) -> Mapping[str, str] | None:
        """Return the first combination that is not sold and that a request states completely; None without one."""
        return None

    @property
    def begins(self) -> datetime:
        """Return the instant from which these rates hold."""
        return utc(self.effective)


class Retirement(Frozen):
    """The first day on which a model is not served any more, and its successor."""

    on: Day
    successor: Id | None = None


AnyVersion = TypeVar("AnyVersion", bound=Version)


class Model(Frozen, Generic[AnyVersion]):
    """A model, by the id that requests name, with its versions, newest first.

    `aliases` are its other names, `patterns` open ones (`gpt-4o-*`), where names.yaml switches them on; `provider` is
    who runs it.
    """

    model: Id
    name: Text
    type: str
    currency: Text
    retired: Retirement | None = None
    versions: tuple[AnyVersion, ...]
    aliases: Words | None = None
    patterns: Words | None = None
    provider: Id | None = None

    def version_at(self, moment: date) -> AnyVersion | None:
        """Return the version in effect at an instant, or at 00:00 UTC of a day; None before the first one."""
        instant = utc(moment)
        return next((version for version in self.versions if version.begins <= instant), None)

    def retired_at(self, moment: date) -> bool:
        """Return True if the model is retired at an instant, or at 00:00 UTC of a day."""
        return self.retired is not None and utc(self.retired.on) <= utc(moment)
