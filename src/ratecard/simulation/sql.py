"""Expressions that differ between the SQL of engines, and how DuckDB writes them; queries are in `groups/queries.py`.

The engine that holds the usage groups it. DuckDB writes the groups as text, so that all engines give the same digits.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Literal

from ratecard.base.instants import ROW_INSTANT
from ratecard.requests.fields import URL

# The kinds of a usage column, whatever the engine's names for them are.
ColumnType = Literal["integer", "decimal", "double", "text", "boolean", "timestamp", "date", "other"]

# The first and the last day of Python; an engine may hold other days, which do not count as instants.
EARLIEST_DAY, LATEST_DAY = date.min, date.max
# A count as text; `5500.0` is one too.
COUNT = "[0-9]{1,18}([.]0+)?"
# A number as text, for comparisons with another.
NUMBER = "-?[0-9]{1,20}([.][0-9]{1,18})?"
# The digits of a decimal.
DECIMAL_DIGITS = 38
# A share is compared exactly if it is a fraction of integers up to this one: a product of two of them fits 128 bits.
MOST_OF_SHARE = 10**18
# All URLs are grouped as this one, because prices do not depend on them.
ANY_URL = "https://video.invalid/"


# Up to this number, a double holds every integer exactly.
_EXACT_DOUBLE = 2**53
_TYPES: dict[str, ColumnType] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), "integer"),
    **dict.fromkeys(("UBIGINT", "HUGEINT", "UHUGEINT"), "decimal"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "double"),
    **dict.fromkeys(("VARCHAR", "UUID", '"NULL"'), "text"),
    "BOOLEAN": "boolean",
    "DATE": "date",
}
_DECIMAL = re.compile(r"DECIMAL\(\d+,(\d+)\)")
# The system's words in DuckDB's message of an error of the disk.
_NOT_WRITTEN = re.compile(r'Could not write file .*": ([^"\n]+)')


def system_reason(error: Exception) -> str:
    """Return the system's words for an error of the disk, which DuckDB puts into its own; empty for other errors."""
    found = _NOT_WRITTEN.search(str(error))
    return found[1] if found else ""


def column_type(name: str) -> tuple[ColumnType, int]:
    """Return the kind of column that a type of DuckDB is, and its number of decimals."""
    if match := _DECIMAL.fullmatch(name):
        return "decimal", int(match[1])
    if name.startswith("TIMESTAMP"):
        return "timestamp", 0
    return ("text" if name.startswith("ENUM") else _TYPES.get(name, "other")), 0


# The microseconds of a day.
_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1)


class DuckDbSql:
    """The expressions that group usage in DuckDB, and the writer of all groups; other engines have dialects of it.

    Each expression takes a quoted column, with a type of the engine. Arithmetic raises on overflow. Casts to decimals
    do not round unnoticed: each result is checked against its source.
    """

    @staticmethod
    def quoted(name: str) -> str:
        """Return a column's name as SQL writes it."""
        return '"{}"'.format(name.replace('"', '""'))

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS VARCHAR)"

    def matched(self, text: str, pattern: str) -> str:
        """Return the condition that all of a text fits a pattern."""
        return f"regexp_full_match({text}, '{pattern}')"

    def whole(self, column: str, type_: ColumnType) -> str:
        """Return a count as a 64-bit integer; null for any other value."""
        if type_ == "integer":  # the sum of two 32-bit counts may not fit 32 bits
            return f"CAST({column} AS BIGINT)"
        if type_ == "text":
            digits = f"TRY_CAST(split_part({column}, '.', 1) AS BIGINT)"
            return f"CASE WHEN {self.matched(column, COUNT)} THEN {digits} END"
        number = f"TRY_CAST({column} AS BIGINT)"
        small = f" AND abs({column}) <= {_EXACT_DOUBLE}" if type_ == "double" else ""
        return f"CASE WHEN {number} = {column}{small} THEN {number} END"

    def exact(self, column: str, type_: ColumnType) -> str:
        """Return a quantity as a decimal; null for a value that does not fit the decimal places of the layout."""
        if type_ in ("integer", "decimal"):
            return column
        digits = self.text(column)
        plain = f"regexp_full_match({digits}, '[0-9]{{1,9}}(\\.[0-9]{{1,18}})?')"
        return f"CASE WHEN {plain} THEN CAST({digits} AS DECIMAL(38,18)) END"

    def digits(self, column: str) -> str:
        """Return a value as text, and a decimal with all of its digits."""
        return self.text(column)

    def number(self, column: str, type_: ColumnType) -> str:
        """Return a number for comparisons: a double, else a decimal of 18 places; null for any other value."""
        if type_ == "double":  # engines order NaN above all numbers, and the statistics of files leave it out
            return f"CASE WHEN NOT isnan({column}) THEN CAST({column} AS DOUBLE) END"
        number = f"TRY_CAST({column} AS DECIMAL(38, 18))"
        return f"CASE WHEN {self.matched(column, NUMBER)} THEN {number} END" if type_ == "text" else number

    @staticmethod
    def literal(text: str) -> str:
        """Return a text as SQL writes it."""
        return "'{}'".format(text.replace("'", "''"))

    def looked_up(self, text: str, values: Mapping[str, str]) -> str:
        """Return the value of a text among `values`; null for a text without one."""
        # Each list of an IN would be joined to every row, even to those that another branch of the CASE decides.
        listed = ", ".join(f"{self.literal(key)}: {self.literal(value)}" for key, value in values.items())
        return f"map_extract_value(MAP {{{listed}}}, {text})"

    def total(self, number: str, condition: str, places: int, apart: bool = False) -> str:
        """Return the exact sum where a condition holds; 0 without rows. It raises on overflow, and never wraps.

        `apart` says that a sum over rows of which none meets the condition is not read.
        """
        # 128 bits hold the sum of any 64-bit integers, so that most need no look at the condition.
        if apart and not places:
            return f"coalesce(sum({number}), 0)"
        return f"coalesce(sum(CASE WHEN {condition} THEN {number} ELSE 0 END), 0)"

    def day(self, column: str, type_: ColumnType) -> str:
        """Return the UTC day of an instant; null for anything else."""
        if type_ == "text":
            day = f"CAST(TRY_CAST({column} AS TIMESTAMPTZ) AS DATE)"
            return f"CASE WHEN {self.matched(column, ROW_INSTANT)} AND {_is_day(day)} THEN {day} END"
        if type_ == "date":
            return f"CASE WHEN {_is_day(column)} THEN {column} END"
        if type_ != "timestamp":
            return "CAST(NULL AS DATE)"
        # The UTC day is made by arithmetic, because a cast would look up the time zone for every row.
        return f"CAST(make_timestamp({self.instant(column, type_)}) AS DATE)"

    def instant(self, column: str, type_: ColumnType) -> str:
        """Return an instant in a form that can be compared with `beginning`; null where `day` is null."""
        # An instant is the microseconds that `day` is made of, so that rows are compared without making their days.
        if type_ != "timestamp":
            return self.day(column, type_)
        first, last = ((day - _EPOCH).days * _DAY for day in (EARLIEST_DAY, LATEST_DAY))
        instant = f"epoch_us({column})"
        return f"CASE WHEN {instant} BETWEEN {first} AND {last + _DAY - 1} THEN {instant} END"

    def beginning(self, day: date, type_: ColumnType) -> str:
        """Return the beginning of a UTC day in the form that `instant` has for a column of this type."""
        return str((day - _EPOCH).days * _DAY) if type_ == "timestamp" else f"DATE '{day}'"

    def second(self, column: str, type_: ColumnType) -> str:
        """Return the seconds from the beginning of the UTC day to an instant; null for any other value."""
        instant = f"epoch_us(TRY_CAST({column} AS TIMESTAMPTZ))" if type_ == "text" else f"epoch_us({column})"
        second = f"({instant} % {_DAY} + {_DAY}) % {_DAY} // 1000000"  # it is positive also before 1970
        if type_ == "text":
            return f"CASE WHEN {self.matched(column, ROW_INSTANT)} THEN {second} END"
        return "0" if type_ == "date" else second

    def url(self, column: str) -> str:
        """Return one word for every URL or data URI, the beginning of anything else: a price depends on no more."""
        return f"CASE WHEN regexp_matches({column}, '{URL}') THEN '{ANY_URL}' ELSE left({column}, 80) END"

    def given(self, columns: Mapping[str, str]) -> str:
        """Return the values of a row as they are, under these names: an object of the engine, or a record of texts."""
        return self.record({name: self.text(column) for name, column in columns.items()})

    def record(self, values: Mapping[str, str]) -> str:
        # Absent values are left out, because most columns belong to other types of requests.
        parts = ", ".join(f"""'"{name}":' || to_json({value})""" for name, value in values.items())
        return f"'{{' || concat_ws(',', {parts}) || '}}'"

    def scaled(self, total: str, places: int) -> str:
        if not places:
            return f"CAST({total} AS HUGEINT)"
        return f"CAST(replace(CAST(CAST({total} AS DECIMAL(38,{places})) AS VARCHAR), '.', '') AS HUGEINT)"

    def decimal(self, number: str, places: int) -> str:
        type_ = f"DECIMAL({DECIMAL_DIGITS},{places})"
        if not places:
            return f"CAST({number} AS {type_})"
        of_text = f"CAST({self.decimal_text(number, places)} AS {type_})"
        if (digits := DECIMAL_DIGITS - places) < 1:
            return of_text
        # A product of decimals is exact, and much faster than text; its digits are those of both factors.
        short = f"{number} BETWEEN {1 - 10**digits} AND {10**digits - 1}"
        unit = f"CAST('0.{'0' * (places - 1)}1' AS DECIMAL({places},{places}))"
        return f"CASE WHEN {short} THEN CAST({number} AS DECIMAL({digits},0)) * {unit} ELSE {of_text} END"

    def decimal_text(self, number: str, places: int) -> str:
        number_text = self.text(number)
        if not places:
            return number_text
        digits = self.text(f"abs({number})")
        padded = f"lpad({digits}, CAST(greatest(length({digits}), {places + 1}) AS INTEGER), '0')"
        sign = f"CASE WHEN {number} < 0 THEN '-' ELSE '' END"
        return f"{sign} || rtrim(rtrim({padded}[:-{places + 1}] || '.' || {padded}[-{places}:], '0'), '.')"

    def matches(self, text: str, pattern: str) -> str:
        return f"regexp_matches({text}, '{pattern}')"


def _is_day(day: str) -> str:
    return f"{day} BETWEEN DATE '{EARLIEST_DAY}' AND DATE '{LATEST_DAY}'"
