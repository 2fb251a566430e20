"""How volume reacts to a price: a linear elasticity for each model, family, or all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ratecard.base.money import from_fraction
from ratecard.base.suggestions import did_you_mean
from ratecard.simulation.answers.rows import Row
from ratecard.simulation.errors import SimulationError

_PLACES = 2
ALL = "all"


@dataclass(frozen=True, slots=True)
class Elasticity:
    """By what share volume changes for each share that the price changes: -0.8 loses 8 % of it at a rise of 10 %.

    `low` and `high` are the range that is thought possible.
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


def response(
    models: Sequence[Row], candidate: int, elasticities: Mapping[str, Elasticity], families: Mapping[str, str]
) -> Response:
    """Estimate the revenue of a candidate after its volume reacts to its prices.

    A model's volume is multiplied by 1 + elasticity x (its change in price), never below nothing; its change in price
    is that of the exact total of what both sides price, and only that moves: what is new stays as it is. A model's own
    elasticity counts before its family's, and that before `all`. Of several elasticities, each may be anywhere in its
    range, whatever the others are; the models of one have the same.
    """
    _check(elasticities, (row.key[0] or "" for row in models), families.values())
    steady, moving = Fraction(0), dict[str, list[Row]]()
    for row in models:
        model = row.key[0] or ""
        steady += Fraction(row.beside(candidate).new)
        name = next((each for each in (model, families.get(model, ""), ALL) if each in elasticities), None)
        if name is None:
            steady += Fraction(row.both(candidate)[1])
        else:
            moving.setdefault(name, []).append(row)
    totals = [steady] * 3
    for name, rows in moving.items():
        chosen = elasticities[name]
        found = [_revenue(rows, candidate, each) for each in _turns(rows, candidate, chosen)]
        totals[0] += _revenue(rows, candidate, Fraction(chosen.value))
        totals[1] += min(found)
        totals[2] += max(found)
    low, high = totals[1:]
    current = from_fraction(sum((Fraction(row.amounts[0]) for row in models), Fraction(0)), _PLACES)
    expected, least, most = (from_fraction(each, _PLACES) for each in (totals[0], low, high))
    return Response(expected, least, most, current)


def volume_factor(row: Row, candidate: int, elasticity: Decimal | Fraction) -> Fraction:
    """What the volume of a model is multiplied by, of the requests that both sides price."""
    return max(Fraction(0), 1 + Fraction(elasticity) * _change(row, candidate))


def _change(row: Row, candidate: int) -> Fraction:
    """The change in price as a share; none from nothing."""
    current = Fraction(row.both(candidate)[0])
    return Fraction(row.change(candidate)) / current if current else Fraction(0)


def _revenue(rows: Sequence[Row], candidate: int, elasticity: Fraction) -> Fraction:
    return sum(
        (Fraction(row.both(candidate)[1]) * volume_factor(row, candidate, elasticity) for row in rows), Fraction(0)
    )


def _turns(rows: Sequence[Row], candidate: int, elasticity: Elasticity) -> list[Fraction]:
    """Where revenue may be least or most within a range: its ends, and where the volume of a model comes to nothing."""
    low, high = sorted((Fraction(elasticity.low), Fraction(elasticity.high)))
    changes = (_change(row, candidate) for row in rows)
    return [low, high, *(turn for change in changes if change and low < (turn := -1 / change) < high)]


def _check(elasticities: Mapping[str, Elasticity], models: Iterable[str], families: Iterable[str]) -> None:
    """Raise `SimulationError` for an elasticity of something that has no usage."""
    known = {ALL, *models, *families}
    for name in elasticities:
        if name not in known:
            raise SimulationError(
                f"elasticity of '{name}': no usage of such a model or family.{did_you_mean(name, known)}"
            )


# A number, or a text with a range.
AnyElasticity = Elasticity | Decimal | int | float | str


def elasticities_of(given: Mapping[str, AnyElasticity]) -> dict[str, Elasticity]:
    """Elasticities by model, family or `all`: a number, or a text with a range like `-0.8:-1.2..-0.4`.

    Raises `SimulationError` for anything else.

    >>> elasticities_of({"all": -0.8})
    {'all': Elasticity(value=Decimal('-0.8'), low=Decimal('-0.8'), high=Decimal('-0.8'))}
    """
    return dict(
        (name, value) if isinstance(value, Elasticity) else read_elasticity(f"{name}={value}")
        for name, value in given.items()
    )


def read_elasticity(given: str) -> tuple[str, Elasticity]:
    """`kling=-0.8`, or with a range `kling=-0.8:-1.2..-0.4`; `all` means every model. Raises `SimulationError`."""
    name, equals, words = given.partition("=")
    value, _, around = words.partition(":")
    low, dots, high = around.partition("..")
    try:
        numbers = [Decimal(each) for each in ((value, low, high) if dots else (value, value, value))]
        if not name or not equals or bool(around) != bool(dots) or not all(number.is_finite() for number in numbers):
            raise ValueError
    except (ValueError, ArithmeticError):
        words = "Write MODEL=-0.8, FAMILY=-0.8 or all=-0.8, with a range all=-0.8:-1.2..-0.4"
        raise SimulationError(f"elasticity '{given}' cannot be read. {words}") from None
    return name, Elasticity(*numbers)
