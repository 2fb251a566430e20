"""Laws: named properties that any sound table obeys, each a function (case, data) with one sentence about it.

`LAWS` lists them all, each with the models to which it applies; `check(law, case)` tries one.

>>> [law.name for law in LAWS][:3]
['a valid request has a price', 'no amount is negative', 'lines add up to the exact amount']
"""

from ratecard.testing.laws.counts import LAWS as COUNTS
from ratecard.testing.laws.every_quote import LAWS as EVERY_QUOTE
from ratecard.testing.laws.law import MAX_EXAMPLES, Law, check
from ratecard.testing.laws.price_sheet import LAWS as PRICE_SHEET
from ratecard.testing.laws.rate_lines import LAWS as RATE_LINES
from ratecard.testing.laws.reference_video import LAWS as REFERENCE_VIDEO
from ratecard.testing.laws.refusals import LAWS as REFUSALS
from ratecard.testing.laws.source_video import LAWS as SOURCE_VIDEO
from ratecard.testing.laws.tokens import LAWS as TOKENS
from ratecard.testing.laws.video import LAWS as VIDEO

LAWS: tuple[Law, ...] = (
    *EVERY_QUOTE,
    *RATE_LINES,
    *PRICE_SHEET,
    *VIDEO,
    *REFERENCE_VIDEO,
    *SOURCE_VIDEO,
    *REFUSALS,
    *TOKENS,
    *COUNTS,
)

__all__ = ["LAWS", "MAX_EXAMPLES", "Law", "check"]
