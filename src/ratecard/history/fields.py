"""How the text of one query parameter is checked, in the manner of a body's fields."""

import re
from datetime import datetime
from decimal import Decimal
from typing import Any

from ratecard.requests.fields import WholeNumber
from ratecard.words.currency import CURRENCIES, unknown_currency
from ratecard.words.money import READING
from ratecard.words.wording import allowed_values, echo

_NUMBER = re.compile(r"-?[0-9]{1,100}(\.[0-9]{1,100})?")
# No more digits than a timestamp of ours has: a finer one would be cut, and select other rows.
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})"
)


class Timestamp:
    """An instant in ISO 8601 with a time zone."""

    def accept(self, given: Any) -> datetime | None:
        """The instant; None for anything else, the 31st of June included."""
        try:
            return datetime.fromisoformat(given) if _TIMESTAMP.fullmatch(given) else None
        except ValueError:
            return None

    def messages(self, given: Any) -> list[str]:
        """Why it is refused."""
        return ["Invalid datetime. Expected ISO 8601 with at most 6 decimal places, like 2026-10-01T00:00:00Z"]


class Currency:
    """A currency that rows of a ledger have, written as they write it."""

    def accept(self, given: Any) -> str | None:
        """The currency; None for one that no row has."""
        return None if unknown_currency(given) else str(given)

    def messages(self, given: Any) -> list[str]:
        """Why it is refused."""
        expected = f"{allowed_values(CURRENCIES)} | another ISO 4217 code"
        return [f"Invalid enum value. Expected {expected}, received '{echo(given)}'"]


class WholeNumberText:
    """A whole number between two bounds, written out."""

    def __init__(self, least: int, greatest: int) -> None:
        self._number = WholeNumber(least, greatest)

    def accept(self, given: Any) -> int | None:
        """The number; None where it is refused."""
        return self._number.accept(_number(given))

    def messages(self, given: Any) -> list[str]:
        """Why it is refused."""
        number = _number(given)
        return ["Expected number, received nan"] if number.is_nan() else self._number.messages(number)


def _number(given: str) -> Decimal:
    return READING.create_decimal(given if _NUMBER.fullmatch(given) else "NaN")
