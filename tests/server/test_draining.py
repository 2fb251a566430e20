"""SIGTERM: not ready at once, each request is answered, each connection is told to close, and the process ends."""

import asyncio
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from flood import ANSWER, REQUEST, Flood
from serving import PATIENCE, Server, few_tables, serving, wait_for

from ratecard.processes.process import hold_back


class Draining(NamedTuple):
    """A server that drains, and two connections from before: one that is idle, one in the middle of a request."""

    server: Server
    idle: socket.socket
    asking: socket.socket


@pytest.fixture(scope="module")
def draining() -> Iterator[Draining]:
    with serving(few_tables(), RATECARD_DRAIN="3600") as server, server.connect() as idle, server.connect() as asking:
        idle.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"connection: close" not in idle.recv(4096).lower()
        asking.sendall(REQUEST[:-5])
        assert "connection" not in server.get("/readyz").headers
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "Draining for" in server.said, "draining")
        yield Draining(server, idle, asking)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE) == 0


def test_it_is_alive_and_not_ready(draining: Draining) -> None:
    answer = draining.server.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"error": "Not ready: this process is ending"})
    assert answer.headers["connection"] == "close"
    assert draining.server.get("/livez").status_code == 200


def test_a_kept_connection_is_answered_once_more_and_closed(draining: Draining) -> None:
    draining.idle.sendall(REQUEST)
    answered = draining.idle.makefile("rb").read()
    assert answered.endswith(ANSWER)
    assert b"connection: close" in answered.lower()


def test_queued_requests_of_one_connection_are_all_answered(draining: Draining) -> None:
    """The last answer, and no other, says that the connection is closed."""
    draining.asking.sendall(REQUEST[-5:] + REQUEST * 3)
    answered = draining.asking.makefile("rb").read().lower()
    assert answered.count(ANSWER) == 4
    assert answered.count(b"connection: close") == 1
    assert b"connection: close" in answered.rpartition(b"http/1.1 200")[2]


def test_connections_that_wait_at_the_end_are_answered() -> None:
    """They are open, and send their request when nobody listens any more."""
    with serving(few_tables()) as server:
        waiting = [server.connect() for _ in range(20)]
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "Shutting down" in server.said, "end")
        for connection in waiting:
            connection.sendall(REQUEST)
        answers = [connection.makefile("rb").read() for connection in waiting]
        for connection in waiting:
            connection.close()
        assert all(answer.endswith(ANSWER) for answer in answers)
        assert server.stop() == 0


def test_no_request_is_lost_under_load() -> None:
    with serving(few_tables(), "--workers", "2", RATECARD_DRAIN="1") as server:
        host, port = server.base.removeprefix("http://").split(":")
        flood = Flood(host, int(port), 24, again=False)
        thread = threading.Thread(target=lambda: asyncio.run(flood.run()))
        thread.start()
        wait_for(lambda: flood.answered[200] > 200, "load")
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started >= 1
        thread.join(PATIENCE)
    assert not thread.is_alive()
    assert flood.lost == []
    assert set(flood.answered) == {200}
    assert flood.refused == 24, "each client ended at an address where nobody listens"


@pytest.mark.skipif(sys.platform != "linux", reason="no other system has such filters")
def test_no_connection_begins_while_its_listener_is_closed_and_begun_ones_go_on() -> None:
    """A client that the kernel connected after the last `accept` would be reset, with its request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        with socket.create_connection(address) as waiting:
            hold_back(listener)
            with pytest.raises(TimeoutError):
                socket.create_connection(address, timeout=0.2)
            accepted, _ = listener.accept()
            with accepted:
                waiting.sendall(REQUEST)
                assert accepted.recv(len(REQUEST), socket.MSG_WAITALL) == REQUEST
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
