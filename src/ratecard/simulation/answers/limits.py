"""Limits that a pipeline sets to a candidate: by how much revenue may change, and a customer's payments rise."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ratecard.base.errors import SimulationError
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.answers.rows import Row


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
