"""Two sides compared on every day on which one of them changes; what goes on is told once, from its first day."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from ratecard.diff.change import ADDED, CHANGED, REMOVED, RETIRED, CellChange, Change, extremes
from ratecard.diff.shared import shared_changes
from ratecard.diff.side import Side
from ratecard.diff.stretch import stretches


class Diff(NamedTuple):
    """Everything that differs between two sides, by model and day."""

    old: str
    new: str
    changes: tuple[Change, ...]

    @property
    def worst(self) -> tuple[CellChange | None, CellChange | None]:
        """The worst rise and the worst fall of any price cell."""
        return extremes(tuple(cell for change in self.changes for cell in change.cells.differing))

    def counts(self) -> dict[str, int]:
        """How many rates changed, were added and removed, conditions changed, and models came and went."""
        rates = [rate.kind for change in self.changes if change.kind == CHANGED for rate in change.rates]
        kinds = [(change.kind, change.model) for change in self.changes]
        models = {kind: len({model for each, model in kinds if each == kind}) for kind in (ADDED, RETIRED, REMOVED)}
        return {
            "rates changed": rates.count(CHANGED),
            "rates added": rates.count(ADDED),
            "rates removed": rates.count(REMOVED),
            "conditions changed": sum(len(change.terms) for change in self.changes),
            **{f"models {kind}": count for kind, count in models.items()},
            "price cells affected": sum(change.cells.affected for change in self.changes),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as text and counts, in a stable order."""
        rise, fall = self.worst
        return {
            "old": self.old,
            "new": self.new,
            "counts": {name.replace(" ", "_"): count for name, count in self.counts().items()},
            "worst_rise": rise and rise.to_dict(),
            "worst_fall": fall and fall.to_dict(),
            "changes": [change.to_dict() for change in self.changes],
        }


def compare(old: Side, new: Side, at: datetime | None = None) -> Diff:
    """What differs between two sides: on every day on which either changes, or at one instant.

    A side that is a date stands still: it is compared with the other side from that day on.
    """
    days = days_of(old, new, at)
    if old.at is None and new.at is None and old.card.digest == new.card.digest:
        return Diff(old.label, new.label, ())
    names = sorted({*old.card.tables.models, *new.card.tables.models})
    found = [change for name in names for change in _told_once(stretches(name, old, new, days))]
    return Diff(old.label, new.label, (*_told_once(shared_changes(old, new, days)), *found))


def days_of(old: Side, new: Side, at: datetime | None = None) -> list[date]:
    """The days on which two sides are compared, in order."""
    if at is not None:
        return [at.astimezone(UTC).date()]
    still = [day for side in (old, new) if side.at for day in side.days()]
    if len(still) > 1:
        return still[1:]  # the new side's: it names the day from which its prices are
    days = old.days() | new.days()
    return sorted(day for day in days if not still or day >= still[0])


def _told_once(changes: Iterable[Change]) -> Iterator[Change]:
    """Changes of one model in order of their days; what goes on the same is one change from its first day."""
    going_on: Change | None = None
    for change in changes:
        if going_on is not None and going_on.until == change.effective and _alike(going_on, change):
            change = change._replace(effective=going_on.effective)
        elif going_on is not None:
            yield going_on
        going_on = change
    if going_on is not None:
        yield going_on


def _alike(one: Change, other: Change) -> bool:
    if (one.model, one.kind, one.note) != (other.model, other.kind, other.note):
        return False
    return one.kind in (REMOVED, RETIRED) or _said(one) == _said(other)


def _said(change: Change) -> tuple[Any, ...]:
    """What a change says, wherever it stands."""
    rates = (
        (rate.charge, rate.attributes, rate.old and rate.old[:3], rate.new and rate.new[:3]) for rate in change.rates
    )
    return (*rates, change.terms, change.cells.affected)
