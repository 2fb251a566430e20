"""The smallest factor on the rates of a candidate that reaches a target, found on exact totals."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from ratecard.base.errors import TableError
from ratecard.base.instants import utc
from ratecard.base.money import EXACT, from_fraction
from ratecard.candidates.file import CandidateFile, read_candidate
from ratecard.changes.sides import Side
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.prices.costs import Costs, cost_of
from ratecard.tables.candidate import Scale

# Factors are counted in ten-thousandths, up to a hundred times the price.
_STEPS, _MOST = 10_000, 100


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be reached: a change of `revenue` (0.05: 5 % more), or a share of it that is left as `margin`."""

    kind: str
    share: Fraction


@dataclass(frozen=True, slots=True)
class Reached:
    """The smallest factor that reaches a target, the revenue at it, and that at one step below if there is a step.

    Of a margin they are that of the requests whose cost is known; `wanted` is the revenue at which that is the margin.
    """

    factor: Decimal
    revenue: Decimal
    below: Decimal | None
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


@dataclass(frozen=True, slots=True)
class _Sums:
    """What the requests that a target counts bring and cost under a candidate."""

    revenue: Decimal
    cost: Decimal


def smallest_factor(simulation: Answers, candidate: Path, target: Target) -> Reached:
    """Replace every factor of a candidate's `scale` by the smallest one, to four decimals, that reaches the target.

    What else the candidate changes stays as it is, and so does what it loses or brings anew. Raises `SimulationError`
    for a candidate that scales nothing, and where a hundred times the price is too little.
    """
    file = read_candidate(candidate)
    if not any(isinstance(change, Scale) for _, change in file.changes):
        raise SimulationError(f"{candidate} scales nothing: name the rates by `- scale: ...` with a factor")
    costs = simulation.costs if target.kind == "margin" else None
    if target.kind == "margin" and costs is None:
        raise SimulationError("a margin needs the costs: --cost COSTS")
    now = simulation.total.amounts[0]
    known: dict[int, _Sums] = {}

    def sums(steps: int) -> _Sums:
        if steps not in known:
            known[steps] = _sums(simulation, _scaled(file, simulation.sides[0], steps), costs)
        return known[steps]

    kept = 1 - target.share if target.kind == "margin" else 1 / (1 + target.share)
    if kept <= 0:
        raise SimulationError(f"a margin of {100 * target.share} % cannot be reached: it leaves nothing for the costs")
    if costs and simulation.total.beside(1).new_requests:
        costs.check_margin(kept)

    def wanted(steps: int) -> Fraction:
        # Both are a revenue: what is kept of it, after the share that is wanted, is the cost or the revenue now.
        return Fraction(sums(steps).cost if costs else now) / kept

    steps = _search(lambda steps: sums(steps).revenue >= wanted(steps))
    below = sums(steps - 1).revenue if steps > 1 else None
    return Reached(Decimal(steps) / _STEPS, sums(steps).revenue, below, from_fraction(wanted(steps), 12))


def _sums(simulation: Answers, side: Side, costs: Costs | None) -> _Sums:
    """What one more side brings of the rows in the figures: with `costs`, of those whose cost is known."""
    comparison, current = simulation.comparison, simulation.sides[0]
    rolled, sides = comparison.roll_up.shapes, (current, side)
    outcomes = simulation.pricer.beside(side, current, rolled, comparison.sides[0].outcomes)
    revenue = cost = Decimal(0)
    for number, counted, found in comparison.priced:
        price, refusal = outcomes[number].price, outcomes[number].refusal
        if refusal and not refusal.not_offered:
            raise SimulationError(f"{side.label}: {counted.requests} rows cannot be priced: {refusal.reason}")
        if price is None:
            continue
        if costs is not None:
            vectors = cost_of(counted, (found[0], price), sides, simulation.pricer, costs)
            if vectors is None:
                continue
            cost = EXACT.add(cost, comparison.charge(counted, vectors[1]))
        revenue = EXACT.add(revenue, comparison.charge(counted, price.amounts))
    return _Sums(revenue, cost)


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


def _scaled(file: CandidateFile, current: Side, steps: int) -> Side:
    """The candidate with another factor. Raises `SimulationError` where a rate would have too many digits.

    At factor 1 the scaling is left out, because a candidate cannot say it; its other changes hold. A change without
    effect at this factor is allowed.
    """
    factor = Decimal(steps) / _STEPS
    changes = tuple(
        (index, change.model_copy(update={"factor": factor, "percent": None}) if isinstance(change, Scale) else change)
        for index, change in file.changes
        if factor != 1 or not isinstance(change, Scale) or change.round is not None
    )
    try:
        card = current.card.overlaid(file._replace(changes=changes), idle=True) if changes else current.card
    except TableError as error:
        raise SimulationError(f"factor {factor}: {error}") from None
    effective = file.candidate.effective
    first = utc(effective)
    return Side(f"factor {factor}", card, max(current.at, first) if current.at else None)
