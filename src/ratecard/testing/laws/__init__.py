"""Laws: named properties of every valid table, each a function (case, data) with one sentence about it.

`LAWS` lists them all, each with the models to which it applies; `check(law, case)` tries one.

>>> [law.name for law in LAWS][:3]
['a valid request has a price', 'no amount is negative', 'lines add up to the exact amount']
"""

import ratecard.testing.laws.any_quote as of_any_quote
import ratecard.testing.laws.metered as of_usages
import ratecard.testing.laws.video as of_video
from ratecard.testing.case import MAX_EXAMPLES, Law, check

LAWS: tuple[Law, ...] = tuple(
    member
    for module in (of_any_quote, of_video, of_usages)
    for member in vars(module).values()
    if isinstance(member, Law)
)

__all__ = ["LAWS", "MAX_EXAMPLES", "Law", "check"]
