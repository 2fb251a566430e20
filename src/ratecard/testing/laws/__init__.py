"""Laws: named properties that any sound table obeys, each a function (case, data) with one sentence about it.

`LAWS` lists them all, each with the models to which it applies; `check(law, case)` tries one.
"""

from ratecard.testing.laws import (
    counts,
    every_quote,
    price_sheet,
    rate_lines,
    reference_video,
    refusals,
    source_video,
    tokens,
    video,
)
from ratecard.testing.laws.law import Law, check

LAWS: tuple[Law, ...] = (
    *every_quote.LAWS,
    *rate_lines.LAWS,
    *price_sheet.LAWS,
    *video.LAWS,
    *reference_video.LAWS,
    *source_video.LAWS,
    *refusals.LAWS,
    *tokens.LAWS,
    *counts.LAWS,
)

__all__ = ["LAWS", "Law", "check"]
