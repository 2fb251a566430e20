"""A candidate that changes nothing that was asked for: an error, and the reason for it."""

from collections.abc import Iterable
from datetime import UTC, date

from ratecard.diff.rates import rate_changes
from ratecard.diff.side import Side, Standing
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.plan import EARLIEST
from ratecard.simulation.pricer import Outcome, Refused
from ratecard.simulation.result import Simulation

_NAMED = 5


def check_effect(simulation: Simulation) -> None:
    """Raise `SimulationError` for a candidate under which every row has the price that it has now, or none as now."""
    current, *candidates = simulation.outcomes
    for side, outcomes in zip(simulation.sides[1:], candidates, strict=True):
        if simulation.rows and all(map(_alike, current, outcomes)):
            raise SimulationError(f"{side.label} changes nothing: {_why(simulation, side)}")


def _alike(one: Outcome, other: Outcome) -> bool:
    if isinstance(one, Refused) or isinstance(other, Refused):
        return isinstance(one, Refused) and isinstance(other, Refused)
    return one is other or one.amounts == other.amounts


def _why(simulation: Simulation, side: Side) -> str:
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
    for day in sorted(days):
        before, after = (side.card.at(side.at.astimezone(UTC).date() if side.at else day) for side in (old, new))
        for name in {**old.card.tables.models, **new.card.tables.models}.keys() - found.keys():
            one, other = Standing.of(before, name), Standing.of(after, name)
            if one.version is not other.version and any(rate_changes(one.priceable(before), other.priceable(after))):
                found[name] = day
    return found


def _listed(names: Iterable[str]) -> str:
    every = sorted(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return ", ".join(every[:_NAMED]) + more
