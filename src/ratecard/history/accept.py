"""Which of our media types a client accepts (RFC 9110, section 12.5.1)."""

import re
from collections.abc import Sequence
from decimal import Decimal

_QUALITY = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def accepted(header: str, ours: Sequence[str]) -> str | None:
    """The one of our media types that the client likes best, the first of equals; None where it accepts none.

    >>> accepted("text/csv, */*;q=0.1", ["application/json", "text/csv"])
    'text/csv'
    """
    ranges = [_range(part) for part in header.split(",") if part.strip()] or [("*/*", Decimal(1))]
    best = max(ours, key=lambda media: _quality(media, ranges))
    return best if _quality(best, ranges) else None


def _range(part: str) -> tuple[str, Decimal]:
    media, *parameters = (piece.strip().lower() for piece in part.split(";"))
    quality = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
    return media, Decimal(quality if _QUALITY.fullmatch(quality) else 0)


def _quality(media: str, ranges: Sequence[tuple[str, Decimal]]) -> Decimal:
    """That of the most specific range which holds the type."""
    for wanted in (media, f"{media.split('/')[0]}/*", "*/*"):
        given = [quality for each, quality in ranges if each == wanted]
        if given:
            return max(given)
    return Decimal(0)
