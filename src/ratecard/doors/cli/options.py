"""Options that several commands share, and how their text is read."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

import click
from babel import Locale, UnknownLocaleError

from ratecard.card import PriceBook, load_rate_card

Command = TypeVar("Command", bound=Callable[..., Any])


class _Instant(click.ParamType[datetime]):
    name = "instant"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            if len(value) == len("2026-10-01"):
                day = date.fromisoformat(value)
                return datetime(day.year, day.month, day.day, tzinfo=UTC)
            instant = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"'{value}' is not an instant. Write 2026-10-01 or 2026-10-01T12:00:00Z", param, ctx)
        if instant.tzinfo is None:
            self.fail(f"'{value}' has no time zone. Write {value}Z for UTC", param, ctx)
        return instant


class _Locale(click.ParamType[Locale]):
    name = "locale"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Locale:
        try:
            return value if isinstance(value, Locale) else Locale.parse(value, sep="-" if "-" in value else "_")
        except (ValueError, UnknownLocaleError):
            self.fail(f"'{value}' is not a locale. Write one like en_US, de_DE, ja_JP, ar_EG", param, ctx)


def now() -> datetime:
    """The only clock of the command line."""
    return datetime.now(UTC)


tables_option = click.option(
    "--tables",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of rate tables; the shipped tables where none is named.",
)
at_option = click.option(
    "--at", type=_Instant(), default=now, show_default="now", help="Prices in effect at this instant, like 2026-10-01."
)
locale_option = click.option(
    "--locale", type=_Locale(), default="en_US", show_default=True, help="How money is written, like de_DE or ja_JP."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Answer with JSON.")


def book(tables: Path | None, at: datetime) -> PriceBook:
    """The price book that the options name."""
    return load_rate_card(tables).at(at)
