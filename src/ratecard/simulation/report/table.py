"""A table of the report: headings, the kind of each column, rows of plain values, and optionally their total."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

from ratecard.base.money import plain, text
from ratecard.simulation.report.figures import Figures


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
        return self._keeping([index for index, column in enumerate(self.columns) if column.kind is not kind])

    def columns_named(self, *names: str) -> "Table":
        """Return the same table with only these columns, in this order."""
        known = [column.name for column in self.columns]
        return self._keeping([known.index(name) for name in names])

    def _keeping(self, kept: list[int]) -> "Table":
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
