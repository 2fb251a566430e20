"""The dialect of Spark. Its arithmetic raises on overflow in ANSI mode only."""

import re
from collections.abc import Mapping
from datetime import date

from ratecard.base.instants import ROW_INSTANT
from ratecard.requests.fields import URL
from ratecard.simulation.sql import (
    ANY_URL,
    COUNT,
    DECIMAL_DIGITS,
    EARLIEST_DAY,
    LATEST_DAY,
    ColumnType,
    DuckDbSql,
)

# A decimal of at most 15 digits is the shortest text of its nearest double, and no other such decimal has that double.
_SHORT = "DECIMAL(15, 6)"
# A smaller double has an exponent in its shortest text, and no engine adds it up.
_LEAST_PLAIN = "0.0001D"
_WIDE = "DECIMAL(38, 18)"
_LEAST = "CAST('0.000000000000000001' AS DECIMAL(18, 18))"
_DAY = 86_400_000_000
# The low bits of integers are added up separately from the high bits, so that 64 bits hold each sum: the low bits of
# 2**33 rows, the high bits of 2**30 rows of the largest integers. For more rows, Spark raises an error.
_LOW_BITS = 30
_TYPES: dict[str, ColumnType] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    **dict.fromkeys(("float", "double"), "double"),
    **dict.fromkeys(("string", "void"), "text"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "timestamp"),
    "boolean": "boolean",
    "date": "date",
}
_DECIMAL = re.compile(r"decimal\(\d+,(\d+)\)")


def column_type(name: str) -> tuple[ColumnType, int]:
    """Return the column type of a simulation for a type of Spark, and its number of decimals."""
    if match := _DECIMAL.fullmatch(name):
        return "decimal", int(match[1])
    return ("text" if name.startswith(("char(", "varchar(")) else _TYPES.get(name, "other")), 0


class SparkSql(DuckDbSql):
    """The dialect of Spark in ANSI mode, independent of the session's time zone; patterns are raw literals.

    Decimals of different scales are never combined, because Spark would round them silently.
    """

    @staticmethod
    def quoted(name: str) -> str:
        return "`{}`".format(name.replace("`", "``"))

    def matched(self, text: str, pattern: str) -> str:
        return f"{text} RLIKE r'^({pattern})\\z'"

    def whole(self, column: str, type_: ColumnType) -> str:
        number = f"try_cast({column} AS BIGINT)"
        if type_ == "integer":
            return f"CAST({column} AS BIGINT)"
        if type_ == "text":
            digits = f"try_cast(split_part({column}, '.', 1) AS BIGINT)"
            return f"CASE WHEN {self.matched(column, COUNT)} THEN {digits} END"
        if type_ == "double":
            return f"CASE WHEN {number} = {column} THEN {number} END"
        return f"CASE WHEN sign({column} % 1BD) = 0 THEN {number} END"

    def exact(self, column: str, type_: ColumnType) -> str:
        """Return a quantity as a decimal; null for a double of many digits: Java 17 may not give its shortest text."""
        if type_ == "integer":
            return f"CAST({column} AS BIGINT)"
        if type_ == "text":
            plain = self.matched(column, "[0-9]{1,9}([.][0-9]{1,18})?")
            return f"CASE WHEN {plain} THEN try_cast({column} AS {_WIDE}) END"
        if type_ == "double":
            number = f"try_cast({column} AS {_SHORT})"
            plain = f"({column} = 0 OR {column} >= {_LEAST_PLAIN})"
            return f"CASE WHEN CAST({number} AS DOUBLE) = {column} AND {plain} THEN {number} END"
        return f"CASE WHEN sign({column} % {_LEAST}) = 0 THEN try_cast({column} AS {_WIDE}) END"

    def digits(self, column: str) -> str:
        return f"CAST({column} AS STRING)"

    @staticmethod
    def literal(text: str) -> str:
        return "'{}'".format(text.replace("\\", "\\\\").replace("'", "\\'"))

    def looked_up(self, text: str, values: Mapping[str, str]) -> str:
        listed = ", ".join(f"{self.literal(key)}, {self.literal(value)}" for key, value in values.items())
        return f"try_element_at(map({listed}), {text})"

    def total(self, number: str, condition: str, places: int, apart: bool = False) -> str:
        chosen = f"CASE WHEN {condition} THEN {number} END"
        if places:
            type_ = f"DECIMAL({DECIMAL_DIGITS}, {places})"
            return f"coalesce(sum(CAST({chosen} AS {type_})), CAST(0 AS {type_}))"
        # A sum of decimals makes a decimal for each row, which takes many times as long as a sum of integers.
        type_ = f"DECIMAL({DECIMAL_DIGITS}, 0)"
        high = f"CAST(coalesce(sum(shiftright({chosen}, {_LOW_BITS})), 0) AS {type_}) * {1 << _LOW_BITS}"
        return f"CAST({high} + coalesce(sum({chosen} & {(1 << _LOW_BITS) - 1}), 0) AS {type_})"

    def day(self, column: str, type_: ColumnType) -> str:
        day = self._day(column, type_)
        return f"CASE WHEN {day} BETWEEN DATE '{EARLIEST_DAY}' AND DATE '{LATEST_DAY}' THEN {day} END"

    def _day(self, column: str, type_: ColumnType) -> str:
        if type_ == "date":
            return column
        if type_ == "timestamp":
            return (
                f"CASE WHEN typeof({column}) = 'timestamp_ntz' THEN CAST({column} AS DATE) ELSE {_utc_day(column)} END"
            )
        return (
            f"CASE WHEN NOT {self.matched(column, ROW_INSTANT)} THEN NULL "
            f"WHEN {_with_zone(column)} THEN {_utc_day(f'try_cast({column} AS TIMESTAMP)')} "
            f"ELSE CAST(try_cast({column} AS TIMESTAMP_NTZ) AS DATE) END"
        )

    def instant(self, column: str, type_: ColumnType) -> str:
        return self.day(column, type_)

    def beginning(self, day: date, type_: ColumnType) -> str:
        return f"DATE '{day}'"

    def second(self, column: str, type_: ColumnType) -> str:
        if type_ == "date":
            return "0"
        if type_ == "timestamp":
            return f"CASE WHEN typeof({column}) = 'timestamp_ntz' THEN {_second(column)} ELSE {_utc_second(column)} END"
        local = _second(f"try_cast({column} AS TIMESTAMP_NTZ)")
        return (
            f"CASE WHEN NOT {self.matched(column, ROW_INSTANT)} THEN NULL "
            f"WHEN {_with_zone(column)} THEN {_utc_second(f'try_cast({column} AS TIMESTAMP)')} ELSE {local} END"
        )

    def url(self, column: str) -> str:
        return f"CASE WHEN {column} RLIKE r'{URL}' THEN '{ANY_URL}' ELSE left({column}, 80) END"

    def given(self, columns: Mapping[str, str]) -> str:
        return "named_struct(" + ", ".join(f"'{name}', {column}" for name, column in columns.items()) + ")"


def _with_zone(column: str) -> str:
    return f"{column} RLIKE r':[0-9.]+(Z| UTC|[+-][0-9:]+)\\z'"


def _second(local: str) -> str:
    """Return the second of the day of an instant without a time zone, which is read as UTC."""
    return f"hour({local}) * 3600 + minute({local}) * 60 + second({local})"


def _utc_second(instant: str) -> str:
    return f"CAST(pmod(unix_micros({instant}), {_DAY}) DIV 1000000 AS INT)"


def _utc_day(instant: str) -> str:
    """Return the day of an instant in UTC; a cast to DATE would take the session's time zone."""
    micros = f"unix_micros({instant})"
    return f"date_from_unix_date(CAST(({micros} - pmod({micros}, {_DAY})) DIV {_DAY} AS INT))"
