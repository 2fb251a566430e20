"""A database that goes and comes back: 503 meanwhile, one line in the log, a metric, and quotes all the while."""

import logging
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from prometheus_client import REGISTRY
from serving import PATIENCE, Server, serving, wait_for

from databases import POSTGRES
from ratecard.ledger import LedgerUnavailableError
from ratecard.ledger.database import Waiting
from ratecard.server.database import LedgerWatch, MeasuredLedger

HISTORY = "/api/v1/billing/usage-history"
GONE, AGAIN = "does not answer", "answers again"


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


def test_a_database_that_hangs_is_not_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It has answered, and does not give the next answer in time: the clock is set on."""
    hanging, answer = threading.Event(), threading.Event()
    ledger = MeasuredLedger(f"sqlite:///{tmp_path}/ledger.db", Waiting())
    watch = LedgerWatch(ledger)
    watch.start()
    assert watch.unready() == ""

    def hang() -> None:
        hanging.set()
        answer.wait(PATIENCE)

    monkeypatch.setattr(ledger, "ping", hang)
    assert hanging.wait(PATIENCE)
    assert watch.unready() == ""
    monkeypatch.setattr("ratecard.server.database.monotonic_ns", lambda: time.monotonic_ns() + 6 * 10**9)
    assert watch.unready() == "the ledger's database does not answer"
    answer.set()
    watch.stop()


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
