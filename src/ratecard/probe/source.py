"""Where a source video is: a URL or a data URI.

The bytes of a data URI (RFC 2397).

The facts of a `video_url`, wherever it leads: what the process of its own runs.
"""

import binascii
import io
import ssl
from urllib.parse import unquote_to_bytes

from ratecard.probe.container import facts_of
from ratecard.probe.limits import Limits, UnreadableError
from ratecard.probe.network import Resolver, look_up
from ratecard.probe.web import BLOCK, RangedFile, Web
from ratecard.rating.source_video import SourceVideo


def decode(uri: str, limits: Limits) -> bytes:
    """The bytes of a data URI, in base64 or percent-encoded; its length is checked before it is decoded.

    Its media type is not read: what a file is, its first bytes say. Raises `UnreadableError`.

    >>> decode("data:video/mp4;base64,AAEC", Limits())
    b'\\x00\\x01\\x02'
    """
    head, comma, payload = uri.partition(",")
    if not comma:
        raise UnreadableError("its data URI has no comma")
    base64 = head.lower().endswith(";base64")
    # The longest text that may come to so many bytes: in base64 four characters for three, else three for one.
    longest = (limits.max_bytes + 2) // 3 * 4 if base64 and "%" not in payload else limits.max_bytes * 3
    if len(payload) > longest:
        raise UnreadableError(f"its data URI holds more than {limits.megabytes}")
    try:
        content = unquote_to_bytes(payload) if not base64 or "%" in payload else payload.encode("ascii")
        content = binascii.a2b_base64(content, strict_mode=True) if base64 else content
    except ValueError:
        raise UnreadableError("its data URI is not valid base64") from None
    if len(content) > limits.max_bytes:
        raise UnreadableError(f"its data URI holds more than {limits.megabytes}")
    return content


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
