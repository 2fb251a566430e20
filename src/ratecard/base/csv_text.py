"""Cells of CSV: text that a spreadsheet would run as a formula, and rows that do not fit their heading."""

import re
from collections.abc import Mapping
from typing import Any

# A spreadsheet runs a cell with this beginning as a formula; with an apostrophe before it, the cell is text.
FORMULA, MARK = r"^[=+\-@\t\r\n]", "'"


def text_cell(words: str) -> str:
    """Return a text as a cell of CSV that no spreadsheet runs as a formula; a number is written as it is instead.

    >>> text_cell("=1+1"), text_cell("acme")
    ("'=1+1", 'acme')
    """
    return f"{MARK}{words}" if re.match(FORMULA, words) else words


def unfit_row(row: Mapping[Any, Any]) -> str:
    """Return why a row of `csv.DictReader` does not fit its heading; empty for one that does.

    >>> unfit_row({"a": "1", "b": None}), unfit_row({"a": "1", "b": ""})
    ('has fewer cells than the heading. Is the file cut off?', '')
    """
    if None in row:
        return "has more cells than the heading"
    return "has fewer cells than the heading. Is the file cut off?" if None in row.values() else ""


def is_utf8(text: str) -> bool:
    """Return True if no byte of a text was read as a lone surrogate, because it is not UTF-8.

    >>> is_utf8("a"), is_utf8(bytes([97, 233]).decode("utf-8", "surrogateescape"))
    (True, False)
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
