"""`ratecard schema`: what editors check tables by."""

from pathlib import Path

import click

from ratecard.schema import schema_text


@click.command(short_help="Print the JSON Schema of the tables.")
@click.option("--out", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write to this file.")
def schema(out: Path | None) -> None:
    """Print the JSON Schema by which editors check and complete rate tables.

    Each table names it in its first line; `make schema` writes it to pricing_tables/schema.json.
    """
    if out is None:
        click.echo(schema_text(), nl=False)
        return
    out.write_text(schema_text(), encoding="utf-8")
    click.echo(f"Wrote {out}", err=True)
