"""Rounds amounts for display so that what is shown adds up: the method of the largest remainder."""

from collections.abc import Sequence
from decimal import Decimal
from math import floor

from ratecard.words.money import EXACT, round_half_up, total

# Amounts of one row: the current one first, then that of each candidate.
Amounts = Sequence[Decimal]


def apportion(amounts: Amounts, places: int, whole: Decimal | None = None) -> tuple[Decimal, ...]:
    """Amounts with so many decimals that add up to `whole`: their exact sum, rounded half-up, unless it is given.

    Every amount is rounded down, and the units that are then missing go to the largest remainders; of equal ones to
    the first. So no amount moves by a unit or more, none changes its sign, and zero stays zero. A `whole` that is given
    is less than one unit away from the exact sum.

    >>> apportion([Decimal("0.333"), Decimal("0.333"), Decimal("0.334")], 2)
    (Decimal('0.33'), Decimal('0.33'), Decimal('0.34'))
    """
    scaled = [EXACT.scaleb(amount, places) for amount in amounts]
    units = [floor(amount) for amount in scaled]
    remainders = [EXACT.subtract(amount, Decimal(unit)) for amount, unit in zip(scaled, units, strict=True)]
    target = round_half_up(total(list(amounts)), places) if whole is None else whole
    missing = int(EXACT.scaleb(target, places)) - sum(units)
    for index in sorted(range(len(units)), key=remainders.__getitem__, reverse=True)[:missing]:
        units[index] += 1
    return tuple(EXACT.scaleb(Decimal(unit), -places) for unit in units)


def apportion_rows(rows: Sequence[Amounts], totals: Amounts, places: int) -> tuple[tuple[Decimal, ...], ...]:
    """Rows of amounts whose columns add up to the rounded totals, and so do the changes from the first column.

    What is rounded is the current amount and each change, so that what does not change is shown without one, and a rise
    never as a fall. A candidate's amount is then the sum of both, less than two units from the exact one.

    >>> rows = [(Decimal("0.4"), Decimal("0.4")), (Decimal("0.4"), Decimal("0.9"))]
    >>> apportion_rows(rows, (Decimal("0.8"), Decimal("1.3")), 0)
    ((Decimal('1'), Decimal('1')), (Decimal('0'), Decimal('0')))
    """
    if not rows:
        return ()
    whole, *wholes = (round_half_up(amount, places) for amount in totals)
    current = apportion([row[0] for row in rows], places, whole)
    columns = [current]
    for side, rounded in enumerate(wholes, 1):
        changes = [EXACT.subtract(row[side], row[0]) for row in rows]
        shown = apportion(changes, places, EXACT.subtract(rounded, whole))
        columns.append(tuple(EXACT.add(one, change) for one, change in zip(current, shown, strict=True)))
    return tuple(zip(*columns, strict=True))
