"""The expressions that differ between the SQL of engines; the query itself is written once, in `groups/queries.py`.

The engine that holds the usage groups it. DuckDB writes the groups as text, so that every engine gives the same digits.
"""

from collections.abc import Mapping
from datetime import date
from typing import Literal, Protocol

# The kinds of a usage column, whatever the engine's names for them are.
ColumnType = Literal["integer", "decimal", "double", "text", "boolean", "timestamp", "date", "other"]

# An instant as text (ISO 8601).
INSTANT = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}"
    "([ T]([01][0-9]|2[0-3]):[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z| UTC|[+-](0[0-9]|1[0-7])(:?[0-5][0-9])?)?)?"
)
# The days that Python has; an engine may hold others, which are not instants.
EARLIEST_DAY, LATEST_DAY = date.min, date.max
# A count as text; `5500.0` is one too.
COUNT = "[0-9]{1,18}([.]0*)?"
# A number as text, for comparisons with another.
NUMBER = "-?[0-9]{1,20}([.][0-9]{1,18})?"
# The digits of a decimal.
DECIMAL_DIGITS = 38
# A share is compared exactly if it is a fraction of no larger integers: products of two of them fit 128 bits.
MOST_OF_SHARE = 10**18
# Every URL is grouped as this one: a price depends on no more.
ANY_URL = "https://video.invalid/"


class Dialect(Protocol):
    """The expressions that group. Each takes a quoted column; its type is the engine's own."""

    def quoted(self, name: str) -> str:
        """Return a column's name as SQL writes it."""

    def whole(self, column: str, type_: ColumnType) -> str:
        """Return a count as a 64-bit integer; null for what is not exactly one."""

    def exact(self, column: str, type_: ColumnType) -> str:
        """Return a quantity as a decimal; null for what no decimal of the layout's places holds."""

    def digits(self, column: str) -> str:
        """Return a value as text; of a decimal all of its digits."""

    def number(self, column: str, type_: ColumnType) -> str:
        """Return a number as it is compared: a double, else a decimal of 18 places; null for what is not one."""

    def literal(self, text: str) -> str:
        """Return a text as SQL writes it."""

    def looked_up(self, text: str, values: Mapping[str, str]) -> str:
        """Return what belongs to a text; null for one that has nothing."""

    def total(self, number: str, condition: str, places: int) -> str:
        """Return the exact sum, 0 of nothing, where a condition holds. It raises if too large, and never wraps."""

    def day(self, column: str, type_: ColumnType) -> str:
        """Return the UTC day of an instant; null for anything else."""

    def instant(self, column: str, type_: ColumnType) -> str:
        """Return an instant as what is compared with the beginning of a UTC day; null where `day` is."""

    def beginning(self, day: date, type_: ColumnType) -> str:
        """Return the beginning of a UTC day as `instant` makes it of a column of this type."""

    def second(self, column: str, type_: ColumnType) -> str:
        """Return how many seconds of its UTC day an instant has passed; null for what is not one."""

    def url(self, column: str) -> str:
        """Return one word for every URL or data URI, the beginning of anything else: a price depends on no more."""

    def given(self, columns: Mapping[str, str]) -> str:
        """Return the values of a row as they are, under these names: an object of the engine, or a record of texts."""
