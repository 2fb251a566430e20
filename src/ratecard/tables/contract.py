"""A contract: what some accounts pay instead of the list price, for a term."""

from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import Field, ValidationInfo, field_validator, model_validator

from ratecard.base.instants import utc
from ratecard.base.money import USD, add
from ratecard.tables.limits import Flag
from ratecard.tables.monthly import Term
from ratecard.tables.scalars import SOURCE_KEY, Day, Frozen, Id, Number, Percent, Positive, Text, Words
from ratecard.tables.selection import OverrideTarget
from ratecard.tables.version import Example

# The keys of an override that say what it does: each override has one of them.
PRICE_KINDS = ("percent", "factor", "rate")
BOUNDS = ("at_most", "at_least")
ACCESS = ("only", "closed")
OVERRIDE_KINDS = (*PRICE_KINDS, *BOUNDS, *ACCESS)


class TargetRank(NamedTuple):
    """The specificity of a target: models count more than a family, a family more than a type; `except` adds to it."""

    models: int
    charge: bool
    conditions: frozenset[str]

    def above(self, other: "TargetRank") -> bool:
        """Return True if this target names all that the other one names, and more."""
        at_least = self.models >= other.models and self.charge >= other.charge
        return at_least and self.conditions >= other.conditions and self != other


class Override(Frozen):
    """`{for: {type: text}, percent: -20%}`: one rule of a contract.

    `percent` and `factor` multiply the list rate, `rate` replaces it, `at_most` and `at_least` bound what is charged.
    `only` keeps models for the contracts that name them, `closed` takes them away from this one. A rate or a bound is
    the price of one unit after markup.
    """

    target: OverrideTarget = Field(alias="for")
    percent: Percent | None = None
    factor: Positive | None = None
    rate: Number | None = None
    at_most: Number | None = None
    at_least: Number | None = None
    only: Flag | None = None
    closed: Flag | None = None
    source: str = Field(default="", alias=SOURCE_KEY)

    @model_validator(mode="after")
    def _one_kind(self) -> "Override":
        written = [name for name in OVERRIDE_KINDS if getattr(self, name) is not None]
        if len(written) != 1:
            raise ValueError(f"has {' and '.join(written) or 'no price'}. Write one of: {', '.join(OVERRIDE_KINDS)}")
        if getattr(self, written[0]) is False:
            raise ValueError(f"says {written[0]}: false, which changes nothing. Write true, or leave it out")
        if written[0] in ACCESS and not self.target.of_whole_models:
            raise ValueError(f"says {written[0]}, which is for whole models. Leave out charge and conditions")
        return self

    @property
    def kind(self) -> str:
        """Return the key that says what the override does."""
        return next(name for name in OVERRIDE_KINDS if getattr(self, name) is not None)

    @cached_property
    def group(self) -> str:
        """Return `price`, `at_most`, `at_least`, `only` or `closed`; one override of each group wins."""
        return "price" if self.kind in PRICE_KINDS else self.kind

    @property
    def times(self) -> Decimal | None:
        """Return the factor on the list rate; None if the override is not relative to it."""
        return add(Decimal(1), self.percent) if self.percent is not None else self.factor

    @property
    def amount(self) -> Decimal | None:
        """Return the price of one unit that the override states; None if it does not state one."""
        return next((amount for amount in (self.rate, self.at_most, self.at_least) if amount is not None), None)

    @property
    def rank(self) -> TargetRank:
        """Return how specific the target is; of two overrides that match, the more specific one wins."""
        target = self.target
        models = 8 if target.model else 4 * bool(target.family) + 2 * bool(target.type) + bool(target.excluded)
        return TargetRank(models, bool(target.charge), frozenset(target.conditions))


class ContractExample(Example):
    """A request of one model under the contract, worked by hand: at the day of its beginning, or `at` another instant.

    It has a `usage`, or the `request` of a video and what is known of its `source`.
    """

    model: Id
    usage: dict[str, Any] | None = None
    request: dict[str, Text] | None = None
    source: dict[str, Positive] = Field(default_factory=dict)


class Contract(Frozen):
    """What accounts pay from one UTC day until before another, by overrides of the list and by terms of the month.

    `source` says who signed it, and when; `correction` why one that has begun was changed. The overrides of the
    contract that it `extends` hold too, except for rates that it overrides itself.
    """

    contract: Id
    accounts: Words = ()
    begins: Day = Field(alias="from")
    until: Day | None = None
    source: Text
    extends: Id | None = None
    correction: Text | None = None
    currency: Text = USD
    overrides: tuple[Override, ...] = ()
    monthly: tuple[Term, ...] | None = None
    examples: tuple[ContractExample, ...] = ()
    place: str = Field(default="", alias=SOURCE_KEY)

    @field_validator("until")
    @classmethod
    def _after_from(cls, until: date | None, info: ValidationInfo) -> date | None:
        first = info.data.get("begins")
        if until is not None and first is not None and until <= first:
            raise ValueError(f"must be after from {first}: it is the first day without these prices")
        return until

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return the terms of a month, each within the window of the contract; empty if it has none of its own."""
        return tuple(term.within(self.begins, self.until) for term in self.monthly or ())

    def holds(self, instant: datetime) -> bool:
        """Return True if the contract holds at an instant: from `begins` until before `until`."""
        return utc(self.begins) <= instant and (self.until is None or instant < utc(self.until))

    def overlaps(self, begins: datetime, until: datetime | None) -> bool:
        """Return True if the contract holds at any instant from `begins` until before `until`."""
        ends_later = self.until is None or begins < utc(self.until)
        return ends_later and (until is None or utc(self.begins) < until)
