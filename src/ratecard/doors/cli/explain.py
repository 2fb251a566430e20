"""`ratecard explain`: where the prices of a model come from."""

import json
from datetime import datetime
from pathlib import Path

import click
from babel import Locale

from ratecard.doors.cli.money_text import money
from ratecard.doors.cli.options import at_option, book, json_option, locale_option, tables_option
from ratecard.doors.cli.screen import show_table
from ratecard.explain import explain as explain_model


@click.command()
@click.argument("model")
@tables_option
@at_option
@locale_option
@json_option
def explain(model: str, tables: Path | None, at: datetime, locale: Locale, as_json: bool) -> None:
    """Show where the prices of MODEL come from: its version in effect, and the file:line of every rate."""
    found = explain_model(book(tables, at), model)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return
    version = found.version
    click.echo(f"{found.name} ({found.model}), {found.currency}")
    click.echo(f"In effect since {version.effective}, checked {version.checked} against: {version.source}")
    for words, days in (("Earlier versions", found.earlier), ("Later versions", found.later)):
        if days:
            click.echo(f"{words}: {', '.join(map(str, days))}")
    if found.retires:
        click.echo(f"Retires on {found.retires}")
    click.echo()
    for field, values in found.accepts.items():
        click.echo(f"  {field}: {values}")
    click.echo()
    show_table(
        ("Charge", "Method", "For", "Rate", "Per", "Made of", "Source"),
        [
            (
                rate.charge,
                rate.method,
                rate.attributes,
                money(rate.unit_rate, found.currency, locale),
                rate.unit,
                rate.made_of,
                rate.source,
            )
            for rate in found.rates
        ],
        right=("Rate",),
    )
