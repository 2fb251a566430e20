"""A candidate: a small overlay that proposes other rates from a date on."""

from pydantic import Field

from ratecard.tables.card import AnyModel
from ratecard.tables.scalars import Day, Frozen, Number, Positive, Text, Words


class SetRate(Frozen):
    """`set: MODEL`: the rates of one model that hold under `where` become `rate`."""

    set: Text
    charge: Text | None = None
    where: dict[str, Words] = Field(default_factory=dict)
    rate: Number


class Selection(Frozen):
    """Which models a factor applies to: one model; or a family, a whole type, or the models of a type in a family."""

    model: Text | None = None
    family: Text | None = None
    type: Text | None = None


class Scale(Frozen):
    """`scale: {family: F}`: every rate of these models is multiplied."""

    scale: Selection
    factor: Positive


class Retire(Frozen):
    """`retire: MODEL`: no longer served from the candidate's date on."""

    retire: Text
    successor: Text | None = None


class Add(Frozen):
    """`add: {...}`: a new model, written as in a table, in a family that exists or a new one."""

    add: AnyModel
    family: Text


Change = SetRate | Scale | Retire | Add
# The word that says which change it is.
KINDS: dict[str, type[Change]] = {"set": SetRate, "scale": Scale, "retire": Retire, "add": Add}


class Candidate(Frozen):
    """From which date, by whom, why, and what: each change stands on its own line."""

    candidate: Text
    effective: Day
    announced: Day | None = None
    proposed_by: Text
    why: Text
    changes: tuple[Change, ...]

    @property
    def source(self) -> str:
        """What a version that it makes says of where its prices come from."""
        words = f"candidate {self.candidate} by {self.proposed_by}: {self.why}"
        return " ".join(words.split())
