"""Laws: named properties of every valid table, each a function (case, data) with one sentence about it.

`LAWS` lists them all, each with the models to which it applies; `check(law, case)` tries one.

>>> [law.name for law in LAWS][:3]
['a valid request has a price', 'no amount is negative', 'lines add up to the exact amount']
"""

from ratecard.testing.laws.any_quote import EVERY_QUOTE, PRICE_SHEET, RATE_LINES, REFUSALS
from ratecard.testing.laws.law import MAX_EXAMPLES, Law, check
from ratecard.testing.laws.metered import OF_COUNTS, OF_TOKENS
from ratecard.testing.laws.video import REFERENCE_VIDEO, SOURCE_VIDEO, VIDEO

LAWS: tuple[Law, ...] = (
    *EVERY_QUOTE,
    *RATE_LINES,
    *PRICE_SHEET,
    *VIDEO,
    *REFERENCE_VIDEO,
    *SOURCE_VIDEO,
    *REFUSALS,
    *OF_TOKENS,
    *OF_COUNTS,
)

__all__ = ["LAWS", "MAX_EXAMPLES", "Law", "check"]
