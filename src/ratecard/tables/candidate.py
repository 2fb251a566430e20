"""A candidate: a small overlay that proposes other rates from a date on."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from ratecard.tables.scalars import Day, Frozen, Number, Positive, Text, Words


class SetRate(Frozen):
    """`set: MODEL`: the rates of one model that hold under `where` become `rate`."""

    set: Text
    charge: Text | None = None
    where: dict[str, Words] = Field(default_factory=dict)
    rate: Number


class Selection(Frozen):
    """Which models a factor applies to: one model, a family, or a whole type."""

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

    add: dict[str, Any]
    family: Text


def _kind(given: Any) -> str | None:
    return next((name for name in ("set", "scale", "retire", "add") if isinstance(given, dict) and name in given), None)


Change = Annotated[
    Annotated[SetRate, Tag("set")]
    | Annotated[Scale, Tag("scale")]
    | Annotated[Retire, Tag("retire")]
    | Annotated[Add, Tag("add")],
    Discriminator(_kind),
]


class Candidate(Frozen):
    """From which date, by whom, why, and what: each change stands on its own line."""

    candidate: Text
    effective: Day
    announced: Day | None = None
    proposed_by: Text
    why: Text
    changes: tuple[Change, ...]


