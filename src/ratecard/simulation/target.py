"""The smallest factor on the rates of a candidate that reaches a target, found on exact totals."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from ratecard.diff.side import Side
from ratecard.load.candidate_file import CandidateFile, read_candidate
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.result import Simulation
from ratecard.tables.candidate import Scale
from ratecard.words.errors import TableError
from ratecard.words.money import from_fraction

# Factors are counted in ten-thousandths, up to a hundred times the price.
_STEPS, _MOST = 10_000, 100


class Target(NamedTuple):
    """What is to be reached: a change of `revenue` (0.05: 5 % more), or a share of it that is left as `margin`."""

    kind: str
    share: Fraction


class Reached(NamedTuple):
    """The smallest factor that reaches a target, and the revenue at it and at the factor one step below."""

    factor: Decimal
    revenue: Decimal
    below: Decimal
    wanted: Decimal


def read_target(given: str) -> Target:
    """`5%`, `revenue=5%` or `margin=40%`. Raises `SimulationError`."""
    kind, equals, words = given.rpartition("=")
    try:
        share = Fraction(Decimal(words.removesuffix("%"))) / 100
        if not words.endswith("%") or (kind if equals else "revenue") not in ("revenue", "margin"):
            raise ValueError
    except (ValueError, ArithmeticError):
        raise SimulationError(f"target '{given}' cannot be read. Write 5%, revenue=-2.5% or margin=40%") from None
    return Target(kind or "revenue", share)


def smallest_factor(simulation: Simulation, candidate: Path, target: Target, costs: Side | None = None) -> Reached:
    """Replace every factor of a candidate's `scale` by the smallest one, to four decimals, that reaches the target.

    Raises `SimulationError` for a candidate that scales nothing, and where a hundred times the price is too little.
    """
    file = read_candidate(candidate)
    if not any(isinstance(change, Scale) for _, change in file.changes):
        raise SimulationError(f"{candidate} scales nothing: name the rates by `- scale: ...` with a factor")
    if target.kind == "margin" and costs is None:
        raise SimulationError("a margin needs the costs: --cost COSTS")
    now = simulation.total.amounts[0]
    cost = simulation.revenue(costs) if costs and target.kind == "margin" else Decimal(0)
    known: dict[int, Decimal] = {}

    def revenue(steps: int) -> Decimal:
        if steps not in known:
            known[steps] = simulation.revenue(scaled(file, simulation.sides[0], steps)) if steps != _STEPS else now
        return known[steps]

    kept = 1 - target.share if target.kind == "margin" else 1 / (1 + target.share)
    if kept <= 0:
        raise SimulationError(f"a margin of {100 * target.share} % cannot be reached: it leaves nothing for the costs")
    # Both targets are a revenue: what is kept of it, after the share that is wanted, is the cost or the revenue now.
    wanted = Fraction(cost if target.kind == "margin" else now) / kept
    steps = _search(lambda steps: revenue(steps) >= wanted)
    below = revenue(steps - 1) if steps > 1 else Decimal(0)
    return Reached(Decimal(steps) / _STEPS, revenue(steps), below, from_fraction(wanted, 12))


def _search(reached: Callable[[int], bool]) -> int:
    """The smallest step that reaches it: revenue never falls as a factor rises."""
    low, high = 0, _STEPS
    while not reached(high):
        low, high = high, high * 2
        if high > _STEPS * _MOST:
            raise SimulationError(f"the target is not reached at {_MOST} times the price of these rates")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def scaled(file: CandidateFile, current: Side, steps: int) -> Side:
    """The candidate with another factor. Raises `SimulationError` where a rate would have too many digits."""
    factor = Decimal(steps) / _STEPS
    changes = tuple(
        (index, change.model_copy(update={"factor": factor}) if isinstance(change, Scale) else change)
        for index, change in file.changes
    )
    try:
        card = current.card.overlaid(file._replace(changes=changes))
    except TableError as error:
        raise SimulationError(f"factor {factor}: {error}") from None
    effective = file.candidate.effective
    first = datetime(effective.year, effective.month, effective.day, tzinfo=UTC)
    return Side(f"factor {factor}", card, max(current.at, first) if current.at else None)
