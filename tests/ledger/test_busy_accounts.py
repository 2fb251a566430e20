"""Waiting writers of one account delay no other account; what waits too long is refused. `make test-postgres` too."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import pytest
from kept import WHEN, Card, quote_of, rows
from sqlalchemy import text

from databases import POSTGRES
from ratecard.ledger import LedgerError, LedgerUnavailableError, charge_async, open_ledger
from ratecard.ledger.database import Turns, Waiting
from ratecard.ledger.store import Ledger
from ratecard.processes.settings import Settings

# Seconds, far more than anything takes on a busy machine: a test fails only if something never happens.
PATIENCE = 120
WRITERS = 12  # more than connections and threads of the ledger below


class CountedTurns(Turns):
    """Turns that count, for each account, the writers that have had it or wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = Counter[str]()

    @contextmanager
    def _take(self, account: str, seconds: int) -> Iterator[None]:
        self.wanted[account] += 1
        with super()._take(account, seconds):
            yield


@pytest.fixture
def small(database: str) -> Iterator[Ledger]:
    with open_ledger(database, pool_size=2) as ledger:
        for account in "ab":
            append(ledger, account, "first")
        ledger._turns = CountedTurns()
        yield ledger


def append(ledger: Ledger, account: str, request_id: str) -> bool:
    return ledger.append(quote_of("1"), account=account, request_id=request_id, timestamp=WHEN)


def wait_for(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextmanager
def blocked(ledger: Ledger, account: str) -> Iterator[None]:
    """Another writer that takes long: of another process on PostgreSQL; SQLite has one writer, so of this one."""
    if not POSTGRES:
        with ledger._turns.take([account], 1):
            yield
        return
    with ledger._engine.connect() as other:
        other.execute(text("UPDATE ledger_accounts SET rows = rows WHERE account = :account"), {"account": account})
        other.detach()  # it does not belong to the ledger
        yield


def writers(ledger: Ledger, account: str) -> int:
    assert isinstance(ledger._turns, CountedTurns)
    return ledger._turns.wanted[account]


def test_threads_that_wait_for_one_account_delay_no_other(small: Ledger) -> None:
    with ThreadPoolExecutor(WRITERS) as threads:
        with blocked(small, "a"):
            waiting = [threads.submit(append, small, "a", f"r-{number}") for number in range(WRITERS)]
            wait_for(lambda: writers(small, "a") >= WRITERS)
            assert append(small, "b", "r")
            assert not any(each.done() for each in waiting)
        assert [each.result() for each in waiting] == [True] * WRITERS
    assert len(rows(small, "a")) == WRITERS + 1


def test_tasks_that_wait_for_one_account_delay_no_other(small: Ledger) -> None:
    card: Any = Card()

    async def book(account: str, request_id: str) -> bool:
        who: dict[str, Any] = {"account": account, "request_id": request_id, "timestamp": WHEN}
        return (await charge_async(small, card, {"amounts": ["1"]}, **who)).new

    async def all_of_them() -> list[bool]:
        with blocked(small, "a"):
            waiting = [asyncio.create_task(book("a", f"r-{number}")) for number in range(WRITERS)]
            await asyncio.to_thread(wait_for, lambda: writers(small, "a") > (0 if POSTGRES else 1))
            assert await book("b", "r")
            assert not any(each.done() for each in waiting)
        return await asyncio.gather(*waiting)

    assert asyncio.run(all_of_them()) == [True] * WRITERS


def test_a_writer_that_waits_too_long_is_refused(database: str) -> None:
    with open_ledger(database, wait_timeout=1) as ledger:
        append(ledger, "a", "first")
        with blocked(ledger, "a"), pytest.raises(LedgerUnavailableError) as caught:
            append(ledger, "a", "r")
        assert str(caught.value).startswith("the ledger is busy: ")
        assert append(ledger, "a", "r")

        async def behind_another() -> None:
            held, card = threading.Event(), Card()
            who: dict[str, Any] = {"account": "a", "timestamp": WHEN}
            first = asyncio.create_task(ledger.in_thread(["a"], held.wait))
            await asyncio.sleep(0)
            with pytest.raises(LedgerUnavailableError, match=r"^the ledger is busy: other appends to 'a' wait$"):
                await charge_async(ledger, card, {"amounts": ["1"]}, request_id="s", **who)
            held.set()
            await first

        asyncio.run(behind_another())


def test_a_setting_that_makes_no_sense_is_refused(database: str) -> None:
    wrong: Any
    for wrong in (0, -1, 86_401, True, "5", 1.5):
        for name in ("pool_size", "connect_timeout", "wait_timeout", "statement_timeout"):
            with pytest.raises(LedgerError) as caught:
                open_ledger(database, **{name: wrong})
            assert str(caught.value) == f"{name}={wrong!r}. Allowed: a whole number, 1 to 86400"


def test_the_library_and_the_server_wait_as_long(database: str) -> None:
    settings = Settings()
    of_server = Waiting(*(getattr(settings, field.name) for field in fields(Waiting)))
    with open_ledger(database) as ledger:
        assert ledger.waiting == Waiting() == of_server


@pytest.mark.skipif(not POSTGRES, reason="needs a PostgreSQL")
def test_the_timeouts_are_those_of_the_connections(database: str) -> None:
    with open_ledger(database, wait_timeout=7, statement_timeout=8) as ledger, ledger._engine.connect() as connection:
        found = [connection.exec_driver_sql(f"SHOW {name}_timeout").scalar() for name in ("lock", "statement")]
        assert found == ["7s", "8s"]
        connection.rollback()
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "7s", "no transaction undoes them"
