"""`ratecard models`: list the models that have a price."""

import json
from datetime import datetime
from pathlib import Path

import click

from ratecard.cli.options import at_option, book, json_option, tables_option
from ratecard.cli.screen import show_table
from ratecard.tables.video import VideoModel


@click.command(short_help="List the models that have a price.")
@click.argument("part", required=False, default="")
@tables_option
@at_option
@json_option
def models(part: str, tables: Path | None, at: datetime, as_json: bool) -> None:
    """List the models that have a price, those whose id contains PART."""
    found = [
        (model, version) for model, version in book(tables, at).in_effect_all() if part.lower() in model.model.lower()
    ]
    if as_json:
        rows: list[dict[str, object]] = [
            {
                "id": model.model,
                "name": model.name,
                "type": model.type,
                "mode": model.mode if isinstance(model, VideoModel) else None,
                "currency": model.currency,
                "effective": version.effective.isoformat(),
                "retires": model.retired and model.retired.on.isoformat(),
            }
            for model, version in found
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    if found:
        show_table(
            ("Model", "Type", "Since"),
            [(model.model, model.type, str(version.effective)) for model, version in found],
        )
    for model, _ in found:
        if model.retired:
            click.echo(f"{model.model} retires on {model.retired.on}")
    click.echo(f"{len(found)} model{'' if len(found) == 1 else 's'}", err=True)
