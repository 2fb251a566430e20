"""`ratecard explain`: where the prices of a model come from."""

import json
from datetime import datetime
from pathlib import Path

import click
from babel import Locale

from ratecard.base.errors import QuoteError
from ratecard.cli.options import at_option, book, json_option, locale_option, tables_option
from ratecard.cli.screen import money, paragraph, show_table
from ratecard.views.explain import Explanation
from ratecard.views.explain import explain as explain_model


@click.command(short_help="Show where the prices of a model come from.")
@click.argument("model")
@tables_option
@at_option
@locale_option
@json_option
def explain(model: str, tables: Path | None, at: datetime, locale: Locale, as_json: bool) -> None:
    """Show where the prices of MODEL come from: its version in effect, and the file:line of every rate."""
    try:
        found = explain_model(book(tables, at), model)
    except QuoteError as error:
        click.echo(error.to_json() if as_json else str(error), err=not as_json)
        raise SystemExit(1) from None
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(found, locale)


def _show(found: Explanation, locale: Locale) -> None:
    """Print an explanation for people."""
    click.echo(f"{found.name} ({found.model}), {found.currency}")
    for name, value in found.facts.items():
        click.echo(paragraph(f"{name}: {value}", indent="  "))
    if found.accepts:
        click.echo("\nA request may say")
    for name, value in found.accepts.items():
        click.echo(paragraph(f"  {name}: {value}", indent="    "))
    for charge in found.charges:
        click.echo(f"\n{charge.charge}: {charge.method}, a rate per {charge.unit}")
        if charge.method == "token-formula":
            click.echo("  tokens: seconds x width x height x frames_per_second / pixels_per_token")
        for name, value in charge.options.items():
            click.echo(paragraph(f"  {name}: {value}", indent="    "))
        show_table(
            ("Rate", "Made of", "Source", "For"),
            [
                (money(rate.unit_rate, found.currency, locale), rate.made_of, rate.source, rate.attributes)
                for rate in charge.rates
            ],
            right=("Rate", "Made of"),
        )
