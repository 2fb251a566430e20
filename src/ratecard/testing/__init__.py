"""A kit to test rate tables, and programs that use ratecard: Hypothesis strategies, laws, and a pytest plugin.

`pytest --rate-card FOLDER` checks every example of a folder of tables, and tries every law on every model. Needs
`pip install 'ratecard[testing]'`.

>>> from datetime import date
>>> from random import Random
>>> from hypothesis import find, settings
>>> from ratecard import load_rate_card
>>> prices = load_rate_card().at(date(2026, 10, 1))
>>> seeded = {"random": Random(0), "settings": settings(database=None)}
>>> find(video_requests(prices), lambda body: prices.quote_video(body).total > 0, **seeded)
{'model': 'ovi-image-to-video'}
"""

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("ratecard.testing needs hypothesis: pip install 'ratecard[testing]'") from missing

from ratecard.testing.card_strategies import rate_cards, table_files
from ratecard.testing.case import BrokenLawError, Case
from ratecard.testing.laws import LAWS, Law, check
from ratecard.testing.offer import Request, source_videos
from ratecard.testing.usage_strategies import usages
from ratecard.testing.video_strategies import (
    invalid_video_requests,
    sourced_video_requests,
    video_requests,
)

__all__ = [
    "LAWS",
    "BrokenLawError",
    "Case",
    "Law",
    "Request",
    "check",
    "invalid_video_requests",
    "laws",
    "rate_cards",
    "source_videos",
    "sourced_video_requests",
    "table_files",
    "usages",
    "video_requests",
]
