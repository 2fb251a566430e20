"""`ratecard import`: write another price list into a folder of tables."""

from collections.abc import Callable
from datetime import date
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ratecard.cli.commands import Commands
from ratecard.cli.options import EXISTING_FILE, as_json_text, day, json_option, today
from ratecard.price_lists.peer import PriceList
from ratecard.price_lists.write import import_list


def import_options(command: Callable[..., PriceList]) -> Callable[..., None]:
    """Turn a function that reads a price list into a command that writes the list into `--out` and prints a report."""

    @click.option(
        "--out",
        required=True,
        metavar="FOLDER",
        type=click.Path(file_okay=False, path_type=Path),
        help="A new folder, or that of an earlier import of this list.",
    )
    @click.option(
        "--effective",
        type=day,
        default=today,
        show_default="today",
        help="The first day of changes to which the list gives no date.",
    )
    @click.option("--strict", is_flag=True, help="Exit with status 1 if a model that has a price is left out.")
    @json_option
    @wraps(command)
    def run(out: Path, effective: date, strict: bool, as_json: bool, **options: Any) -> None:
        imported = import_list(command(**options), out, effective=effective, checked=today())
        click.echo(as_json_text(imported) if as_json else f"{imported}\n", nl=False)
        if strict and imported.inexpressible:
            raise SystemExit(1)

    return run


@click.group("import", cls=Commands, short_help="Write another price list into tables.")
def import_() -> None:
    """Write another price list into a folder of tables, whole or not at all.

    \b
    ratecard import genai-prices --out market
    ratecard import litellm model_prices.json --out market2
    ratecard import models.dev api.json --out market3

    One file a provider, ids like openai/gpt-5, each version with examples that prove it. A model without
    an exact price is left out; the file left-out.txt beside the tables names it, with the reason.

    Imported again into the same folder, a list adds lines for what has changed, and alters none: versions from the
    list's own date, else from --effective on; a model that is no longer on the list is retired on that day.
    """


@import_.command("genai-prices", short_help="The installed package genai-prices.")
@import_options
def genai_prices() -> PriceList:
    """Import the prices of the installed package genai-prices (`pip install genai-prices`).

    Conditions have the names that its price_context has: processing, service_tier, speed, route, search_type.
    """
    from ratecard.price_lists.genai_prices import installed_list

    return installed_list()


@import_.command("litellm", short_help="The JSON of litellm.")
@click.argument("file", type=EXISTING_FILE)
@import_options
def litellm(file: Path) -> PriceList:
    """Import FILE, the JSON of litellm's model prices (`model_prices_and_context_window.json`).

    Ids are those of the file, after the name of their provider. Conditions: service_tier, data_residency,
    vertex_location, inference_geo, speed, search_context_size, resolution, image_size.
    """
    from ratecard.price_lists.litellm import read_litellm

    return read_litellm(file)


@import_.command("models.dev", short_help="The JSON of models.dev.")
@click.argument("file", type=EXISTING_FILE)
@import_options
def models_dev(file: Path) -> PriceList:
    """Import FILE, the JSON of models.dev (its `api.json`): tokens, by the length of the prompt."""
    from ratecard.price_lists.models_dev import read_models_dev

    return read_models_dev(file)
