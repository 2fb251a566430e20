"""Tables for a terminal. A pipe gets the same table, as wide as its content."""

import sys
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

# Wide enough that no line of a pipe is ever folded.
_PIPE_WIDTH = 400


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Print rows under headings; the columns of `right` are numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        number = heading in right
        table.add_column(
            heading, justify="right" if number else "left", no_wrap=number, overflow="fold", highlight=False
        )
    for row in rows:
        table.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, markup=False, highlight=False)
    console.print(table)
