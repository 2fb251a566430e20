"""HTTP for every endpoint: error objects, the headers of what a client accepts, encodings, bodies, long work.

The event loop answers everybody, so work that may take more than 5 ms is done in threads of its own: a few at a time,
in order, and only for clients that still wait. The threads are daemons, so that they do not keep a process from ending.
"""

import asyncio
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import TypeVar
from urllib.parse import quote

import brotli  # type: ignore[import-untyped]
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipResponder, IdentityResponder
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ratecard.base.threads import Threads
from ratecard.server.revision import SERVICE_VERSION

# The window bits that make zlib expect a header of gzip, or one of zlib, which HTTP calls deflate.
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
UNDERSTOOD = "gzip, deflate"
# A reader copies the bytes after its member, so it gets pieces: else each of many members would copy the whole body.
_PIECE = 4096


def decoder(coding: str, most: int) -> Callable[[bytes], bytes]:
    """Return the function that decodes a body.

    Raises `HTTPException`: 415 for a coding that is not understood.

    The function raises `HTTPException` too: 400 for bytes that do not have the coding, 413 for more than `most` bytes.

    >>> decoder("gzip", 100)(zlib.compress(b"{}", wbits=31))
    b'{}'
    """
    names = [name for element in coding.lower().split(",") if (name := element.strip()) not in ("", "identity")]
    if not names:
        return bytes
    if len(names) > 1 or names[0] not in _WINDOWS:
        words = f"The Content-Encoding of the body is not understood. Send it plain, or as one of: {UNDERSTOOD}"
        # The body is not read, so the connection must end with the answer.
        raise HTTPException(415, words, {"Accept-Encoding": UNDERSTOOD, "Connection": "close"})
    return partial(_decoded, names[0], most)


def too_long(most: int) -> str:
    """Return the message for a body that is too long, which names the setting.

    >>> too_long(1024)
    'The body is too long: at most 1024 bytes, by the setting --body-bytes of the server'
    """
    return f"The body is too long: at most {most} bytes, by the setting --body-bytes of the server"


def _decoded(coding: str, most: int, body: bytes) -> bytes:
    parts, remaining, offset = list[bytes](), most, 0
    while offset < len(body) or not parts:  # gzip may have several members
        reader = zlib.decompressobj(_WINDOWS[coding])
        while not reader.eof:
            if offset >= len(body):
                raise HTTPException(400, f"The body is not whole: its {coding} ends early")
            try:
                part = reader.decompress(body[offset : offset + _PIECE], remaining + 1)
            except zlib.error:
                raise HTTPException(400, f"The body is not {coding}, as its Content-Encoding says") from None
            offset += _PIECE
            remaining -= len(part)
            if remaining < 0:
                raise HTTPException(413, too_long(most))
            parts.append(part)
        offset = min(offset, len(body)) - len(reader.unused_data)
    return b"".join(parts)


Result = TypeVar("Result")

# Longer bodies in bytes, and longer lists of usages, are not read and priced on the event loop.
LONG_BODY, LONG_LIST = 2**14, 4


class LongWork:
    """Threads for work that takes long. One is enough for work that holds Python's lock: more would slow the loop."""

    def __init__(self, threads: int = 1, most_waiting: int = 64) -> None:
        self._threads, self._most, self._begun = Threads(threads, "ratecard long work"), most_waiting + threads, 0

    async def result_of(self, request: Request, work: Callable[[], Result]) -> Result:
        """Return what `work` returns, or raise what it raises, once it is its turn.

        Raises `HTTPException` 503 if too much work waits already, and `ClientDisconnect` if the client disconnects:
        work that has not begun is then dropped. The body of the request must have been read.
        """
        if self._begun >= self._most:
            raise HTTPException(503, "Too much long work waits here. Try again later", {"Retry-After": "1"})
        result = asyncio.wrap_future(self._threads.submit(work))
        disconnect = asyncio.ensure_future(_has_gone(request))
        self._begun += 1
        try:
            await asyncio.wait((result, disconnect), return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise ClientDisconnect
            return result.result()
        finally:
            self._begun -= 1
            disconnect.cancel()
            result.cancel()

    async def of_body(self, request: Request, body: bytes, work: Callable[[], Result]) -> Result:
        """Return the result of `work` on a body: computed here if the body is short, else by `result_of`."""
        return work() if len(body) <= LONG_BODY else await self.result_of(request, work)


async def _has_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


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
    """Return an answer of JSON, with the revision of the service in a header."""
    return Response(content, status, {**(headers or {}), "x-service-version": SERVICE_VERSION}, JSON)


# Answers of fewer bytes are not compressed; answers of at least the second number are compressed in a thread.
_SHORT, _IN_A_THREAD = 500, 2**17
# The most ranges of a header, and parameters of a range: reading more would cost more than the answer.
_MOST_RANGES, _MOST_PARAMETERS = 50, 10
_QUALITY = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def preferred(header: str, offered: Iterable[str]) -> str | None:
    """Return the offered value that an `Accept...` header prefers, the first of equals; None if all have quality 0.

    The most specific range decides (RFC 9110, section 12.4.2): `text/csv`, then `text/*`, then `*/*`; or `gzip`, then
    `*`. A range that occurs twice has its greater quality, and one whose quality is not a number from 0 to 1 has 0.
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
    best, best_quality = None, Decimal(0)
    for kind_name in offered:
        kind, slash, _ = kind_name.partition("/")
        ranges = (kind_name, f"{kind}/*", "*/*") if slash else (kind_name, "*")
        quality = next((qualities[name] for name in ranges if name in qualities), Decimal(0))
        if quality > best_quality:
            best, best_quality = kind_name, quality
    return best


class _BrotliResponder(IdentityResponder):
    """A responder that compresses answers by brotli, as Starlette's does by gzip: long answers in a thread."""

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
    """Return the header that lists fields without effect, for answers whose body does not; empty without such fields.

    Names are separated by commas; only visible ASCII is not percent-encoded. At 1 KB the list ends in `...`.

    >>> ignored_fields(["prompt", "größe, cm"]), ignored_fields([])
    ([(b'x-service-ignored-fields', b'prompt, gr%C3%B6%C3%9Fe%2C%20cm')], [])
    """
    value = ""
    for name in names:
        addition = (", " if value else "") + quote(name, safe=_VISIBLE, errors="backslashreplace")
        if len(value) + len(addition) > _MOST_HEADER - len(_AND_SO_ON):
            value += _AND_SO_ON
            break
        value += addition
    return [(b"x-service-ignored-fields", value.encode("ascii"))] if value else []


_AND_SO_ON = ", ..."
_JSON = JSON.encode()
# A length with more digits is too long for any limit, and is not parsed.
_DIGITS = 18


# The most bytes that a process holds of long bodies that have not arrived completely.
_MOST_ON_THE_WAY = 2**26
_on_the_way = 0


async def read_json_body(request: Request, most: int, long_work: LongWork) -> bytes:
    """Read the bytes of a JSON body.

    Raises `HTTPException`: 415 for another type, 400 for two of them, 413 for more than `most` bytes.

    An encoded body is decoded by `long_work`, and `most` limits its decoded bytes too (see `decoder`). The received
    bytes are counted, so that neither a wrong Content-Length nor a chunked body exceeds the limit. 503 if too many long
    bodies are on their way.
    """
    stated = request.scope["headers"]
    headers = dict(stated)
    if len(headers) < len(stated):  # the last value of each is in the dictionary
        for name in (b"content-type", b"content-encoding"):
            if len({value for key, value in stated if key == name}) > 1:
                words = f"The header {name.decode().title()} is there twice, with two values. Send it once"
                raise HTTPException(400, words, {"Connection": "close"})  # the body is not read
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
    global _on_the_way
    body = bytearray()
    try:
        while True:
            message = await request.receive()
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
    finally:
        _on_the_way -= len(body)


def _too_long(most: int) -> HTTPException:
    # The rest of the body is not read, so the connection must end with the answer.
    return HTTPException(413, too_long(most), {"Connection": "close"})
