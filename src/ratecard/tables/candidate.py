"""A candidate: proposed rates from a date on, as a list of changes to the tables."""

from datetime import date
from decimal import Decimal
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticKnownError

from ratecard.base.instants import utc
from ratecard.base.money import add
from ratecard.tables.card import AnyModel
from ratecard.tables.contract import Contract
from ratecard.tables.scalars import Day, Frozen, Number, Percent, Positive, Text, Words
from ratecard.tables.selection import Selection


class SetRate(Frozen):
    """`set: MODEL`: the rates of each of these models that hold under `where` become `rate`, or its factor `factor`."""

    set: Words
    charge: Text | None = None
    where: dict[str, Words] = Field(default_factory=dict)
    factor: Positive | None = None
    rate: Number | None = Field(default=None, validate_default=True)

    @field_validator("rate")
    @classmethod
    def _one_amount(cls, rate: Decimal | None, info: ValidationInfo) -> Decimal | None:
        factor = info.data.get("factor")
        if rate is None and factor is None and "factor" in info.data:
            raise PydanticKnownError("missing")
        if rate is not None and factor is not None:
            raise ValueError("is there beside factor; keep one")
        return rate

    @property
    def word(self) -> str:
        """Return the key under which the new amount is written."""
        return "rate" if self.factor is None else "factor"

    @property
    def amount(self) -> Decimal:
        """Return the new rate, or the new factor."""
        return next(amount for amount in (self.rate, self.factor) if amount is not None)


class RoundRate(Frozen):
    """`round: {to: 0.001, mode: up}`: a rate becomes a multiple of `to`: the next one above, below, or the nearest."""

    to: Positive
    mode: Literal["up", "down", "half-up"]


class Scale(Frozen):
    """`scale: {family: F}`: the rates of these models that hold under `where` are multiplied; without it, all of them.

    `percent` is another way to write the factor: `-15%` is a factor of 0.85.
    """

    scale: Selection
    charge: Text | None = None
    where: dict[str, Words] = Field(default_factory=dict)
    factor: Positive | None = None
    percent: Percent | None = None
    round: RoundRate | None = None

    @model_validator(mode="after")
    def _one_factor(self) -> "Scale":
        if self.factor is not None and self.percent is not None:
            raise ValueError("has both factor and percent; keep one")
        if self.factor is None and self.percent is None:
            raise ValueError("has no factor. Write one of: factor (like 0.85), percent (like -15%)")
        return self

    @property
    def times(self) -> Decimal:
        """Return the factor, written as `factor` or as `percent`."""
        return add(Decimal(1), self.percent or Decimal(0)) if self.factor is None else self.factor

    @property
    def word(self) -> str:
        """Return the key under which the factor is written."""
        return "percent" if self.factor is None else "factor"


class Retire(Frozen):
    """`retire: MODEL`: these models are not served any more from the candidate's date on."""

    retire: Words
    successor: Text | None = None


class Add(Frozen):
    """`add: {...}`: a new model, written as in a table, in a family that exists or a new one."""

    add: AnyModel
    family: Text


Change = SetRate | Scale | Retire | Add
# The key by which a change is recognised.
KINDS: dict[str, type[Change]] = {"set": SetRate, "scale": Scale, "retire": Retire, "add": Add}


class Candidate(Frozen):
    """A candidate: from which date, by whom, why, and its changes.

    `until` is the first day after the candidate: the list prices hold again from then on. `contracts` are further ones,
    beside those of the tables: for an account that has none, or to change one that they extend.
    """

    candidate: Text
    effective: Day
    until: Day | None = None
    announced: Day | None = None
    proposed_by: Text
    why: Text
    changes: tuple[Change, ...]
    contracts: tuple[Contract, ...] = ()

    @field_validator("until")
    @classmethod
    def _after_effective(cls, until: date | None, info: ValidationInfo) -> date | None:
        first = info.data.get("effective")
        if until is not None and first is not None and until <= first:
            raise ValueError(f"must be after effective {first}: it is the first day without these prices")
        return until

    def holds(self, moment: date) -> bool:
        """Return True if it holds at an instant, or at the beginning of a day."""
        return utc(self.effective) <= utc(moment) and (self.until is None or utc(moment) < utc(self.until))

    @property
    def source(self) -> str:
        """Return the `source` of the versions that it makes."""
        words = f"candidate {self.candidate} by {self.proposed_by}: {self.why}"
        return " ".join(words.split())
