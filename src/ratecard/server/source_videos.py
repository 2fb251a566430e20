"""Reads the source video of a request whose price depends on it, if the host allows that."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

from starlette.requests import Request

from ratecard.base.errors import QuoteError
from ratecard.line_items.source_video import SourceVideo
from ratecard.price_book import PriceBook
from ratecard.requests.fields import Url
from ratecard.server.long_work import LongWork
from ratecard.tables.video import SOURCE_MATCHED_RATIOS, VideoVersion

# Reads a video from its URL or data URI. A coroutine function, or a function that is run in a thread. May raise
# `QuoteError`.
Probe = Callable[[str], Any]

_URL = Url()


class Sources:
    """Probes source videos in threads of their own, `at_a_time` at most: a probe takes seconds."""

    def __init__(self, probe: Probe, at_a_time: int = 8) -> None:
        self.probe, self._work = probe, LongWork(at_a_time)

    async def of(self, request: Request, prices: PriceBook, fields: Mapping[str, Any]) -> SourceVideo | None:
        """Read the video of a request; None where the price depends on none, or the request has none."""
        url = fields.get("video_url")
        if not isinstance(url, str) or _URL.accept(url) is None or not reads_source(prices, fields):
            return None
        if iscoroutinefunction(self.probe):
            video = await self.probe(url)
        else:
            video = await self._work.result_of(request, partial(self.probe, url))
        return video if isinstance(video, SourceVideo) else None


def reads_source(prices: PriceBook, fields: Mapping[str, Any]) -> bool:
    """Return True if the price of a request depends on its source video: upscaling, interpolation, a matched ratio.

    >>> from datetime import date
    >>> from ratecard import load_rate_card
    >>> reads_source(load_rate_card().at(date(2026, 10, 1)), {"model": "topaz-video-upscale"})
    True
    """
    name = fields.get("model")
    if not isinstance(name, str):
        return False
    try:
        _, version = prices.in_effect(name, "video")
    except QuoteError:
        return False
    if not isinstance(version, VideoVersion):
        return False
    if version.of_source:
        return True
    ratio = fields.get("aspect_ratio")
    return isinstance(ratio, str) and ratio in SOURCE_MATCHED_RATIOS and ratio in (version.accepts.aspect_ratio or ())
