"""Options that several commands share, and how their text is read."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from babel import Locale

from ratecard.base.errors import InstantError, SimulationError, UnknownContractError
from ratecard.base.instants import read_instant
from ratecard.base.suggestions import did_you_mean
from ratecard.card import load_rate_card
from ratecard.load.folder import UNITS, shipped_folder
from ratecard.price_book import PriceBook
from ratecard.simulation.report.figures import read_locale
from ratecard.simulation.rows.files import is_read_of
from ratecard.tables.scalars import read_day

if TYPE_CHECKING:
    from ratecard.review.sides import Stack


@contextmanager
def as_wrong_use(*kinds: type[Exception], raised: type[click.UsageError] = click.UsageError) -> Iterator[None]:
    """Raise `click.UsageError`, or another error of wrong use, for errors of these kinds, with their message."""
    try:
        yield
    except kinds as error:
        raise raised(str(error)) from None


def instant(given: str | datetime) -> datetime:
    """Read `2026-10-01` (its 00:00 UTC) or an instant with a time zone; a time without a zone is refused."""
    if isinstance(given, datetime):
        return given
    with as_wrong_use(InstantError, raised=click.BadParameter):
        return read_instant(given)


def day(given: str | date) -> date:
    """Read a calendar day."""
    try:
        return given if isinstance(given, date) else read_day(given)
    except ValueError:
        raise click.BadParameter(f"'{given}' is not a day. Write it like 2026-10-01") from None


def locale(given: str) -> Locale:
    """Read a locale by its name: `de_DE`, `de-DE`."""
    with as_wrong_use(SimulationError, raised=click.BadParameter):
        return read_locale(given)


def now() -> datetime:
    """Return the current instant; no other function of the command line reads the clock."""
    return datetime.now(UTC)


def today() -> date:
    """Return the current day in UTC."""
    return now().date()


def warn_of_days(candidate: "Stack", since: date) -> None:
    """Print a warning for each date of a candidate that is unlikely when it is read on the day `since`."""
    for words in candidate.unlikely_days(since):
        click.echo(f"Warning: {words}", err=True)


_TABLES = "pricing_tables"
_OUR_NAME = 'name = "ratecard"'
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def checkout_tables() -> Path | None:
    """Return the tables of the checkout that contains the current folder, which the user edits; None without one."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        project = folder / "pyproject.toml"
        if project.is_file() and (folder / _TABLES / UNITS).is_file():
            named = _OUR_NAME in project.read_text(encoding="utf-8", errors="replace").splitlines()
            return folder / _TABLES if named else None
    return None


def tell_tables(folder: Path | None, *, err: bool = True) -> None:
    """Print which folder is read; None means the shipped tables."""
    click.echo(f"Tables: {(folder or shipped_folder()).resolve()}", err=err)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def options(*added: Decorator) -> Decorator:
    """Add several options to a command, which `--help` lists in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(added):
            command = option(command)
        return command

    return add


def as_json_text(result: Any) -> str:
    """Return a result as JSON, with amounts as text."""
    return json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n"


def show(words: str, out: Path | None) -> None:
    """Print words, or write them to the file of `--out`, and say so."""
    if out is None:
        click.echo(words, nl=False)
        return
    out.write_text(click.unstyle(words), encoding="utf-8")
    click.echo(f"Wrote {out}", err=True)


def check_out(out: Path | None, *read: str | Path | None) -> None:
    """Refuse to write over what a command reads: a file that is named, or a table of a folder that is named."""
    for place in (str(word) for word in read if word and out):
        is_table = str(out).lower().endswith((".yaml", ".yml"))
        if is_read_of(place, str(out)) and (is_table or not Path(place).is_dir()):
            raise click.UsageError(f"{out} is among what is compared, which stays as it is. Write another file")


def _in_a_folder(context: click.Context, option: click.Parameter, given: Path | None) -> Path | None:
    if given is not None and not given.parent.is_dir():
        raise click.BadParameter(f"{given} cannot be written: no such folder")
    return given


out_option = click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=_in_a_folder,
    help="Write to this file.",
)
# The options of a comparison: its format and its file.
format_options = options(
    click.option(
        "--format",
        "kind",
        type=click.Choice(["text", "markdown", "json", "html"]),
        default="text",
        show_default=True,
    ),
    out_option,
)
tables_option = click.option(
    "--tables",
    type=FOLDER,
    default=checkout_tables,
    show_default="of the checkout that you are in, else the shipped ones",
    help="Folder of rate tables.",
)
at_option = click.option(
    "--at", type=instant, default=now, show_default="now", help="Prices in effect at this instant, like 2026-10-01."
)
locale_option = click.option(
    "--locale", type=locale, default="en_US", show_default=True, help="How money is written, like de_DE or ja_JP."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Answer with JSON.")


def book_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name a price book; the argument `book` of the command is a function that returns it."""

    @wraps(command)
    def run(
        *args: Any, tables: Path | None, at: datetime, contract: str | None, account: str | None, **given: Any
    ) -> Any:
        return command(*args, book=partial(_book, tables, at, contract, account), **given)

    return options(
        tables_option,
        at_option,
        click.option("--contract", metavar="NAME", help="At the prices of this contract."),
        click.option("--account", metavar="ACCOUNT", help="At the prices of the contract that this account has."),
    )(run)


def _book(tables: Path | None, at: datetime, contract: str | None, account: str | None) -> PriceBook:
    with as_wrong_use(UnknownContractError, ValueError):
        card = load_rate_card(tables)
        book = card.at(at, contract=contract, account=account)
    if book.contract is None and (contract or account) is not None:
        known = account is None or card.in_force.knows(account)
        near = "" if known else did_you_mean(account or "", card.in_force.of_accounts)
        holder = f"contract '{contract}' does not hold" if account is None else f"account '{account}' has no contract"
        click.echo(f"Warning: {holder} at {at:%Y-%m-%dT%H:%MZ}: these are prices of the list.{near}", err=True)
    return book
