"""Tables and paragraphs, for a terminal and for a pipe: a word is never broken, and nothing is cut.

That is why tables are not those of `rich`, which breaks or cuts a word that is wider than its column.
"""

import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from textwrap import wrap

import click
from rich.cells import cell_len

_GAP = "  "
# The least width of a last column on a narrow terminal.
_LEAST = 24


def align(rows: Sequence[Sequence[str]], right: Collection[int] = (), least: int = 0) -> list[str]:
    """Return rows as lines of aligned columns, `right` ones flush right; the first widens until a line has `least`.

    >>> align([("Rate", "For"), ("$0.50", "720p")], right={0})
    [' Rate  For', '$0.50  720p']
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    widths[0] += max(0, least - sum(widths) - cell_len(_GAP) * (len(widths) - 1))
    return [
        _GAP.join(_pad(cell, widths[index], index in right) for index, cell in enumerate(row)).rstrip() for row in rows
    ]


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()) -> None:
    """Print rows under headings. Empty columns are left out; a long last column continues on lines of its own."""
    body = list(rows)
    indexes = [index for index in range(len(headings)) if any(row[index] for row in body)]
    if not indexes:
        return
    columns = [headings[index] for index in indexes]
    cells = _folded([[row[index] for index in indexes] for row in body], columns)
    first, *others = align([columns, *cells], {index for index, heading in enumerate(columns) if heading in right})
    click.echo(heading_style(first))
    click.echo("\n".join(others))


def heading_style(line: str) -> str:
    """Return a heading, which is bold on a terminal."""
    return click.style(line, bold=True)


def width() -> int | None:
    """Return the columns of the terminal; None if the output is not a terminal, and so has no width."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def paragraph(words: str, indent: str = "") -> str:
    """Wrap words to the width of the terminal; further lines begin with `indent`."""
    columns = width()
    if columns is None:
        return words
    return "\n".join(_wrapped(words, columns, indent))


def _wrapped(words: str, columns: int, indent: str = "") -> list[str]:
    broken = wrap(words, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return broken or [""]


def _folded(rows: list[list[str]], headings: Sequence[str]) -> list[list[str]]:
    columns = width()
    if columns is None or not rows:
        return rows
    used = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    left = max(_LEAST, columns - sum(used[:-1]) - cell_len(_GAP) * (len(used) - 1))
    folded = []
    for *cells, last in rows:
        first, *others = _wrapped(last, left)
        folded.append([*cells, first])
        folded += [[*("" for _ in cells), other] for other in others]
    return folded


def _pad(cell: str, columns: int, right: bool) -> str:
    space = " " * (columns - cell_len(cell))
    return space + cell if right else cell + space
