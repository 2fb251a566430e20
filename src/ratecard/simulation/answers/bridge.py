"""Why revenue differs between two periods of the usage: price, volume and mix, model by model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from ratecard.simulation.amounts import QUANTITY_NAMES, TOKEN_QUANTITIES
from ratecard.simulation.answers.comparison import MODEL, Comparison
from ratecard.simulation.answers.rows import Row
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.groups.plan import MONTH, WEEK
from ratecard.simulation.rows.columns import DAY

# Of more periods, the first and the last are named.
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class Step:
    """One model in both periods: its requests, its revenue and what one request holds, then and now, and the effects.

    With q requests of a revenue of p each, before (0) and after (1), and Q requests of all models of both periods:
    `price` is q1 x (p1 - p0), `volume` the model's share of (Q1 - Q0) x mean p0, `mix` the rest. They add up to the
    change of its revenue, as fractions, since no decimal holds a revenue per request. `sizes` are tokens, characters or
    seconds a request, None where nothing is counted: a request that holds more costs more, which is a part of `price`.
    """

    model: str
    requests: tuple[int, int]
    revenues: tuple[Decimal, Decimal]
    sizes: tuple[Fraction | None, Fraction | None]
    price: Fraction
    volume: Fraction
    mix: Fraction


@dataclass(frozen=True, slots=True)
class Bridge:
    """From the revenue of one period to that of another: what both have, and the models of only one of them."""

    periods: tuple[str, str]
    revenues: tuple[Decimal, Decimal]
    steps: tuple[Step, ...]
    gone: Mapping[str, Decimal] = field(hash=False)
    new: Mapping[str, Decimal] = field(hash=False)

    @property
    def price(self) -> Fraction:
        """What other prices, and other sizes of a request, come to."""
        return sum((step.price for step in self.steps), Fraction(0))

    @property
    def volume(self) -> Fraction:
        """What more or fewer requests come to, at the mean revenue of a request before."""
        return sum((step.volume for step in self.steps), Fraction(0))

    @property
    def mix(self) -> Fraction:
        """What comes of a move to dearer or cheaper models."""
        return sum((step.mix for step in self.steps), Fraction(0))


def bridge_of(comparison: Comparison, before: str, after: str, side: int = 0) -> Bridge:
    """The bridge between two days, weeks (by their Monday) or months (`2026-10`) under one side.

    Raises `SimulationError` for periods that the usage is not grouped by, or has no priced request of.
    """
    key = _key(comparison, before, after)
    found: dict[str, dict[str, Row]] = {before: {}, after: {}}
    for row in comparison.rows((key, MODEL)):
        period, model = row.key
        if period in found and row.requests:
            found[period][model or ""] = row
    for period, rows in found.items():
        if not rows:
            known = sorted({row.key[0] or "" for row in comparison.rows((key,))} - {""})
            most = f"{known[0]} to {known[-1]}" if len(known) > _MOST_NAMED else ", ".join(known)
            raise SimulationError(f"no request of {period} has a price. The {key}s are: {most}")
    first, second = found[before], found[after]
    shared = sorted(first.keys() & second.keys())
    steps = _steps({name: (first[name], second[name]) for name in shared}, side)
    gone, new = (
        {name: rows[name].amounts[side] for name in sorted(rows.keys() - other.keys())}
        for rows, other in ((first, second), (second, first))
    )
    revenues = tuple(sum((row.amounts[side] for row in rows.values()), Decimal(0)) for rows in (first, second))
    return Bridge((before, after), (revenues[0], revenues[1]), steps, gone, new)


def _key(comparison: Comparison, before: str, after: str) -> str:
    """The key that two periods are of."""
    if before == after:
        raise SimulationError(f"a bridge leads from one period to another, and both are {before}")
    month = len(before) == len("2026-10")
    if month != (len(after) == len("2026-10")):
        raise SimulationError(f"{before} and {after} are not periods of one length")
    known = comparison.roll_up.plan.by
    if month:
        keys = [each for each in (MONTH, DAY) if each in known]
        return MONTH if keys else _refuse(MONTH)
    for key in (DAY, WEEK):
        if key in known:
            return key
    return _refuse(DAY)


def _refuse(key: str) -> str:
    raise SimulationError(f"the usage is not grouped by {key}. Add it: by=[..., '{key}'], or --by ...,{key}")


def _steps(shared: Mapping[str, tuple[Row, Row]], side: int) -> tuple[Step, ...]:
    counts = [sum(pair[number].requests for pair in shared.values()) for number in (0, 1)]
    whole = sum((Fraction(pair[0].amounts[side]) for pair in shared.values()), Fraction(0))
    mean = whole / counts[0] if counts[0] else Fraction(0)
    steps = []
    for model, (first, second) in shared.items():
        q0, q1 = first.requests, second.requests
        r0, r1 = Fraction(first.amounts[side]), Fraction(second.amounts[side])
        price = r1 - q1 * r0 / q0
        volume = (q1 - q0) * mean
        mix = r1 - r0 - price - volume
        revenues = (first.amounts[side], second.amounts[side])
        steps.append(Step(model, (q0, q1), revenues, (_size(first), _size(second)), price, volume, mix))
    return tuple(steps)


def _size(row: Row) -> Fraction | None:
    """What one request of a model holds on average: tokens, characters or seconds."""
    quantities = dict(zip(QUANTITY_NAMES, row.quantities, strict=True))
    tokens = sum((quantities.pop(name) for name in TOKEN_QUANTITIES), Decimal(0))
    held = tokens or next((each for each in quantities.values() if each), Decimal(0))
    return Fraction(held) / row.requests if held else None
