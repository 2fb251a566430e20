"""HTTP for every endpoint: error objects, the headers of what a client accepts, encodings, bodies."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from urllib.parse import quote

import brotli  # type: ignore[import-untyped]
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipResponder, IdentityResponder
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ratecard.server.content_encoding import decoder, too_long
from ratecard.server.long_work import LONG_BODY, LongWork
from ratecard.server.revision import SERVICE_VERSION

JSON = "application/json"
INVALID_QUERY = "Invalid query parameters"


def error_object(status: int, error: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return `{"error": ...}` with a status.

    >>> error_object(404, "Not found: /x").body
    b'{"error":"Not found: /x"}'
    """
    body = json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return json_answer(body, status, headers)


def json_answer(content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer of JSON that says the revision of the service."""
    return Response(content, status, {**(headers or {}), "x-service-version": SERVICE_VERSION}, JSON)


# Bytes of an answer below which it is not compressed, and from which on that is done in a thread.
_SHORT, _IN_A_THREAD = 500, 2**17
# More of them have no use, and would cost more than the answer.
_MOST_RANGES, _MOST_PARAMETERS = 50, 10
_QUALITY = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def preferred(header: str, offered: Iterable[str]) -> str | None:
    """Return what an `Accept...` header prefers of the offered, the first of equals; None if all are 0.

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
        weight = next((kind_name[2:] for kind_name in parameters if kind_name.startswith("q=")), "1")
        quality = Decimal(weight) if _QUALITY.fullmatch(weight) else Decimal(0)
        qualities[name] = max(quality, qualities.get(name, quality))
    best, most = None, Decimal(0)
    for kind_name in offered:
        kind, slash, _ = kind_name.partition("/")
        ranges = (kind_name, f"{kind}/*", "*/*") if slash else (kind_name, "*")
        quality = next((qualities[name] for name in ranges if name in qualities), Decimal(0))
        if quality > most:
            best, most = kind_name, quality
    return best


class _BrotliResponder(IdentityResponder):
    """Compresses an answer by brotli, as Starlette's other responder does by gzip: a long one in a thread."""

    content_encoding = "br"

    async def apply_compression(self, body: bytes, *, more_body: bool) -> bytes:
        compress = partial(brotli.compress, body, quality=5, lgwin=18)  # a larger window takes megabytes
        return bytes(compress() if len(body) < _IN_A_THREAD else await run_in_threadpool(compress))


_RESPONDERS: dict[str, Callable[[ASGIApp, int], ASGIApp]] = {
    "gzip": partial(GZipResponder, compresslevel=6, thread_minimum_size=_IN_A_THREAD),
    "br": _BrotliResponder,
}


async def answer_encoded(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Let `app` answer in the encoding that the client prefers, gzip or br; a short answer as it is."""
    accepted = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-encoding"), "")
    encoding = preferred(accepted, _RESPONDERS) if accepted else None
    await (_RESPONDERS[encoding](app, _SHORT) if encoding else app)(scope, receive, send)


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
_JSON = JSON.encode()
# A length with more digits is too long for any limit, and is not parsed.
_DIGITS = 18


# Bytes of long bodies that a process holds while the rest of them is on its way.
_MOST_ON_THE_WAY = 2**26
_on_the_way = 0


async def read_json_body(request: Request, most: int, long_work: LongWork) -> bytes:
    """Read the bytes of a JSON body. Raises `HTTPException`: 415 for another type, 413 for more than `most` bytes.

    An encoded body is decoded by `long_work`, and is longer than `most` by what comes out (see `content_encoding`).
    What the client sends is counted too, so that neither a wrong Content-Length nor a chunked body exceeds the limit.
    Where too many long bodies are on their way, 503.
    """
    headers = dict(request.scope["headers"])
    kind = headers.get(b"content-type", _JSON)
    if kind != _JSON and kind.partition(b";")[0].strip().lower() != _JSON:
        raise HTTPException(415, f"The body must be JSON. Send the header Content-Type: {JSON}")
    coding = headers.get(b"content-encoding")
    decode = None if coding is None else decoder(coding.decode("latin-1"), most)
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and (len(length) > _DIGITS or int(length) > most):
        raise _too_long(most)
    body = await _read_body(request, most)
    return body if decode is None else await long_work.result_of(request, partial(decode, body))


async def _read_body(request: Request, most: int) -> bytes:
    message = await request.receive()
    if message["type"] == "http.request" and not message.get("more_body"):  # most bodies are short
        body = bytes(message.get("body", b""))
        if len(body) > most:
            raise _too_long(most)
        return body
    return await _joined(request, message, most)


async def _joined(request: Request, message: Message, most: int) -> bytes:
    """Return the parts of a body, the first of which is here."""
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
