"""Databases for the tests of the ledger: a SQLite file, or a schema of `make test-postgres`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from sqlalchemy import Engine

POSTGRES = os.environ.get("RATECARD_TEST_POSTGRES", "")


@contextmanager
def new_database(folder: Path) -> Iterator[str]:
    """The URL of a database without tables."""
    if not POSTGRES:
        yield f"sqlite:///{folder}/ledger.db"
        return
    schema = f"test_{uuid4().hex}"
    _execute(f"CREATE SCHEMA {schema}")
    yield f"{POSTGRES}&options=-csearch_path%3D{schema}"
    _execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def whole_database(folder: Path) -> Iterator[str]:
    """The URL of a database that holds nothing else: not every driver can be told a schema."""
    if not POSTGRES:
        yield f"sqlite:///{folder}/shop.db"
        return
    name = f"test_{uuid4().hex}"
    _execute(f"CREATE DATABASE {name}")
    yield POSTGRES.replace("/postgres?", f"/{name}?")
    _execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def away(engine: "Engine") -> Iterator[None]:
    """Have nobody connect to the database of an engine, as if its host were away."""
    from sqlalchemy import event

    def refuse(*_: object) -> None:
        raise engine.dialect.loaded_dbapi.OperationalError("connection failed: secret@127.0.0.1\nport 1")

    engine.dispose()
    event.listen(engine, "do_connect", refuse)
    try:
        yield
    finally:
        event.remove(engine, "do_connect", refuse)


def _execute(statement: str) -> None:
    import psycopg  # only where there is a PostgreSQL

    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(statement.encode())
