"""The rows of a ledger in CSV, one at a time."""

import csv
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from ratecard.ledger.errors import LedgerError
from ratecard.ledger.writing import COLUMNS, DETAILS, PRICES

REQUIRED = COLUMNS[:6]


def csv_rows(file: TextIO) -> Iterator[Mapping[str, Any]]:
    """Each line by its heading, in the shape of a JSON row; the count may be called `unit` or `units`."""
    reader = csv.DictReader(file, strict=True)
    try:
        heading = reader.fieldnames or ()
        if twice := [name for name in dict.fromkeys(heading) if heading.count(name) > 1]:
            raise LedgerError(f"the heading has {', '.join(twice)} twice")
        # Either price will do: each row says in its currency which one it must have.
        names = {"units": "unit", PRICES[1]: PRICES[0]}
        named = {names.get(name, name) for name in heading}
        missing = [name for name in REQUIRED if name not in named]
        if missing:
            raise LedgerError(f"the heading has no {', '.join(missing)}")
        for number, row in enumerate(reader, 1):
            if None in row:
                raise LedgerError(f"row {number} has more cells than the heading")
            yield row | {"inferenceDetails": {name: row[name] for name in DETAILS if row.get(name)}}
    except csv.Error as error:
        raise LedgerError(f"after line {reader.line_num}: not CSV: {error}") from None
