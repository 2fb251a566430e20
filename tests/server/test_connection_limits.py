"""Limits that hold before a key is asked: bytes and seconds of a header and a body, and the number of connections."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from flood import ANSWER, REQUEST
from serving import BODY, Server, few_tables, serving, wait_for

HEADER, CONNECTIONS = 4096, 8


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    limits = {"HEADER_BYTES": HEADER, "HEADER_SECONDS": 1, "BODY_SECONDS": 1, "CONNECTIONS": CONNECTIONS}
    environment: dict[str, Any] = {f"RATECARD_{name}": str(value) for name, value in limits.items()}
    with serving(few_tables(), **environment) as found:
        yield found


def sent(server: Server, *parts: bytes) -> bytes:
    """Everything that is answered on a connection of its own."""
    with server.connect() as connection:
        for part in parts:
            connection.sendall(part)
        return connection.makefile("rb").read()


def asks(connection: socket.socket, request: bytes = REQUEST) -> None:
    """Send a request on a connection that is kept, and read its answer."""
    connection.sendall(request)
    answered = b""
    while not answered.endswith(ANSWER):
        more = connection.recv(4096)
        assert more, answered
        answered += more


def refused(server: Server, reason: str) -> float:
    """Return the number of requests that were refused for a reason so far."""
    label = f'ratecard_refused_requests_total{{reason="{reason}"}}'
    lines = [line for line in server.get("/metrics").text.splitlines() if line.startswith(label)]
    return float(lines[0].split()[-1]) if lines else 0


def with_header_of(size: int) -> bytes:
    """A request whose line and headers have this many bytes, as they are counted: without the ends of the line."""
    head, _, body = REQUEST.partition(b"\r\n\r\n")
    line, _, rest = head.partition(b"\r\n")
    counted = len(line.split()[1]) + sum(len(each) + 2 for each in rest.split(b"\r\n"))
    return head + b"\r\nX-Y: " + b"y" * (size - counted - len("X-Y") - 4) + b"\r\nConnection: close\r\n\r\n" + body


CLOSE = len("Connectionclose") + 4


@pytest.mark.parametrize("cut", [False, True])
def test_a_header_is_as_long_as_allowed_and_no_longer(server: Server, cut: bool) -> None:
    for size, status in ((HEADER - CLOSE, b"200"), (HEADER - CLOSE + 1, b"431")):
        request = with_header_of(size)
        parts = (request[:1000], request[1000:2000], request[2000:]) if cut else (request,)
        answered = sent(server, *parts)
        assert answered.startswith(b"HTTP/1.1 " + status), answered
    assert answered.endswith(b'{"error":"The header is too long: at most 4096 bytes"}')
    assert b"content-type: application/json\r\n" in answered


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nX-Long: ", b"GET / HTTP/1.1\r\n"])
def test_a_header_without_end_is_refused_early(server: Server, start: bytes) -> None:
    """A megabyte of it is sent, or as much as the server takes; the others are answered meanwhile."""
    piece = b"X-Y: z\r\n" * 8192 if start.endswith(b"\r\n") else b"x" * 65_536
    before = refused(server, "header bytes")
    with server.connect() as connection:
        connection.sendall(start)
        answered = b""
        try:
            for _ in range(640):
                connection.sendall(piece)
        except OSError:  # closed, after dropping everything that was sent meanwhile
            pass
        else:
            answered = connection.recv(4096)
            assert answered.startswith(b"HTTP/1.1 431")
    assert refused(server, "header bytes") == before + 1


def test_a_header_that_takes_too_long_is_answered_with_408(server: Server) -> None:
    answered = sent(server, REQUEST[:30])
    assert answered.startswith(b"HTTP/1.1 408")
    assert answered.endswith(b'{"error":"The header took too long"}')


def test_a_connection_that_asks_nothing_is_closed(server: Server) -> None:
    assert sent(server) == b""
    assert sent(server, b"\r\n") == b""


def test_a_body_that_takes_too_long_is_answered_with_408(server: Server) -> None:
    answered = sent(server, REQUEST[:-5])
    assert answered.startswith(b"HTTP/1.1 408")
    assert answered.endswith(b'{"error":"The body took too long"}')


def test_a_second_request_has_its_own_time_and_bytes(server: Server) -> None:
    """A kept connection may wait longer than a header may take."""
    with server.connect() as connection:
        for _ in range(3):
            asks(connection, with_header_of(3000).replace(b"Connection: close\r\n", b""))
        time.sleep(1.5)  # longer than a header may take, which is what the test is about
        asks(connection)


def test_what_is_not_http_is_answered_with_an_error_object(server: Server) -> None:
    answered = sent(server, b"nonsense\r\n\r\n")
    assert answered.startswith(b"HTTP/1.1 400")
    assert answered.endswith(b'{"error":"Invalid HTTP request received."}')


def test_a_connection_that_asks_nothing_makes_room_for_another(server: Server) -> None:
    """That which has been idle for the longest time."""
    held = [server.connect() for _ in range(CONNECTIONS)]
    try:
        for each in held:
            asks(each)
        asks(held[0])
        assert server.quote(BODY).status_code == 200
        assert held[1].recv(4096) == b""
        asks(held[0])
    finally:
        for each in held:
            each.close()


def test_more_connections_are_answered_with_503_and_probes_are_answered(server: Server) -> None:
    """All of them wait for the rest of a body; again, if that took longer than they may."""

    def crowded() -> list[httpx.Response]:
        held = [server.connect() for _ in range(CONNECTIONS)]
        for each in held:
            each.sendall(REQUEST[:-5])
        found = [server.quote(BODY), server.get("/livez"), server.get("/readyz"), server.get("/metrics")]
        for each in held:
            each.close()
        answers[:] = found
        return answers if [each.status_code for each in found] == [503, 200, 200, 503] else []

    answers: list[httpx.Response] = []
    wait_for(crowded, "503 and the probes")
    assert answers[0].json() == {"error": "Too many connections. Try again later"}
    assert (answers[0].headers["retry-after"], answers[0].headers["connection"]) == ("1", "close")
    wait_for(lambda: server.quote(BODY).status_code == 200, "room")
