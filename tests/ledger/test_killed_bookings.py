"""A process that is killed in the midst of a booking leaves all of it or nothing; `make test-postgres` too."""

import subprocess
from pathlib import Path

import pytest
from kept import Card, rows
from killed_booking import WHO, book

from forks import start
from ratecard.ledger import charge
from ratecard.ledger.store import Ledger

TABLES = ("accounts", "requests", "refunds", "entries")


def contents(ledger: Ledger) -> list[list[tuple[object, ...]]]:
    with ledger._engine.connect() as connection:
        found = [connection.exec_driver_sql(f"SELECT * FROM ledger_{name}").all() for name in TABLES]  # noqa: S608
    return [sorted(map(tuple, each), key=repr) for each in found]


@pytest.mark.parametrize("kind", ["charge", "refund", "batch"])
def test_a_process_that_is_killed_in_the_midst_leaves_nothing(ledger: Ledger, database: str, kind: str) -> None:
    charge(ledger, Card(), {"amounts": ["1"]}, request_id="r-1", **WHO)
    before = contents(ledger)
    script = str(Path(__file__).parent / "killed_booking.py")
    process = start([script, database, kind], stdout=subprocess.PIPE)
    assert process.stdout
    with process.stdout:
        assert process.stdout.readline() == "in the midst\n"
        process.kill()
        process.wait()
    assert contents(ledger) == before
    first = book(ledger, kind)
    assert first == [True, True] if kind == "batch" else first.new
    again = book(ledger, kind)
    assert again == [False, False] if kind == "batch" else again.entries == first.entries
    assert len(rows(ledger, "a")) == (3 if kind == "charge" else 2)
