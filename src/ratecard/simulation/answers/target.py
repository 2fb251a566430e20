"""The smallest factor on the rates of a candidate that reaches a target, and the limits that a candidate must keep.

Both are found on the totals of the report itself.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from ratecard.base.errors import SimulationError, TableError
from ratecard.base.instants import utc
from ratecard.base.money import EXACT, from_fraction, read_decimal
from ratecard.candidates.file import CandidateFile, read_candidate
from ratecard.review.sides import Side
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.answers.rows import Row
from ratecard.simulation.answers.volume import Elasticity, Pace
from ratecard.tables.candidate import Scale

# Factors are counted in ten-thousandths, up to a hundred times the price.
_STEPS, _MOST = 10_000, 100
# If volume answers prices, revenue may fall as prices rise: factors are tried from below on this grid.
_GRID = [*range(500, 20_001, 500), *(20_000 * 11**n // 10**n for n in range(1, 42))]
_PLACES = 12
REVENUE, MARGIN, YEAR = "revenue", "margin", "year"


@dataclass(frozen=True, slots=True)
class Target:
    """A target: a change of `revenue` (0.05: 5 % more), a share of revenue that is left as `margin`, or an amount of
    additional revenue in a `year`.
    """

    kind: str
    share: Fraction


@dataclass(frozen=True, slots=True)
class Reached:
    """The smallest factor that reaches a target, the revenue at it, and the revenue one step below, if there is a step.

    `wanted` is the revenue that the target needs. For a margin, revenues are those of requests whose cost is known; for
    a year, they are changes of revenue in a year.
    """

    factor: Decimal
    revenue: Decimal
    below: Decimal | None
    wanted: Decimal


def read_target(given: str) -> Target:
    """Read `5%`, `revenue=5%`, `margin=40%` or `50000/year`. Raises `SimulationError`.

    >>> read_target("50000/year")
    Target(kind='year', share=Fraction(50000, 1))
    """
    kind, equals, words = given.rpartition("=")
    kind = kind if equals else REVENUE
    try:
        if words.endswith("/year") and kind == REVENUE:
            return Target(YEAR, Fraction(read_decimal(words.removesuffix("/year").strip())))
        share = Fraction(read_decimal(words.removesuffix("%").strip())) / 100
        if not words.endswith("%") or kind not in (REVENUE, MARGIN):
            raise ValueError
    except (ValueError, ArithmeticError):
        allowed = "Write 5%, revenue=-2.5%, margin=40% or 50000/year"
        raise SimulationError(f"target '{given}' cannot be read. {allowed}") from None
    return Target(kind, share)


def smallest_factor(
    simulation: Answers,
    candidate: Path,
    target: Target,
    *,
    elasticities: Mapping[str, Elasticity] | None = None,
    volumes: Mapping[str, Decimal] | None = None,
    pace: Pace | None = None,
) -> Reached:
    """Find the smallest factor, to four decimals, for every `scale` of a candidate that reaches the target.

    The candidate's other changes stay as they are, as do lost and new requests; revenue and cost are those of the
    expected volume. Raises `SimulationError` for a candidate that scales nothing, and `NotReachedError`
    where a hundred times the price is too little.
    """
    file = read_candidate(candidate)
    if not any(isinstance(change, Scale) for _, change in file.changes):
        raise SimulationError(f"{candidate} scales nothing: name the rates by `- scale: ...` with a factor")
    if target.kind == MARGIN and simulation.costs is None:
        raise SimulationError("a margin needs the costs: --cost COSTS")
    if target.kind == YEAR and pace is None:
        raise SimulationError("a target of money a year needs to know the days. Add day to --by")
    kept = 1 - target.share if target.kind == MARGIN else 1 / (1 + target.share) if target.share != -1 else Fraction(0)
    if kept <= 0 and target.kind == MARGIN:
        raise SimulationError(f"a margin of {100 * target.share} % cannot be reached: it leaves nothing for the costs")
    if kept <= 0 and target.kind == REVENUE:
        raise SimulationError(
            f"revenue cannot change by {100 * target.share} %: no factor is zero. Write more than -100%"
        )
    if target.kind == MARGIN and simulation.costs and simulation.total.beside(1).new_requests:
        simulation.costs.check_margin(kept)
    simulation.check_named(elasticities or {}, volumes or {})
    since = pace.first if target.kind == YEAR and pace else None
    known: dict[int, tuple[Fraction, Fraction] | None] = {}
    refused: list[SimulationError] = []

    def sums(steps: int) -> tuple[Fraction, Fraction] | None:
        """Return the amount that a factor brings and the amount wanted; None where tables refuse the factor."""
        if steps not in known:
            try:
                side = _scaled(file, simulation.sides[0], steps)
            except SimulationError as error:
                refused.append(error)
                known[steps] = None
                return None
            with simulation.trying(side) as trial:
                if trial.priced != simulation.priced:
                    raise SimulationError(f"{side.label}: {trial.unpriced_text()}")
                with_costs = target.kind == MARGIN
                expected = trial.expected_at(elasticities or {}, volumes or {}, since, with_costs=with_costs)
            now, revenue = expected.total.revenues
            if target.kind == MARGIN:
                cost, margin = expected.total.costs[1], expected.total.margins[1]
                known[steps] = cost + margin, cost / kept
            elif pace is not None and target.kind == YEAR:
                known[steps] = pace.year(revenue - now), target.share
            else:
                known[steps] = revenue, now / kept
        return known[steps]

    def missing(steps: int) -> Fraction | None:
        pair = sums(steps)
        return pair and pair[1] - pair[0]

    steps = _search(missing) if not elasticities else _search_upwards(missing)
    if steps is None:
        most = f"the target is not reached at {_MOST} times the price of these rates"
        if elasticities:
            at = min((step for step in known if known[step]), key=lambda step: missing(step) or 0, default=_STEPS)
            most = f"the target is not reached: volume answers, and a factor of {_factor(at)} comes nearest"
        raise refused[0] if refused else NotReachedError(most)
    (revenue, wanted), below = sums(steps) or (Fraction(0), Fraction(0)), sums(steps - 1) if steps > 1 else None
    amounts = [from_fraction(amount, _PLACES) for amount in (revenue, wanted)]
    less = None if below is None else from_fraction(below[0], _PLACES)
    return Reached(_factor(steps), amounts[0], less, amounts[1])


class NotReachedError(SimulationError):
    """The refusal of a target that no factor reaches; where volume answers prices, it names the nearest factor."""


_Missing = Callable[[int], Fraction | None]


def _reaches(missing: _Missing, steps: int) -> bool:
    amount = missing(steps)
    return amount is not None and amount <= 0


def _search(missing: _Missing) -> int | None:
    """Return the smallest step that reaches the target, where revenue never falls as a factor rises."""
    low, high = 0, _STEPS
    while not _reaches(missing, high):
        low, high = high, high * 2
        if high > _STEPS * _MOST:
            return None
    return _between(missing, low, high)


def _between(missing: _Missing, low: int, high: int) -> int:
    """Return a step above `low`, up to `high`, that reaches the target and whose predecessor does not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reaches(missing, middle) else (middle, high)
    return high


def _search_upwards(missing: _Missing) -> int | None:
    """Return the smallest step near the first point of a grid that reaches the target, else near the closest point."""
    for low, high in pairwise([0, *_GRID]):
        if _reaches(missing, high):
            return _between(missing, low, high)
    known = [(amount, at) for at, step in enumerate(_GRID) if (amount := missing(step)) is not None]
    if not known:
        return None
    at = min(known)[1]
    low, high = ([0, *_GRID][at], [*_GRID, _GRID[-1]][at + 1])
    first = low
    while high - low > 2:  # with one peak, the third with less revenue can be left out
        third = max(1, (high - low) // 3)
        one, other = missing(low + third), missing(high - third)
        if other is None or (one is not None and one <= other):
            high -= third
        else:
            low += third
    best = next((step for step in range(low, high + 1) if step and _reaches(missing, step)), None)
    return None if best is None else _between(missing, first, best)


def _factor(steps: int) -> Decimal:
    return EXACT.divide(Decimal(steps), _STEPS)


def _scaled(file: CandidateFile, current: Side, steps: int) -> Side:
    """Return the candidate with another factor. Raises `SimulationError` where a rate would have too many digits.

    At factor 1 a scaling without rounding is left out, because a candidate cannot say it; its other changes hold. A
    change without effect at this factor is allowed.
    """
    factor = _factor(steps)
    changes = tuple(
        (index, change.model_copy(update={"factor": factor, "percent": None}) if isinstance(change, Scale) else change)
        for index, change in file.changes
        if factor != 1 or not isinstance(change, Scale) or change.round is not None
    )
    try:
        changed = changes or file.candidate.contracts
        card = current.card._overlaid(file._replace(changes=changes), idle=True) if changed else current.card
    except TableError as error:
        raise SimulationError(f"factor {factor}: {error}") from None
    first = utc(file.candidate.effective)
    return Side(f"factor {factor}", card, max(current.at, first) if current.at else None)


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """The limits of the change of revenue, up or down, and of a customer's rise, as shares of current payments."""

    change: Fraction | None = None
    rise: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Beyond:
    """A candidate's change beyond the limits.

    `change` has the change of revenue if that is beyond its limit, else None; a change from zero is beyond any share.
    `over` of `of` customers pay more than the limit allows; `customers` are the first of them, the greatest rise
    (to nine decimals) first.
    """

    candidate: int
    change: Row | None
    customers: tuple[Row, ...]
    over: int
    of: int


def check_customers(simulation: Answers, option: str, key: str = "customer") -> None:
    """Raise `SimulationError` where the usage does not name the customers that an option asks about."""
    if key not in simulation.by:
        raise SimulationError(
            f"{option} needs to know the customers, and the usage is not grouped by '{key}'. Add it to --by;"
            f" where the usage has it by another name, --map {key}=COLUMN too"
        )


def beyond(simulation: Answers, limits: ChangeLimits, key: str = "customer") -> Iterator[Beyond]:
    """Yield each candidate that is beyond a limit, exactly: a rise that equals the limit is within."""
    for candidate in range(1, len(simulation.sides)):
        total, beyond_it, count = simulation.total, 0, 0
        over: tuple[Row, ...] = ()
        # Lost and new requests change revenue; a customer's rise is on the requests that both sides price.
        before, after = Fraction(total.amounts[0]), Fraction(total.amounts[candidate])
        change = total if limits.change is not None and abs(after - before) > limits.change * abs(before) else None
        if limits.rise is not None:
            customers = simulation.customers(key, candidate)
            count = customers.less + customers.more + customers.same
            beyond_it, over = customers.beyond(limits.rise)
        if change or beyond_it:
            yield Beyond(candidate, change, over, beyond_it, count)
