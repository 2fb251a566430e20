"""The groups as CSV and Parquet, written by the engine: a large result does not pass through Python."""

from collections.abc import Callable
from pathlib import Path

import duckdb

from ratecard.simulation.failure import SimulationError
from ratecard.simulation.report.groups_sql import Field, decimal_text, groups_query
from ratecard.simulation.report.report import Report

# The digits of a decimal in Parquet.
_DIGITS = 38
# A spreadsheet runs a cell that begins so as a formula; an apostrophe before it makes it text there.
_FORMULA = r"^[=+\-@\t\r\n]"


def write_csv(report: Report, path: Path) -> None:
    """Every group on a line, its amounts with all of their digits.

    A key that a spreadsheet would run as a formula has an apostrophe before it; Parquet and JSON have it as it is.
    """
    _copy(report, path, "FORMAT csv, HEADER", _csv_value)


def write_parquet(report: Report, path: Path) -> None:
    """Every group as a row, its amounts as decimals with all of their digits.

    Raises `SimulationError` for amounts of more than 38 digits, which Parquet cannot hold.
    """
    try:
        _copy(report, path, "FORMAT parquet", parquet_value)
    except duckdb.ConversionException:
        words = f"the amounts have more than {_DIGITS} digits at {report.simulation.comparison.scale} decimals"
        raise SimulationError(f"{words}, and Parquet holds no more; write .csv or .json") from None


def _copy(report: Report, path: Path, options: str, value: Callable[[Field], str]) -> None:
    source, fields = groups_query(report)
    chosen = ", ".join(f'{value(field)} AS "{field.name.replace(chr(34), chr(34) * 2)}"' for field in fields)
    target = str(path).replace("'", "''")
    connection = report.simulation.comparison.roll_up.workspace.connection
    connection.execute(f"COPY (SELECT {chosen} FROM {source}) TO '{target}' ({options})")


def _csv_value(field: Field) -> str:
    if field.places is None:
        guarded = f"CASE WHEN regexp_matches({field.expression}, '{_FORMULA}') THEN '''' || {field.expression}"
        return f"{guarded} ELSE {field.expression} END"
    return decimal_text(field.expression, field.places)


def parquet_value(field: Field) -> str:
    """A value as Parquet holds it: an amount as a decimal."""
    if field.places is None:
        return field.expression
    if not field.places:
        return f"CAST({field.expression} AS DECIMAL({_DIGITS},0))"
    return f"CAST({decimal_text(field.expression, field.places)} AS DECIMAL({_DIGITS},{field.places}))"
