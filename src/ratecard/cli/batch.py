"""Answer a file of bodies or usages: JSON lines or CSV in, one line of JSON for each row out, in the same order."""

import csv
import io
import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import click

from ratecard.base.csv_text import is_utf8, unfit_row
from ratecard.base.errors import QuoteError
from ratecard.base.messages import MOST_NAMES, plural
from ratecard.cli.simulate_progress import counted
from ratecard.line_items.quote import Quote
from ratecard.requests.body import INVALID

# A line of JSON, the fields of a row of a CSV, or the error of such a row.
_Row = bytes | Mapping[str, Any] | QuoteError
_Price = Callable[[Any], Quote]
OfText = Callable[[Mapping[str, str]], Mapping[str, Any]]

_SAMPLE = 4096
# A cell may hold a data URI of a whole video.
_LONGEST_CELL = 2**31 - 1


def answer_batch(price: _Price, of_text: OfText, done: str, path: Path) -> int:
    """Answer every row of a file on standard output. Returns how many were refused.

    Prints this number on standard error, and the fields that had no effect on a price, which answers do not name.
    `done` is the word for a row that has a price.
    """
    content = _read_rows(path)
    lines = (line for line in content.split(b"\n") if line.strip())
    rows = list[_Row](_csv_rows(content, of_text) if _is_csv(path, content) else lines)
    # On a terminal the answers wait until the progress bar is gone.
    later = io.BytesIO() if sys.stdout.isatty() else None
    out: BinaryIO = later or sys.stdout.buffer
    bad = 0
    ignored = Counter[str]()
    with counted("Quoting", len(rows)) as watch:
        for number, row in enumerate(rows, 1):
            bad += _answer_row(price, row, out, ignored)
            watch(number)
    if later:
        sys.stdout.buffer.write(later.getvalue())
    sys.stdout.buffer.flush()
    words = f"{plural(len(rows), 'row')}: {len(rows) - bad:,} {done}, {bad:,} refused"
    click.echo(words, err=True)
    if ignored:
        most = ignored.most_common(MOST_NAMES)
        names = (f"{name or 'a column without a name'} ({plural(times, 'row')})" for name, times in most)
        further = f" and {len(ignored) - MOST_NAMES:,} more" if len(ignored) > MOST_NAMES else ""
        click.echo(f"Without effect on these prices: {', '.join(names)}{further}", err=True)
    return bad


def _read_rows(path: Path) -> bytes:
    try:
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise click.UsageError(f"Cannot read {path}: {error.strerror}") from None
    return content.removeprefix(BOM_UTF8)


def _answer_row(price: _Price, row: _Row, out: BinaryIO, ignored: Counter[str]) -> bool:
    try:
        if isinstance(row, QuoteError):
            raise row
        quoted = price(row)
    except QuoteError as error:
        out.write(error.to_json() + b"\n")
        return True
    out.write(quoted.to_json() + b"\n")
    ignored.update(quoted.ignored)
    return False


def _is_csv(path: Path, content: bytes) -> bool:
    """Return True for a CSV, by the ending of its name; without one, JSON begins with a brace or a bracket."""
    if path.suffix:
        return path.suffix.lower() == ".csv"
    return not content[:_SAMPLE].lstrip().startswith((b"{", b"["))


def _csv_rows(content: bytes, of_text: OfText) -> Iterator[_Row]:
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.DictReader(io.StringIO(content.decode("utf-8", "surrogateescape"), newline=""), strict=True)
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
    except csv.Error as error:
        raise click.UsageError(f"The heading is not CSV: {error}") from None
    if not is_utf8("".join(names)):
        raise click.UsageError("The heading of the CSV is not UTF-8. Save the file as UTF-8")
    if len(names) == 1 and (mark := next((mark for mark in ";\t" if mark in names[0]), None)):
        raise click.UsageError(f"The heading of the CSV has {mark!r} between its columns. Write commas")
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise click.UsageError(f"The heading of the CSV names '{twice[0]}' twice")
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # An open quotation mark makes all rows after it part of this one.
            yield QuoteError(INVALID, [((), f"Row {reader.reader.line_num} is not CSV: {error}")])
            continue
        words = unfit_row(row) or ("" if is_utf8("".join(row.values())) else "is not UTF-8. Save the file as UTF-8")
        if words:
            yield QuoteError(INVALID, [((), f"Row {reader.line_num} {words}")])
        else:
            try:
                yield of_text({name.strip(): text.strip() for name, text in row.items()})
            except QuoteError as error:
                yield error
