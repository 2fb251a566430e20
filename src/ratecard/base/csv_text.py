"""Text in CSV that a spreadsheet would run as a formula, and how it stays text."""

import re

# A spreadsheet runs a cell with this beginning as a formula; with an apostrophe before it, the cell is text.
FORMULA, MARK = r"^[=+\-@\t\r\n]", "'"


def text_cell(words: str) -> str:
    """Return a text as a cell of CSV that no spreadsheet runs as a formula; a number is written as it is instead.

    >>> text_cell("=1+1"), text_cell("acme")
    ("'=1+1", 'acme')
    """
    return f"{MARK}{words}" if re.match(FORMULA, words) else words
