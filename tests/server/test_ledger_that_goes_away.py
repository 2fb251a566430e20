"""A database that goes and comes back: 503 meanwhile, one line in the log, a metric, and quotes all the while."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from prometheus_client import REGISTRY
from serving import Server, serving, wait_for

from databases import POSTGRES
from ratecard.ledger import LedgerUnavailableError, open_ledger
from ratecard.server.database import WatchedLedger

HISTORY = "/api/v1/billing/usage-history"
GONE = "does not answer"


def test_a_ledger_is_opened_when_its_database_is_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "away"
    watched = WatchedLedger(lambda: open_ledger(f"sqlite:///{folder}/ledger.db"))
    caplog.set_level(logging.INFO, "ratecard.server.database")
    watched.start()
    try:
        assert watched.unready() == "the ledger's database does not answer"
        for _ in range(3):
            with pytest.raises(LedgerUnavailableError):
                watched.walk("acme")
        assert REGISTRY.get_sample_value("ratecard_ledger_answers") == 0
        folder.mkdir()
        wait_for(lambda: watched.unready() == "", "ledger")
        assert watched.walk("acme").total == 0
        assert REGISTRY.get_sample_value("ratecard_ledger_answers") == 1
    finally:
        watched.stop()
    words = [record.getMessage() for record in caplog.records]
    assert len(words) == 2
    assert words[0].startswith(f"the ledger's database {GONE}: ")
    assert words[1] == "the ledger's database answers again"


def test_calls_are_measured_by_their_outcome(tmp_path: Path) -> None:
    watched = WatchedLedger(lambda: open_ledger(f"sqlite:///{tmp_path}/ledger.db"))
    before = calls("walk", "done"), calls("walk", "refused")
    watched.walk("acme")
    with pytest.raises(ValueError, match="size=0"):
        watched.walk("acme", size=0)
    with pytest.raises(AttributeError):
        _ = watched.wlak
    watched.stop()
    assert (calls("walk", "done"), calls("walk", "refused")) == (before[0] + 1, before[1] + 1)


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
        wait_for(lambda: ready(server) == {503}, "end of readiness")
        assert server.get("/readyz").json() == {"error": "Not ready: the ledger's database does not answer"}
        assert server.get(HISTORY).status_code == 503
        assert server.get("/livez").status_code == 200
        assert server.quote().status_code == 200
        assert "ratecard_ledger_answers 0.0" in server.get("/metrics").text
        workers = server.workers()
        os.kill(workers[0], signal.SIGKILL)
        wait_for(lambda: len(set(server.workers()) - set(workers)) == 1, "new worker")
        wait_for(lambda: server.said.count(GONE) == 3, "line of the new worker")
        assert server.quote().status_code == 200
        relay.join()
        wait_for(lambda: ready(server) == {200}, "readiness")
        assert server.get(HISTORY).status_code == 200
        assert "ratecard_ledger_answers 1.0" in server.get("/metrics").text
        assert server.process.poll() is None
        assert "Traceback" not in server.said
        assert server.said.count(GONE) == 3, "one line of each worker"
        assert server.said.count("answers again") == 2, "one line of each that is there"
