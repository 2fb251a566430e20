"""The schema of a ledger's database: its version is written, checked when it is opened, and migrated once."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from kept import WHEN, quote_of, rows
from sqlalchemy import Connection, create_engine, inspect

from forks import start
from ratecard.ledger import LedgerConflictError, LedgerError, open_ledger

# The statements by which releases before schema 2 created the tables.
SQLITE = """
CREATE TABLE ledger_accounts (account TEXT NOT NULL, rows BIGINT NOT NULL, PRIMARY KEY (account));
CREATE TABLE ledger_requests (account TEXT NOT NULL, request_id TEXT NOT NULL, last BIGINT NOT NULL,
    rows BIGINT NOT NULL, PRIMARY KEY (account, request_id));
CREATE TABLE ledger_entries (account TEXT NOT NULL, number BIGINT NOT NULL, instant BIGINT NOT NULL, sku TEXT NOT NULL,
    price_per_unit_usd TEXT NOT NULL, unit TEXT NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL,
    notes TEXT NOT NULL, request_id TEXT NOT NULL, execution_ms BIGINT, prompt_tokens BIGINT, completion_tokens BIGINT,
    PRIMARY KEY (account, number));
CREATE INDEX ledger_entries_in_time ON ledger_entries (account, instant, number, currency);
"""
# The changes of schema 2.
SCHEMA_2 = """
ALTER TABLE ledger_entries RENAME COLUMN price_per_unit_usd TO price_per_unit;
CREATE TABLE ledger_schema (version INTEGER NOT NULL, PRIMARY KEY (version));
INSERT INTO ledger_schema VALUES (2);
"""
# The changes of schema 3.
SCHEMA_3 = (
    SCHEMA_2
    + """
UPDATE ledger_schema SET version = 3;
ALTER TABLE ledger_requests ADD COLUMN content TEXT;
ALTER TABLE ledger_entries ADD COLUMN worth TEXT;
CREATE TABLE ledger_refunds (account TEXT NOT NULL, refund_id TEXT NOT NULL, request_id TEXT NOT NULL,
    last BIGINT NOT NULL, rows BIGINT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (account, refund_id));
CREATE INDEX ledger_refunds_of_a_request ON ledger_refunds (account, request_id);
"""
)
OLDER = {"without a version": "", "with schema 2": SCHEMA_2, "with schema 3": SCHEMA_3}
ROWS = """
INSERT INTO ledger_accounts VALUES ('a', 2);
INSERT INTO ledger_requests VALUES ('a', 'r-1', 2, 2);
INSERT INTO ledger_entries VALUES ('a', 1, 1790857801250000, 'm-0', '0.1000000000000000055511151231257827', '1',
    '-0.1000000000000000055511151231257827', 'USD', 'm', 'r-1', 5, NULL, NULL);
INSERT INTO ledger_entries VALUES ('a', 2, 1790857801250000, 'm-1', '0.2', '1',
    '-0.2', 'USD', 'm', 'r-1', 5, NULL, NULL);
"""
FIRST = "0.1000000000000000055511151231257827"
FIX = "Open it with the release that wrote it, or restore a backup; a ledger of your own needs an empty database"


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        yield connection
        connection.commit()
    engine.dispose()


def run(url: str, *scripts: str) -> None:
    with connected(url) as connection:
        for script in scripts:
            if connection.dialect.name == "postgresql":
                for name in ("price_per_unit_usd", "unit", "amount", "worth"):
                    script = script.replace(f"{name} TEXT", f"{name} NUMERIC")
            for statement in filter(str.strip, script.split(";")):
                connection.exec_driver_sql(statement)


def version(url: str) -> list[int]:
    with connected(url) as connection:
        return list(connection.exec_driver_sql("SELECT version FROM ledger_schema").scalars())


def refusal(url: str) -> str:
    with pytest.raises(LedgerError) as caught:
        open_ledger(url)
    return str(caught.value)


def columns(url: str) -> dict[str, list[tuple[str, str, bool]]]:
    """Every table with its columns, types and nullability, and every index."""
    with connected(url) as connection:
        found = inspect(connection)
        return {
            table: [
                *((each["name"], str(each["type"]), each["nullable"]) for each in found.get_columns(table)),
                *((str(index["name"]), str(index["column_names"]), False) for index in found.get_indexes(table)),
                ("key", str(found.get_pk_constraint(table)["constrained_columns"]), False),
            ]
            for table in sorted(found.get_table_names())
        }


def test_a_new_database_has_its_schema_version(database: str) -> None:
    for _ in range(2):
        open_ledger(database).close()
        assert version(database) == [4]


@pytest.mark.parametrize("older", OLDER)
def test_a_ledger_of_an_earlier_release_is_migrated_with_every_digit(database: str, older: str) -> None:
    run(database, SQLITE, ROWS, OLDER[older])
    with open_ledger(database) as ledger:
        first, second = rows(ledger, "a")
        assert (str(first.price_per_unit), str(first.amount), first.currency) == (FIRST, f"-{FIRST}", "USD")
        assert (second.amount, second.details and second.details.execution_ms) == (Decimal("-0.2"), 5)
        assert first.timestamp == "2026-10-01T12:30:01.250000+00:00"
        # Old charges stay, and new ones are numbered after them.
        assert ledger.append(quote_of(FIRST, "0.2"), account="a", request_id="r-1", timestamp=WHEN) is False
        with pytest.raises(LedgerConflictError):
            ledger.append(quote_of("1"), account="a", request_id="r-1", timestamp=WHEN)
        euro = quote_of("3")
        euro = replace(euro, version=replace(euro.version, currency="EUR"))
        assert ledger.append(euro, account="a", request_id="r-2", timestamp=WHEN)
        assert [row.currency for row in rows(ledger, "a")] == ["USD", "USD", "EUR"]
        assert ledger.walk("a").rows == 3
    assert version(database) == [4]
    with open_ledger(database) as again:
        assert len(rows(again, "a")) == 3


@pytest.mark.parametrize("older", OLDER)
def test_a_migrated_database_is_like_a_new_one(database: str, older: str) -> None:
    run(database, SQLITE, ROWS, OLDER[older])
    open_ledger(database).close()
    migrated = columns(database)
    run(database, "".join(f"DROP TABLE {table};" for table in migrated))
    open_ledger(database).close()
    assert migrated == columns(database)
    names = ("accounts", "entries", "refunds", "requests", "schema")
    assert list(migrated) == [f"ledger_{name}" for name in names]


def test_processes_that_open_an_old_ledger_at_once_migrate_it_once(database: str) -> None:
    run(database, SQLITE, ROWS)
    script = str(Path(__file__).parent / "opening.py")
    waited_for, signal = os.pipe()
    processes = [start([script, database], stdin=waited_for, stdout=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    os.close(signal)
    for process in processes:
        assert process.stdout
        with process.stdout:
            assert process.stdout.read() == "2\n"
        assert process.wait() == 0
    os.close(waited_for)
    assert version(database) == [4]


def test_a_migration_that_fails_leaves_everything_as_it_was(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run(database, SQLITE, ROWS)
    before = columns(database)
    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr("ratecard.ledger.schema.insert", lambda _: 1 // 0)
        open_ledger(database)
    assert columns(database) == before
    with open_ledger(database) as ledger:
        assert len(rows(ledger, "a")) == 2


def test_a_newer_schema_is_refused_and_left_alone(database: str) -> None:
    open_ledger(database).close()
    run(database, "UPDATE ledger_schema SET version = 5")
    before = columns(database)
    assert refusal(database) == (
        "the ledger's database has schema 5, of a newer release; this one knows schema 4. "
        "Upgrade ratecard, or open another database. Nothing was changed"
    )
    assert (columns(database), version(database)) == (before, [5])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE ledger_schema SET version = 1", "1 in ledger_schema"),
        ("UPDATE ledger_schema SET version = 0", "0 in ledger_schema"),
        ("UPDATE ledger_schema SET version = -2", "-2 in ledger_schema"),
        ("DELETE FROM ledger_schema", "none in ledger_schema"),
        ("INSERT INTO ledger_schema VALUES (5)", "4, 5 in ledger_schema"),
        ("ALTER TABLE ledger_schema RENAME COLUMN version TO number", "none in ledger_schema"),
        ("DROP TABLE ledger_schema", "ledger_entries has no column price_per_unit_usd"),
        ("DROP TABLE ledger_schema; DROP TABLE ledger_requests", "it has no ledger_requests"),
    ],
)
def test_a_schema_that_is_not_known_is_refused(database: str, change: str, said: str) -> None:
    open_ledger(database).close()
    run(database, change)
    assert refusal(database) == f"the schema of the ledger's database is not known: {said}. {FIX}"


def test_opening_a_ledger_of_this_release_waits_for_no_writer(database: str) -> None:
    with open_ledger(database) as ledger:
        ledger.append(quote_of("1"), account="a", request_id="r", timestamp=WHEN)
        with connected(database) as writer:
            if writer.dialect.name == "sqlite":
                writer.exec_driver_sql("BEGIN IMMEDIATE")
            writer.exec_driver_sql("UPDATE ledger_accounts SET rows = rows")
            open_ledger(database).close()
