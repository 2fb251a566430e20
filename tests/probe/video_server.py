"""A real server on loopback that serves files by ranges, and misbehaves on request. It counts what reaches it."""

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from ratecard.probe import Limits


class VideoServer(ThreadingHTTPServer):
    """Paths lead to bytes (a file), to text (a redirect), or to a function that answers by itself."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        super().__init__(address, _Handler)
        self.paths: dict[str, Any] = {}
        self.ranges = True
        self.connections = 0
        self.requests: list[tuple[str, str | None]] = []
        self.headers: list[dict[str, str]] = []
        self.sent = 0

    def verify_request(self, request: Any, client_address: Any) -> bool:
        self.connections += 1
        return True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off is what these tests are about."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def url(self, path: str = "/video") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def limits(self, **given: Any) -> Limits:
        """Limits that let a probe reach this server, and no other port."""
        return Limits(**{"schemes": ("http",), "ports": (self.port,), "private_addresses": True, **given})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: VideoServer

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.requests.append((self.path, asked))
        self.server.headers.append(dict(self.headers))
        found = self.server.paths.get(self.path)
        if callable(found):
            found(self)
        elif isinstance(found, str):
            self.answer(302, b"", Location=found)
        elif found is None:
            self.answer(404, b"no such file")
        elif asked and self.server.ranges:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            part = found[int(first) : int(last) + 1]
            end = int(first) + len(part) - 1
            self.answer(206, part, Content_Range=f"bytes {first}-{end}/{len(found)}")
        else:
            self.answer(200, found)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.server.sent += len(body)
        self.wfile.write(body)

    def drip(self, pieces: Iterator[bytes], pause: Any) -> None:
        """Raw bytes, one after another, until the client breaks off."""
        self.close_connection = True
        try:
            for piece in pieces:
                self.server.sent += len(piece)
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(pause)
        except (TimeoutError, BrokenPipeError, ConnectionResetError, ssl.SSLError):
            pass

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def running(server: VideoServer) -> Iterator[VideoServer]:
    """The server, answering in a thread."""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
