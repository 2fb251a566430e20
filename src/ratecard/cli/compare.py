"""`ratecard compare`: our models beside those of another price list."""

from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import click

from ratecard.base.messages import plural
from ratecard.base.money import add
from ratecard.card import RateCard, load_rate_card
from ratecard.cli.options import EXISTING_FILE, FOLDER, as_json_text, at_option, check_out, format_options, show
from ratecard.cli.screen import align, heading_style, paragraph
from ratecard.cli.simulate_options import check_usage, needing
from ratecard.review.market import Market, compare_models, read_matches
from ratecard.review.market_report import (
    HEADINGS,
    MARKET_LEGEND,
    both_lists,
    head,
    market_markdown,
    market_page,
    price_words,
    summary_of_market,
)
from ratecard.review.sides import Side


def market_text(market: Market) -> str:
    """Return the comparison as text: a table for each pair of models."""
    lines = [MARKET_LEGEND, paragraph(both_lists(market), indent="  "), ""]
    lines += [line for pair in _blocks(market) for line in (*pair, "")]
    lines.append(heading_style(paragraph(summary_of_market(market))))
    if market.unmatched:
        lines.append(paragraph(f"Not in the map: {', '.join(market.unmatched)}", indent="  "))
    return "\n".join(lines) + "\n"


def _blocks(market: Market) -> Iterator[list[str]]:
    for pair in market.models:
        sentences = [paragraph(f"    {words}", indent="      ") for words in (pair.reason, *pair.notes) if words]
        rows = [words for words, _ in price_words(pair)]
        table = align([HEADINGS, *rows], right={1, 2, 3, 4}) if rows else []
        yield [heading_style(paragraph(head(pair))), *sentences, *(f"    {line}" for line in table)]


_FORMATS: dict[str, Callable[[Market], str]] = {
    "text": market_text,
    "markdown": market_markdown,
    "json": as_json_text,
    "html": market_page,
}


def _renamed(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in given]
    for theirs, _, ours in pairs:
        if not (theirs and ours):
            raise click.UsageError("--same takes THEIRS=OURS, like processing=service_tier")
    renamed = {theirs: ours for theirs, _, ours in pairs}
    if not len(renamed) == len(set(renamed.values())) == len(pairs):
        raise click.UsageError("--same has a name twice; each of their names takes one of our names")
    return renamed


def _paid(usage: str, ours: RateCard, at: datetime) -> dict[str, Decimal]:
    """Return what recorded usage pays for each name of a model, at the prices of the instant of the comparison.

    Each amount is in the currency of its model. What is not in the amounts is said on the standard error.
    """
    check_usage([usage], None)
    with needing("--usage"):
        # Loaded only here, because it needs the engine.
        from ratecard.simulation.simulate import simulate
    paid, rows, priced, warnings = dict[str, Decimal](), 0, 0, list[str]()
    for currency in sorted({model.currency for model in ours.tables.models.values()}):
        with simulate([usage], Side("ours", ours, at), by=["model"], currency=currency) as simulation:
            rows, priced, warnings = simulation.rows, priced + simulation.priced, simulation.reading.warnings()
            for group in simulation.groups:
                if group.key[0] is not None:
                    paid[group.key[0]] = add(paid.get(group.key[0], Decimal(0)), group.amounts[0])
    if priced < rows:
        warnings.append(f"{rows - priced} of {plural(rows, 'row')} have no price, and are in no amount")
    for words in warnings:
        click.echo(f"Warning: {words}", err=True)
    return paid


@click.command(short_help="Show our prices beside those of another list.")
@click.argument("ours", type=FOLDER)
@click.argument("theirs", type=FOLDER)
@click.option("--map", "path", type=EXISTING_FILE, required=True, help="YAML file of the models to compare.")
@at_option
@click.option(
    "--same",
    multiple=True,
    metavar="THEIRS=OURS",
    help="Their name of a condition, bucket or meter, and our name. May be repeated.",
)
@click.option("--usage", metavar="USAGE", help="Our recorded usage: the models that it pays most for come first.")
@format_options
def compare(
    ours: Path,
    theirs: Path,
    path: Path,
    at: datetime,
    same: tuple[str, ...],
    usage: str | None,
    kind: str,
    out: Path | None,
) -> None:
    """Show the models of folder OURS beside those of folder THEIRS: the price of a unit, and the difference.

    The map names for each of our models the model of the other list, or several.

    \b
    acme-large: openai/gpt-5
    acme-small: [openai/gpt-5-mini, anthropic/claude-haiku-4-5]

    Prices of the same thing are compared (what is counted, the length of the prompt, the conditions), exactly and by
    the same unit. What only one side has is listed, and so are models without a price at that instant, or in another
    currency. A price that a list does not state, but that follows from another of its prices (cached tokens without
    a rate cost what input costs), is marked as implied and not counted. The exit status is 0 whatever differs, and 1
    where the map or a folder has a fault.
    """
    check_out(out, ours, theirs, path, usage)
    names = _renamed(same)
    one, other = load_rate_card(ours), load_rate_card(theirs)
    matches = read_matches(path, one.tables, other.tables)
    paid = _paid(usage, one, at) if usage else None
    market = compare_models(one, other, matches, at=at, renamed=names, labels=(str(ours), str(theirs)), usage=paid)
    show(_FORMATS[kind](market), out)
