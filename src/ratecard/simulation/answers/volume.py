"""The expected volume where it differs from the usage: by itself, and in answer to prices; and its pace in a year."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from ratecard.base.errors import SimulationError
from ratecard.base.money import EXACT, read_decimal
from ratecard.base.suggestions import did_you_mean
from ratecard.simulation.answers.rows import ModelSums, Row

ALL = "all"
# The family and the type of each model.
Groups = Mapping[str, tuple[str, ...]]
_REQUESTS, _REVENUE, _COST, _MARGIN = range(4)


@dataclass(frozen=True, slots=True)
class Elasticity:
    """The change of volume, in percent, for each percent of change in price: -0.8 loses 8 % at a rise of 10 %.

    `low` and `high` are the range of possible values.
    """

    value: Decimal
    low: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True)
class Response:
    """The revenue that is expected at each elasticity of the range, rounded to cents for display only."""

    expected: Decimal
    low: Decimal
    high: Decimal
    current: Decimal


@dataclass(frozen=True, slots=True)
class ExpectedModel:
    """The expected figures of a model, or of all, under each side, the current one first.

    Costs and margins are of the requests whose cost is known, and zero where no costs are given. All are exact: a
    volume that answers a price is a fraction, which may have no last decimal.
    """

    model: str
    requests: tuple[Fraction, ...]
    revenues: tuple[Fraction, ...]
    costs: tuple[Fraction, ...]
    margins: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """Revenue, cost and margin at the volume that is expected: by model, and of all; the models add up to all.

    `ranges` has the least and the most revenue under each side within the ranges of the elasticities.
    """

    models: tuple[ExpectedModel, ...]
    total: ExpectedModel
    ranges: tuple[tuple[Fraction, Fraction], ...]

    def change(self, candidate: int) -> Fraction:
        """Return a candidate's revenue less the current revenue, both at the expected volume."""
        return self.total.revenues[candidate] - self.total.revenues[0]


class Moving(NamedTuple):
    """The requests of a model under one side: those that the current side offers too (`both`), and the `new` ones.

    `both` and `new` are requests, revenue, cost and margin; only the volume of `both` answers prices. `before` is the
    revenue of `both` at the current prices.
    """

    before: Fraction
    both: Sequence[Fraction]
    new: Sequence[Fraction]

    @property
    def change(self) -> Fraction:
        """Return the change in price as a share; zero where nothing was paid before."""
        return (self.both[_REVENUE] - self.before) / self.before if self.before else Fraction(0)

    def at(self, elasticity: Decimal | Fraction) -> list[Fraction]:
        """Return requests, revenue, cost and margin once volume has answered the price; never below zero."""
        factor = max(Fraction(0), 1 + Fraction(elasticity) * self.change)
        return [both * factor + new for both, new in zip(self.both, self.new, strict=True)]

    def plus(self, other: "Moving") -> "Moving":
        """Add another model's figures."""
        both, new = ([*map(Fraction.__add__, *pair)] for pair in ((self.both, other.both), (self.new, other.new)))
        return Moving(self.before + other.before, both, new)


def expected_of(
    cells: Iterable[ModelSums],
    elasticities: Mapping[str, Elasticity],
    volumes: Mapping[str, Decimal],
    groups: Groups,
    sides: int,
) -> Expected:
    """Estimate the revenue, cost and margin of all `sides` at other volumes.

    First the volume of each request is changed by `volumes`, whatever the prices are: by the most specific of its
    model, its family, its type and `all`, times those of the other keys (`customer:acme`). Then the volume that both
    sides offer is multiplied by 1 + elasticity x (the change in price of the model), or by zero if that is negative.
    The elasticity is that of the model, else of its family, its type, or `all`. In the ranges, each elasticity may have
    any value of its range, whatever the others are; all models under one elasticity have the same value.
    """
    known: dict[str, list[Moving]] = {}
    for cell in cells:
        factor = 1 + Fraction(volumes.get(_special(volumes, cell.model, groups) or "", 0))
        for key, value in cell.marks.items():
            factor *= 1 + Fraction(volumes.get(f"{key}:{value}", 0))
        moved = [_moving(cell, side, factor) for side in range(sides)]
        sums = known.get(cell.model)
        known[cell.model] = moved if sums is None else [one.plus(other) for one, other in zip(sums, moved, strict=True)]
    models = []
    for model, movings in sorted(known.items()):
        name = _special(elasticities, model, groups)
        vectors = [moving.at(elasticities[name].value if name else Fraction(0)) for moving in movings]
        models.append(ExpectedModel(model, *map(tuple, zip(*vectors, strict=True))))
    ranges = [
        _range({model: movings[side] for model, movings in known.items()}, elasticities, groups)
        for side in range(sides)
    ]
    totals = (
        tuple(sum((getattr(expected, name)[side] for expected in models), Fraction(0)) for side in range(sides))
        for name in ("requests", "revenues", "costs", "margins")
    )
    return Expected(tuple(models), ExpectedModel("", *totals), tuple(ranges))


def _moving(cell: ModelSums, side: int, factor: Fraction) -> Moving:
    offered, new = ([factor * Fraction(amount) for amount in amounts] for amounts in (cell.sides[side], cell.new[side]))
    return Moving(factor * Fraction(cell.before[side]), [*map(Fraction.__sub__, offered, new)], new)


def _range(
    moving: Mapping[str, Moving], elasticities: Mapping[str, Elasticity], groups: Groups
) -> tuple[Fraction, Fraction]:
    """Return the least and the most revenue of these models within the ranges of their elasticities."""
    low = high = Fraction(0)
    for name in (None, *elasticities):
        chosen = [figures for model, figures in moving.items() if _special(elasticities, model, groups) == name]
        turns = _turns(chosen, elasticities[name]) if name else [Fraction(0)]
        revenues = [sum((figures.at(turn)[_REVENUE] for figures in chosen), Fraction(0)) for turn in turns]
        low, high = low + min(revenues), high + max(revenues)
    return low, high


def _turns(moving: Sequence[Moving], elasticity: Elasticity) -> list[Fraction]:
    """Return the elasticities of least or most revenue: the ends of a range, and where a model's volume is zero."""
    low, high = sorted((Fraction(elasticity.low), Fraction(elasticity.high)))
    changes = (figures.change for figures in moving)
    return [low, high, *(turn for change in changes if change and low < (turn := -1 / change) < high)]


def _special(named: Collection[str], model: str, groups: Groups) -> str | None:
    """Return the most specific name that is listed: of a model, else its family, its type, or `all`."""
    return next((name for name in (model, *groups.get(model, ()), ALL) if name in named), None)


def _key(name: str, keys: Collection[str]) -> str:
    """Return the key of `customer:acme` if the usage is grouped by it; empty for the name of a model or a family."""
    key, colon, _ = name.partition(":")
    return key if colon and key in keys else ""


def marks_of(volumes: Iterable[str], keys: Collection[str]) -> dict[str, list[str]]:
    """Return, by key other than the model, the values that volumes name."""
    marks: dict[str, list[str]] = {}
    for name in volumes:
        if key := _key(name, keys):
            marks.setdefault(key, []).append(name.partition(":")[2])
    return marks


def check_named_usage(
    elasticities: Iterable[str],
    volumes: Iterable[str],
    models: Collection[str],
    groups: Groups,
    keys: Collection[str] = (),
) -> None:
    """Raise `SimulationError` for an elasticity, or a volume, of something that has no usage."""
    known = {ALL, *models}
    known |= {group for model in models for group in groups.get(model, ())}
    for volume in volumes:
        key, colon, _ = volume.partition(":")
        if colon and key not in keys and volume not in known:
            words = f"the usage is not grouped by '{key}'. Add it: by=[..., '{key}'], or --by ...,{key}"
            raise SimulationError(f"volume of '{volume}': {words}")
    for what, names in (("elasticity", elasticities), ("volume", [name for name in volumes if not _key(name, keys)])):
        if (name := next((label for label in names if label not in known), None)) is not None:
            words = f"no usage of a model, family or type of this name.{did_you_mean(name, known)}"
            raise SimulationError(f"{what} of '{name}': {words}")


# A number, or a text with a range.
AnyElasticity = Elasticity | Decimal | int | float | str


def elasticities_of(given: Mapping[str, AnyElasticity] | Iterable[str]) -> dict[str, Elasticity]:
    """Read elasticities by model, family, type or `all`: a number, or a text with a range like `-0.8:-1.2..-0.4`.

    Texts like `kling=-0.8` are read too. Raises `SimulationError` for anything else, and for a repeated name.

    >>> elasticities_of({"all": -0.8})
    {'all': Elasticity(value=Decimal('-0.8'), low=Decimal('-0.8'), high=Decimal('-0.8'))}
    """
    if isinstance(given, Mapping):
        return dict(
            (name, value) if isinstance(value, Elasticity) else read_elasticity(f"{name}={value}")
            for name, value in given.items()
        )
    pairs = list(map(read_elasticity, given))
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise SimulationError(f"the elasticity of '{twice}' is given twice")
    return dict(pairs)


def read_elasticity(given: str) -> tuple[str, Elasticity]:
    """Read `kling=-0.8`, or `kling=-0.8:-1.2..-0.4` with a range; `all`: every model. Raises `SimulationError`."""
    name, equals, words = given.partition("=")
    value, _, around = words.partition(":")
    low, dots, high = around.partition("..")
    try:
        numbers = [read_decimal(digits.strip()) for digits in ((value, low, high) if dots else (value, value, value))]
        if not name or not equals or bool(around) != bool(dots) or not all(number.is_finite() for number in numbers):
            raise ValueError
    except (ValueError, ArithmeticError):
        words = "Write MODEL=-0.8, FAMILY=-0.8, TYPE=-0.8 or all=-0.8, with a range all=-0.8:-1.2..-0.4"
        raise SimulationError(f"elasticity '{given}' cannot be read. {words}") from None
    elasticity = Elasticity(*numbers)
    if not elasticity.low <= elasticity.value <= elasticity.high:
        raise SimulationError(
            f"elasticity '{given}': {value} is not within {around}. Write the least, two dots and the most"
        )
    return name, elasticity


def volumes_of(given: Mapping[str, Decimal | str] | Iterable[str]) -> dict[str, Decimal]:
    """Read volume changes by model, family, type, `all` or a key's value (`customer:acme`): `-5%` is -0.05.

    Raises `SimulationError` for anything but a percentage of at least -100%, and for a repeated name.

    >>> volumes_of(["-5%", "customer:acme=-100%"])
    {'all': Decimal('-0.05'), 'customer:acme': Decimal('-1.00')}
    """
    if isinstance(given, Mapping):
        pairs = given.items()
        given = [f"{name}={EXACT.scaleb(to, 2)}%" if isinstance(to, Decimal) else f"{name}={to}" for name, to in pairs]
    volumes: dict[str, Decimal] = {}
    for assignment in given:
        name, equals, words = assignment.rpartition("=")
        name = name if equals else ALL
        try:
            change = EXACT.scaleb(read_decimal(words.removesuffix("%")), -2)
            if not name or not words.endswith("%") or not change.is_finite() or change < -1:
                raise ValueError
        except (ValueError, ArithmeticError):
            words = "Write -5%, TYPE=-5%, FAMILY=-5%, MODEL=+10% or customer:NAME=-100%"
            raise SimulationError(f"volume '{assignment}' cannot be read. {words}") from None
        if name in volumes:
            raise SimulationError(f"the volume of '{name}' is given twice")
        volumes[name] = change
    return volumes


# The number of days that are scaled to a year by default, and the days of a year.
DEFAULT_PACE, _YEAR = 90, 365


@dataclass(frozen=True, slots=True)
class Pace:
    """The `days` days from `first` to `last`; `every` is True if the usage covers no other days.

    `empty` of them have no priced request. `growth` is the share by which the second half of them has more requests
    than the first half; None where the first half has no requests.
    """

    first: date
    last: date
    days: int
    every: bool
    empty: int
    growth: Fraction | None

    def year(self, amount: Fraction) -> Fraction:
        """Scale an amount of these days to a year."""
        return amount * _YEAR / self.days


def read_pace(given: str) -> int | None:
    """Read the number of days that are scaled to a year: `30d`; None for `all`. Raises `SimulationError`.

    >>> read_pace("30d")
    30
    """
    if given == "all":
        return None
    if not re.fullmatch(r"0*[1-9]\d{0,5}d", given, re.ASCII):
        raise SimulationError(f"pace '{given}' cannot be read. Write 30d, 90d or all")
    return int(given.removesuffix("d"))


def pace_of(covered: tuple[date, date], rows: Sequence[Row], most: int | None) -> Pace:
    """Return the pace of the last `most` days that a usage covers; `rows` are its priced requests by day."""
    earliest, last = covered
    days = (last - earliest).days + 1
    days = days if most is None else min(days, most)
    first = last - timedelta(days - 1)
    requests = {row.key[0]: row.requests for row in rows if row.requests}
    counts = [requests.get((first + timedelta(day)).isoformat(), 0) for day in range(days)]
    before, after = sum(counts[: days // 2]), sum(counts[-(days // 2) :] if days > 1 else ())
    growth = Fraction(after, before) - 1 if before else None
    return Pace(first, last, days, first == earliest, counts.count(0), growth)
