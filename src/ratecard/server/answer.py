"""Answers that were made from a rate card: each names its tables, the service, and a model's retirement."""

from collections.abc import Sequence

from starlette.responses import Response

from ratecard.server.body import Headers
from ratecard.server.encoding import encode
from ratecard.server.served import Served


class Answer(Response):
    """A response whose headers are encoded already: those of a quote hardly ever change."""

    def __init__(self, body: bytes, status: int, raw_headers: list[tuple[bytes, bytes]]) -> None:
        self.body, self.status_code, self.raw_headers, self.background = body, status, raw_headers, None


def answer(served: Served, asked: Headers, body: bytes, status: int = 200, model: str = "") -> Response:
    """JSON in the encoding that the request asks for, with the headers that concern prices."""
    headers = [*served.headers]
    if model in served.deprecated:
        headers += served.deprecated[model]
    encoding = ""
    if b"accept-encoding" in asked:
        body, encoding = encode(body, asked[b"accept-encoding"].decode("latin-1"))
    return encoded_answer(body, encoding, headers, status)


def encoded_answer(body: bytes, encoding: str, headers: Sequence[tuple[bytes, bytes]], status: int = 200) -> Response:
    """An answer whose body is encoded already."""
    own = [(b"content-encoding", encoding.encode()), (b"vary", b"Accept-Encoding")] if encoding else []
    return Answer(body, status, [*headers, *own, (b"content-length", b"%d" % len(body))])
