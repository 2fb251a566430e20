"""The facts of a `video_url`, wherever it leads: what the process of its own runs."""

import io
import ssl

from ratecard.probe.container import facts_of
from ratecard.probe.data_uri import decode
from ratecard.probe.limits import Limits
from ratecard.probe.network import Resolver, look_up
from ratecard.probe.ranged_file import BLOCK, RangedFile
from ratecard.probe.unreadable import UnreadableError
from ratecard.probe.web import Web
from ratecard.rating.source_video import SourceVideo


def read_source(
    video_url: str, limits: Limits, resolve: Resolver = look_up, tls: ssl.SSLContext | None = None
) -> SourceVideo:
    """Seconds, size and frame rate of a URL or data URI, here and without a deadline. Raises `UnreadableError`."""
    if video_url[:5].lower() == "data:":
        return facts_of_bytes(decode(video_url, limits))
    with Web(video_url, limits, resolve, tls) as web:
        start, size = web.open(BLOCK)
        if len(start) == size:
            return facts_of_bytes(start)
        file = RangedFile(web, start, size)
        try:
            return facts_of(file, size)
        finally:
            if file.failure:  # whatever was made of the part that came
                raise file.failure


def facts_of_bytes(content: bytes) -> SourceVideo:
    """Seconds, size and frame rate of a file in memory. Raises `UnreadableError`."""
    if not content:
        raise UnreadableError("it is empty")
    return facts_of(io.BytesIO(content), len(content))
