"""Clients that do not wait for answers, or do not take them: each costs little, and none keeps others out."""

import socket
import time
from collections import deque
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from flood import ANSWER, REQUEST
from serving import BODY, JSON, QUOTE, Server, few_tables, serving, wait_for
from test_connection_limits import asks, refused, sent

from ratecard.processes.protocol import Connection, _make_room

CONNECTIONS, SECONDS, OF_ADDRESS = 12, 2, 3
LISTING = b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\n\r\n"
CLOSE = REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    limits = {"CONNECTIONS": CONNECTIONS, "WRITE_SECONDS": SECONDS, "BODY_BYTES": 2**16}
    environment: dict[str, Any] = {f"RATECARD_{name}": str(value) for name, value in limits.items()}
    with serving(**environment) as found:
        yield found


def never_reading(server: Server, window: int = 4096) -> socket.socket:
    """A connection that sends requests for long answers, and reads none."""
    host, port = server.base.removeprefix("http://").split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    connection.connect((host, int(port)))
    connection.sendall(LISTING * 20)
    return connection


@pytest.mark.parametrize("count", [2, 3, 150, 1000])
def test_every_request_of_a_pipeline_is_answered_in_order(server: Server, count: int) -> None:
    paths = [b"/nothing/%d" % number for number in range(count)]
    asked = b"".join(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path for path in paths)
    with server.connect() as connection:
        connection.sendall(asked + CLOSE)
        answered = connection.makefile("rb").read()
    assert answered.endswith(ANSWER)
    places = [answered.find(b'Not found: %s"' % path) for path in paths]
    assert -1 not in places
    assert places == sorted(places)


def test_a_pipeline_in_pieces_of_any_size_is_answered(server: Server) -> None:
    """With bodies, chunked ones too, cut anywhere."""
    chunked = (REQUEST.split(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n") % (
        len(BODY),
        BODY,
    )
    asked = (REQUEST + chunked) * 10 + CLOSE
    for size in (7, 300, 512, 513, len(asked)):
        with server.connect() as connection:
            for at in range(0, len(asked), size):
                connection.sendall(asked[at : at + size])
            assert connection.makefile("rb").read().count(ANSWER) == 21


def test_a_refusal_comes_after_the_answers_before_it(server: Server) -> None:
    for wrong, status in ((b"nonsense\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000, b"431")):
        answered = sent(server, REQUEST * 3 + wrong)
        first, _, last = answered.rpartition(b"HTTP/1.1 ")
        assert first.count(ANSWER) == 3
        assert last.startswith(status)


@pytest.mark.parametrize(
    ("start", "status"),
    [
        (b"GET /" + b"x" * 8191 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"404"),
        (b"GET /" + b"x" * 8192 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"414"),
        (b"GET /x?" + b"a&" * 99 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"404"),
        (b"GET /x?" + b"a&" * 100 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100 + b"\r\n", b"404"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n", b"431"),
    ],
    ids=["url", "longer url", "parameters", "more parameters", "headers", "more headers"],
)
def test_a_url_and_the_number_of_headers_are_limited(server: Server, start: bytes, status: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(start)
        assert connection.recv(4096).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize("length", [2**16 + 1, 2**63])
def test_a_body_that_says_it_is_too_long_is_refused_before_it_is_sent(server: Server, length: int) -> None:
    answered = sent(server, REQUEST.replace(b"Length: %d" % len(BODY), b"Length: %d" % length))
    assert answered.startswith(b"HTTP/1.1 413")
    assert answered.endswith(b'"The body is too long: at most 65536 bytes, by the setting --body-bytes of the server"}')
    assert server.quote(BODY.ljust(2**16)).status_code == 200


def test_a_client_that_does_not_take_its_answers_is_broken_off(server: Server) -> None:
    before = refused(server, "write seconds")
    with never_reading(server), never_reading(server):
        wait_for(lambda: refused(server, "write seconds") >= before + 2, "end")


def test_a_client_that_takes_its_answers_slowly_is_not(server: Server) -> None:
    """All of twenty listings, which takes longer than one answer may wait."""
    before, answered = refused(server, "write seconds"), 0
    with never_reading(server, 2**17) as connection:
        connection.sendall(CLOSE)
        while more := connection.recv(2**17):
            answered += len(more)
            time.sleep(0.05)
    assert answered > 20 * 200_000
    assert refused(server, "write seconds") == before


def test_clients_that_take_nothing_make_room_for_others(server: Server) -> None:
    held = [never_reading(server) for _ in range(CONNECTIONS)]
    try:
        wait_for(lambda: server.quote(BODY).status_code == 200, "room")
    finally:
        for each in held:
            each.close()


def test_a_pipeline_makes_room_for_others_after_the_answer_that_is_due() -> None:
    """Every connection has asked for much; another client is answered at once."""
    with (
        serving(few_tables(), RATECARD_CONNECTIONS="2") as server,
        server.connect() as one,
        server.connect() as other,
    ):
        for each in (one, other):
            each.sendall(REQUEST * 3000)
        assert server.quote(BODY).status_code == 200


def test_a_connection_whose_first_request_waits_makes_no_room() -> None:
    """On a busy machine it waits for its turn, while others connect: it would end without an answer."""
    waiting = object.__new__(Connection)
    waiting.transport = Mock(get_write_buffer_size=lambda: 0, is_closing=lambda: False)
    waiting.pipeline, waiting.timeout_keep_alive_task = deque(), None
    waiting.idle_since, waiting._running, waiting._unparsed = 0, None, b""
    waiting._unparsed = waiting._hold(REQUEST)
    assert not _make_room([waiting])
    waiting._running = Mock(response_complete=False, keep_alive=True)
    assert _make_room([waiting])
    assert not waiting._running.keep_alive, "it ends after the answer that is due"


def test_connections_of_one_address_are_limited_but_those_of_proxies() -> None:
    limits = {"RATECARD_ADDRESS_CONNECTIONS": str(OF_ADDRESS), "RATECARD_FORWARDED_ALLOW": "127.0.0.1"}
    with serving(few_tables(), **limits, verify=None) as server:
        host, port = server.base.removeprefix("http://").split(":")

        def connected(address: str) -> socket.socket:
            return socket.create_connection((host, int(port)), source_address=(address, 0), timeout=300)

        def begun(address: str) -> socket.socket:
            connection = connected(address)
            connection.sendall(REQUEST[:-5])
            return connection

        held = [begun(address) for address in ["127.0.0.2"] * OF_ADDRESS + ["127.0.0.1"] * (OF_ADDRESS + 2)]
        asks(held[-1], REQUEST[-5:])

        def status(address: str, request: bytes = REQUEST) -> bytes:
            with connected(address) as connection:
                connection.sendall(request)
                return connection.recv(4096).split()[1]

        wait_for(lambda: status("127.0.0.2") == b"503", "limit")
        assert status("127.0.0.2", b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n") == b"200"
        assert status("127.0.0.3") == status("127.0.0.1") == b"200"
        asks(held[0], REQUEST[-5:])
        assert status("127.0.0.2") == b"200", "that which is idle makes room"
        for each in held:
            each.close()


def test_a_server_ends_while_long_work_goes_on() -> None:
    usages = (
        b'{"usages":[' + b",".join(b'{"type":"text","model":"grok-4-%d"}' % number for number in range(1000)) + b"]}"
    )
    with serving(RATECARD_GRACE="1") as server:
        head = "\r\n".join(f"{name}: {value}" for name, value in JSON.items())
        request = f"POST {QUOTE.replace('video/quote', 'rate')} HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode()
        held = [server.connect() for _ in range(40)]
        for each in held:
            each.sendall(request + b"Content-Length: %d\r\n\r\n" % len(usages) + usages)
        assert server.stop() == 0
        for each in held:
            each.close()


def test_a_request_for_another_protocol_is_answered_and_not_logged(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    # Java's client asks for HTTP/2 like this, with a body.
    head = "\r\n".join(f"{name}: {value}" for name, value in JSON.items())
    head += "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x"
    one = f"POST {QUOTE} HTTP/1.1\r\nHost: x\r\n{head}\r\nContent-Length: {len(BODY)}\r\n\r\n".encode() + BODY
    for number, parts in ((1, [one]), (1, [one[:40], one[40:-5], one[-5:]]), (2, [one + one]), (9, [one] * 9)):
        with server.connect() as connection:
            for part in parts:
                connection.sendall(part)
                time.sleep(0.2)
            assert connection.recv(65_536).count(b'{"quote":') == number
    assert "pgrade" not in server.said
