"""The JSON pages of a billing export, made into Parquet: read row by row, whatever their size."""

import gzip
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pyarrow
from pyarrow import parquet

from ratecard.ledger.errors import LedgerError
from ratecard.ledger.json_rows import json_rows
from ratecard.ledger.writing import COLUMNS, PRICES
from ratecard.simulation.failure import SimulationError
from ratecard.words.money import text

_BATCH = 50_000
# A number that would be longer than this stays as short as it was: the pricing refuses it, and no memory is filled.
_LONGEST = 60


def are_pages(file: str) -> bool:
    """Whether a JSON file holds pages or lists of ledger rows, and not one usage a line."""
    try:
        with _opened(file) as opened:
            first = next(json_rows(opened), None)
            return opened.tell() > 0 if first is None else "sku" in first and any(name in first for name in PRICES)
    except (LedgerError, UnicodeDecodeError, OSError):
        return False  # whatever it is, the reader of usage says what is wrong with it


def pages_to_parquet(files: Iterable[str], folder: Path) -> list[str]:
    """The Parquet files that hold the rows of these pages, every value as the text that it is.

    Raises `SimulationError` with the file and the line.
    """
    written = [_write(_table([]), folder, "pages")]
    for number, file in enumerate(files):
        try:
            with _opened(file) as opened:
                rows = map(_flat, json_rows(opened))
                while batch := list(islice(rows, _BATCH)):
                    written.append(_write(_table(batch), folder, f"pages-{number}-{len(written)}"))
        except (LedgerError, OSError, EOFError) as error:
            raise SimulationError(f"{file}: {error}") from None
        except UnicodeDecodeError:
            raise SimulationError(f"{file}: is not UTF-8") from None
    return written


def _opened(file: str) -> TextIO:
    path, encoding = Path(file), "utf-8-sig"
    return gzip.open(path, "rt", encoding=encoding) if path.suffix == ".gz" else path.open(encoding=encoding)


def _flat(row: Mapping[str, Any]) -> dict[str, str | None]:
    """A row with its details beside it."""
    details = row.get("inferenceDetails")
    flat = {name: value for name, value in row.items() if name != "inferenceDetails"}
    return {name: _text(value) for name, value in (flat | (details if isinstance(details, dict) else {})).items()}


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return text(value) if value.is_finite() and abs(value.adjusted()) < _LONGEST else str(value)
    return json.dumps(value, default=str)


def _table(rows: list[dict[str, str | None]]) -> pyarrow.Table:
    names = dict.fromkeys((*COLUMNS, *PRICES, *(name for row in rows for name in row)))
    return pyarrow.table({name: pyarrow.array([row.get(name) for row in rows], pyarrow.string()) for name in names})


def _write(table: pyarrow.Table, folder: Path, name: str) -> str:
    file = folder / f"{name}.parquet"
    parquet.write_table(table, file)
    return str(file)
