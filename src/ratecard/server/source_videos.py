"""Which requests are priced by the video that they send, and what is known of it: probed, if the host allows that."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

from anyio import CapacityLimiter, to_thread

from ratecard.base.errors import QuoteError
from ratecard.price_book import PriceBook
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.fields import Url
from ratecard.tables.video import SOURCE_MATCHED_RATIOS, VideoVersion

# What a video is, from its URL or data URI; may be a coroutine function, else it runs in a thread. Raises `QuoteError`.
Probe = Callable[[str], Any]

_URL = Url()


class Sources:
    """Probes source videos, so many at a time: a probe takes seconds, and a quote must not wait for those of others."""

    def __init__(self, probe: Probe, at_a_time: int = 8) -> None:
        self.probe, self._limiter = probe, CapacityLimiter(at_a_time)

    async def of(self, prices: PriceBook, fields: Mapping[str, Any]) -> SourceVideo | None:
        """What is known of the video of a request; None where the price does not depend on one, or none is sent."""
        url = fields.get("video_url")
        if not isinstance(url, str) or _URL.accept(url) is None or not reads_source(prices, fields):
            return None
        if iscoroutinefunction(self.probe):
            found = await self.probe(url)
        else:
            found = await to_thread.run_sync(partial(self.probe, url), limiter=self._limiter)
        return found if isinstance(found, SourceVideo) else None


def reads_source(prices: PriceBook, fields: Mapping[str, Any]) -> bool:
    """Whether the price of a request depends on its source video: upscale, interpolation, a ratio as the source's.

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
    if any(charge.of_source for charge in version.charges):
        return True
    ratio = fields.get("aspect_ratio")
    return isinstance(ratio, str) and ratio in SOURCE_MATCHED_RATIOS and ratio in (version.accepts.aspect_ratio or ())
