"""Show people a quote as a bill, or a refusal with the values that are allowed."""

import sys
from collections.abc import Mapping
from typing import Any

import click
from babel import Locale

from ratecard.base.errors import QuoteError
from ratecard.base.messages import REQUIRED
from ratecard.base.money import plain
from ratecard.cli.screen import align, heading_style, width
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.price_book import PriceBook
from ratecard.simulation.report.figures import Figures
from ratecard.views.explain import Working, choices, workings


def show_bill(
    prices: PriceBook, quoted: Quote, fields: Mapping[str, Any], source: SourceVideo | None, locale: Locale
) -> None:
    """Print a quote as a bill: each SKU on a line, below it the place of its rate, quantity, unit rate and amount."""
    figures = Figures(locale, quoted.currency)
    amount = figures.exact
    rows = [
        (
            f"  {line.source}",
            f"{figures.quantity(plain(line.quantity))} {line.unit}",
            amount(line.unit_rate),
            amount(line.amount),
        )
        for line in quoted.lines
    ]
    sums = [("Total", "", "", amount(quoted.total))]
    if quoted.exact != quoted.total:
        sums.insert(0, ("Exact", "", "", amount(quoted.exact)))
    widest = min(max((len(line.sku) for line in quoted.lines), default=0), width() or sys.maxsize)
    head, *body = align([("Line item", "Quantity", "Unit rate", "Amount"), *rows, *sums], {1, 2, 3}, least=widest)
    rule = "-" * max(len(head), widest)
    click.echo(heading_style(head))
    click.echo(rule)
    made = workings(prices, quoted, fields, source)
    for line, row, working in zip(quoted.lines, body, made, strict=False):
        click.echo(line.sku)
        click.echo(row)
        for words in (line.note, *_working(working, figures)):
            if words:
                click.echo(f"  ({words})")
    click.echo(rule)
    for row in body[len(rows) :]:
        click.echo(row)
    if quoted.ignored:
        click.echo(f"Without effect on this price: {', '.join(quoted.ignored)}")
    by = f"contract {quoted.contract}, " if quoted.contract else ""
    click.echo(f"Prices of {quoted.effective}, {by}tables {quoted.digest}")


def _working(working: Working, figures: Figures) -> list[str]:
    """Return how quantity and unit rate of a line were computed, if they are more than a number of the table."""
    words = [" ".join(part if isinstance(part, str) else figures.quantity(part) for part in working.counted)]
    if working.list_rate is not None and working.markup is not None:
        markup = figures.quantity(plain(working.markup))
        words.append(f"list rate {figures.exact(working.list_rate)} x {markup}")
    return words


def refusal_text(error: QuoteError, prices: PriceBook, fields: Mapping[str, Any], likes: Mapping[str, str]) -> str:
    """Return a refusal for people: a required field is followed by its choices.

    `likes` describes a value of a field whose choices the table does not list.
    """
    problems = []
    for path, message in error.problems:
        name = str(path[-1]) if path else ""
        if message == REQUIRED and path:
            if allowed := choices(prices, fields, name):
                message = f"{message}. Choices: {', '.join(allowed)}"
            elif name in likes:
                message = f"{message} ({likes[name]})"
        problems.append((path, message))
    return str(QuoteError(error.error, problems))
