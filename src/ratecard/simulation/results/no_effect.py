"""From when on a candidate changes something, and why it changes nothing where it does not."""

from collections.abc import Iterable
from datetime import UTC, date
from typing import TYPE_CHECKING

from ratecard.changes.rates import rate_changes
from ratecard.changes.sides import Side, Standing
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.pricing.pricer import Outcome, Refused
from ratecard.simulation.pricing.sides import AsBilled
from ratecard.simulation.usage.plan import EARLIEST

if TYPE_CHECKING:
    from ratecard.simulation.results.simulation import Simulation

_NAMED = 5


def check_effect(simulation: "Simulation") -> None:
    """Raise `SimulationError` where no candidate changes anything. Beside one that does, another may change nothing."""
    if simulation.rows and simulation.idle and all(simulation.idle):
        pairs = zip(simulation.sides[1:], simulation.idle, strict=True)
        raise SimulationError("; ".join(f"{side.label} changes nothing: {why}" for side, why in pairs))


def idle(simulation: "Simulation") -> tuple[str, ...]:
    """Why each candidate changes nothing: every row has the price that it has now, or none as now. Else empty."""
    current, *candidates = simulation.outcomes
    return tuple(
        _why(simulation, side) if all(map(_alike, current, outcomes)) else ""
        for side, outcomes in zip(simulation.sides[1:], candidates, strict=True)
    )


def first_day(simulation: "Simulation", candidate: int) -> date | None:
    """The first day of the usage on which a candidate's prices differ, where rows are priced at their own time."""
    old, new = simulation.sides[0], simulation.sides[candidate]
    apart = simulation.pricer.elsewhere.models  # rows that are priced as others change whenever they were sent
    if apart or old.at or new.at or isinstance(old, AsBilled) or isinstance(new, AsBilled):
        return None
    return min(_first_days(old, new, EARLIEST).values(), default=None)


def _alike(one: Outcome, other: Outcome) -> bool:
    if isinstance(one, Refused) or isinstance(other, Refused):
        return isinstance(one, Refused) and isinstance(other, Refused)
    return one is other or one.amounts == other.amounts


def _why(simulation: "Simulation", side: Side) -> str:
    shapes, days = simulation.comparison.roll_up.shapes, simulation.comparison.roll_up.days()
    moments = [each.shape.moment for each in shapes if each.shape.moment]
    changed = _first_days(simulation.sides[0], side, days[0] if days else min(moments, default=EARLIEST))
    if not changed:
        return "no rate is another than the current one on any day of the usage, or after it"
    used = {each.shape.model or "" for each in shapes}
    found = {model: day for model, day in changed.items() if model in used}
    if not found:
        return f"the usage has none of the models whose rates it changes ({_listed(changed)}); it has {_listed(used)}"
    first = min(found.values())
    last = days[1] if days else max(moments, default=None)
    if last is not None and first > last:
        ends = f"the usage ends on {last}" if days else "the usage ends before"
        return f"its rates hold from {first} on, and {ends}. Price both at a day: --current {first}"
    return f"no request is charged by a rate that it changes (of {_listed(found)})"


def _first_days(old: Side, new: Side, start: date) -> dict[str, date]:
    """The first day, from the start on, on which a model's rates differ."""
    days = {start, *(day for side in (old, new) for day in side.days() if day > start)}
    found: dict[str, date] = {}
    theirs, ours = old.card.tables.models, new.card.tables.models
    at_once = old.at != new.at
    names = {name for name in {**theirs, **ours} if at_once or theirs.get(name) is not ours.get(name)}
    for day in sorted(days) if names else ():
        before, after = (side.card.at(side.at.astimezone(UTC).date() if side.at else day) for side in (old, new))
        for name in names - found.keys():
            one, other = Standing.of(before, name), Standing.of(after, name)
            if one.version is not other.version and any(rate_changes(one.priceable(before), other.priceable(after))):
                found[name] = day
    return found


def _listed(names: Iterable[str]) -> str:
    every = sorted(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return ", ".join(every[:_NAMED]) + more
