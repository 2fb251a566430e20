"""`ratecard serve` as people run it: processes, keys, signals, and tables that change under it."""

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from multiprocessing import Pipe, get_context
from pathlib import Path
from threading import Timer

import httpx
import pytest
from serving import BODY, EVERY_ADDRESS, GROK, PATIENCE, Server, at_rate, copy_tables, rewrite, serving, wait_for
from uvicorn.supervisors import multiprocess

from ratecard.processes.process import Worker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_tables(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """Two workers, with keys and a ledger, that take edits."""
    database = f"sqlite:///{folder.with_name('ledger.db')}"
    options = ("--workers", "2", "--database", database, "--allow-edits")
    with serving(folder, *options, RATECARD_API_KEYS="acme:sesame,88b1c0ffee") as found:
        yield found


KEY = {"authorization": "Bearer sesame"}


def test_a_key_is_asked_for(server: Server) -> None:
    assert server.quote().status_code == 401
    answer = server.quote(headers=KEY)
    assert (answer.status_code, answer.content) == (200, b'{"quote":0.82}')


def test_the_usage_history_asks_for_the_same_key(server: Server) -> None:
    path = "/api/v1/billing/usage-history"
    assert server.get(path).status_code == 401
    answer = server.get(path, KEY)
    assert (answer.status_code, answer.json()) == (200, {"object": "list", "data": [], "nextCursor": None})


def test_the_workers_count_together(server: Server) -> None:
    for _ in range(20):
        server.get("/api/v1/models", KEY)
    found = {server.get("/metrics").text for _ in range(6)}
    line = 'ratecard_request_seconds_count{endpoint="models",status="200"} 20.0'
    assert all(line in text for text in found)


def test_a_server_without_a_ledger_has_no_metrics_of_one(server: Server, folder: Path) -> None:
    """A gauge at 0 would wake somebody up for a database that there is not."""
    assert "ratecard_ledger_answers" in server.get("/metrics").text
    with serving(folder, "--workers", "2") as alone:
        text = alone.get("/metrics").text
    assert "ratecard_tables_info" in text
    assert "ratecard_ledger" not in text


def test_hostile_bytes_end_no_connection_but_their_own(server: Server) -> None:
    head = b"POST /api/v1/video/quote HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sesame\r\n"
    chunk = b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"
    sent = [
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        head + b"Content-Length: -5\r\n\r\n{}",
        head + b"Content-Length: 5\r\nContent-Type: application/json\r\n\r\n{",
        head + chunk + b"zz\r\n{}\r\n0\r\n\r\n",
        head + chunk + b"FFFFFFFFFFFFFFFFF\r\n{}",
    ]
    for data in sent:
        with server.connect() as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(4096)
            assert not answer.startswith(b"HTTP/1.1 5"), data
    assert server.health(KEY)["status"] == "ok"
    assert "Traceback" not in server.said


def test_a_chunked_body_without_end_is_refused(server: Server) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 100 * 2**20:
            sent += 2**16
            yield b" " * 2**16

    try:
        answer = server.quote(endless(), headers=KEY)
        assert answer.status_code == 413
    except httpx.WriteError:  # the server refused it and closed the connection while it was still sending
        pass
    assert sent < 64 * 2**20


def test_a_killed_worker_is_replaced_and_serves_the_same_tables(server: Server, folder: Path) -> None:
    """Even while the folder is broken: the new worker has the tables that were sound last."""
    grok = folder / GROK
    text = grok.read_text()
    before = server.health(KEY)["digest"]
    workers = server.workers()
    assert len(workers) == 2
    try:
        rewrite(grok, "nonsense")
        wait_for(lambda: server.said.count("tables " + str(before) + " stay") >= 2, "refusal of both workers")
        os.kill(workers[0], signal.SIGKILL)
        wait_for(lambda: len(set(server.workers()) - set(workers)) == 1, "new worker")
        wait_for(lambda: server.said.count("stay") >= 3, "refusal of the new worker")
        assert {server.health(KEY)["digest"] for _ in range(20)} == {before}
    finally:
        rewrite(grok, text)
    wait_for(lambda: server.said.count("take the place of") >= 2, "end of the refusal")


def test_a_hangup_replaces_each_worker_after_its_successor_is_ready(server: Server) -> None:
    before = set(server.workers())
    os.kill(server.process.pid, signal.SIGHUP)

    def replaced() -> bool:
        assert server.quote(headers=KEY).status_code == 200
        return len(set(server.workers()) - before) == len(server.workers()) == 2

    wait_for(replaced, "new workers")


def test_the_names_of_uvicorn_are_its_own() -> None:
    assert Worker.__mro__[1] is multiprocess.Process
    assert multiprocess.Process.__module__ == "uvicorn.supervisors.multiprocess"


def test_a_worker_that_ends_while_its_parent_asks_it_is_noticed_at_once() -> None:
    """Its end of the pipe is open in the parent too, so that the pipe alone would not tell."""
    worker = object.__new__(Worker)
    worker.parent_conn, worker.child_conn = Pipe()
    worker.process = get_context("spawn").Process(target=time.sleep, args=(PATIENCE,))
    worker.process.start()
    assert worker.process.pid
    Timer(1, os.kill, (worker.process.pid, signal.SIGKILL)).start()
    started = time.monotonic()
    assert not worker.is_alive(timeout=PATIENCE)
    assert time.monotonic() - started < PATIENCE
    worker.process.join()
    worker.parent_conn.close()
    worker.child_conn.close()


def test_all_workers_move_together(server: Server, folder: Path) -> None:
    grok = folder / GROK
    text = grok.read_text()
    before = str(server.health(KEY)["digest"])
    try:
        rewrite(grok, at_rate(text, "0.2"))
        wait_for(lambda: before not in {server.health(KEY)["digest"] for _ in range(10)}, "new tables")
    finally:
        rewrite(grok, text)
    wait_for(lambda: {server.health(KEY)["digest"] for _ in range(10)} == {before}, "old tables")


def test_a_request_in_flight_is_answered_before_the_end(folder: Path) -> None:
    with serving(folder) as server:
        with server.connect() as connection:
            head = f"POST /api/v1/video/quote HTTP/1.1\r\nHost: x\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
            connection.sendall(head + BODY[:20])
            wait_for(lambda: server.health()["status"] == "ok", "answer beside it")
            server.process.send_signal(signal.SIGTERM)
            wait_for(lambda: "Shutting down" in server.said, "end")
            connection.sendall(BODY[20:])
            answer = connection.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.endswith(b'{"quote":0.82}')
        assert server.stop() == 0


def test_no_auth_is_open_on_a_public_address(folder: Path) -> None:
    with serving(folder, "--host", EVERY_ADDRESS, "--no-auth", "--base-path", "") as server:
        port = server.base.rpartition(":")[2]
        server.base = f"http://127.0.0.1:{port}"
        answer = server.quote(path="/video/quote?explain=true")
        assert json.loads(answer.content)["lines"]
