"""The `Content-Encoding` of a request: gzip and deflate, with the limit of a body on what comes out."""

import zlib
from collections.abc import Callable
from functools import partial

from starlette.exceptions import HTTPException

# What a window of zlib begins with: the header of gzip, or that of zlib, which HTTP calls deflate.
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
UNDERSTOOD = "gzip, deflate"
# A reader copies what follows its member: it is given pieces, so that a body of many members is not copied for each.
_PIECE = 4096


def decoder(coding: str, most: int) -> Callable[[bytes], bytes]:
    """Return the function from an encoded body to its bytes.

    Raises `HTTPException`: 415 for a coding that is not understood.

    The function raises `HTTPException` too: 400 for bytes that are not of the coding, 413 for more than `most` of them.

    >>> decoder("gzip", 100)(zlib.compress(b"{}", wbits=31))
    b'{}'
    """
    names = [name for each in coding.lower().split(",") if (name := each.strip()) not in ("", "identity")]
    if not names:
        return bytes
    if len(names) > 1 or names[0] not in _WINDOWS:
        words = f"The Content-Encoding of the body is not understood. Send it plain, or as one of: {UNDERSTOOD}"
        # The body is not read, so the connection must end with the answer.
        raise HTTPException(415, words, {"Accept-Encoding": UNDERSTOOD, "Connection": "close"})
    return partial(_decoded, names[0], most)


def too_long(most: int) -> str:
    """Say that a body is too long, and by which setting.

    >>> too_long(1024)
    'The body is too long: at most 1024 bytes, by the setting --body-bytes of the server'
    """
    return f"The body is too long: at most {most} bytes, by the setting --body-bytes of the server"


def _decoded(coding: str, most: int, body: bytes) -> bytes:
    parts, left, at = list[bytes](), most, 0
    while at < len(body) or not parts:  # gzip may have several members
        reader = zlib.decompressobj(_WINDOWS[coding])
        while not reader.eof:
            if at >= len(body):
                raise HTTPException(400, f"The body is not whole: its {coding} ends early")
            try:
                part = reader.decompress(body[at : at + _PIECE], left + 1)
            except zlib.error:
                raise HTTPException(400, f"The body is not {coding}, as its Content-Encoding says") from None
            at += _PIECE
            left -= len(part)
            if left < 0:
                raise HTTPException(413, too_long(most))
            parts.append(part)
        at = min(at, len(body)) - len(reader.unused_data)
    return b"".join(parts)
