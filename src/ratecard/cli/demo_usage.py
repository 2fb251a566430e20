"""`ratecard demo-usage`: make up usage to try simulations with."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from ratecard.base.messages import plural
from ratecard.base.money import read_decimal
from ratecard.card import load_rate_card
from ratecard.cli.options import as_wrong_use, day, tables_option
from ratecard.cli.simulate_progress import counted
from ratecard.simulation.demo_usage import BAD_SHARE, CUSTOMERS, FRACTIONAL_SHARE, MOST_CUSTOMERS, MOST_ROWS
from ratecard.simulation.demo_usage import demo_usage as write_demo_usage


def _share(given: str | Decimal) -> Decimal:
    share = read_decimal(str(given))
    if not share.is_finite() or not 0 <= share <= 1:
        raise click.BadParameter(f"'{given}' is not a part of all rows. Write a number from 0 to 1, like 0.001")
    return share


@click.command("demo-usage", short_help="Make realistic usage up, to try simulations.")
@click.option("--rows", type=click.IntRange(1, MOST_ROWS), required=True, help="How many requests.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="File to write.")
@click.option(
    "--seed", type=click.IntRange(0, MOST_ROWS), default=0, show_default=True, help="Another seed makes other rows."
)
@click.option(
    "--customers",
    type=click.IntRange(1, MOST_CUSTOMERS),
    default=CUSTOMERS,
    show_default=True,
    help="How many customers; a few of them send most.",
)
@click.option(
    "--until", type=day, show_default="60 days after the last change", help="Day on which usage ends, like 2026-11-01."
)
@click.option(
    "--bad-share", type=_share, default=BAD_SHARE, show_default=True, metavar="PART", help="Part that has no price."
)
@click.option(
    "--fractional-share",
    metavar="PART",
    type=_share,
    default=FRACTIONAL_SHARE,
    show_default=True,
    help="Part that is reference video with a fraction of a second.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@tables_option
def demo_usage(rows: int, out: Path, force: bool, tables: Path | None, **given: Any) -> None:
    """Make up realistic usage of every model that has a price.

    \b
    ratecard demo-usage --rows 1000000 --out usage.parquet
    ratecard demo-usage --rows 5000 --out usage.csv --bad-share 0

    The ending of --out decides: .parquet, .csv or .jsonl. A row is one request (of RPC, one call), in the order of
    time from the first version of the tables on: type, model, timestamp in UTC, request_id, customer, api_key,
    region, and a column for each field that a request can have. The same seed makes the same rows.

    About 70 % are text, 8 % RPC, 8 % images, 6 % video. A few rows have no price, as in real records: unknown and
    retired models, more cached tokens than the prompt has, values that a model does not offer. Models that charge
    counts (pages, sessions, ...) have no rows, unless a usage may leave these out.
    """
    if out.exists() and not force:
        raise click.UsageError(f"{out} exists already. Name another file, or replace it: --force")
    with counted("Rows", rows) as watch, as_wrong_use(ValueError):
        first, last = write_demo_usage(out, rows, card=load_rate_card(tables), watch=watch, **given)
    click.echo(f"Wrote {out}: {plural(rows, 'row')}, {first} to {last}", err=True)
