"""`ratecard quote`: the price of one request, or of a file of them."""

import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from babel import Locale

from ratecard.doors.cli.batch import answer_batch
from ratecard.doors.cli.money_text import money, number
from ratecard.doors.cli.options import at_option, book, json_option, locale_option, tables_option
from ratecard.doors.cli.screen import align, heading_style, width
from ratecard.rating.quote import Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.body import Body, read_body
from ratecard.requests.text_body import body_of_text
from ratecard.requests.video_fields import FIELD_ORDER
from ratecard.words.errors import QuoteError

# What a value of each field looks like, for people who see the command for the first time.
_LIKE = {
    "model": "id of the model, see `ratecard models`",
    "duration": "5s, 1 gen, or auto",
    "aspect_ratio": "16:9, or adaptive",
    "resolution": "720p",
    "upscale_factor": "1, 2 or 4",
    "enhancement_model": "Proteus",
    "target_fps": "16 to 120",
    "slowdown_factor": "1, 2, 4 or 8",
    "audio": "true or false",
    "video_url": "address of the video to process",
    "reference_video_total_duration": "seconds of reference video, like 7.5",
}


def source_video(given: str | SourceVideo) -> SourceVideo:
    """`seconds=10,width=854,height=480,fps=30`, or a part of it."""
    if isinstance(given, SourceVideo):
        return given
    names = ("seconds", "width", "height", "fps")
    parts = [part.partition("=") for part in given.replace(" ", "").split(",")]
    try:
        if len({name for name, _, _ in parts}) < len(parts) or any(name not in names for name, _, _ in parts):
            raise ValueError(f"each of {', '.join(names)} at most once, and nothing else")
        return SourceVideo(**{name: value for name, _, value in parts})
    except ValueError as error:
        raise click.BadParameter(f"'{given}' ({error}). Write seconds=10,width=854,height=480,fps=30") from None


def _field_options(command: Any) -> Any:
    for name in reversed(FIELD_ORDER):
        option = click.option(f"--{name.replace('_', '-')}", name, metavar="VALUE", help=f"{_LIKE[name]}.")
        command = option(command)
    return command


@click.command(short_help="Quote one request, or a file of them.")
@click.argument("body", required=False)
@_field_options
@click.option(
    "--source", type=source_video, metavar="VIDEO", help="Video to process: seconds=10,width=854,height=480,fps=30."
)
@click.option("--probe", "probing", is_flag=True, help="Fetch video_url, and read what --source would say.")
@click.option("--batch", type=click.Path(path_type=Path, allow_dash=True), help="A file of bodies: JSON lines or CSV.")
@tables_option
@at_option
@locale_option
@json_option
def quote(
    body: str | None,
    source: SourceVideo | None,
    probing: bool,
    batch: Path | None,
    tables: Path | None,
    at: datetime,
    locale: Locale,
    as_json: bool,
    **fields: str | None,
) -> None:
    """Quote a request: BODY is JSON, @FILE, or - for standard input; or name its fields as options.

    \b
    ratecard quote --model kling-o3-pro-text-to-video --duration 5s
    ratecard quote '{"model": "ovi-image-to-video"}' --json
    ratecard quote @body.json --at 2026-10-01 --locale de_DE
    ratecard quote --batch bodies.jsonl > answers.jsonl

    --json prints what the API answers. --batch answers every row with one line of JSON, bad rows in their place, and
    exits with 1 if there were any. The first line of a CSV names the fields.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if sum((body is not None, bool(given), batch is not None)) != 1:
        raise click.UsageError("Give one of: a JSON body, fields such as --model, or --batch FILE")
    if batch is not None:
        if source is not None or probing:
            raise click.UsageError("--source and --probe are for the video of one request; a batch has many")
        bad = answer_batch(book(tables, at), batch)
        raise SystemExit(1 if bad else 0)
    if probing and source is not None:
        raise click.UsageError("Give one of --source and --probe")
    sent = body_of_text(given) if body is None else _read(body)
    try:
        if probing:
            sent = read_body(sent)
            source = _probed(sent)
        quoted = book(tables, at).quote_video(sent, source=source)
    except QuoteError as error:
        click.echo(error.to_json() if as_json else str(error), err=not as_json)
        raise SystemExit(1) from None
    if as_json:
        click.echo(quoted.to_json())
    else:
        show(quoted, locale)


def _probed(body: Mapping[str, Any]) -> SourceVideo | None:
    """What is read of the video of a body; None where it names none, which the quote then judges."""
    if not isinstance(body.get("video_url"), str):
        return None
    from ratecard.probe import probe

    try:
        return probe(body["video_url"])
    except ImportError as error:
        raise click.UsageError(str(error)) from None


def _read(body: str) -> Body:
    if body == "-":
        return sys.stdin.buffer.read()
    if not body.startswith("@"):
        return body
    try:
        return Path(body[1:]).read_bytes()
    except (OSError, ValueError) as error:
        raise click.UsageError(f"Cannot read {body[1:]}: {getattr(error, 'strerror', error)}") from None


def show(quoted: Quote, locale: Locale) -> None:
    """A quote as a bill: each SKU on a line of its own, below it where its rate stands and what it comes to."""

    def amount(value: Any) -> str:
        return money(value, quoted.currency, locale)

    rows = [
        (
            f"  {line.source}",
            f"{number(line.quantity, locale)} {line.unit}",
            amount(line.unit_rate),
            amount(line.amount),
        )
        for line in quoted.lines
    ]
    sums = [("Total", "", "", amount(quoted.total))]
    if quoted.exact != quoted.total:
        sums.insert(0, ("Exact", "", "", amount(quoted.exact)))
    widest = min(max(len(line.sku) for line in quoted.lines), width() or sys.maxsize)
    head, *body = align([("Line item", "Quantity", "Unit rate", "Amount"), *rows, *sums], {1, 2, 3}, least=widest)
    rule = "-" * max(len(head), widest)
    click.echo(heading_style(head))
    click.echo(rule)
    for line, row in zip(quoted.lines, body, strict=False):
        click.echo(line.sku)
        click.echo(row)
        if line.note:
            click.echo(f"  ({line.note})")
    click.echo(rule)
    for row in body[len(rows) :]:
        click.echo(row)
    if quoted.ignored:
        click.echo(f"Without effect on this price: {', '.join(quoted.ignored)}")
    click.echo(f"Prices of {quoted.effective}, tables {quoted.digest}")
