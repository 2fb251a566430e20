"""One connection: limits that hold before any endpoint or key is asked, and its end while the server drains."""

import asyncio
from asyncio.events import TimerHandle
from http import HTTPStatus
from time import monotonic_ns
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ratecard.server.http import error_object
from ratecard.server.metrics import REFUSED_REQUESTS
from ratecard.server.readiness import DRAINING
from ratecard.service.settings import Settings

# What is asked even where there are too many connections: else a server under load is restarted for it.
_PROBES = (b"/livez", b"/readyz")
# Bytes that a header has beside its name and its value.
_BESIDE = 4
# Seconds at the end: for a request that is on its way on a kept connection, and for the first of a new connection.
_ON_ITS_WAY, _FIRST = 1 / 20, 1
# Seconds for which the rest of a refused request is read and dropped, so that its answer is not lost.
_LINGER = 2


class ServiceConfig(Config):
    """What uvicorn runs, with the settings of the server."""

    def __init__(self, app: str, settings: Settings, **options: Any) -> None:
        super().__init__(app, **options)
        self.settings = settings


class _TooLongError(Exception):
    """Ends the parsing of a header."""


async def _too_many(scope: Scope, receive: Receive, send: Send) -> None:
    REFUSED_REQUESTS.labels("connections").inc()
    headers = {"Connection": "close", "Retry-After": "1"}
    await error_object(503, "Too many connections. Try again later", headers)(scope, receive, send)


class Connection(HttpToolsProtocol):
    """A connection whose header and body are limited in bytes and in time."""

    config: ServiceConfig

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._limits = self.config.settings
        # Bytes of a header: of its parsed parts, and of what arrived while it had not ended.
        self._parsed = self._arrived = 0
        self._in_head = self._in_body = False
        self._timer: TimerHandle | None = None
        self._timed = ""
        self._ending: Any = None
        self._crowded = self._lingering = False
        self.idle_since = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._crowded = not self._make_room()
        self._wait_for("header")

    def _make_room(self) -> bool:
        """Close the connection that has asked nothing for the longest time; whether there is one."""
        others = (each for each in self.connections if isinstance(each, Connection))
        idle = [each for each in others if each.timeout_keep_alive_task and not each.transport.is_closing()]
        if idle:
            min(idle, key=lambda each: each.idle_since).transport.close()
        return bool(idle)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self.idle_since = monotonic_ns()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_for("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived, and limit what has not."""
        if self._lingering:
            return
        began = self._in_head
        super().data_received(data)
        if self._lingering or self.transport.is_closing():
            return
        if began and self._in_head:  # all of it belongs to a header that has not ended
            self._arrived += len(data)
            if self._arrived > self._limits.header_bytes:
                self._refuse(431, "header bytes", self._too_long())
                return
        answering = self.cycle is not None and not self.cycle.response_complete
        if self._in_body:
            self._wait_for("body")
        else:
            self._wait_for("" if answering or self.timeout_keep_alive_task else "header")
        if DRAINING.is_set():
            self.drain()

    def on_message_begin(self) -> None:
        """Begin to count the bytes of a header."""
        super().on_message_begin()
        self._in_head, self._parsed, self._arrived = True, 0, 0
        self._wait_for("")

    def on_url(self, url: bytes) -> None:
        """Count the URL."""
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        super().on_header(name, value)
        self._count(len(name) + len(value) + _BESIDE)

    def on_headers_complete(self) -> None:
        """Let the application answer, or say that there are too many connections."""
        self._in_head, self._in_body = False, True
        self._crowded = self._crowded and len(self.connections) > self._limits.connections
        probe = self.url.partition(b"?")[0].endswith(_PROBES)
        own: ASGIApp = self.config.loaded_app
        self.app = _too_many if self._crowded and not probe else own
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is here."""
        self._in_body = False
        super().on_message_complete()

    def drain(self) -> None:
        """Say `Connection: close` with the last answer that is due, and close the connection after it."""
        if self._ending is self.cycle or self.cycle is None or self.cycle.response_complete:
            return
        if self._ending is not None and not self._ending.response_started:
            self._ending.keep_alive = True  # another request came behind it
        if self.cycle.keep_alive:
            self.cycle.keep_alive, self._ending = False, self.cycle

    def shutdown(self) -> None:
        """Close the connection once its answers are sent; one without a request, if none is on its way."""
        if self.cycle is None or self.cycle.response_complete:
            new = self.cycle is None or self._in_head
            self.loop.call_later(_FIRST if new else _ON_ITS_WAY, self._close_idle)
        else:
            self.drain()

    def _close_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
        else:
            self.drain()

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser refuses, which may be for our own reason."""
        if self._parsed > self._limits.header_bytes:
            self._refuse(431, "header bytes", self._too_long())
        else:
            self._refuse(400, "malformed", msg)

    def _refuse(self, status: int, reason: str, words: str) -> None:
        """Answer with an error object, and close the connection."""
        REFUSED_REQUESTS.labels(reason).inc()
        answer = error_object(status, words, {"Connection": "close"})
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
        lines += [name + b": " + value for name, value in (*self.server_state.default_headers, *answer.raw_headers)]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self._lingering = True
        self._wait_for("")
        if self.transport.can_write_eof():  # closed at once, what is still sent would be reset, and the answer with it
            self.transport.write_eof()
            self.loop.call_later(_LINGER, self.transport.close)
        else:
            self.transport.close()

    def _count(self, size: int) -> None:
        self._parsed += size
        if self._parsed > self._limits.header_bytes:
            raise _TooLongError

    def _too_long(self) -> str:
        return f"The header is too long: at most {self._limits.header_bytes} bytes"

    def _wait_for(self, part: str) -> None:
        """Wait for the rest of a header or of a body, for as long as it may take; empty: wait no longer."""
        if part == self._timed:
            return
        if self._timer:
            self._timer.cancel()
        self._timed, self._timer = part, None
        if part:
            seconds = self._limits.body_seconds if part == "body" else self._limits.header_seconds
            self._timer = self.loop.call_later(_FIRST if self._crowded else seconds, self._too_slow)

    def _too_slow(self) -> None:
        part, self._timer = self._timed, None
        # Where nothing was sent, nothing is answered; and a second answer would be read as a part of the first.
        if (part == "header" and not self._in_head) or (part == "body" and self.cycle.response_started):
            self.transport.close()
        else:
            self._refuse(408, f"{part} seconds", f"The {part} took too long")
