"""`ratecard check`: every fault of a folder of tables, and its examples worked again."""

import json
from pathlib import Path

import click

from ratecard.card import RateCard, load_rate_card
from ratecard.doors.cli.options import json_option
from ratecard.examples import work, wrong_examples
from ratecard.words.errors import TableError


@click.command(short_help="Report every fault of a folder of tables.")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option
def check(folder: Path | None, as_json: bool) -> None:
    """Check the tables of FOLDER (the shipped ones where none is named) and run their examples.

    Every fault is printed as file:line, what was given and what is allowed; with faults the exit status is 1.
    """
    try:
        card = _sound(folder)
    except TableError as error:
        click.echo(json.dumps(error.body(), indent=2, ensure_ascii=False) if as_json else str(error))
        if not as_json:
            click.echo(error.body()["error"], err=True)
        raise SystemExit(1) from None
    versions = sum(len(model.versions) for model in card.tables.models.values())
    counts = {"models": len(card.tables.models), "versions": versions, "examples": sum(1 for _ in work(card))}
    if as_json:
        click.echo(json.dumps({**counts, "digest": card.digest}))
    else:
        words = ", ".join(f"{count} {noun if count > 1 else noun[:-1]}" for noun, count in counts.items())
        click.echo(f"Sound: {words}. Digest {card.digest}.")


def _sound(folder: Path | None) -> RateCard:
    """The card of a folder whose tables are sound and whose examples are right."""
    card = load_rate_card(folder)
    wrong = wrong_examples(card)
    if wrong:
        raise TableError(wrong)
    return card
