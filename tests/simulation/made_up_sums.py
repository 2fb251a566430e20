"""Rows that were made up, as an engine has them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import duckdb

from ratecard.simulation.amounts import LOST_AND_NEW, QUANTITY_NAMES
from ratecard.simulation.answers.rows import KeySums, Row

_PLACES = 12


def sums_of(rows: Sequence[Row]) -> KeySums:
    """Rows of the current prices and one candidate, each with what only one of both prices."""
    connection = duckdb.connect()
    names = (*(f"quantity{number}" for number in range(len(QUANTITY_NAMES))), "amount0", "amount1")
    columns = ", ".join(f"{name} HUGEINT" for name in (*names, *(f"{name}1" for name in LOST_AND_NEW)))
    connection.execute(f"CREATE TABLE sums (name0 VARCHAR, requests BIGINT, {columns})")

    def whole(amount: Decimal) -> int:
        return int(amount.scaleb(_PLACES))

    values: list[object] = []
    for row in rows:
        apart = row.beside()
        amounts = [*(0 for _ in QUANTITY_NAMES), whole(row.amounts[0]), whole(row.difference())]
        both = apart.lost_requests, whole(apart.lost), apart.new_requests, whole(apart.new), apart.neither
        values += [row.key[0], row.requests, *amounts, *both]
    if rows:
        one = f"({', '.join('?' * (len(values) // len(rows)))})"
        connection.execute(f"INSERT INTO sums VALUES {', '.join([one] * len(rows))}", values)  # noqa: S608

    def ask(query: str) -> list[Any]:
        return connection.execute(query).fetchall()

    return KeySums("sums", 1, (0,) * len(QUANTITY_NAMES), (_PLACES, _PLACES), (1,), ask, lambda query: iter(ask(query)))
