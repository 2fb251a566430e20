"""A database that is gone and comes back: one line in the log, and nothing lost or doubled."""

import asyncio
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from kept import WHEN, quote_of, rows
from sqlalchemy import make_url

from databases import POSTGRES
from ratecard.ledger import LedgerUnavailableError, open_ledger
from ratecard.ledger.database import Need, Outage
from ratecard.ledger.store import Ledger


def append(ledger: Ledger, request_id: str) -> bool:
    return ledger.append(quote_of("1"), account="a", request_id=request_id, timestamp=WHEN)


def test_a_lazy_ledger_needs_no_database_until_it_is_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ratecard.ledger")
    with open_ledger(f"sqlite:///{tmp_path}/later/ledger.db", lazy=True) as ledger:
        for _ in range(3):
            with pytest.raises(LedgerUnavailableError):
                append(ledger, "r")
        (tmp_path / "later").mkdir()
        assert append(ledger, "r")
        ledger.ping()
    assert [record.getMessage() for record in caplog.records] == [
        "the ledger's database does not answer: unable to open database file; each request tries again",
        "the ledger's database answers again",
    ]


def test_a_lazy_ledger_of_another_schema_does_not_answer(database: str) -> None:
    with open_ledger(database) as ledger, ledger._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger_schema SET version = 5")
    with open_ledger(database, lazy=True) as ledger, pytest.raises(LedgerUnavailableError, match="has schema 5"):
        append(ledger, "r")


def test_a_trial_needs_every_table_that_is_written_and_leaves_nothing(tmp_path: Path) -> None:
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        ledger.try_to_write()
        assert ledger.walk("").rows == 0
        for table in ("accounts", "requests", "refunds", "entries"):
            with ledger._engine.begin() as connection:
                connection.exec_driver_sql(f"ALTER TABLE ledger_{table} RENAME TO away")
            with pytest.raises(LedgerUnavailableError, match=f"takes no writes: no such table: ledger_{table}"):
                ledger.try_to_write()
            with ledger._engine.begin() as connection:
                connection.exec_driver_sql(f"ALTER TABLE away RENAME TO ledger_{table}")
        ledger.try_to_write()


READ, TRIAL, WRITE = Need


@pytest.mark.parametrize(
    ("failed", "succeeded", "problem"),
    [
        ([READ], READ, ""),
        ([READ], TRIAL, ""),
        ([READ], WRITE, ""),
        ([TRIAL], READ, "takes no writes"),
        ([TRIAL], TRIAL, ""),
        ([TRIAL], WRITE, ""),
        ([WRITE], READ, "takes no writes"),
        ([WRITE], TRIAL, "takes no writes"),  # a disk that is full fails at the commit
        ([WRITE], WRITE, ""),
        ([TRIAL, WRITE], READ, "takes no writes"),
        ([TRIAL, WRITE], TRIAL, ""),  # the outage that trials see is over
        ([READ, TRIAL, WRITE], READ, "does not answer"),
        ([READ, TRIAL, WRITE], TRIAL, ""),
    ],
)
def test_a_success_ends_failures_of_what_needs_no_more(
    failed: list[Need], succeeded: Need, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ratecard.ledger")
    outage = Outage()
    before = outage.begin()
    for need in failed:
        outage.failed("why", need)
        # It began before the failure, so its success proves nothing about the present.
        outage.succeeded(before, succeeded)
        assert outage.problem
    outage.succeeded(outage.begin(), succeeded)
    assert outage.problem == problem
    assert outage.failed_to_write(60) == (WRITE in failed and bool(problem))
    assert not outage.failed_to_write(0)
    assert len(caplog.messages) == (1 if problem else 2)


@pytest.mark.parametrize(("nanoseconds", "expected"), [(0, True), (60 * 10**9 - 1, True), (60 * 10**9, False)])
def test_a_write_that_failed_is_remembered_for_some_seconds(
    monkeypatch: pytest.MonkeyPatch, nanoseconds: int, expected: bool
) -> None:
    outage = Outage()
    moments = iter([5, 5 + nanoseconds])
    monkeypatch.setattr("ratecard.ledger.database.monotonic_ns", lambda: next(moments))
    outage.failed("why", WRITE)
    assert outage.failed_to_write(60) is expected


@pytest.mark.parametrize(
    ("need", "answers", "succeeded", "expected"),
    [
        (READ, True, None, False),
        (READ, True, READ, True),
        (TRIAL, False, None, False),
        (TRIAL, False, READ, False),  # writes that hang
        (TRIAL, False, TRIAL, True),
        (TRIAL, True, None, True),
        (WRITE, True, None, True),
        (WRITE, True, READ, True),
    ],
)
def test_a_database_that_takes_no_writes_answers(
    need: Need, answers: bool, succeeded: Need | None, expected: bool
) -> None:
    outage = Outage()
    assert outage.answers
    outage.failed("why", need, answers=answers)
    if succeeded:
        outage.succeeded(outage.begin(), succeeded)
    assert outage.answers is expected


def test_reads_wait_for_their_turn_where_only_writes_fail(tmp_path: Path) -> None:
    async def reads() -> None:
        await asyncio.gather(*(ledger.in_thread((), ledger.ping) for _ in range(30)))

    with open_ledger(f"sqlite:///{tmp_path}/ledger.db", pool_size=1) as ledger:
        ledger.outage.failed("the disk is full", WRITE)
        asyncio.run(reads())
        assert ledger.outage.problem == "takes no writes"


class Cable:
    """Carries connections to PostgreSQL until it is cut; `mend` lets new ones through."""

    def __init__(self, path: str) -> None:
        self._path, self._open, self._cut = path, list[socket.socket](), False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if self._cut:
                near.close()
                continue
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._path)
            self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, to: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(1 << 16):
                to.sendall(part)
        for each in (source, to):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        self._cut = True
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._cut = False

    def close(self) -> None:
        self.cut()
        self._listening.close()
        for each in self._open:
            each.close()


@pytest.fixture
def cable(database: str) -> Iterator[Cable]:
    folder = str(make_url(database).query["host"])
    found = Cable(f"{folder}/.s.PGSQL.5432")
    yield found
    found.close()


def refuse(ledger: Ledger, refused: list[LedgerUnavailableError]) -> None:
    with pytest.raises(LedgerUnavailableError) as caught:
        append(ledger, "r-3")
    refused.append(caught.value)


@pytest.mark.skipif(not POSTGRES, reason="needs a PostgreSQL")
def test_a_database_that_goes_and_comes_back(database: str, cable: Cable, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ratecard.ledger")
    url = make_url(database)
    query = {name: value for name, value in url.query.items() if name != "host"}
    tcp = url.set(host="127.0.0.1", port=cable.port, query=query).render_as_string(hide_password=False)
    with open_ledger(tcp) as ledger:
        assert append(ledger, "r-0")
        for outage in (1, 2):
            cable.cut()
            for _ in range(3):
                with pytest.raises(LedgerUnavailableError):
                    append(ledger, f"r-{outage}")
            cable.mend()
            assert append(ledger, f"r-{outage}")
            assert append(ledger, "r-0") is False
        # An append is cut off in the middle: it is not known whether it was kept, and a repetition books it once.
        with open_ledger(database) as direct, direct.reading() as other:
            other.exec_driver_sql("UPDATE ledger_accounts SET rows = rows")
            refused = list[LedgerUnavailableError]()
            waiting = threading.Thread(target=refuse, args=(ledger, refused))
            waiting.start()
            with direct.reading() as watch:
                waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                while not watch.exec_driver_sql(waits).scalar():
                    watch.rollback()
            cable.cut()
            waiting.join()
        assert len(refused) == 1
        cable.mend()
        assert append(ledger, "r-3")
        assert append(ledger, "r-3") is False
        assert len(rows(ledger, "a")) == 4
    said = [record.getMessage() for record in caplog.records]
    assert [each.partition(":")[0] for each in said] == [
        "the ledger's database does not answer",
        "the ledger's database answers again",
    ] * 3
    assert not [each for each in said if "\n" in each]
