"""The bytes of a data URI (RFC 2397)."""

import binascii
from urllib.parse import unquote_to_bytes

from ratecard.probe.limits import Limits
from ratecard.probe.unreadable import UnreadableError


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
