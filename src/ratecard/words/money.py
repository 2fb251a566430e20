"""Exact decimal arithmetic, and the only place that rounds.

Every operation runs in a context of our own: a host that changed `decimal.getcontext()` changes nothing here.
`EXACT` traps inexact results, so an operation that would lose a digit raises instead.
"""

from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    FloatOperation,
    Inexact,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from functools import lru_cache

_ERRORS = [DivisionByZero, FloatOperation, InvalidOperation, Overflow]

# A request's number may have this many decimal places: more than the shortest text of any IEEE double needs (341).
MAX_DECIMAL_PLACES = 400
# Enough for the longest accepted number times every factor of any formula; anything beyond raises.
EXACT = Context(prec=1_000, rounding=ROUND_HALF_UP, traps=[*_ERRORS, Inexact])
ROUNDING = Context(prec=1_000, rounding=ROUND_HALF_UP, traps=_ERRORS)
# Reads the text of a number without loss; what is too large for any decimal becomes an infinity, as in JSON clients.
READING = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])

add = EXACT.add
multiply = EXACT.multiply
minus = EXACT.minus


@lru_cache(maxsize=64)
def step(places: int) -> Decimal:
    """The smallest amount with so many decimal places.

    >>> step(2)
    Decimal('0.01')
    """
    return Decimal((0, (1,), -places))


def round_half_up(amount: Decimal, places: int) -> Decimal:
    """`amount` to so many decimal places; a tie goes away from zero.

    >>> round_half_up(Decimal("0.935"), 2)
    Decimal('0.94')
    """
    return ROUNDING.quantize(amount, step(places))


def places_of(number: Decimal) -> int:
    """How many decimal places a finite number is written with.

    >>> places_of(Decimal("4.10")), places_of(Decimal("1E+2"))
    (2, 0)
    """
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def from_fraction(amount: Fraction, places: int) -> Decimal:
    """A rational as a decimal with at most so many places, rounded once, half-up.

    >>> from_fraction(Fraction(5, 3), 4), from_fraction(Fraction(1, 2), 4)
    (Decimal('1.6667'), Decimal('0.5'))
    """
    scale = 10**places
    doubled, below = 2 * amount.numerator * scale, 2 * amount.denominator
    units = (abs(doubled) + amount.denominator) // below
    digits = Decimal(units if amount >= 0 else -units)
    return plain(EXACT.scaleb(digits, -places))


def plain(amount: Decimal) -> Decimal:
    """`amount` without trailing zeros and without an exponent.

    >>> plain(Decimal("13.3750")), plain(Decimal("1E+2"))
    (Decimal('13.375'), Decimal('100'))
    """
    short = EXACT.normalize(amount)
    return EXACT.quantize(short, step(0)) if not places_of(short) else short


def total(amounts: list[Decimal]) -> Decimal:
    """The exact sum, whatever the host's decimal context.

    >>> total([Decimal("0.1")] * 3)
    Decimal('0.3')
    """
    result = Decimal(0)
    for amount in amounts:
        result = add(result, amount)
    return result


def text(amount: Decimal) -> str:
    """The digits of `amount`, never with an exponent.

    >>> text(Decimal("6.25E-7"))
    '0.000000625'
    """
    return format(amount, "f")
