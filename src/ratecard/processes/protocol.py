"""A connection: limits that hold before any endpoint runs or key is checked, and its end while the server drains.

A client may send requests without waiting for answers. They are parsed one after the other, each when the client has
read the answer to the one before. The others wait as unparsed bytes, which need little memory, or in the kernel.
"""

import asyncio
import sys
from asyncio.events import TimerHandle
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from time import monotonic_ns
from typing import Any, NoReturn, Protocol

from httptools import HttpParserUpgrade, HttpRequestParser
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ratecard.processes.settings import Settings
from ratecard.server.endpoints import DRAINING
from ratecard.server.http import error_object, too_long
from ratecard.server.monitoring import REFUSED_REQUESTS

# Connections that go on in one turn of the event loop, and the number of turns after which a connection is not new.
_TURN, _NEW = 2, 4
# The most new connections that come before others, the newest first: with more, the oldest would wait too long.
_MOST_NEW = 32
# Turns in a row that may accept a connection without letting any go on.
_ACCEPTING = 8


class TurnTaker(Protocol):
    """A connection that waits for its turn."""

    turns_had: int

    def go_on(self) -> None:
        """Do what a connection may do in one turn."""


class LoopTurns:
    """The connections of a process that wait for their turn: a few go on in each turn of the event loop.

    A turn accepts only one new connection. If one turn began all requests that have arrived, a new client would wait
    for all of them, and again for each client that connects before it.
    """

    def __init__(self) -> None:
        self._new, self._others = deque[TurnTaker](), deque[TurnTaker]()
        self._asked = self._accepted = False
        self._accepting = 0

    def wait(self, connection: TurnTaker, loop: asyncio.AbstractEventLoop) -> None:
        """Let a connection go on at its turn: soon if it is new, else after those before it."""
        (self._new if connection.turns_had < _NEW else self._others).append(connection)
        connection.turns_had += 1
        if len(self._new) > _MOST_NEW:
            self._others.append(self._new.popleft())
        self._ask(loop)

    def accepted(self) -> None:
        """Note that a connection was accepted, because others may wait to be accepted."""
        self._accepted = True

    def _ask(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._asked:
            self._asked = True
            loop.call_soon(self._take, loop)

    def _take(self, loop: asyncio.AbstractEventLoop) -> None:
        self._accepting = self._accepting + 1 if self._accepted else 0
        self._asked = self._accepted = False
        try:
            if not self._accepting % _ACCEPTING:
                self._let_go_on()
        finally:
            if self._new or self._others:
                self._ask(loop)

    def _let_go_on(self) -> None:
        for places_left in reversed(range(min(_TURN, len(self._new) + len(self._others)))):
            # The last place of a turn is kept for old connections: else a flood of new ones would keep them out.
            if self._others and (not places_left or not self._new):
                self._others.popleft().go_on()
            else:
                self._new.pop().go_on()


# Paths that are answered even with too many connections: otherwise a server under load would be restarted.
_PROBES = (b"/livez", b"/readyz")
# Bytes of a header in addition to its name and its value.
_BESIDE = 4
# Seconds to wait for the last requests: on a kept connection, and on a new connection for its first request.
_ON_ITS_WAY, _FIRST = 1 / 20, 1
# Seconds for which the rest of a refused request is read and dropped, so that its answer is not lost.
_LINGER = 2
# Bytes that are parsed at once outside of bodies: more could hold many requests.
_PIECE = 512
# Pieces of a connection that are parsed in one turn: chunks of one byte cost far more than their size.
_PIECES = 32
# The most unparsed bytes of one process; above that, a connection that has more than the second number is closed.
_MOST_UNPARSED, _LONG_UNPARSED = 2**25, 2**14
# The most bytes of answers that clients have not read, in one process.
_MOST_UNTAKEN = 2**26
# Nanoseconds after which a connection whose answer is not read may make room for another; an instant after all others.
_NOT_TAKEN, _NEVER = 10**9, 2**63
# A query is short, and each parameter and header makes every look-up slower.
_MOST_URL_BYTES, _MOST_PARAMETERS, _MOST_HEADERS = 8192, 100, 100
# IPv6 addresses are counted by this prefix, because one customer of a network has all addresses under it.
_IPV6_PREFIX = 64


class ServiceConfig(Config):
    """The configuration of uvicorn, with the settings of the server."""

    def __init__(self, app: str, settings: Settings, **options: Any) -> None:
        super().__init__(app, **options)
        self.settings = settings


class _RefusedError(Exception):
    """An error that ends the parsing of a refused request."""


class _Flow(FlowControl):
    """A flow control that reads nothing while requests wait, even if an endpoint waits for its client to disconnect."""

    holds = False

    def resume_reading(self) -> None:
        """Read again, unless requests wait."""
        if not self.holds:
            super().resume_reading()


@lru_cache(maxsize=1)
def _networks(allowed: tuple[str, ...]) -> list[Any]:
    return [ip_network(address) for address in allowed if address != "*"]


async def _too_many(scope: Scope, receive: Receive, send: Send) -> None:
    REFUSED_REQUESTS.labels("connections").inc()
    headers = {"Connection": "close", "Retry-After": "1"}
    await error_object(503, "Too many connections. Try again later", headers)(scope, receive, send)


def _make_room(among: Iterable["Connection"]) -> bool:
    """Close the least useful connection and return True; return False if all are in use.

    The first choice is the connection that has been idle longest; then the oldest whose client does not read its
    answer; then one whose requests wait behind others, after its current answer: its client must send them again.
    """
    now, by_age = monotonic_ns(), sorted(among, key=lambda connection: connection.idle_since)
    for connection in by_age:
        if connection.timeout_keep_alive_task and not connection.transport.is_closing():
            (connection.transport.abort if connection.untaken else connection.transport.close)()
            return True
    for connection in by_age:
        if connection.untaken and now - connection.stuck_since > _NOT_TAKEN:
            connection.break_off()
            return True
    for connection in by_age:
        if connection.waits_behind_another and not connection.transport.is_closing():
            connection.close_next()
            return True
    return False


def connections_in(held: Iterable[object]) -> list["Connection"]:
    """Return the connections that a server holds now, as a new list."""
    return [connection for connection in held if isinstance(connection, Connection)]


def break_off_stuck(connections: Iterable[object]) -> None:
    """Break off connections whose clients do not read their answers; to be called every second.

    Break off those that are stuck for too long, and the longest stuck ones while unread answers take too much memory.
    """
    now = monotonic_ns()
    stuck = [connection for connection in connections_in(connections) if connection.is_stuck(now)]
    excess = sum(connection.untaken for connection in stuck) - _MOST_UNTAKEN
    for connection in sorted(stuck, key=lambda connection: connection.stuck_since):
        if excess <= 0 and now - connection.stuck_since < connection.config.settings.write_seconds * 10**9:
            return
        excess -= connection.untaken
        connection.break_off()


class Connection(HttpToolsProtocol):
    """A connection whose requests and answers are limited in bytes and in time."""

    config: ServiceConfig
    # The unparsed bytes of all connections, and the turns in which these go on.
    unparsed = 0
    turns = LoopTurns()

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._limits = self.config.settings
        # Bytes of a header: of its parsed parts, and of the pieces that arrived before its end.
        self._parsed = self._arrived = 0
        self._body = 0
        self._in_head = self._in_body = False
        self._unparsed = b""
        # The piece that is parsed, and the request that is parsed once more with what follows it in the piece.
        self._fed = self._again = b""
        # True while the connection waits for its turn, and for the turn in which its next request begins.
        self._waits = self._waits_for_next = False
        self.turns_had = 0
        # Status, reason and message of a refusal, which is sent once the requests before it are answered.
        self._refusal: tuple[int, str, str] | None = None
        self._timer: TimerHandle | None = None
        self._timed = ""
        self._ending: Any = None
        self._crowded = self._lingering = False
        self.address: object = None
        self._running: Any = None
        # The instants of its last answer, and since when an answer is not read.
        self.idle_since, self.stuck_since = monotonic_ns(), _NEVER

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self.turns.accepted()
        self.flow: _Flow = _Flow(transport)
        self.address = self._client_address()
        crowd = self._crowd()
        self._crowded = bool(crowd) and not _make_room(crowd)
        self._wait_for("header")

    def _client_address(self) -> object:
        """Return the address by which a client's connections are counted; None for a proxy, or without a limit."""
        allowed = self._limits.forwarded_allow
        if not self._limits.address_connections or "*" in allowed or not self.client:
            return None
        address = ip_address(self.client[0].partition("%")[0])
        if any(address in network for network in _networks(allowed)):
            return None
        return address if address.version == 4 else ip_network((address, _IPV6_PREFIX), strict=False)

    def _crowd(self) -> list["Connection"]:
        """Return the other connections of its address, or process, if their limit is reached; else an empty list."""
        if self.address is None and len(self.connections) <= self._limits.connections:
            return []
        others = [connection for connection in connections_in(self.connections) if connection is not self]
        if self.address is not None:
            of_address = [connection for connection in others if connection.address == self.address]
            if len(of_address) >= self._limits.address_connections:
                return of_address
        return others if len(others) >= self._limits.connections else []

    @property
    def requests_wait(self) -> bool:
        """Return True if requests wait behind another one."""
        return bool(self.pipeline or self._unparsed)

    @property
    def waits_behind_another(self) -> bool:
        """Return True if requests wait behind one that was begun: a first request would get no answer at all."""
        return self.requests_wait and self._running is not None

    @property
    def idle(self) -> bool:
        """Return True if every request is answered."""
        return not self._answering and not self.requests_wait

    @property
    def untaken(self) -> int:
        """Return the bytes of answers that wait to be sent."""
        return self.transport.get_write_buffer_size()

    def is_stuck(self, now: int) -> bool:
        """Return True if an answer has waited to be sent since an earlier call; note since when one waits."""
        self.stuck_since = min(self.stuck_since, now) if self.untaken else _NEVER
        return self.stuck_since < now

    def break_off(self) -> None:
        """End the connection at once, without waiting until the client has read its answer."""
        REFUSED_REQUESTS.labels("write seconds").inc()
        if self._running is not None:
            # Otherwise the endpoint would go on and write into a closed connection, with a traceback in the log.
            self._running.disconnected = True
        self.transport.abort()

    def _unsupported_upgrade_warning(self) -> None:
        """Read a request again as if it did not ask for another protocol, because the parser left out its body."""
        stopped = sys.exception()
        if not self._is_left_out or not isinstance(stopped, HttpParserUpgrade):
            return
        first = b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        lines = [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._again = b"\r\n".join([first, *lines, b"", self._fed[stopped.args[0] :]])

    @property
    def _is_left_out(self) -> bool:
        """Return True if the parser leaves out the body, because the request asks for another protocol."""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def close_next(self) -> None:
        """Close the connection after its current answer, even if other requests wait behind it."""
        self.pipeline.clear()
        self._unparsed = self._hold(b"")
        if self._running is None or self._running.response_complete:
            self.transport.close()
        else:
            self._running.keep_alive = False

    def resume_writing(self) -> None:
        """Continue to write, because the client has read most of what was sent."""
        self.stuck_since = _NEVER
        super().resume_writing()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Begin the waiting request at the connection's next turn; without one, wait for the next request."""
        self.idle_since, self.stuck_since = monotonic_ns(), _NEVER
        if self.requests_wait:
            self._waits_for_next = True
            self._wait_for_turn()
        elif self._refusal and not self.transport.is_closing():
            self._refuse(*self._refusal)
        else:
            super().on_response_complete()

    def _wait_for_turn(self) -> None:
        if not self._waits:
            self._waits = True
            self.turns.wait(self, self.loop)

    def go_on(self) -> None:
        """Begin the next request if those before it are answered, and continue to parse."""
        self._waits = False
        self._begin()

    def _begin(self) -> None:
        if self._waits_for_next:
            self._waits_for_next = False
            super().on_response_complete()
        self._parse()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer, and drop the unparsed bytes."""
        self._wait_for("")
        self._unparsed = self._hold(b"")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Keep the bytes until the connection's turn; parse them now if too many bytes wait in this process."""
        if self._lingering or self._refusal:
            return
        self._unparsed = self._hold(self._unparsed + data)
        self._unset_keepalive_if_required()
        if Connection.unparsed > _MOST_UNPARSED:  # there is no room to wait
            self._begin()
        else:
            if len(self._unparsed) > _LONG_UNPARSED:
                self._hold_back(True)
            self._wait_for_turn()

    def _hold(self, unparsed: bytes) -> bytes:
        Connection.unparsed += len(unparsed) - len(self._unparsed)
        return unparsed

    def _parse(self) -> None:
        """Parse the next request, as far as it has arrived, and limit the time of the rest."""
        data, offset, pieces = self._unparsed, 0, 0
        most_pieces = _PIECES if Connection.unparsed <= _MOST_UNPARSED else len(data)
        while offset < len(data) and not self.transport.is_closing() and not self._lingering and not self._refusal:
            if self._answering and not self._in_body:
                break
            if pieces == most_pieces:
                self._wait_for_turn()
                break
            piece = data[offset : offset + self._piece()]
            offset, pieces = offset + len(piece), pieces + 1
            began_in_head, self._fed = self._in_head, piece
            super().data_received(piece)
            if self._again:
                data, offset, self._again = self._again + data[offset:], 0, b""
            elif began_in_head and self._in_head:  # all of it belongs to a header that has not ended
                self._arrived += len(piece)
                if self._arrived > self._limits.header_bytes:
                    self._refusal = 431, "header bytes", self._too_long()
                    self.send_400_response("")
        gone = self.transport.is_closing() or self._lingering
        self._unparsed = self._hold(b"" if gone or self._refusal else data[offset:])
        if gone:
            return
        if self._unparsed and Connection.unparsed > _MOST_UNPARSED and len(self._unparsed) > _LONG_UNPARSED:
            self.close_next()
        self._hold_back(bool(self._unparsed))
        if self._in_body:
            self._wait_for("body")
        else:
            self._wait_for("" if self._answering or self.timeout_keep_alive_task else "header")
        if DRAINING.is_set():
            self.drain()

    @property
    def _answering(self) -> bool:
        """Return True if a request is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _hold_back(self, holds: bool) -> None:
        """Stop reading if `holds`, else read again."""
        was_held, self.flow.holds = self.flow.holds, holds
        if holds:
            self.flow.pause_reading()
        elif was_held:
            self.flow.resume_reading()

    def _piece(self) -> int:
        """Return how many bytes may be parsed at once."""
        if not self._in_body:
            return _PIECE
        length = next((value for name, value in self.headers if name == b"content-length"), b"0")
        return max(_PIECE, int(length) - self._body)

    def on_body(self, body: bytes) -> None:
        """Count a part of a body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_begin(self) -> None:
        """Begin to count the bytes of a header."""
        super().on_message_begin()
        self._in_head, self._parsed, self._arrived, self._body = True, 0, 0, 0
        self._wait_for("")

    def on_url(self, url: bytes) -> None:
        """Count the URL."""
        super().on_url(url)
        self._count(len(url))
        if len(self.url) > _MOST_URL_BYTES:
            self._end_with(414, "header bytes", f"The URL is too long: at most {_MOST_URL_BYTES} bytes")
        if self.url.count(b"&") >= _MOST_PARAMETERS:
            self._end_with(414, "header bytes", f"There are too many query parameters: at most {_MOST_PARAMETERS}")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        super().on_header(name, value)
        self._count(len(name) + len(value) + _BESIDE)
        if len(self.headers) > _MOST_HEADERS:
            self._end_with(431, "header bytes", f"There are too many headers: at most {_MOST_HEADERS}")
        if self.headers[-1][0] == b"content-length" and value.isdigit():
            most = self._limits.body_bytes
            if int(value) > most:  # the parser refuses more digits than an integer of 64 bits has
                self._end_with(413, "body bytes", too_long(most))

    def on_headers_complete(self) -> None:
        """Let the application answer, or say that there are too many connections."""
        if self._is_left_out:
            return
        self._in_head, self._in_body = False, True
        self._crowded = self._crowded and bool(self._crowd())
        is_probe = self.url.partition(b"?")[0].endswith(_PROBES)
        application: ASGIApp = self.config.loaded_app
        self.app = _too_many if self._crowded and not is_probe else application
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that the whole body has arrived."""
        if self._is_left_out:
            return
        self._in_body = False
        super().on_message_complete()

    def drain(self) -> None:
        """Send `Connection: close` with the last answer that is due, and close the connection after it."""
        if self._ending is self.cycle or self.cycle is None or self.cycle.response_complete or self._unparsed.strip():
            return
        if self._ending is not None and not self._ending.response_started:
            self._ending.keep_alive = True  # it is not the last answer, because another request has arrived
        if self.cycle.keep_alive:
            self.cycle.keep_alive, self._ending = False, self.cycle

    def shutdown(self) -> None:
        """Close the connection once its answers are sent; an idle one after a short wait for a request on its way."""
        if self.idle:
            is_new = self.cycle is None or self._in_head
            self.loop.call_later(_FIRST if is_new else _ON_ITS_WAY, self._close_idle)
        else:
            self.drain()

    def _close_idle(self) -> None:
        if self.idle:
            self.transport.close()
        else:
            self.drain()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request, for the parser's reason or one of this class, after the answers to those before it."""
        self._refusal = self._refusal or (400, "malformed", msg)
        if self._in_body or self.cycle is None or self.cycle.response_complete:
            self._refuse(*self._refusal)

    def _refuse(self, status: int, reason: str, words: str) -> None:
        """Answer with an error object, and close the connection."""
        REFUSED_REQUESTS.labels(reason).inc()
        answer = error_object(status, words, {"Connection": "close"})
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
        lines += [name + b": " + value for name, value in (*self.server_state.default_headers, *answer.raw_headers)]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self._lingering = True
        self._wait_for("")
        if self.transport.can_write_eof():  # closing at once would reset the connection, and lose the answer
            self.transport.write_eof()
            self.loop.call_later(_LINGER, self.transport.close)
        else:
            self.transport.close()

    def _count(self, size: int) -> None:
        self._parsed += size
        if self._parsed > self._limits.header_bytes:
            self._end_with(431, "header bytes", self._too_long())

    def _end_with(self, status: int, reason: str, words: str) -> NoReturn:
        self._refusal = status, reason, words
        raise _RefusedError

    def _too_long(self) -> str:
        return f"The header is too long: at most {self._limits.header_bytes} bytes"

    def _wait_for(self, part: str) -> None:
        """Start the time limit of a `header` or `body` that is arriving; with an empty `part`, stop it."""
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
        # A client that sent nothing gets no answer; and a second answer would be read as a part of the first.
        begun = self.pipeline or self.cycle.response_started if part == "body" else not self._in_head
        if begun:
            self.transport.close()
        else:
            self._refuse(408, f"{part} seconds", f"The {part} took too long")
