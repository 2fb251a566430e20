"""What a server is asked in a soak: given quotes, the same with mistakes, and hostile bytes."""

import json
import random
from typing import Any

from quote_one import given_cases

from ratecard.testing.video_strategies import BROKEN

_HEAD = b"POST /api/v1/video/quote HTTP/1.1\r\nHost: x\r\n"
_TYPE = b"Content-Type: application/json\r\n"
GIVEN = [case.raw for case in given_cases()]
# Bytes that are no body of a quote: each is answered with 4xx, or its connection is closed.
HOSTILE = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET / HTTP/9.9\r\n\r\n",
    b"BREW /api/v1/video/quote HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/v1/video/quote HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/v1/%2e%2e/%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    _HEAD + b"Content-Length: 2\r\nContent-Type: text/plain\r\n\r\n{}",
    _HEAD + b"Content-Length: -1\r\n\r\n",
    _HEAD + b"Content-Length: 999999999999\r\n" + _TYPE + b"\r\n{}",
    _HEAD + _TYPE + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    _HEAD + _TYPE + b"Content-Length: 5\r\n\r\n{",
    _HEAD + b"X: " + b"x" * 100_000 + b"\r\n\r\n",
]
_BODIES = [
    b"",
    b"null",
    b"[]",
    b'"x"',
    b"{",
    b'{"model": "\xff"}',
    b'{"model": "\\ud800"}',
    b'{"model": NaN}',
    b'{"a": ' * 500,
    b'{"model": 1' + b"0" * 5000 + b"}",
    b'{"model": "ovi-image-to-video", "model": 5}',
]


def body(dice: random.Random) -> bytes:
    """A given body, or one with mistakes."""
    kind = dice.random()
    raw = dice.choice(GIVEN)
    if kind < 0.6:
        return raw
    if kind < 0.65:
        return dice.choice(_BODIES)
    if kind < 0.75:  # a byte more, a byte less, another byte
        at = dice.randrange(len(raw))
        return raw[:at] + dice.choice([b"", raw[at : at + 1] * 2, bytes([dice.randrange(256)])]) + raw[at + 1 :]
    fields: dict[str, Any] = json.loads(raw)
    for _ in range(dice.randint(1, 3)):
        field = dice.choice([*BROKEN, "model"])
        if field == "model":
            fields["model"] = str(fields["model"])[: dice.randrange(30)]
        else:
            fields[field] = dice.choice(BROKEN[field])
    return json.dumps(fields, default=str).encode()
