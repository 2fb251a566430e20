"""Four attempts of many requests at once, on connections of a host at each isolation level: booked once, or refused.

At REPEATABLE READ and SERIALIZABLE the host repeats its transaction, as the page says. `make test-postgres` runs this
on PostgreSQL.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kept import WHEN, Card, rows
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from databases import POSTGRES
from ratecard.ledger import BookedCharge, LedgerError, charge, charge_async
from ratecard.ledger.store import Ledger

# SQLite has one writer at a time, so that any two attempts collide.
REQUESTS, ATTEMPTS, ACCOUNTS, WRITERS = 200 if POSTGRES else 20, 4, 8, 6
# PostgreSQL's code for a transaction that cannot be ordered after others; SQLite has only a message.
AGAIN = ("40001", "database is locked")
CARD: Any = Card()


def engine_at(level: str, url: str) -> Engine:
    if level in ("BEGIN", "BEGIN IMMEDIATE"):  # the host begins transactions itself, as SQLAlchemy's pages advise
        engine = create_engine(url, connect_args={"isolation_level": None})
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(level))
        return engine
    return create_engine(url.replace("postgresql://", "postgresql+psycopg://"), isolation_level=level)


LEVELS = (
    ("READ COMMITTED", "READ UNCOMMITTED", "REPEATABLE READ", "SERIALIZABLE")
    if POSTGRES
    else ("SERIALIZABLE", "READ UNCOMMITTED", "BEGIN", "BEGIN IMMEDIATE")
)


def who(number: int) -> dict[str, Any]:
    return {"account": f"a-{number % ACCOUNTS}", "request_id": f"r-{number}", "timestamp": WHEN}


def usage(number: int) -> dict[str, Any]:
    """A usage that costs the number of its request, in two rows."""
    return {"amounts": [str(number), "1"]}


def is_to_be_repeated(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", str(error.orig)) in AGAIN


def booked_by_a_host(engine: Engine, number: int) -> BookedCharge:
    while True:
        try:
            with engine.begin() as connection:
                return charge(connection, CARD, usage(number), **who(number))
        except DBAPIError as error:
            if not is_to_be_repeated(error):
                raise


def attempts() -> list[int]:
    """The number of a request for each attempt: those of one are begun together, or much later."""
    together = [number for number in range(REQUESTS) for _ in range(ATTEMPTS // 2)]
    return together + together[::-1]


def check(ledger: Ledger, answers: list[tuple[int, BookedCharge]]) -> None:
    for number, answer in answers:
        assert {entry.details and entry.details.request_id for entry in answer.entries} == {f"r-{number}"}
        assert [-entry.amount for entry in answer.entries] == [number, 1]
    assert Counter(number for number, answer in answers if answer.new) == dict.fromkeys(range(REQUESTS), 1)
    entries = [entry for account in range(ACCOUNTS) for entry in rows(ledger, f"a-{account}")]
    assert Counter(entry.details.request_id for entry in entries if entry.details) == {
        f"r-{number}": 2 for number in range(REQUESTS)
    }
    assert sum(ledger.walk(f"a-{account}").rows for account in range(ACCOUNTS)) == 2 * REQUESTS, "without a gap"


def in_threads(call: Callable[[int], BookedCharge]) -> list[tuple[int, BookedCharge]]:
    with ThreadPoolExecutor(WRITERS) as threads:
        return list(zip(attempts(), threads.map(call, attempts()), strict=True))


@pytest.mark.parametrize("level", LEVELS)
def test_each_request_is_booked_once(ledger: Ledger, database: str, level: str) -> None:
    engine = engine_at(level, database)
    check(ledger, in_threads(lambda number: booked_by_a_host(engine, number)))
    engine.dispose()


def test_in_autocommit_each_is_refused(ledger: Ledger, database: str) -> None:
    engine = engine_at("AUTOCOMMIT", database)

    def refused(number: int) -> BookedCharge:
        with pytest.raises(LedgerError, match=r"^the connection is in AUTOCOMMIT"):
            booked_by_a_host(engine, number)
        return BookedCharge("", "", (), False)

    in_threads(refused)
    engine.dispose()
    assert [ledger.walk(f"a-{account}").rows for account in range(ACCOUNTS)] == [0] * ACCOUNTS


@pytest.mark.parametrize("level", LEVELS[-1:] if POSTGRES else LEVELS[:1])
def test_in_an_event_loop(ledger: Ledger, database: str, level: str) -> None:
    url = database.replace("postgresql://", "postgresql+psycopg://").replace("sqlite://", "sqlite+aiosqlite://")

    async def host() -> list[tuple[int, BookedCharge]]:
        engine, places = create_async_engine(url, isolation_level=level), asyncio.Semaphore(WRITERS)

        async def book(number: int) -> tuple[int, BookedCharge]:
            while True:
                try:
                    async with places, engine.begin() as connection:
                        return number, await charge_async(connection, CARD, usage(number), **who(number))
                except DBAPIError as error:
                    if not is_to_be_repeated(error):
                        raise

        answers = await asyncio.gather(*map(book, attempts()))
        await engine.dispose()
        return list(answers)

    check(ledger, asyncio.run(host()))
