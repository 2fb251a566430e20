"""Conditions on the rows of a usage, and which rows each of them means: the same on every engine."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow

# The numbers of the rows that each condition selects.
WHERE: dict[str, str] = {
    "region = 'eu'": "03",
    "region != 'eu'": "1245",  # a row without a region is not in this one
    "not region = 'eu'": "1245",
    "region = 'eu' or region = 'us' and count > 5": "013",
    "(region = 'eu' or region = 'us') and count > 5": "13",
    "region in ('eu', 'us')": "013",
    "region not in ('eu', 'us')": "245",
    "region is missing": "4",
    "region is not missing and not region in ('eu', 'it''s')": "15",
    "region = 'it''s'": "2",
    "region = 'back\\slash'": "5",
    "region > 'eu'": "12",
    "count >= 10 and count < 1000000000000": "13",
    "count = 10": "1",
    "count = 10.0": "1",
    "count in (1, -5)": "05",
    "count = 1000000000000": "2",
    "count is missing": "4",
    "text_count = 10": "1",
    "text_count > 9.5": "123",
    "text_count != 10": "02345",  # 'many' is not a number
    "price = 0.30": "1",
    "price > 0.299999999999999999": "1235",
    "price < 0": "0",
    "double = 0.3": "1",
    "double < 0.3": "0",
    "double > 1": "25",  # NaN is not a number
    "not double > 1": "0134",
    "double <= 0.3": "01",
    "double != 0.3": "02345",
    "flag = true": "03",
    "flag != true": "1245",
    "text_flag = false": "15",
    "day >= '2026-10-02'": "345",
    "day = '2026-10-01' and not count = 1": "12",
    "AND_or = 'x' Or \"odd name\" = 5": "1",
    "type = 'speech' AND model is not missing": "012345",
}
DAYS: dict[tuple[str | date | None, str | date | None], str] = {
    ("2026-10-02", None): "345",
    (None, date(2026, 10, 2)): "012",
    (date(2026, 10, 2), "2026-10-03"): "34",
}
_INSTANTS = [
    datetime(2026, 10, day, hour, tzinfo=UTC) for day, hour in ((1, 0), (1, 12), (1, 23), (2, 0), (2, 23), (3, 0))
]


def table() -> pyarrow.Table:
    """Six rows, numbered in `row`."""
    cells: dict[str, Any] = {
        "row": list("012345"),
        "type": ["speech"] * 6,
        "model": ["tts-kokoro"] * 6,
        "characters": [1] * 6,
        "timestamp": pyarrow.array(_INSTANTS, pyarrow.timestamp("us", "UTC")),
        "region": ["eu", "us", "it's", "eu", None, "back\\slash"],
        "count": [1, 10, 10**12, 11, None, -5],
        "text_count": ["1", "10", "1000000000000", "11", None, "many"],
        "price": pyarrow.array(
            [Decimal(each) for each in ("-0.1", "0.3", "0.31", "12345678901234567890.5")] + [None, Decimal(1)],
            pyarrow.decimal128(38, 3),
        ),
        "double": [0.1, 0.3, 1e300, float("nan"), None, 5.0],
        "flag": [True, False, None, True, None, False],
        "text_flag": ["true", "false", "maybe", "TRUE", None, "False"],
        "AND_or": [None, "x", None, None, None, None],
        "odd name": [None] * 5 + [4],
    }
    return pyarrow.table(cells)


def of_every_condition() -> tuple[pyarrow.Table, str]:
    """Rows of its own for each condition, numbered in `condition`, and one condition that means all of them."""
    numbers = [str(number) for number in range(len(WHERE)) for _ in range(table().num_rows)]
    rows = pyarrow.concat_tables([table()] * len(WHERE)).append_column("condition", pyarrow.array(numbers))
    return rows, " or ".join(f"condition = '{number}' and ({each})" for number, each in enumerate(WHERE))


def chosen(among: str = "012345") -> set[tuple[str, str]]:
    """The numbers of each condition and of the rows that it means, among some of them."""
    return {(str(number), row) for number, rows in enumerate(WHERE.values()) for row in rows if row in among}
