"""The first day on which a candidate changes a price, or why it changes nothing."""

from collections.abc import Iterable, Sequence
from datetime import date

from ratecard.base.errors import SimulationError
from ratecard.base.instants import day_or_instant, utc
from ratecard.review.sides import Side
from ratecard.simulation.answers.attribution import changed_rates
from ratecard.simulation.answers.comparison import Comparison
from ratecard.simulation.groups.grouped_usage import RollUp
from ratecard.simulation.groups.plan import EARLIEST
from ratecard.tables.contract import Contract

_NAMED = 5


def check_effect(reasons: Sequence[str], sides: Sequence[Side]) -> None:
    """Raise `SimulationError` with the reasons where no candidate changes anything."""
    if reasons and all(reasons):
        pairs = zip(sides[1:], reasons, strict=True)
        raise SimulationError("; ".join(f"{side.label} changes nothing: {why}" for side, why in pairs))


def without_effect(comparison: Comparison, sides: Sequence[Side]) -> tuple[str, ...]:
    """Return, by candidate, why it changes nothing; empty where it adds, removes or changes the price of a row."""
    current, *candidates = (side.outcomes for side in comparison.sides)
    return tuple(
        _why(comparison.roll_up, sides[0], side) if outcomes.charge_like(current) else ""
        for side, outcomes in zip(sides[1:], candidates, strict=True)
    )


def first_day(old: Side, new: Side, *, contracts: bool = False) -> date | None:
    """Return the first day on which two sides' prices differ; None where one has a fixed instant, or is as billed.

    With `contracts`, also the day on which a contract begins that only one of them has.
    """
    if old.at or new.at or not (old.has_rates and new.has_rates):
        return None
    begins = {contract.begins for contract in _other_contracts(old, new)} if contracts else set[date]()
    return min({*_first_days(old, new, EARLIEST).values(), *begins}, default=None, key=utc)


def _other_contracts(old: Side, new: Side) -> list[Contract]:
    """Return the contracts that differ between two sides, or that only one of them has."""
    ours, theirs = old.card.contracts, new.card.contracts
    return [side[name] for side in (ours, theirs) for name in side if ours.get(name) != theirs.get(name)]


def _why(rolled: RollUp, current: Side, side: Side) -> str:
    accounts = _listed({name for contract in _other_contracts(current, side) for name in contract.accounts})
    if accounts and not rolled.plan.account:
        return (
            f"it changes the prices of {accounts}, and all rows are at list prices. Price them by contract: --contracts"
        )
    shapes, days = rolled.shapes, rolled.days
    moments = [day_or_instant(shape.moment) for shape in shapes.standing[0] if shape.moment]
    changed = _first_days(current, side, days[0] if days else min(moments, default=EARLIEST, key=utc))
    if not changed and accounts:
        return f"the usage has no request that a contract of {accounts} changes, on a day on which it does"
    if not changed:
        return "no rate is another than the current one on any day of the usage, or after it"
    used = {template.model or "" for template in shapes.templates}
    changed_days = {model: day for model, day in changed.items() if model in used}
    if not changed_days:
        return f"the usage has none of the models whose rates it changes ({_listed(changed)}); it has {_listed(used)}"
    first = min(changed_days.values(), key=utc)
    last = days[1] if days else max(moments, default=None, key=utc)
    if last is not None and utc(first) > utc(last):
        ends = f"the usage ends on {last}" if days else "the usage ends before"
        return f"its rates hold from {first} on, and {ends}. Price both at a day: --current {first}"
    return f"no request is charged by a rate that it changes (of {_listed(changed_days)})"


def _first_days(old: Side, new: Side, start: date) -> dict[str, date]:
    """Return the first day, from `start` on, on which the rates of each model differ."""
    first_days = dict[str, date]()
    for day, name, _ in changed_rates(old, new, start):
        first_days.setdefault(name, day)
    return first_days


def _listed(names: Iterable[str]) -> str:
    every = sorted(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return ", ".join(every[:_NAMED]) + more
