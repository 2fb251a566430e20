"""Whole seconds, as an integer or as its digits."""

import re

from ratecard.requests.fields import WholeNumber

_DIGITS = re.compile(r"\d{1,12}", re.ASCII)


class WholeSeconds(WholeNumber):
    """`duration_seconds` of audio: 90 or "90"."""

    def accept(self, given: object) -> int | None:
        """The seconds; None where they are refused."""
        return super().accept(_number(given))

    def messages(self, given: object) -> list[str]:
        """Why seconds are refused."""
        return super().messages(_number(given))


def _number(given: object) -> object:
    return int(given) if isinstance(given, str) and _DIGITS.fullmatch(given) else given
