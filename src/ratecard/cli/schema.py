"""`ratecard schema`: print the JSON Schema for editors."""

from pathlib import Path

import click

from ratecard.views.schema import candidate_schema, schema_text, table_schema

_SCHEMAS = {"tables": table_schema, "candidate": candidate_schema}


@click.command(short_help="Print the JSON Schema of the tables, or of candidates.")
@click.argument("what", type=click.Choice(list(_SCHEMAS)), default="tables")
@click.option("--out", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write to this file.")
def schema(what: str, out: Path | None) -> None:
    """Print the JSON Schema by which editors check and complete rate tables, or candidates.

    Each table names it in its first line; `make schema` writes it to pricing_tables/schema.json. A candidate names its
    own in the same way, `# yaml-language-server: $schema=schema.json`, after

    \b
    ratecard schema candidate --out candidates/schema.json
    """
    words = schema_text(_SCHEMAS[what]())
    if out is None:
        click.echo(words, nl=False)
        return
    out.write_text(words, encoding="utf-8")
    click.echo(f"Wrote {out}", err=True)
