"""The difference in revenue between two periods of the usage, by price, size, volume and mix, model by model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from ratecard.base.errors import SimulationError
from ratecard.base.instants import utc
from ratecard.base.money import minus, total
from ratecard.simulation.amounts import QUANTITY_NAMES, TOKEN_QUANTITIES
from ratecard.simulation.answers.comparison import MODEL, Comparison
from ratecard.simulation.answers.rows import Row
from ratecard.simulation.groups.plan import MONTH, WEEK
from ratecard.simulation.rows.columns import DAY

# With more periods than this, the message names only the first and the last.
_MOST_NAMED = 12
EFFECTS = ("price", "size", "volume", "mix")


@dataclass(frozen=True, slots=True)
class Step:
    """A model in both periods: requests, revenue and size of a request in each, and the effects.

    `price` is the effect of changed prices: the second revenue less what it would be at the prices of the end of the
    first period, minus the same difference for the first revenue. The other effects are at these fixed prices. With q0
    requests of p0 each before, q1 of p1 each after, and the mean of p0 over all models in both periods: `size` is
    q1 x (p1 - p0), from other sizes or kinds of requests within the model; `volume` is (q1 - q0) x mean p0; `mix` is
    the rest. They add up to the change of revenue, as fractions, since no decimal holds a revenue per request. `sizes`
    are tokens, characters or seconds per request, None where nothing is counted.
    """

    model: str
    requests: tuple[int, int]
    revenues: tuple[Decimal, Decimal]
    sizes: tuple[Fraction | None, Fraction | None]
    price: Fraction
    size: Fraction
    volume: Fraction
    mix: Fraction

    @property
    def change(self) -> Fraction:
        """Return the change of its revenue."""
        return Fraction(self.revenues[1]) - Fraction(self.revenues[0])


@dataclass(frozen=True, slots=True)
class Bridge:
    """The way from the revenue of one period to that of another: models of both periods, and of only one.

    Steps and models are in the order of their change, the greatest first. `fixed`: both periods have the same prices.
    """

    periods: tuple[str, str]
    revenues: tuple[Decimal, Decimal]
    steps: tuple[Step, ...]
    gone: Mapping[str, Decimal] = field(hash=False)
    new: Mapping[str, Decimal] = field(hash=False)
    fixed: bool = False

    @property
    def effects(self) -> dict[str, Fraction]:
        """Return each effect by its name, the greatest first; they add up to the change of revenue exactly."""
        before, after = self.periods
        sums = {name: sum((getattr(step, name) for step in self.steps), Fraction(0)) for name in EFFECTS}
        sums[f"only in {before}"] = -Fraction(total(list(self.gone.values())))
        sums[f"only in {after}"] = Fraction(total(list(self.new.values())))
        return dict(sorted(sums.items(), key=lambda effect: -abs(effect[1])))


def bridge_of(
    comparison: Comparison, periods: tuple[str, str], side: int, fixed: Sequence[Row] | None = None
) -> Bridge:
    """Return the bridge between two days, weeks (by their Monday) or months (`2026-10`) under one side.

    `fixed` are the rows by period and model, with the prices of the end of the first period as a candidate; None where
    the side has the same prices in both. Raises `SimulationError` for periods that have no priced request.
    """
    key = period_key(comparison, *periods)
    by_period = {period: _of_period(comparison.rows((key, MODEL)), period) for period in periods}
    for period, rows in by_period.items():
        if not rows:
            known = sorted({row.key[0] or "" for row in comparison.rows((key,))} - {""})
            most = f"{known[0]} to {known[-1]}" if len(known) > _MOST_NAMED else ", ".join(known)
            raise SimulationError(f"no request of {period} has a price. The {key}s are: {most}")
    then, now = (by_period[period] for period in periods)
    at_fixed = None if fixed is None else [_of_period(fixed, period) for period in periods]
    pairs = {model: (then[model], now[model]) for model in sorted(then.keys() & now.keys())}
    steps = _steps(pairs, side, at_fixed)
    gone, new = (
        {
            name: rows[name].amounts[side]
            for name in sorted(
                rows.keys() - other.keys(), key=lambda name: (minus(rows[name].amounts[side].copy_abs()), name)
            )
        }
        for rows, other in ((then, now), (now, then))
    )
    revenues = tuple(total([row.amounts[side] for row in rows.values()]) for rows in (then, now))
    return Bridge(periods, (revenues[0], revenues[1]), steps, gone, new, fixed is None)


def _of_period(rows: Sequence[Row], period: str) -> dict[str, Row]:
    return {row.key[1] or "": row for row in rows if row.key[0] == period and row.requests}


def last_instant(period: str, key: str) -> datetime:
    """Return the last instant of a day, a week or a month. Raises `SimulationError` if it cannot be read."""
    try:
        first = date.fromisoformat(f"{period}-01" if key == MONTH else period)
        after = first + timedelta({DAY: 1, WEEK: 7}.get(key, 31))
    except (ValueError, OverflowError):
        raise SimulationError(
            f"'{period}' is not a {key}. Write it like {'2026-10' if key == MONTH else '2026-10-05'}"
        ) from None
    return utc(after.replace(day=1) if key == MONTH else after) - timedelta(microseconds=1)


def are_months(before: str, after: str) -> bool:
    """Return True for two months, False for two days or weeks. Raises `SimulationError` for what no bridge joins."""
    if before == after:
        raise SimulationError(f"a bridge leads from one period to another, and both are {before}")
    month = len(before) == len("2026-10")
    if month != (len(after) == len("2026-10")):
        raise SimulationError(f"{before} and {after} are not periods of one length")
    for period in (before, after):
        last_instant(period, MONTH if month else DAY)
    return month


def period_key(comparison: Comparison, before: str, after: str) -> str:
    """Return the key that has two periods as values. Raises `SimulationError` where usage is not grouped by it."""
    month = are_months(before, after)
    keys = (MONTH, DAY) if month else (DAY, WEEK)
    key = next((name for name in keys if name in comparison.roll_up.plan.by), None)
    if key is None:
        raise SimulationError(
            f"the usage is not grouped by {keys[0]}. Add it: by=[..., '{keys[0]}'], or --by ...,{keys[0]}"
        )
    return MONTH if month else key


def _steps(
    pairs: Mapping[str, tuple[Row, Row]], side: int, fixed: Sequence[Mapping[str, Row]] | None
) -> tuple[Step, ...]:
    before = sum(pair[0].requests for pair in pairs.values())
    amounts = {
        model: [_kept(rows[model]) for rows in fixed] if fixed else [Fraction(row.amounts[side]) for row in pair]
        for model, pair in pairs.items()
    }
    mean = sum((amount_pair[0] for amount_pair in amounts.values()), Fraction(0)) / before if before else Fraction(0)
    steps = []
    for model, (first, second) in pairs.items():
        q0, q1 = first.requests, second.requests
        r0, r1 = amounts[model]
        revenues = (first.amounts[side], second.amounts[side])
        price = Fraction(revenues[1]) - r1 - Fraction(revenues[0]) + r0
        size = r1 - q1 * r0 / q0
        volume = (q1 - q0) * mean
        mix = r1 - r0 - size - volume
        steps.append(Step(model, (q0, q1), revenues, (_size(first), _size(second)), price, size, volume, mix))
    return tuple(sorted(steps, key=lambda step: -abs(step.change)))


def _kept(row: Row) -> Fraction:
    """Return the amount of a row at fixed prices; requests that these do not offer keep their own amount."""
    return Fraction(row.both()[1]) + Fraction(row.beside().lost)


def _size(row: Row) -> Fraction | None:
    """Return the average size of a model's requests: their tokens, characters or seconds."""
    quantities = dict(zip(QUANTITY_NAMES, row.quantities, strict=True))
    tokens = total([quantities.pop(name) for name in TOKEN_QUANTITIES])
    held = tokens or next((quantity for quantity in quantities.values() if quantity), Decimal(0))
    return Fraction(held) / row.requests if held else None
