"""Numbers for readers, and tables of them.

Numbers are rounded by the largest remainder so that they add up, and written as in a locale.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from enum import Enum
from fractions import Fraction
from math import floor
from typing import Any, NamedTuple

from babel import Locale, UnknownLocaleError
from babel.numbers import NumberPattern, get_currency_precision, get_currency_symbol, parse_pattern

from ratecard.base.errors import SimulationError
from ratecard.base.money import (
    EXACT,
    ROUNDING,
    as_decimal,
    from_fraction,
    nearest,
    places_of,
    plain,
    read_decimal,
    round_half_up,
    step,
    text,
    total,
)
from ratecard.simulation.sql import MOST_OF_SHARE

# Fractions without an exact decimal are written with more decimals than any other amount.
FRACTION_PLACES = 12
# Amounts of one row: the current one first, then that of each candidate.
_Amounts = Sequence[Decimal]


def apportion(amounts: _Amounts, places: int, whole: Decimal | None = None) -> tuple[Decimal, ...]:
    """Round amounts to `places` so that they add up to `whole`, by default their exact sum, rounded half-up.

    Every amount is rounded down, and the missing units go to the amounts with the largest remainders, of equal ones to
    the first. So no amount moves by a unit or more or changes its sign, and zero stays zero. A given `whole` must be
    less than one unit away from the exact sum.

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


def adding_up(parts: Sequence[Fraction]) -> list[Decimal]:
    """Convert fractions to decimals that add up: as they are, or by the largest remainder if no decimal holds one.

    The sum itself is exact wherever a decimal holds it, else rounded to twelve places.

    >>> adding_up([Fraction(1, 3), Fraction(2, 3)])
    [Decimal('0.333333333333'), Decimal('0.666666666667')]
    """
    exact, sum_ = list(map(as_decimal, parts)), nearest(sum(parts, Fraction(0)), FRACTION_PLACES)
    if all(isinstance(amount, Decimal) for amount in exact):
        return [amount for amount in exact if isinstance(amount, Decimal)]
    places = max(FRACTION_PLACES, places_of(sum_))
    return list(apportion([from_fraction(part, 2 * places) for part in parts], places, sum_))


def apportion_rows(rows: Sequence[_Amounts], totals: _Amounts, places: int) -> tuple[tuple[Decimal, ...], ...]:
    """Round rows of amounts so that columns, and changes from the first column, add up to the rounded totals.

    The current amounts and the changes are rounded, so that an unchanged amount is shown without a change, and a rise
    never as a fall. A candidate's amount is then the sum of both, less than two units from the exact one.

    >>> rows = [(Decimal("0.4"), Decimal("0.4")), (Decimal("0.4"), Decimal("0.9"))]
    >>> apportion_rows(rows, (Decimal("0.8"), Decimal("1.3")), 0)
    ((Decimal('1'), Decimal('1')), (Decimal('0'), Decimal('0')))
    """
    if not rows:
        return ()
    first, *wholes = (round_half_up(amount, places) for amount in totals)
    current = apportion([row[0] for row in rows], places, first)
    columns = [current]
    for side, rounded in enumerate(wholes, 1):
        changes = [EXACT.subtract(row[side], row[0]) for row in rows]
        apportioned = apportion(changes, places, EXACT.subtract(rounded, first))
        columns.append(tuple(EXACT.add(amount, change) for amount, change in zip(current, apportioned, strict=True)))
    return tuple(zip(*columns, strict=True))


def share_of(part: Decimal | Fraction, whole: Decimal | Fraction) -> Fraction | None:
    """Return a part as a share of the whole; None if the whole is zero."""
    return Fraction(part) / Fraction(whole) if whole else None


ENGLISH = Locale("en", "US")
_PERCENT_PLACES = 2


@dataclass(frozen=True, slots=True)
class Figures:
    """A way to write numbers: for one locale and currency, every amount with `places` decimals.

    Digits are 0 to 9 in every locale: Babel knows the separators of other number systems but not their digits, and a
    mixture of both would be misread.
    """

    locale: Locale
    currency: str
    places: int = 2

    def money(self, amount: Decimal) -> str:
        """Write an amount that is rounded already; what is rounded to nothing has no sign.

        >>> Figures(Locale("de", "DE"), "USD", 2).money(Decimal("1234.50")).replace(chr(0xA0), " ")
        '1.234,50 $'
        >>> Figures(ENGLISH, "USD").money(Decimal("-0.00"))
        '$0.00'
        """
        return self._written(self.locale.currency_formats["standard"], amount or Decimal(0), self.places)

    def change(self, amount: Decimal) -> str:
        """Write an amount with its sign."""
        return _plus(amount) + self.money(amount)

    def exact(self, amount: Decimal) -> str:
        """Write an amount with all of its digits, and at least as many decimals as its currency has.

        >>> [Figures(ENGLISH, "USD").exact(Decimal(each)) for each in ("0.00115", "1.5")]
        ['$0.00115', '$1.50']
        >>> Figures(ENGLISH, "JPY").exact(Decimal("5.00"))
        '¥5'
        """
        short = plain(amount)
        places = max(get_currency_precision(self.currency), places_of(short))
        return self._written(self.locale.currency_formats["standard"], short, places)

    def counted(self, number: int, noun: str) -> str:
        """Write a number with its noun, which has an s unless the number is one.

        >>> Figures(ENGLISH, "USD").counted(1, "row"), Figures(ENGLISH, "USD").counted(1200, "row")
        ('1 row', '1,200 rows')
        """
        return f"{self.count(number)} {noun}{'' if number == 1 else 's'}"

    def rounded(self, amount: Fraction) -> Decimal:
        """Round a fraction to the decimals that are shown."""
        return round_half_up(from_fraction(amount, self.places), self.places)

    def count(self, number: int) -> str:
        """Write a whole number."""
        return self._written(self.locale.decimal_formats[None], Decimal(number), 0)

    def quantity(self, amount: Decimal) -> str:
        """Write a quantity with the decimals that it has.

        >>> Figures(ENGLISH, "USD", 2).quantity(Decimal("10108.30"))
        '10,108.30'
        """
        return self._written(self.locale.decimal_formats[None], amount, places_of(amount))

    def percent(self, share: Fraction | None, *, signed: bool = True) -> str:
        """Write a share of one as percent, half-up to two decimals; empty for None. A change has a sign.

        >>> Figures(ENGLISH, "USD", 2).percent(Fraction(1, 3)), Figures(ENGLISH, "USD", 2).percent(Fraction(-1, 10**6))
        ('+33.33%', '-<0.01%')
        """
        if share is None:
            return ""
        rounded = from_fraction(abs(share), _PERCENT_PLACES + 2)
        small = bool(share) and not rounded
        least = step(_PERCENT_PLACES + 2) if small else rounded
        digits = self._written(
            self.locale.percent_formats[None], least, _PERCENT_PLACES, _PERCENT_PLACES if signed else 0
        )
        sign = "-" if share < 0 else _plus(share) if signed else ""
        return f"{sign}{'<' if small else ''}{digits}"

    @property
    def symbol(self) -> tuple[str, str]:
        """Return the text before and the text behind an amount."""
        before, _, behind = self.locale.currency_formats["standard"].pattern.partition("#")
        symbol = str(get_currency_symbol(self.currency, locale=self.locale))
        return (symbol, "") if "¤" in before else ("", f"\N{NO-BREAK SPACE}{symbol}" if "¤" in behind else "")

    @property
    def separators(self) -> str:
        """Return the decimal mark and the mark of thousands as one text, as charts need it."""
        symbols = self.locale.number_symbols["latn"]
        return f"{symbols['decimal']}{symbols['group']}"

    def _written(self, like: NumberPattern, number: Decimal, places: int, least: int | None = None) -> str:
        pattern = parse_pattern(like.pattern)
        pattern.frac_prec = (places if least is None else least, places)
        with localcontext(ROUNDING):  # Babel computes in the host's context, which may have too few digits.
            return str(pattern.apply(number, self.locale, currency=self.currency, currency_digits=False))


def read_locale(given: str) -> Locale:
    """Read the name of a locale, like `de_DE` or `de-DE`. Raises `SimulationError`."""
    try:
        return Locale.parse(given, sep="-" if "-" in given else "_")
    except (ValueError, UnknownLocaleError):
        raise SimulationError(f"'{given}' is not a locale. Write one like en_US, de_DE, ja_JP, ar_EG") from None


def read_share(given: str) -> Fraction:
    """Read a percentage, `10%`, as a share of one. Raises `SimulationError`.

    >>> read_share("2.5%")
    Fraction(1, 40)
    """
    try:
        share = Fraction(read_decimal(given.removesuffix("%").strip())) / 100
    except (ArithmeticError, ValueError):
        share = Fraction(-1)
    if share < 0 or not given.endswith("%"):
        raise SimulationError(f"'{given}' is not a percentage. Write it like 10%")
    if max(share.numerator, share.denominator) > MOST_OF_SHARE:
        raise SimulationError(f"'{given}' has more than 16 digits before or after the point")
    return share


def _plus(number: Decimal | Fraction) -> str:
    return "+" if number > 0 else ""


class Kind(Enum):
    """The kind of a column, which decides how every format writes it."""

    TEXT = "text"
    DAY = "day"
    COUNT = "count"
    # Rounded amounts that add up, and differences of them; rates and exact amounts have all of their digits.
    MONEY = "money"
    CHANGE = "change"
    # Changes by requests that only one side offers.
    LOST = "lost"
    NEW = "new"
    PERCENT = "percent"
    # A part of something, without a sign.
    SHARE = "share"
    RATE = "rate"
    # A sum of tokens, characters or seconds.
    QUANTITY = "quantity"
    EXACT = "exact"


CHANGES = frozenset({Kind.CHANGE, Kind.LOST, Kind.NEW})
Value = str | int | Decimal | Fraction | None


class LazyRows(Sequence[tuple[Value, ...]]):
    """Rows that are made anew each time they are read, because a workbook may have a million of them."""

    def __init__(self, make: Callable[[], Iterator[tuple[Value, ...]]], size: int) -> None:
        self._make, self._size = make, size

    def __len__(self) -> int:
        """Return the number of rows, without making them."""
        return self._size

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """Make the rows, one at a time."""
        return self._make()

    def __getitem__(self, at: Any) -> Any:
        """Return the row at an index, or the rows of a slice."""
        return tuple(self)[at]


class Column(NamedTuple):
    """A heading, and the kind of the values below it.

    `of` names the column that a change or a share refers to: a change is `part` less that column, a share is `part`
    divided by it. `part` names a column; by default it is the column before.
    """

    name: str
    kind: Kind = Kind.TEXT
    of: str = ""
    part: str = ""


class Table(NamedTuple):
    """Rows of values, one for each column; `total` is a row too. `note` says what a reader must know.

    `tones` has the kind of change of each row (ordinary, lost or new); it is empty if all are ordinary.
    `further` counts rows that are left out.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Value, ...]]
    total: tuple[Value, ...] | None = None
    note: str = ""
    tones: tuple[Kind, ...] = ()
    further: int = 0

    @property
    def size(self) -> int:
        """Return the number of rows, including those that are left out."""
        return len(self.rows) + self.further

    def without(self, kind: Kind) -> "Table":
        """Return the same table without the columns of a kind."""
        return self.columns_at([index for index, column in enumerate(self.columns) if column.kind is not kind])

    def columns_named(self, *names: str) -> "Table":
        """Return the same table with only these columns, in this order."""
        known = [column.name for column in self.columns]
        return self.columns_at([known.index(name) for name in names])

    def columns_at(self, kept: Sequence[int]) -> "Table":
        """Return the same table with only the columns at these places, in this order."""
        rows = tuple(tuple(row[index] for index in kept) for row in self.rows)
        total = self.total and tuple(self.total[index] for index in kept)
        return self._replace(columns=tuple(self.columns[index] for index in kept), rows=rows, total=total)


def unlike(names: Iterable[str], same: Callable[[str], str] = str) -> list[str]:
    """Return unique names of columns, compared by `same`; the second of two equal ones gets a number."""
    unique: list[str] = []
    for name in names:
        heading, number = name, 1
        while same(heading) in map(same, unique):
            number += 1
            heading = f"{name} {number}"
        unique.append(heading)
    return unique


def written(value: Value, kind: Kind, figures: Figures) -> str:
    """Write a value in the reader's locale; an exact amount as digits alone."""
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, Fraction):
        words = figures.percent(value)
        return words.removeprefix("+") if kind is Kind.SHARE else words
    if isinstance(value, int):
        return figures.count(value)
    if kind is Kind.EXACT:
        return text(plain(value))
    if kind is Kind.QUANTITY:
        return figures.quantity(value)
    if kind in CHANGES:
        return figures.change(value)
    return figures.exact(value) if kind is Kind.RATE else figures.money(value)
