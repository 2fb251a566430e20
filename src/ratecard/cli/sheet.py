"""`ratecard sheet`: print every price of a model, or of all models."""

import csv
import io
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click

from ratecard.cli.options import at_option, book, tables_option
from ratecard.views.sheet import SHEET_COLUMNS, price_cells


@click.command(short_help="Print every price of a model, or of all.")
@click.argument("models", nargs=-1)
@click.option("--format", "kind", type=click.Choice(["csv", "json", "markdown"]), default="csv", show_default=True)
@tables_option
@at_option
def sheet(models: tuple[str, ...], kind: str, tables: Path | None, at: datetime) -> None:
    """Print every price cell of MODELS (of all models where none is named).

    A source video and a reference clip of ten seconds stand for all lengths. Columns that are empty for all models
    named are left out.
    """
    prices = book(tables, at)
    names = models or [model.model for model, _ in prices.in_effect_all()]
    rows = [cell.row() for name in names for cell in price_cells(prices, name)]
    columns = [column for column in SHEET_COLUMNS if any(row[column] for row in rows)]
    click.echo(_WRITERS[kind](columns, [{column: row[column] for column in columns} for row in rows]), nl=False)


def _csv(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _json(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    return json.dumps([{key: value for key, value in row.items() if value} for row in rows], indent=1) + "\n"


def _markdown(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    lines = [
        columns,
        ["---"] * len(columns),
        *([row[column].replace("|", r"\|") for column in columns] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_WRITERS = {"csv": _csv, "json": _json, "markdown": _markdown}
