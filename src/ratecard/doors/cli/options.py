"""Options that several commands share, and how their text is read."""

from datetime import UTC, datetime
from pathlib import Path

import click
from babel import Locale, UnknownLocaleError

from ratecard.card import load_rate_card
from ratecard.price_book import PriceBook
from ratecard.words.errors import InstantError
from ratecard.words.instant import read_instant


def instant(given: str | datetime) -> datetime:
    """`2026-10-01` (its 00:00 UTC) or an aware instant; a time without a zone is refused, not guessed."""
    if isinstance(given, datetime):
        return given
    try:
        return read_instant(given)
    except InstantError as error:
        raise click.BadParameter(str(error)) from None


def locale(given: str | Locale) -> Locale:
    """A locale by its name: `de_DE`, `de-DE`."""
    try:
        return given if isinstance(given, Locale) else Locale.parse(given, sep="-" if "-" in given else "_")
    except (ValueError, UnknownLocaleError):
        raise click.BadParameter(f"'{given}' is not a locale. Write one like en_US, de_DE, ja_JP, ar_EG") from None


def now() -> datetime:
    """The only clock of the command line."""
    return datetime.now(UTC)


tables_option = click.option(
    "--tables",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of rate tables; the shipped tables where none is named.",
)
at_option = click.option(
    "--at", type=instant, default=now, show_default="now", help="Prices in effect at this instant, like 2026-10-01."
)
locale_option = click.option(
    "--locale", type=locale, default="en_US", show_default=True, help="How money is written, like de_DE or ja_JP."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Answer with JSON.")


def book(tables: Path | None, at: datetime) -> PriceBook:
    """The price book that the options name."""
    return load_rate_card(tables).at(at)
