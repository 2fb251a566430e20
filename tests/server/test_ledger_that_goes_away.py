"""A database that goes and comes back: 503 meanwhile, one line in the log, a metric, and quotes all the while."""

import asyncio
import json
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import pytest
from asking import asked
from fastapi import FastAPI
from prometheus_client import REGISTRY
from serving import PATIENCE, Server, serving, wait_for
from sqlalchemy import event
from sqlalchemy.exc import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
)

import ratecard
from databases import POSTGRES
from ratecard.ledger import LedgerUnavailableError
from ratecard.ledger.database import Waiting
from ratecard.ledger.store import Ledger
from ratecard.line_items.quote import LineItem, LineRate, PricedVersion, Quote
from ratecard.server import LiveRateCard, router
from ratecard.server.charges import charges_router
from ratecard.server.database import LedgerWatch, MeasuredLedger
from ratecard.server.monitoring import RequestLog, TextLines
from ratecard.server.usage_history import usage_history_router

HISTORY = "/api/v1/billing/usage-history"
GONE, AGAIN = "does not answer", "answers again"
AGAIN_WORDS = f"the ledger's database {AGAIN}"


def test_a_ledger_is_ready_when_its_database_is_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "away"
    ledger = MeasuredLedger(f"sqlite:///{folder}/ledger.db", Waiting())
    watch = LedgerWatch(ledger)
    caplog.set_level(logging.INFO, "ratecard.ledger")
    watch.start()
    try:
        assert watch.unready() == "the ledger's database does not answer"
        for _ in range(3):
            with pytest.raises(LedgerUnavailableError):
                ledger.walk("acme")
        assert REGISTRY.get_sample_value("ratecard_ledger_answers") == 0
        folder.mkdir()
        wait_for(lambda: watch.unready() == "", "ledger")
        assert ledger.walk("acme").total == 0
        assert REGISTRY.get_sample_value("ratecard_ledger_answers") == 1
        assert REGISTRY.get_sample_value("ratecard_ledger_connections", {"connections": "idle"})
    finally:
        watch.stop()
    words = [record.getMessage() for record in caplog.records]
    assert len(words) == 2
    assert words[0].startswith(f"the ledger's database {GONE}: ")
    assert words[1] == "the ledger's database answers again"


@pytest.mark.parametrize("writes", [True, False])
def test_a_database_that_hangs_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture, writes: bool
) -> None:
    """It has answered, and does not give the next answer in time; readers say nothing of writers."""
    caplog.set_level(logging.INFO, "ratecard.ledger")
    answer = threading.Event()
    answer.set()
    with new_ledger(tmp_path, monkeypatch, lambda: answer.wait(PATIENCE)) as (ledger, _):
        watch = LedgerWatch(ledger, writes=writes, patience=1)
        watch.start()
        assert watch.unready() == ""
        answer.clear()
        wait_for(lambda: watch.unready() == "the ledger's database does not answer", "end of readiness")
        wait_for(lambda: REGISTRY.get_sample_value("ratecard_ledger_answers") == 0, "metric")
        watch._look()
        assert watch._looks.waiting() == 0, "one look at a time"
        answer.set()
        wait_for(lambda: watch.unready() == "", "readiness")
        wait_for(lambda: REGISTRY.get_sample_value("ratecard_ledger_answers") == 1, "metric")
        watch.stop()
    assert caplog.messages == [
        "the ledger's database does not answer: no answer in 1 s; each request tries again",
        "the ledger's database answers again",
    ]


def test_reads_do_not_end_what_writes_that_hang_began(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ratecard.ledger")
    answer = threading.Event()
    with new_ledger(tmp_path, monkeypatch) as (ledger, _):
        real = ledger.try_to_write
        monkeypatch.setattr(ledger, "try_to_write", lambda: answer.wait(PATIENCE) and real())
        watch = LedgerWatch(ledger, patience=0)
        for _ in range(3):
            watch._look()
            assert watch.unready() == "the ledger's database does not answer"
            assert ledger.walk("a").total == 0
        assert len(caplog.messages) == 1
        answer.set()
        watch.patience = PATIENCE
        watch._look()  # the call that hangs began before its failure was noticed
        watch._look()
        assert watch.unready() == ""
        watch._looks.close(1)
    assert [line.partition(":")[0] for line in caplog.messages] == [f"the ledger's database {GONE}", AGAIN_WORDS]


@contextmanager
def new_ledger(
    folder: Path, monkeypatch: pytest.MonkeyPatch, before_each: Callable[[], object] = lambda: None, **waiting: int
) -> Iterator[tuple[MeasuredLedger, list[str]]]:
    """A ledger in a file, and statements of SQLite that each of its transactions begins with."""
    ledger, statements = MeasuredLedger(f"sqlite:///{folder}/ledger.db", Waiting(**waiting)), list[str]()
    ledger.ping()

    @event.listens_for(ledger._engine, "checkout")
    def begin(connection: sqlite3.Connection, *_: object) -> None:
        before_each()
        for statement in statements:
            connection.execute(statement)

    yield ledger, statements
    ledger.close()


WHEN = datetime(2026, 10, 1, 12, tzinfo=UTC)


def quote_of(amount: str) -> Quote:
    line = LineItem(LineRate("m-fixed", "clip", Decimal(amount), "video/m.yaml:3"), 1, Decimal(amount))
    return Quote(PricedVersion("m", "image", "USD", WHEN.date(), ""), line.amount, line.amount, (line,))


READ_ONLY, WRITABLE = "PRAGMA query_only = 1", "PRAGMA query_only = 0"


def append(ledger: Ledger, request_id: str) -> bool:
    return ledger.append(quote_of("1"), account="a", request_id=request_id, timestamp=WHEN)


def test_a_database_that_takes_no_writes_is_not_ready_and_the_log_does_not_flap(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ratecard.ledger")
    with new_ledger(tmp_path, monkeypatch) as (ledger, statements):
        watch, reads = LedgerWatch(ledger), LedgerWatch(ledger, writes=False)
        watch._look()
        assert watch.unready() == ""
        statements[:] = [READ_ONLY]
        for number in range(3):
            watch._look()
            assert watch.unready() == "the ledger's database takes no writes"
            assert REGISTRY.get_sample_value("ratecard_ledger_answers") == 0
            assert ledger.walk("a").total == 0
            with pytest.raises(LedgerUnavailableError, match="takes no writes: attempt to write a readonly database"):
                append(ledger, f"r-{number}")
        statements[:] = [WRITABLE]
        watch._look()
        assert watch.unready() == ""
        assert REGISTRY.get_sample_value("ratecard_ledger_answers") == 1
        assert append(ledger, "r")
        statements[:] = [READ_ONLY]
        reads._look()
        assert reads.unready() == "", "a usage history without charges needs no writes"
        reads._looks.close(1)
        watch._looks.close(1)
    assert caplog.messages == [
        "the ledger's database takes no writes: attempt to write a readonly database; each request tries again",
        "the ledger's database takes writes again",
    ]


def test_a_disk_that_is_full_is_believed_until_a_charge_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A write that is rolled back does not see it: the server is tried again after a while."""
    caplog.set_level(logging.INFO, "ratecard.ledger")
    with new_ledger(tmp_path, monkeypatch) as (ledger, statements):
        watch = LedgerWatch(ledger)
        statements[:] = ["PRAGMA max_page_count = 1"]
        with pytest.raises(LedgerUnavailableError, match="takes no writes: database or disk is full"):
            for number in range(1000):  # until one more page is needed
                append(ledger, f"r-{number}")
        for _ in range(3):
            watch._look()
            assert watch.unready() == "the ledger's database takes no writes"
            assert REGISTRY.get_sample_value("ratecard_ledger_answers") == 0
        watch.doubt = 0
        assert watch.unready() == ""
        watch.doubt = 30
        statements[:] = ["PRAGMA max_page_count = 1000000"]
        assert append(ledger, "r")
        watch._look()
        assert watch.unready() == ""
        assert REGISTRY.get_sample_value("ratecard_ledger_answers") == 1
        watch._looks.close(1)
    assert caplog.messages == [
        "the ledger's database takes no writes: database or disk is full; each request tries again",
        "the ledger's database takes writes again",
    ]


def test_a_file_that_another_program_locks_is_not_ready_until_it_is_free(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ratecard.ledger")
    with new_ledger(tmp_path, monkeypatch, wait_timeout=1) as (ledger, _):
        watch = LedgerWatch(ledger)
        other = sqlite3.connect(tmp_path / "ledger.db")
        other.execute("BEGIN IMMEDIATE")
        watch._look()
        assert watch.unready() == "the ledger's database does not answer"
        assert ledger.walk("a").total == 0, "readers never wait"
        with pytest.raises(LedgerUnavailableError, match="the ledger is busy: database is locked"):
            append(ledger, "r")
        other.close()
        watch._look()
        assert watch.unready() == ""
        assert append(ledger, "r")
        watch._looks.close(1)
    assert caplog.messages == [], "another writer is no outage"


def test_a_pool_without_a_free_connection_is_not_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with new_ledger(tmp_path, monkeypatch, wait_timeout=1, pool_size=1) as (ledger, _):
        watch = LedgerWatch(ledger)
        with ledger.reading():
            watch._look()
            assert watch.unready() == "the ledger's database does not answer"
        watch._look()
        assert watch.unready() == ""
        watch._looks.close(1)


def test_a_file_that_is_damaged_is_an_outage_and_not_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with new_ledger(tmp_path, monkeypatch) as (ledger, _):
        assert append(ledger, "r")
    for path in tmp_path.iterdir():
        path.write_bytes(b"no database" * 1000)
    with MeasuredLedger(f"sqlite:///{tmp_path}/ledger.db", Waiting(), lazy=True) as ledger:
        for _ in range(2):
            with pytest.raises(
                LedgerUnavailableError, match="does not answer: the tables cannot be made: file is not a database"
            ):
                ledger.walk("a")
    assert len(caplog.messages) == 1


def test_the_watch_outlives_an_error_of_any_kind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As of a proxy that gives each transaction another connection: its thread would end, and its word stand."""
    proxy = ProgrammingError("INSERT", {}, Refused("42P05"))
    with new_ledger(tmp_path, monkeypatch) as (ledger, _):
        real, broken = ledger.try_to_write, threading.Event()
        monkeypatch.setattr(ledger, "try_to_write", lambda: raised(proxy) if broken.is_set() else real())
        watch = LedgerWatch(ledger)
        watch._look()
        broken.set()
        for _ in range(2):
            watch._look()
            assert watch.unready() == "the ledger's database takes no writes"
        broken.clear()
        watch._look()
        assert watch.unready() == ""
        watch._looks.close(1)
    assert [each for each in caplog.messages if "42P05" in each] == caplog.messages[:1]


def raised(error: Exception) -> None:
    raise error


class Refused(sqlite3.ProgrammingError):
    """An error with a code, as those of psycopg have."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.sqlstate = code


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (OperationalError("", {}, sqlite3.OperationalError("disk I/O error")), "an outage"),
        (InternalError("", {}, sqlite3.InternalError("read-only transaction")), "an outage"),
        (InterfaceError("", {}, sqlite3.InterfaceError("closed")), "an outage"),
        (DatabaseError("", {}, sqlite3.DatabaseError("database disk image is malformed")), "an outage"),
        (ProgrammingError("", {}, Refused("42501")), "an outage"),
        (ProgrammingError("", {}, Refused("42P01")), "an outage"),
        (OperationalError("", {}, Refused("57014")), "busy"),
        (OperationalError("", {}, Refused("55P03")), "busy"),
        (ProgrammingError("", {}, Refused("42601")), "a fault of the program"),
        (IntegrityError("", {}, sqlite3.IntegrityError("UNIQUE constraint failed")), "a fault of the program"),
        (DataError("", {}, sqlite3.DataError("out of range")), "a fault of the program"),
    ],
)
def test_an_error_of_the_database_is_an_outage_unless_it_is_of_the_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception, outcome: str
) -> None:
    raised = type(error) if outcome == "a fault of the program" else LedgerUnavailableError
    with new_ledger(tmp_path, monkeypatch) as (ledger, _):
        for _ in range(2):
            with pytest.raises(raised), ledger.writing(["a"]):
                raise error
    assert len(caplog.messages) == (outcome == "an outage")


def test_a_connection_that_is_lost_in_a_write_says_nothing_of_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lost = OperationalError("", {}, sqlite3.OperationalError("server closed"), connection_invalidated=True)
    with new_ledger(tmp_path, monkeypatch) as (ledger, _):
        with pytest.raises(LedgerUnavailableError, match="does not answer: server closed"), ledger.writing(["a"]):
            raise lost
        ledger.ping()
        assert ledger.outage.problem == ""


def test_the_log_names_the_request_whose_charge_found_the_database_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, card: ratecard.RateCard
) -> None:
    said, handler = list[str](), logging.StreamHandler()
    monkeypatch.setattr(handler, "emit", lambda record: said.append(TextLines().format(record)))
    logging.getLogger("ratecard.ledger").addHandler(handler)
    try:
        with new_ledger(tmp_path, monkeypatch) as (ledger, statements):
            app = RequestLog(app_with_charges(ledger, card))
            statements[:] = [READ_ONLY]
            with asked(app) as client:
                answer = client.post("/charges", json=CHARGE, headers={"x-request-id": "request-17"})
            assert answer.status_code == 503
    finally:
        logging.getLogger("ratecard.ledger").removeHandler(handler)
    [line] = said
    assert " ERROR " in line
    assert f" {os.getpid()} request-17 the ledger's database takes no writes: " in line


CHARGE = {"usage": {"model": "ovi-image-to-video"}, "timestamp": "2026-10-01T12:00:00Z", "request_id": "r-1"}


def app_with_charges(ledger: Ledger, card: ratecard.RateCard) -> FastAPI:
    app, live = FastAPI(), LiveRateCard(card)

    async def account_of() -> str:
        return "a"

    app.include_router(charges_router(ledger, live, account_of))
    app.include_router(usage_history_router(ledger, account_of, secret="sixteen characters"))  # noqa: S106
    app.include_router(router(live, base_path=""))
    return app


def test_reads_that_hang_leave_the_other_endpoints_their_threads_and_are_bounded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, card: ratecard.RateCard
) -> None:
    """More than the shared pool has: a list of models of another day, which needs a thread, is answered."""
    answer = threading.Event()
    answer.set()
    hanging = Counter[str]()

    def wait() -> None:
        hanging["now"] += not answer.is_set()
        answer.wait(PATIENCE)

    async def ask(app: FastAPI) -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=PATIENCE) as client:
            reads = [asyncio.create_task(client.get("/billing/usage-history")) for _ in range(60)]
            while hanging["now"] < 2:
                await asyncio.sleep(0.01)
            assert (await client.get("/models?at=2026-10-02")).status_code == 200
            assert not any(each.done() for each in reads)
            ledger.outage.failed("no answer", answers=False)
            assert (await client.get("/billing/usage-history")).status_code == 503, "at once, as it is known"
            assert (await client.post("/charges", json=CHARGE)).status_code == 503
            answer.set()
            assert {each.status_code for each in await asyncio.gather(*reads)} == {200}
            assert (await client.get("/billing/usage-history")).status_code == 200

    with new_ledger(tmp_path, monkeypatch, wait, pool_size=2) as (ledger, _):
        app = app_with_charges(ledger, card)
        answer.clear()
        asyncio.run(ask(app))
    assert hanging["now"] == 2


def test_a_call_that_gets_no_answer_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = threading.Event()
    with new_ledger(tmp_path, monkeypatch, wait_timeout=1, statement_timeout=1) as (ledger, _):
        with pytest.raises(LedgerUnavailableError, match="does not answer: no answer in 2 s"):
            asyncio.run(ledger.in_thread((), lambda: answer.wait(PATIENCE)))

        def late() -> None:
            raise TimeoutError("of the call itself")

        with pytest.raises(TimeoutError, match="of the call itself"):
            asyncio.run(ledger.in_thread((), late))
        answer.set()
    with pytest.raises(RuntimeError, match="the ledger is closed"):
        asyncio.run(ledger.in_thread((), late))


def test_a_process_ends_though_its_database_hangs(tmp_path: Path) -> None:
    """A thread that never comes back neither keeps `close` nor the interpreter."""
    program = f"""
import threading
import ratecard.ledger.store as store
from ratecard.ledger import open_ledger

store._AT_THE_END = 0
ledger = open_ledger("sqlite:///{tmp_path}/ledger.db")
ledger._threads.submit(threading.Event().wait)
ledger.close()
print("closed")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")


def test_transactions_are_measured_by_their_outcome(tmp_path: Path) -> None:
    names = [(operation, outcome) for operation in ("transaction", "write") for outcome in ("done", "refused")]
    before = [calls(*each) for each in names]
    with MeasuredLedger(f"sqlite:///{tmp_path}/ledger.db", Waiting()) as ledger:
        ledger.walk("acme")
        with ledger.writing(("acme",)):
            pass
        with pytest.raises(KeyError), ledger.writing(("acme",)):
            raise KeyError
    assert [calls(*each) - was for each, was in zip(names, before, strict=True)] == [2, 1, 1, 1]


def calls(operation: str, outcome: str) -> float:
    labels = {"operation": operation, "outcome": outcome}
    return REGISTRY.get_sample_value("ratecard_ledger_seconds_count", labels) or 0


class Relay:
    """A socket in front of that of PostgreSQL, which can be cut and joined again."""

    def __init__(self, folder: Path, behind: Path) -> None:
        self.path, self.behind = folder / behind.name, behind
        self._open: list[socket.socket] = []
        self.join()

    def join(self) -> None:
        """Listen, as a database does that was started."""
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.path))
        self._listening.listen()
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def cut(self) -> None:
        """End every connection, as a database does that is stopped."""
        self.path.unlink()
        for each in (self._listening, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                front, back = listening.accept()[0], socket.socket(socket.AF_UNIX)
                back.connect(str(self.behind))
                self._open += [front, back]
                for pair in ((front, back), (back, front)):
                    threading.Thread(target=_pass_on, args=pair, daemon=True).start()


def _pass_on(taken: socket.socket, given: socket.socket) -> None:
    with suppress(OSError):
        while data := taken.recv(65_536):
            given.sendall(data)
        given.shutdown(socket.SHUT_WR)


@contextmanager
def relayed(folder: Path) -> Iterator[tuple[str, Relay]]:
    """The URL of the PostgreSQL of `make test-postgres` behind a relay."""
    given = urlsplit(POSTGRES)
    relay = Relay(folder, Path(parse_qs(given.query)["host"][0]) / ".s.PGSQL.5432")
    yield given._replace(query=f"host={folder}").geturl(), relay
    relay.cut()


def ready(server: Server) -> set[int]:
    """The answers of both workers, most probably."""
    return {server.get("/readyz").status_code for _ in range(20)}


@pytest.mark.skipif(not POSTGRES, reason="make test-postgres has a PostgreSQL")
def test_a_server_outlives_its_database(tmp_path: Path) -> None:
    """A worker that is replaced meanwhile, too."""
    with relayed(tmp_path) as (url, relay), serving("--workers", "2", "--database", url) as server:
        assert server.get(HISTORY).status_code == 200
        relay.cut()
        first = set(server.workers())
        wait_for(lambda: set(server.said_by(GONE)) >= first, "line of each worker")
        wait_for(lambda: ready(server) == {503}, "end of readiness")
        assert server.get("/readyz").json() == {"error": "Not ready: the ledger's database does not answer"}
        assert server.get(HISTORY).status_code == 503
        assert server.get("/livez").status_code == 200
        assert server.quote().status_code == 200
        wait_for(lambda: "ratecard_ledger_answers 0.0" in server.get("/metrics").text, "metric")
        os.kill(min(first), signal.SIGKILL)
        wait_for(lambda: set(server.said_by(GONE)) - first, "line of the new worker")
        assert server.quote().status_code == 200
        relay.join()
        wait_for(lambda: ready(server) == {200}, "readiness")
        assert server.get(HISTORY).status_code == 200
        wait_for(lambda: set(server.said_by(AGAIN)) == set(server.workers()), "line of each worker that is there")
        wait_for(lambda: "ratecard_ledger_answers 1.0" in server.get("/metrics").text, "metric")
        assert server.process.poll() is None
        assert "Traceback" not in server.said
        for words in (GONE, AGAIN):
            assert max(Counter(server.said_by(words)).values()) == 1, "one line of each worker"


KEY = {"authorization": "Bearer secret"}


@contextmanager
def booking(folder: Path, *words: str) -> Iterator[Server]:
    """A server of one worker that books charges in the PostgreSQL of `make test-postgres`."""
    keys = folder / "keys"
    keys.write_text("acme:secret")
    with serving("--database", POSTGRES, "--charge-keys", keys, *words) as server:
        yield server


def book(server: Server, request_id: str) -> int:
    usage = {"type": "video", "model": "ovi-image-to-video"}
    body = {"usage": usage, "timestamp": "2026-10-01T12:00:00Z", "request_id": request_id}
    return server.quote(json.dumps(body).encode(), "/api/v1/charges", KEY).status_code


@contextmanager
def administrator() -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """Statements of the owner of the database, each in a transaction of its own."""
    import psycopg  # only where there is a PostgreSQL

    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")

        def execute(statement: str) -> list[tuple[Any, ...]]:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

        yield execute


def not_ready(server: Server, words: str) -> bool:
    answer = server.get("/readyz")
    return answer.status_code == 503 and answer.json() == {"error": f"Not ready: the ledger's database {words}"}


def metric(server: Server, value: str) -> bool:
    return f"ratecard_ledger_answers {value}" in server.get("/metrics").text


def back(server: Server, request_id: str) -> None:
    """Wait until all is well again."""
    wait_for(lambda: server.get("/readyz").status_code == 200, "readiness")
    assert book(server, request_id) == 200
    wait_for(lambda: metric(server, "1.0"), "metric")


@pytest.mark.skipif(not POSTGRES, reason="make test-postgres has a PostgreSQL")
def test_a_postgresql_that_is_read_only_is_not_ready(tmp_path: Path) -> None:
    with administrator() as execute, booking(tmp_path) as server:
        assert book(server, uuid4().hex) == 200
        execute("ALTER SYSTEM SET default_transaction_read_only = on")
        execute("SELECT pg_reload_conf()")
        try:
            wait_for(lambda: not_ready(server, "takes no writes"), "end of readiness")
            wait_for(lambda: metric(server, "0.0"), "metric")
            for _ in range(3):
                assert book(server, "r") == 503
                assert server.get(HISTORY).status_code == 200
            assert server.quote().status_code == 200
        finally:
            execute("ALTER SYSTEM RESET default_transaction_read_only")
            execute("SELECT pg_reload_conf()")
        back(server, uuid4().hex)
        lines = [line.partition(" - ")[2] for line in server.said.splitlines() if "the ledger's database" in line]
    assert [line.partition(":")[0] for line in lines] == [
        "the ledger's database takes no writes",
        "the ledger's database takes writes again",
    ]


@pytest.mark.skipif(not POSTGRES, reason="make test-postgres has a PostgreSQL")
def test_a_postgresql_whose_tables_are_locked_is_not_ready_and_delays_nothing_else(tmp_path: Path) -> None:
    with administrator() as execute, booking(tmp_path, "--pool-size", "2") as server:
        assert book(server, uuid4().hex) == 200
        execute("BEGIN")
        execute("LOCK TABLE ledger_entries IN ACCESS EXCLUSIVE MODE")
        with ThreadPoolExecutor(50) as clients:
            reads = [clients.submit(server.get, HISTORY) for _ in range(50)]
            wait_for(lambda: not_ready(server, "does not answer"), "end of readiness")
            wait_for(lambda: metric(server, "0.0"), "metric")
            assert server.get("/api/v1/models?at=2026-10-02").status_code == 200
            assert server.quote().status_code == 200
            assert server.get("/livez").status_code == 200
            assert book(server, "r") == 503, "at once: every thread waits"
            execute("ROLLBACK")
            assert {each.result().status_code for each in reads} <= {200, 503}
        back(server, uuid4().hex)
        assert len(server.said_by(GONE)) == 1
        assert len(server.said_by(AGAIN)) == 1


@pytest.mark.skipif(not POSTGRES, reason="make test-postgres has a PostgreSQL")
def test_a_postgresql_that_hangs_is_not_ready_and_does_not_keep_the_server(tmp_path: Path) -> None:
    with administrator() as execute, booking(tmp_path, "--grace", "1") as server:
        assert book(server, uuid4().hex) == 200
        others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

        def send(number: signal.Signals) -> None:
            for (pid,) in backends:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

        backends = execute(f"{others} AND backend_type = 'client backend'")
        send(signal.SIGSTOP)
        try:
            wait_for(lambda: not_ready(server, "does not answer"), "end of readiness")
            wait_for(lambda: metric(server, "0.0"), "metric")
            assert server.quote().status_code == 200
            send(signal.SIGCONT)
            back(server, uuid4().hex)
            assert len(server.said_by(GONE)) == 1
            assert len(server.said_by(AGAIN)) == 1
            backends = execute(f"{others} AND backend_type = 'client backend'")
            send(signal.SIGSTOP)
            wait_for(lambda: not_ready(server, "does not answer"), "end of readiness")
            assert server.stop() == 0
        finally:
            send(signal.SIGCONT)
