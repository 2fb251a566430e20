"""`ratecard models`, `explain`, `sheet` and `schema`: what the tables say, for people, programs and editors."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from babel import Locale

from ratecard.base.errors import QuoteError
from ratecard.base.messages import plural
from ratecard.cli.modes import CommandOfModes
from ratecard.cli.options import (
    as_json_text,
    book_options,
    json_option,
    locale_option,
    out_option,
    show,
)
from ratecard.cli.screen import paragraph, show_table
from ratecard.methods import METHODS
from ratecard.pages import page_text
from ratecard.price_book import PriceBook
from ratecard.simulation.report.figures import Figures
from ratecard.tables.video import VideoModel
from ratecard.views.explain import Explanation
from ratecard.views.explain import explain as explain_model
from ratecard.views.schema import candidate_schema, schema_text, table_schema
from ratecard.views.sheet import PRICE_COLUMNS, SHEET_COLUMNS, chosen_models, list_prices, price_cells


@click.command(short_help="List the models that have a price.")
@click.argument("part", required=False, default="")
@book_options
@json_option
def models(part: str, book: Callable[[], PriceBook], as_json: bool) -> None:
    """List the models that have a price, those whose id contains PART."""
    listed = [model for model in book().models() if part.lower() in model.model.lower()]
    if as_json:
        rows: list[dict[str, object]] = [
            {
                "id": model.model,
                "name": model.name,
                **({"provider": model.provider} if model.provider else {}),
                **({"aliases": list(model.aliases)} if model.aliases else {}),
                "type": model.type,
                "mode": model.table.mode if isinstance(model.table, VideoModel) else None,
                "currency": model.currency,
                "effective": model.effective.isoformat(),
                "retires": model.retired and model.retired.isoformat(),
            }
            for model in listed
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    if listed:
        rows_shown = [(model.model, model.type, str(model.effective)) for model in listed]
        show_table(("Model", "Type", "Since"), rows_shown)
    for model in listed:
        if model.retired:
            click.echo(f"{model.model} retires on {model.retired}")
    click.echo(plural(len(listed), "model"), err=True)


@click.command(cls=CommandOfModes, short_help="Show where the prices of a model come from.")
@click.argument("model")
@book_options
@locale_option
@json_option
def explain(model: str, book: Callable[[], PriceBook], locale: Locale, as_json: bool) -> None:
    """Show where the prices of MODEL come from: its version in effect, and the file:line of every rate."""
    try:
        explained = explain_model(book(), model)
    except QuoteError as error:
        click.echo(error.to_json() if as_json else str(error), err=not as_json)
        raise SystemExit(1) from None
    if as_json:
        click.echo(as_json_text(explained), nl=False)
    else:
        _show(explained, locale)


def _show(explanation: Explanation, locale: Locale) -> None:
    click.echo(f"{explanation.name} ({explanation.model}), {explanation.currency}")
    for name, value in explanation.facts.items():
        click.echo(paragraph(f"{name}: {value}", indent="  "))
    if explanation.accepts:
        click.echo("\nA request may say")
    for name, value in explanation.accepts.items():
        click.echo(paragraph(f"  {name}: {value}", indent="    "))
    figures = Figures(locale, explanation.currency)
    for charge in explanation.charges:
        click.echo(f"\n{charge.charge}: {charge.method}, a rate per {charge.unit}")
        if formula := METHODS[charge.method].FORMULA:
            click.echo(f"  {formula}")
        for name, value in charge.options.items():
            click.echo(paragraph(f"  {name}: {value}", indent="    "))
        show_table(
            ("Rate", "Made of", "Source", "For"),
            [(figures.exact(rate.unit_rate), rate.made_of, rate.source, rate.attributes) for rate in charge.rates],
            right=("Rate", "Made of"),
        )


@click.command(short_help="Print the price sheet of models, families or all.")
@click.argument("names", metavar="[NAMES]...", nargs=-1)
@click.option(
    "--format", "kind", type=click.Choice(["csv", "json", "markdown", "html"]), default="csv", show_default=True
)
@click.option("--every-request", is_flag=True, help="Instead: every choice that a request has, with its total.")
@book_options
def sheet(names: tuple[str, ...], kind: str, every_request: bool, book: Callable[[], PriceBook]) -> None:
    """Print one row for each price of NAMES: models, families, or patterns like 'kling-*'; of all where none is named.

    A row says what the price is of, per which unit, what it is now, and what it becomes with the next version of the
    model and on which day. A factor of conditions (batch at half of everything) is a row without a unit.

    With --every-request, each combination of values that decides a price has a row with its total. A source video and
    a reference clip of ten seconds stand for all lengths. Columns that are empty for all models named are left out.
    """
    prices = book()
    if every_request:
        models = [model.model for model, _ in chosen_models(prices, names)]
        rows = [cell.row() for name in models for cell in price_cells(prices, name)]
        columns = [column for column in SHEET_COLUMNS if any(row[column] for row in rows)]
    else:
        rows, columns = [price.row() for price in list_prices(prices, names)], list(PRICE_COLUMNS)
    if not rows:
        first = min((model.versions[-1].effective for model in prices.tables.models.values()), default=None)
        since = f" The first prices of these tables are of {first}." if first else ""
        click.echo(f"No price is in effect on {prices.day}.{since}", err=True)
    title = f"Prices of {prices.day}"
    click.echo(_WRITERS[kind](columns, [{column: row[column] for column in columns} for row in rows], title), nl=False)


def _csv(columns: Sequence[str], rows: Sequence[dict[str, str]], title: str) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _json(columns: Sequence[str], rows: Sequence[dict[str, str]], title: str) -> str:
    return json.dumps([{key: value for key, value in row.items() if value} for row in rows], indent=1) + "\n"


def _markdown(columns: Sequence[str], rows: Sequence[dict[str, str]], title: str) -> str:
    cells = ([row[column].replace("|", r"\|") for column in columns] for row in rows)
    lines = [columns, ["---"] * len(columns), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _html(columns: Sequence[str], rows: Sequence[dict[str, str]], title: str) -> str:
    return page_text(
        "sheet.html", title=title, columns=columns, rows=rows, numbers=("price", "next price", "total", "exact")
    )


_WRITERS = {"csv": _csv, "json": _json, "markdown": _markdown, "html": _html}


_SCHEMAS = {"tables": table_schema, "candidate": candidate_schema}


@click.command(short_help="Print the JSON Schema of the tables, or of candidates.")
@click.argument("what", type=click.Choice(list(_SCHEMAS)), default="tables")
@out_option
def schema(what: str, out: Path | None) -> None:
    """Print the JSON Schema by which editors check and complete rate tables, or candidates.

    Each table names it in its first line; `make schema` writes it to pricing_tables/schema.json. A candidate names its
    own in the same way, `# yaml-language-server: $schema=schema.json`, after

    \b
    ratecard schema candidate --out candidates/schema.json
    """
    show(schema_text(_SCHEMAS[what]()), out)
