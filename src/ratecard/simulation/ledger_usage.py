"""A billing export as a usage table: a row of the ledger, as the roll-up of a simulation reads it.

An export is known by its columns. All of them stay, to group by; beside them stand the columns of the type `ledger`.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import duckdb

from ratecard.simulation.columns import LEDGER
from ratecard.simulation.failure import SimulationError
from ratecard.words.money import EXACT, add, multiply

_NEEDED = ("timestamp", "sku", "pricePerUnitUsd", "amount", "currency")
_COUNT = ("unit", "units")
# The names of an export that a simulation reads.
EXPORT_NAMES = (*_NEEDED, *_COUNT, "notes", "model")
# What a number of an export may be, to be summed; any other row is priced by itself.
_PLACES = 18
_NUMBER = rf"-?[0-9]{{1,9}}(\.[0-9]{{1,{_PLACES}}})?"
# By no more than half of this may an amount differ from units x price: exports round a line to so many places.
LINE_PLACES = 12
# What a row of a ledger says.
CHARGE, DISPUTED, CREDIT = "charge", "disputed", "credit"


class Export(NamedTuple):
    """The columns of a billing export by what each is, and all of its columns."""

    named: Mapping[str, str]
    columns: Sequence[str]

    @classmethod
    def of(cls, columns: Sequence[str], names: Mapping[str, str]) -> "Export | None":
        """The export that a table is, by its columns or what they stand for; None for usage, which has a `type`."""
        own = {name: names.get(name, name) for name in EXPORT_NAMES}
        named = {name: theirs for name, theirs in own.items() if theirs in columns}
        is_export = all(name in named for name in _NEEDED) and any(name in named for name in _COUNT)
        return cls(named, columns) if is_export and "type" not in (*columns, *names) else None

    @property
    def units(self) -> str:
        """The number of units, which has two names."""
        found = [_text(self.named[name]) for name in _COUNT if name in self.named]
        return f"coalesce({', '.join(found)})"

    @property
    def model(self) -> str:
        """The model: what the notes say, where no column of the export says it."""
        found = next((self.named[name] for name in ("model", "notes") if name in self.named), None)
        return _text(found) if found else "CAST(NULL AS VARCHAR)"

    def numbers(self) -> dict[str, str]:
        """Units, price and amount, as text."""
        return {
            "unit": self.units,
            "pricePerUnitUsd": _text(self.named["pricePerUnitUsd"]),
            "amount": _text(self.named["amount"]),
        }


def ledger_view(connection: duckdb.DuckDBPyConnection, export: Export, table: str) -> str:
    """The query that reads a table as a ledger. Raises `SimulationError` where the table cannot be read."""
    unit, price, amount = export.numbers().values()
    places, price_places = _most_places(connection, table, (unit, amount), (price,))
    regular = " AND ".join(f"coalesce(regexp_full_match({each}, '{_NUMBER}'), FALSE)" for each in (unit, price, amount))
    raw = ", ".join(f"'{name}': {each}" for name, each in export.numbers().items())
    units, rate, charged = _whole(unit, places), _whole(price, price_places), _whole(amount, places)
    further = [_kept(name) for name in export.columns]
    return f"""
        SELECT '{LEDGER}' AS type, {export.model} AS model, {", ".join(further)},
            {_text(export.named["sku"])} AS ledger_sku,
            {_text(export.named["currency"])} AS ledger_currency,
            {price} AS ledger_price,
            CASE WHEN {regular} THEN {_entry(units, rate, charged, places, price_places)} END AS ledger_entry,
            CASE WHEN ledger_entry IS NULL THEN to_json({{{raw}}}) END AS ledger_odd,
            CASE WHEN ledger_entry IS NOT NULL THEN CAST({unit} AS DECIMAL(38,{places})) END AS ledger_units,
            CASE WHEN ledger_entry IS NOT NULL THEN CAST({amount} AS DECIMAL(38,{places})) END AS ledger_amount
        FROM {table}"""


def entry_of(units: Decimal, price: Decimal, amount: Decimal) -> str:
    """What the numbers of one row say: the same as the query, for a row that is priced by itself."""
    if amount > 0 or units < 0 or price < 0:
        return CREDIT
    difference = EXACT.abs(add(multiply(units, price), amount))
    return CHARGE if multiply(difference, Decimal(2 * 10**LINE_PLACES)) <= 1 else DISPUTED


def _entry(units: str, rate: str, charged: str, places: int, price_places: int) -> str:
    """In integers of 10^-places: an amount is minus units x price, up to the rounding of a line; NULL: too long."""
    most = 10 ** max(0, places + price_places - LINE_PLACES) // 2
    difference = f"TRY(abs({units} * {rate} + {charged} * {10**price_places}::HUGEINT))"
    return (
        f"CASE WHEN {charged} > 0 OR {units} < 0 OR {rate} < 0 THEN '{CREDIT}'"
        f" WHEN {difference} <= {most}::HUGEINT THEN '{CHARGE}' WHEN {difference} IS NOT NULL THEN '{DISPUTED}' END"
    )


def _most_places(connection: duckdb.DuckDBPyConnection, table: str, *groups: Sequence[str]) -> list[int]:
    """How many decimals the numbers of some columns have at most: no more are kept, so that sums stay short."""
    most = []
    for numbers in groups:
        places = (
            f"coalesce(max(length(rtrim(split_part({each}, '.', 2), '0')))"
            f" FILTER (regexp_full_match({each}, '{_NUMBER}')), 0)"
            for each in numbers
        )
        most.append(f"greatest({', '.join(places)})")
    try:
        found: Any = connection.execute(f"SELECT {', '.join(most)} FROM {table}").fetchone()
    except duckdb.Error as error:
        raise SimulationError(f"the usage cannot be read: {error}") from None
    return list(found)


def _whole(number: str, places: int) -> str:
    """A number as an integer of 10^-places; its further digits are zeros."""
    digits = f"split_part({number}, '.', 1) || rpad(split_part({number}, '.', 2), {places}, '0')"
    return f"CAST({digits} AS HUGEINT)"


def _kept(name: str) -> str:
    """A column of the export by its name; one that a usage has too by another."""
    return f"{_quoted(name)} AS export_{name.lower()}" if name.lower() in ("type", "model") else _quoted(name)


def _text(name: str) -> str:
    return f"CAST({_quoted(name)} AS VARCHAR)"


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))
