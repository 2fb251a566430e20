"""Content-Encoding and Accept: answers are encoded if the client asks for it, as it prefers."""

import asyncio
import zlib
from collections.abc import Iterator
from typing import Any
from unittest.mock import AsyncMock

import brotli  # type: ignore[import-untyped]
import pytest
from asking import QUOTE, asked, post
from starlette.responses import Response
from starlette.types import Message

import ratecard
from ratecard.server import application, http
from ratecard.server.http import answer_encoded, preferred

BODIES = [b"x" * 500, bytes(range(256)) * 500, bytes(range(256)) * 600]


EXPLAINED = f"{QUOTE}?explain=true"


def decoded(body: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return zlib.decompress(body, wbits=31)
    plain: bytes = brotli.decompress(body) if encoding == "br" else body
    return plain


def answered(body: bytes, accepted: str) -> tuple[dict[bytes, bytes], bytes]:
    """The headers and the body of an answer."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "headers": [(b"accept-encoding", accepted.encode())]}
    asyncio.run(answer_encoded(Response(body), scope, receive, send))
    start, content = sent
    return dict(start["headers"]), content["body"]


@pytest.mark.parametrize(
    ("asked_for", "encoding"),
    [
        ("gzip", "gzip"),
        ("br", "br"),
        ("gzip, br", "gzip"),
        ("gzip;q=0.5, br", "br"),
        ("GZIP", "gzip"),
        ("*", "gzip"),
        ("*;q=0.1, gzip;q=0", "br"),
        ("deflate, br;q=0.1", "br"),
        ("", ""),
        ("identity", ""),
        ("gzip;q=0", ""),
        ("gzip;q=0.000", ""),
        ("gzip;q=nonsense", ""),
        ("gzip;q=NaN", ""),
        ("deflate, zstd", ""),
        (",;q=,;;", ""),
    ],
)
@pytest.mark.parametrize("body", BODIES, ids=map(len, BODIES))
def test_the_encoding_is_the_preferred_one(body: bytes, asked_for: str, encoding: str) -> None:
    headers, packed = answered(body, asked_for)
    assert headers.get(b"content-encoding", b"").decode() == encoding
    assert headers.get(b"vary", b"") == (b"Accept-Encoding" if encoding else b"")
    assert int(headers[b"content-length"]) == len(packed)
    assert decoded(packed, encoding) == body


@pytest.mark.parametrize("body", [b"", b'{"quote":0.82}', b"x" * 499], ids=len)
def test_a_short_answer_is_not_encoded(body: bytes) -> None:
    headers, content = answered(body, "gzip, br")
    assert (content, b"content-encoding" in headers) == (body, False)


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ("{0};q=1.5, {1};q=0.1", 1),
        ("{0};q=0.1234, {1};q=0.1", 1),
        ("{0};q=, {1};q=0.1", 1),
        ("{0};q=1e0, {1};q=0.1", 1),
        ("{0};level=1;q=0.5, {1};q=0.4", 0),
        ("{0} ; q=0.5 , {1} ; q=0.4", 0),
        ("{0};q=0, {0}, {1};q=0.5", 0),
        ("{0}, {0};q=0, {1};q=0.5", 0),
        ("{0};q=0.001, {1};q=0", 0),
        ("{0};q=1.000, {1};q=0.999", 0),
    ],
)
@pytest.mark.parametrize(
    "offered", [("application/json", "text/csv"), ("text/csv", "application/json"), ("gzip", "br")]
)
def test_qualities_of_media_types_and_of_encodings_are_read_alike(
    offered: tuple[str, str], given: str, first: int
) -> None:
    assert preferred(given.format(*offered), offered) == offered[first]
    assert preferred(given.format(*offered), offered[::-1]) == offered[first]


@pytest.mark.parametrize("offered", ["text/csv", "gzip"])
@pytest.mark.parametrize(
    "given", ["{};q=2", "{};q=-1", "{};q=", "{};q=0.0", "{};q=.5", "identity", "image/*", "", ",;"]
)
def test_what_has_no_quality_is_not_accepted(offered: str, given: str) -> None:
    assert preferred(given.format(offered), [offered]) is None


@pytest.fixture(scope="module")
def client(card: ratecard.RateCard) -> Iterator[Any]:
    with asked(application(card)) as found:
        yield found


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_long_answer_of_the_tables_is_encoded_when_asked(client: Any, encoding: str) -> None:
    asking: dict[str, Any] = {"accept-encoding": encoding}
    pairs = [
        (post(client, path=EXPLAINED, **asking), post(client, path=EXPLAINED)),
        (client.get("/api/v1/models", headers=asking), client.get("/api/v1/models")),
    ]
    for packed, plain in pairs:
        assert packed.headers["content-encoding"] == encoding
        assert packed.headers["vary"] == "Accept-Encoding"
        assert "content-encoding" not in plain.headers
        if encoding == "gzip":  # the client decodes it; whether it knows br depends on installed packages
            assert packed.content == plain.content
    assert int(pairs[1][0].headers["content-length"]) * 5 < int(pairs[1][1].headers["content-length"])


@pytest.mark.parametrize(("size", "threads"), [(2**17 - 1, 0), (2**17, 1)])
def test_long_answers_are_compressed_in_a_thread(size: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    in_thread = AsyncMock(side_effect=lambda compress: compress())
    monkeypatch.setattr(http, "run_in_threadpool", in_thread)
    responder = http._BrotliResponder(Response(), 0)
    assert brotli.decompress(asyncio.run(responder.apply_compression(bytes(size), more_body=False))) == bytes(size)
    assert in_thread.await_count == threads
