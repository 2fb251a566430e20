"""`ratecard quote`: the price of one request, or of a file of them."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from babel import Locale

from ratecard.doors.cli.batch import answer_batch
from ratecard.doors.cli.money_text import money, number
from ratecard.doors.cli.options import at_option, book, json_option, locale_option, tables_option
from ratecard.doors.cli.screen import show_table
from ratecard.rating.quote import Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.body import Body
from ratecard.requests.text_body import body_of_text
from ratecard.requests.video_fields import FIELD_ORDER
from ratecard.words.errors import QuoteError


class _Source(click.ParamType[SourceVideo]):
    name = "source"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> SourceVideo:
        try:
            parts = dict(part.split("=", 1) for part in value.split(","))
            return SourceVideo(**parts)
        except (ValueError, TypeError) as error:
            self.fail(f"'{value}' ({error}). Write seconds=10,width=854,height=480,fps=30", param, ctx)


def _field_options(command: Any) -> Any:
    for name in reversed(FIELD_ORDER):
        command = click.option(f"--{name.replace('_', '-')}", name, metavar="VALUE", help=f"Field `{name}`.")(command)
    return command


@click.command()
@click.argument("body", required=False)
@_field_options
@click.option("--source", type=_Source(), help="Source video: seconds=10,width=854,height=480,fps=30.")
@click.option("--batch", type=click.Path(path_type=Path, allow_dash=True), help="A file of bodies: JSON lines or CSV.")
@tables_option
@at_option
@locale_option
@json_option
def quote(
    body: str | None,
    source: SourceVideo | None,
    batch: Path | None,
    tables: Path | None,
    at: datetime,
    locale: Locale,
    as_json: bool,
    **fields: str | None,
) -> None:
    """Quote a request: BODY is JSON, @FILE, or - for standard input; or name its fields as options.

    \b
    ratecard quote --model seedance-2-5-text-to-video-basic --duration 5s --resolution 720p --aspect-ratio 16:9
    ratecard quote '{"model": "ovi-image-to-video"}' --json
    ratecard quote @body.json --at 2026-10-01 --locale de_DE
    ratecard quote --batch bodies.jsonl > answers.jsonl

    --json prints what the API answers. --batch answers every row with one line of JSON, bad rows in their place, and
    exits with 1 if there were any.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if sum((body is not None, bool(given), batch is not None)) != 1:
        raise click.UsageError("Give one of: a JSON body, fields such as --model, or --batch FILE")
    prices = book(tables, at)
    if batch is not None:
        bad = answer_batch(prices, batch)
        raise SystemExit(1 if bad else 0)
    try:
        quoted = prices.quote_video(body_of_text(given) if body is None else _read(body), source=source)
    except QuoteError as error:
        click.echo(error.to_json() if as_json else str(error), err=not as_json)
        raise SystemExit(1) from None
    if as_json:
        click.echo(quoted.to_json())
    else:
        show(quoted, locale)


def _read(body: str) -> Body:
    if body == "-":
        return sys.stdin.buffer.read()
    if not body.startswith("@"):
        return body
    try:
        return Path(body[1:]).read_bytes()
    except OSError as error:
        raise click.UsageError(f"Cannot read {body[1:]}: {error.strerror}") from None


def show(quoted: Quote, locale: Locale) -> None:
    """A quote as a table for people."""
    show_table(
        ("Line item", "Quantity", "Unit", "Unit rate", "Amount", "Source"),
        [
            (
                f"{line.sku}\n  {line.note}" if line.note else line.sku,
                number(line.quantity, locale),
                line.unit,
                money(line.unit_rate, quoted.currency, locale),
                money(line.amount, quoted.currency, locale),
                line.source,
            )
            for line in quoted.lines
        ],
        right=("Quantity", "Unit rate", "Amount"),
    )
    click.echo(
        f"Total {money(quoted.total, quoted.currency, locale)}   (exact {money(quoted.exact, quoted.currency, locale)})"
    )
    if quoted.ignored:
        click.echo(f"Without effect on this price: {', '.join(quoted.ignored)}")
    click.echo(f"Prices of {quoted.effective}, tables {quoted.digest}")
