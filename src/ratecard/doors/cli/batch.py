"""Many bodies: JSON lines or CSV in, one JSON answer a line out, in the same order."""

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ratecard.card import PriceBook
from ratecard.requests.body import INVALID, Body
from ratecard.requests.text_body import body_of_text
from ratecard.words.errors import QuoteError

_SAMPLE = 4096


def answer_batch(prices: PriceBook, path: Path) -> int:
    """Answer every body of a file on standard output; how many were refused, which is said on standard error."""
    try:
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise click.UsageError(f"Cannot read {path}: {error.strerror}") from None
    rows = list(_csv_rows(content) if _is_csv(path, content) else _json_lines(content))
    out, bad = sys.stdout.buffer, 0
    with _progress() as progress:
        for row in progress.track(rows, description="Quoting"):
            bad += _answer(prices, row, out)
    out.flush()
    click.echo(f"{len(rows)} rows: {len(rows) - bad} quoted, {bad} refused", err=True)
    return bad


def _answer(prices: PriceBook, row: Body | QuoteError, out: BinaryIO) -> bool:
    try:
        if isinstance(row, QuoteError):
            raise row
        answer = prices.quote_video(row).to_json()
    except QuoteError as error:
        out.write(error.to_json() + b"\n")
        return True
    out.write(answer + b"\n")
    return False


def _is_csv(path: Path, content: bytes) -> bool:
    """By its name; without one, a body of JSON begins with a brace."""
    if path.suffix:
        return path.suffix.lower() == ".csv"
    return not content[:_SAMPLE].lstrip().startswith(b"{")


def _json_lines(content: bytes) -> Iterator[Body]:
    yield from (line for line in content.split(b"\n") if line.strip())


def _csv_rows(content: bytes) -> Iterator[Body | QuoteError]:
    reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig", "replace"), newline=""))
    for row in reader:
        if None in row:
            yield QuoteError(INVALID, [((), f"Row {reader.line_num} has more cells than the heading")])
        else:
            yield body_of_text({name: text or "" for name, text in row.items()})


def _progress() -> Progress:
    """A bar on a terminal, and nothing where standard error is a file."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
