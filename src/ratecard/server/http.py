"""What every endpoint does with HTTP: bodies, encodings, refusals.

Whatever a request is refused for, as the API's error object.

Content-Encoding, when asked: gzip or br.

The body of a request, never longer than allowed, whatever its headers say of it.
"""

import json
import zlib
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation

import brotli  # type: ignore[import-untyped]
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ratecard.server.revision import SERVICE_VERSION

JSON = "application/json"


class HttpRefusal(HTTPException):
    """A status and the sentence of the error object; an HTTP exception for routes that are not ours."""

    def answer(self) -> Response:
        """The error object."""
        return error_object(self.status_code, self.detail, self.headers)


def error_object(status: int, error: str, headers: Mapping[str, str] | None = None) -> Response:
    """`{"error": ...}` with a status.

    >>> error_object(404, "Not found: /x").body
    b'{"error":"Not found: /x"}'
    """
    body = json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return Response(body, status, {**(headers or {}), "x-service-version": SERVICE_VERSION}, JSON)


# Above this a body is worth more than the least effort, and the memory that it takes.
_SMALL = 1_000
# Bits of the window of zlib: 16 asks for the header of gzip.
_GZIP, _LEAST_WINDOW = 16, 9


def _gzip(body: bytes) -> bytes:
    effort = (6, zlib.DEFLATED, _GZIP + 15, 8) if len(body) > _SMALL else (1, zlib.DEFLATED, _GZIP + _LEAST_WINDOW, 1)
    packer = zlib.compressobj(*effort)
    return packer.compress(body) + packer.flush()


def _brotli(body: bytes) -> bytes:
    packed: bytes = brotli.compress(body, quality=5 if len(body) > _SMALL else 1)
    return packed


_ENCODINGS: dict[str, Callable[[bytes], bytes]] = {"gzip": _gzip, "br": _brotli}


def best_encoding(asked: str) -> str:
    """The encoding that `Accept-Encoding` likes best; nothing where it likes neither of ours.

    >>> best_encoding("deflate, br;q=0.5"), best_encoding("gzip;q=0, identity")
    ('br', '')
    """
    likings = {name: _liking(asked, name) for name in _ENCODINGS}
    best = max(likings, key=lambda name: likings[name])
    return best if likings[best] > 0 else ""


def encode_as(body: bytes, encoding: str) -> bytes:
    """A body in an encoding, or as it is for none."""
    return _ENCODINGS[encoding](body) if encoding else body


def encode(body: bytes, asked: str) -> tuple[bytes, str]:
    """A body in the encoding that `Accept-Encoding` likes best, and its name; as it is, and no name, for neither."""
    encoding = best_encoding(asked)
    return encode_as(body, encoding), encoding


def _liking(asked: str, encoding: str) -> Decimal:
    """The weight of an encoding; `*` stands for those that are not named."""
    weights = {}
    for part in asked.lower().split(","):
        name, _, weight = part.partition(";")
        weights[name.strip()] = weight.strip().removeprefix("q=") or "1"
    try:
        liking = Decimal(weights.get(encoding, weights.get("*", "0")))
    except InvalidOperation:
        return Decimal(0)
    return liking if liking.is_finite() else Decimal(0)


Headers = Mapping[bytes, bytes]
_JSON = JSON.encode()
# A length with more digits than this is not worth reading.
_DIGITS = 18


async def read_json_body(request: Request, headers: Headers, most: int) -> bytes:
    """The bytes of a JSON body. Refuses another type with 415 and more than `most` bytes with 413, chunked or not."""
    kind = headers.get(b"content-type", _JSON)
    if kind != _JSON and kind.partition(b";")[0].strip().lower() != _JSON:
        raise HttpRefusal(415, f"The body must be JSON. Send the header Content-Type: {JSON}")
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and (len(length) > _DIGITS or int(length) > most):
        raise _too_long(most)
    receive, size = request.receive, 0
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_long(most)
        if not (message.get("more_body") or parts):
            return bytes(part)
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def _too_long(most: int) -> HttpRefusal:
    # What is left of the body is not read: the connection ends with the answer.
    return HttpRefusal(413, f"The body is too long: at most {most} bytes", {"Connection": "close"})
