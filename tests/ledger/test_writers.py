"""Who may book: a ledger, or a connection in a transaction. `make test-postgres` runs this on PostgreSQL."""

import asyncio
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kept import WHEN, Card, quote_of, rows, sums
from sqlalchemy import Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from databases import POSTGRES
from ratecard.ledger import (
    LedgerError,
    LedgerUnavailableError,
    NewCharge,
    append_many,
    append_many_async,
    charge,
    charge_async,
    open_ledger,
    refund,
    refund_async,
)
from ratecard.ledger.database import check_transaction
from ratecard.ledger.store import Ledger

WHO: dict[str, Any] = {"account": "a", "request_id": "new", "timestamp": WHEN}
BACK: dict[str, Any] = {"refund_id": "f", "sku": "m-0", "amount": Decimal("0.1")}
CARD: Any = Card()
LEVEL = "READ COMMITTED" if POSTGRES else "SERIALIZABLE"
AUTOCOMMIT = (
    "the connection is in AUTOCOMMIT: each statement is committed by itself, so a charge could be half written."
    f' Pass one with transactions, of an engine without AUTOCOMMIT or with isolation_level="{LEVEL}"'
)
IN_DRIVER: dict[str, Any] = {"autocommit": True} if POSTGRES else {"isolation_level": None}
# Each call would book something if its writer were accepted; the request "old" is in the ledger already.
CALLS: dict[str, Callable[[Any], Any]] = {
    "charge": lambda writer: charge(writer, CARD, {"amounts": ["1"]}, **WHO),
    "charge again": lambda writer: charge(writer, CARD, {"amounts": ["1"]}, **WHO | {"request_id": "old"}),
    "refund": lambda writer: refund(writer, **WHO | BACK | {"request_id": "old"}),
    "append_many": lambda writer: append_many(writer, [NewCharge(quote_of("1"), **WHO)]),
}
ASYNC_CALLS: dict[str, Callable[[Any], Any]] = {
    "charge": lambda writer: charge_async(writer, CARD, {"amounts": ["1"]}, **WHO),
    "charge again": lambda writer: charge_async(writer, CARD, {"amounts": ["1"]}, **WHO | {"request_id": "old"}),
    "refund": lambda writer: refund_async(writer, **WHO | BACK | {"request_id": "old"}),
    "append_many": lambda writer: append_many_async(writer, [NewCharge(quote_of("1"), **WHO)]),
}


def sync_url(database: str) -> str:
    return database.replace("postgresql://", "postgresql+psycopg://")


def async_url(database: str) -> str:
    return sync_url(database).replace("sqlite://", "sqlite+aiosqlite://")


@pytest.fixture
def booked(ledger: Ledger) -> Ledger:
    CALLS["charge again"](ledger)
    return ledger


def refusal(call: Callable[[Any], Any], writer: object) -> str:
    with pytest.raises(LedgerError) as caught:
        call(writer)
    return str(caught.value)


# Connections that commit each statement: in the three ways of SQLAlchemy, and by a setting of the driver.
AUTOCOMMITS: dict[str, Callable[[str], tuple[Engine, dict[str, Any]]]] = {
    "create_engine": lambda url: (create_engine(url, isolation_level="AUTOCOMMIT"), {}),
    "engine": lambda url: (create_engine(url).execution_options(isolation_level="AUTOCOMMIT"), {}),
    "connection": lambda url: (create_engine(url), {"isolation_level": "AUTOCOMMIT"}),
    "driver": lambda url: (create_engine(url, connect_args=IN_DRIVER), {}),
}
if not POSTGRES and sys.version_info >= (3, 12):
    AUTOCOMMITS["driver's new way"] = lambda url: (create_engine(url, connect_args={"autocommit": True}), {})


@pytest.mark.parametrize("way", AUTOCOMMITS)
def test_a_connection_in_autocommit_is_refused(booked: Ledger, database: str, way: str) -> None:
    engine, options = AUTOCOMMITS[way](sync_url(database))
    for call in CALLS.values():
        with engine.connect() as connection:
            assert refusal(call, connection.execution_options(**options)) == AUTOCOMMIT
    with Session(engine) as session:
        connection = session.connection(execution_options=options)
        assert refusal(CALLS["charge"], connection) == AUTOCOMMIT
    engine.dispose()
    assert len(rows(booked, "a")) == 1
    assert booked.walk("a").rows == 1


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_driver_that_does_not_say_its_mode_is_refused(dialect: str) -> None:
    silent = SimpleNamespace(driver_connection=object(), dbapi_connection=object())
    connection: Any = SimpleNamespace(dialect=SimpleNamespace(name=dialect), connection=silent, execute=lambda _: None)
    with pytest.raises(LedgerError, match=r"^the connection may be in AUTOCOMMIT, which its driver does not say"):
        check_transaction(connection)


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_driver_of_postgresql_is_asked_for_its_mode(autocommit: bool) -> None:
    driver = SimpleNamespace(dbapi_connection=SimpleNamespace(autocommit=autocommit))
    connection: Any = SimpleNamespace(dialect=SimpleNamespace(name="postgresql"), connection=driver)
    with pytest.raises(LedgerError, match="the connection is in AUTOCOMMIT") if autocommit else nullcontext():
        check_transaction(connection)


@pytest.mark.parametrize("way", ["create_engine", "connection", "driver"])
def test_an_asynchronous_connection_in_autocommit_is_refused(booked: Ledger, database: str, way: str) -> None:
    level: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"}
    made = {"create_engine": level, "driver": {"connect_args": IN_DRIVER}}.get(way, {})

    async def host() -> list[str]:
        engine = create_async_engine(async_url(database), **made)
        said = []
        for call in ASYNC_CALLS.values():
            async with engine.connect() as connection:
                if way == "connection":
                    await connection.execution_options(**level)
                with pytest.raises(LedgerError) as caught:
                    await call(connection)
                said.append(str(caught.value))
        await engine.dispose()
        return said

    assert asyncio.run(host()) == [AUTOCOMMIT] * len(ASYNC_CALLS)
    assert len(rows(booked, "a")) == 1


@pytest.mark.parametrize("way", ["create_engine", "engine", "driver"])
def test_a_ledger_on_an_engine_in_autocommit_books_whole_or_refuses(database: str, way: str) -> None:
    """On PostgreSQL it takes its own connections out of AUTOCOMMIT; those of SQLite would stay so for the host."""
    engine, _ = AUTOCOMMITS[way](sync_url(database))
    with open_ledger(engine) as ledger:
        if POSTGRES:
            CALLS["charge again"](ledger)
            with pytest.raises(ZeroDivisionError), ledger.writing(["a"]) as connection:
                append_many(connection, [NewCharge(quote_of("1"), **WHO)])
                raise ZeroDivisionError
            assert len(rows(ledger, "a")) == 1, "rolled back"
        else:
            calls: list[Callable[[Any], object]] = [*CALLS.values(), lambda writer: writer.append(quote_of("1"), **WHO)]
            for call in calls:
                with pytest.raises(LedgerUnavailableError, match=re.escape(AUTOCOMMIT)):
                    call(ledger)
            assert rows(ledger, "a") == []
    engine.dispose()


@contextmanager
def beginning_by_itself(database: str, begin: str) -> Iterator[Engine]:
    """An engine of SQLite whose host begins its transactions, as SQLAlchemy's pages advise."""
    engine = create_engine(database, connect_args={"isolation_level": None})
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    yield engine
    engine.dispose()


@pytest.mark.skipif(bool(POSTGRES), reason="of SQLite")
@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN IMMEDIATE"])
def test_a_host_that_begins_its_transactions_is_taken(booked: Ledger, database: str, begin: str) -> None:
    with beginning_by_itself(database, begin) as engine:
        for end, expected in ((Connection.rollback, "1"), (Connection.commit, "1.9")):
            with engine.connect() as connection:
                CALLS["charge"](connection)
                CALLS["refund"](connection)
                end(connection)
            assert sums(rows(booked, "a")) == {"USD": Decimal(expected)}
        with open_ledger(engine) as other:
            CALLS["charge again"](other)


def engine_of(database: str) -> Engine:
    return create_engine(sync_url(database))


PASS = {
    "engine": "Pass open_ledger(engine), or a connection of it: with engine.begin() as connection",
    "async engine": "Pass a connection of it to the async form: async with engine.begin() as connection",
    "session": "Pass session.connection()",
    "async session": "Pass await session.connection() to the async form",
    "async": "Await charge_async, refund_async or append_many_async with it",
    "sync": "Call charge, refund or append_many with it, or pass a connection of an AsyncEngine",
    "other": "Pass open_ledger(...) of a URL or an engine, or a connection of SQLAlchemy: engine.connect()",
}
WRONG: list[tuple[str, Callable[[Engine, Any], Any]]] = [
    ("engine", lambda engine, _: engine),
    ("async engine", lambda _, engine: engine),
    ("session", lambda engine, _: Session(engine)),
    ("session", lambda engine, _: scoped_session(sessionmaker(engine))),
    ("async session", lambda _, engine: AsyncSession(engine)),
    ("async session", lambda _, engine: async_scoped_session(async_sessionmaker(engine), lambda: 0)),
    ("other", lambda engine, _: engine.raw_connection().driver_connection),
    ("other", lambda engine, _: engine.raw_connection()),
    ("other", lambda *_: sqlite3.connect(":memory:")),
    ("other", lambda *_: None),
    ("other", lambda *_: "sqlite:///ledger.db"),
    ("other", lambda *_: Ledger),
    ("other", lambda *_: Card()),
    ("other", lambda *_: Path("ledger.db")),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_cannot_book_is_refused_with_what_to_pass(booked: Ledger, database: str, number: int) -> None:
    kind, make = WRONG[number]
    engine, async_engine = engine_of(database), create_async_engine(async_url(database))
    writer = make(engine, async_engine)
    name = f"{type(writer).__module__}.{type(writer).__qualname__}".removeprefix("builtins.")
    words = "a charge or refund is booked by a ledger or {} of SQLAlchemy, not by {}. {}"
    for call in CALLS.values():
        assert refusal(call, writer) == words.format("a Connection", name, PASS[kind])
    for call in ASYNC_CALLS.values():
        said = refusal(lambda writer, call=call: asyncio.run(call(writer)), writer)  # type: ignore[misc]
        assert said == words.format("an AsyncConnection", name, PASS[kind])
    if isinstance(writer, PoolProxiedConnection | sqlite3.Connection):
        writer.close()
    engine.dispose()
    assert len(rows(booked, "a")) == 1


def test_a_connection_of_the_other_kind_is_refused(booked: Ledger, database: str) -> None:
    engine = engine_of(database)

    async def host() -> list[str]:
        async_engine = create_async_engine(async_url(database))
        with engine.connect() as connection:
            said = []
            for call in ASYNC_CALLS.values():
                with pytest.raises(LedgerError) as caught:
                    await call(connection)
                said.append(str(caught.value).partition(". ")[2])
        async with async_engine.connect() as async_connection:
            said += [refusal(call, async_connection).partition(". ")[2] for call in CALLS.values()]
        await async_engine.dispose()
        return said

    assert asyncio.run(host()) == [PASS["sync"]] * len(CALLS) + [PASS["async"]] * len(CALLS)
    engine.dispose()


def test_a_connection_to_another_kind_of_database_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        monkeypatch.setattr(connection.dialect, "name", "mysql")
        for call in CALLS.values():
            assert refusal(call, connection) == "a ledger cannot be kept in mysql. Allowed: sqlite, postgresql"
    engine.dispose()
