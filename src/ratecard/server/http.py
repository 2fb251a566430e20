"""What every endpoint does with HTTP: error objects, the headers of what a client accepts, encodings, bodies."""

import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from urllib.parse import quote

import brotli  # type: ignore[import-untyped]
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message

from ratecard.server.content_encoding import decoder, too_long
from ratecard.server.long_work import LONG_BODY, LongWork
from ratecard.server.revision import SERVICE_VERSION

JSON = "application/json"


def error_object(status: int, error: str, headers: Mapping[str, str] | None = None) -> Response:
    """`{"error": ...}` with a status.

    >>> error_object(404, "Not found: /x").body
    b'{"error":"Not found: /x"}'
    """
    body = json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return Response(body, status, {**(headers or {}), "x-service-version": SERVICE_VERSION}, JSON)


# More of them have no use, and would cost more than the answer.
_MOST_RANGES, _MOST_PARAMETERS = 50, 10
_QUALITY = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def preferred(header: str, offered: Iterable[str]) -> str | None:
    """The offered media type or encoding that an `Accept...` header prefers, the first of equals; None if all are 0.

    The most specific range decides (RFC 9110, section 12.4.2): `text/csv`, then `text/*`, then `*/*`; or `gzip`, then
    `*`. A range that is there twice has its greater quality, and one whose quality is not a number from 0 to 1 has 0.
    Ranges after the fiftieth are not read.

    >>> preferred("text/csv, */*;q=0.1", ["application/json", "text/csv"])
    'text/csv'
    >>> preferred("gzip;q=0, *;q=0.5", ["gzip", "br"]), preferred("identity", ["gzip", "br"])
    ('br', None)
    """
    qualities: dict[str, Decimal] = {}
    for element in header.lower().split(",", _MOST_RANGES)[:_MOST_RANGES]:
        name, *parameters = map(str.strip, element.split(";", _MOST_PARAMETERS))
        given = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        quality = Decimal(given) if _QUALITY.fullmatch(given) else Decimal(0)
        qualities[name] = max(quality, qualities.get(name, quality))
    best, most = None, Decimal(0)
    for each in offered:
        kind, slash, _ = each.partition("/")
        ranges = (each, f"{kind}/*", "*/*") if slash else (each, "*")
        quality = next((qualities[name] for name in ranges if name in qualities), Decimal(0))
        if quality > most:
            best, most = each, quality
    return best


# Smaller bodies are compressed with the least effort and memory.
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


def best_encoding(accepted: str) -> str:
    """The encoding that an `Accept-Encoding` header prefers, gzip or br; empty for neither."""
    return preferred(accepted, _ENCODINGS) or ""


def encode_as(body: bytes, encoding: str) -> bytes:
    """A body in an encoding; unchanged for an empty one."""
    return _ENCODINGS[encoding](body) if encoding else body


def encode(body: bytes, accepted: str) -> tuple[bytes, str]:
    """A body in the encoding that an `Accept-Encoding` header prefers, and the encoding; both as in `best_encoding`."""
    encoding = best_encoding(accepted)
    return encode_as(body, encoding), encoding


# The most bytes of a list of names in a header.
_MOST_HEADER = 1024
_VISIBLE = "!#$&'()*+-./:;<=>?@[]^_`{|}~"


def ignored_fields(names: Iterable[str]) -> list[tuple[bytes, bytes]]:
    """Return the header that lists fields without effect, for an answer that cannot; none where there are none.

    Names are separated by commas, and what is not visible ASCII is percent-encoded. At 1 KB the list ends in `...`.

    >>> ignored_fields(["prompt", "größe, cm"]), ignored_fields([])
    ([(b'x-service-ignored-fields', b'prompt, gr%C3%B6%C3%9Fe%2C%20cm')], [])
    """
    value = ""
    for name in names:
        more = (", " if value else "") + quote(name, safe=_VISIBLE, errors="backslashreplace")
        if len(value) + len(more) > _MOST_HEADER - len(_AND_SO_ON):
            value += _AND_SO_ON
            break
        value += more
    return [(b"x-service-ignored-fields", value.encode("ascii"))] if value else []


_AND_SO_ON = ", ..."
Headers = Mapping[bytes, bytes]
_JSON = JSON.encode()
# A length with more digits is too long for any limit, and is not parsed.
_DIGITS = 18


# Bytes of long bodies that a process holds while the rest of them is on its way.
_MOST_ON_THE_WAY = 2**26
_on_the_way = 0


async def read_json_body(request: Request, headers: Headers, most: int, long_work: LongWork) -> bytes:
    """The bytes of a JSON body. Raises `HTTPException`: 415 for another type, 413 for more than `most` bytes.

    An encoded body is decoded by `long_work`, and is longer than `most` by what comes out (see `content_encoding`).
    What the client sends is counted too, so that neither a wrong Content-Length nor a chunked body exceeds the limit.
    Where too many long bodies are on their way, 503.
    """
    kind = headers.get(b"content-type", _JSON)
    if kind != _JSON and kind.partition(b";")[0].strip().lower() != _JSON:
        raise HTTPException(415, f"The body must be JSON. Send the header Content-Type: {JSON}")
    if b"content-encoding" in headers:
        decode = decoder(headers[b"content-encoding"].decode("latin-1"), most)
        plain = {name: value for name, value in headers.items() if name != b"content-encoding"}
        encoded = await read_json_body(request, plain, most, long_work)
        return await long_work.result_of(request, partial(decode, encoded))
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and (len(length) > _DIGITS or int(length) > most):
        raise _too_long(most)
    message = await request.receive()
    if message["type"] == "http.request" and not message.get("more_body"):  # most bodies are short
        body = bytes(message.get("body", b""))
        if len(body) > most:
            raise _too_long(most)
        return body
    return await _joined(request, message, most)


async def _joined(request: Request, message: Message, most: int) -> bytes:
    """The parts of a body, the first of which is here."""
    global _on_the_way
    body = bytearray()
    try:
        while True:
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            part = message.get("body", b"")
            body += part
            _on_the_way += len(part)
            if len(body) > most:
                raise _too_long(most)
            if not message.get("more_body"):
                return bytes(body)
            if _on_the_way > _MOST_ON_THE_WAY and len(body) > LONG_BODY:
                words = "Too many long bodies are on their way. Try again later"
                raise HTTPException(503, words, {"Connection": "close", "Retry-After": "1"})
            message = await request.receive()
    finally:
        _on_the_way -= len(body)


def _too_long(most: int) -> HTTPException:
    # The rest of the body is not read, so the connection must end with the answer.
    return HTTPException(413, too_long(most), {"Connection": "close"})
