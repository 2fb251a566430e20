"""What the ledger says was booked has its rows, or nothing is acknowledged. `make test-postgres` runs this too."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from kept import WHEN, Card, quote_of
from sqlalchemy import text

from databases import POSTGRES
from ratecard.ledger import LedgerDamagedError, NewCharge, append_many, charge, refund
from ratecard.ledger.store import Ledger

CARD: Any = Card()
WHO: dict[str, Any] = {"account": "a", "timestamp": WHEN}
BACK: dict[str, Any] = {"refund_id": "f", "sku": "m-0", "amount": Decimal("0.1")}
CALLS: dict[str, Callable[[Ledger], Any]] = {
    "charge": lambda ledger: charge(ledger, CARD, {"amounts": ["1", "2"]}, request_id="r", **WHO),
    "append": lambda ledger: ledger.append(quote_of("1", "2"), request_id="r", **WHO),
    "append_many": lambda ledger: append_many(ledger, [NewCharge(quote_of("1", "2"), request_id="r", **WHO)]),
    "refund": lambda ledger: refund(ledger, request_id="r", **BACK, **WHO),
}
MISSING = "request 'r' has 2 rows in the ledger, of which {} are missing"
OTHERS = "request 'r' has rows of another in the ledger"


@pytest.fixture
def booked(ledger: Ledger) -> Ledger:
    """Requests `q` and `r` of two rows each, and a refund of `r`."""
    charge(ledger, CARD, {"amounts": ["3", "4"]}, request_id="q", **WHO)
    CALLS["charge"](ledger)
    CALLS["refund"](ledger)
    return ledger


def damage(ledger: Ledger, statement: str) -> None:
    with ledger._engine.begin() as connection:
        connection.execute(text(statement))


def refused(call: Callable[[Ledger], Any], ledger: Ledger) -> str:
    with pytest.raises(LedgerDamagedError) as caught:
        call(ledger)
    return str(caught.value)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM ledger_entries WHERE number = 4", MISSING.format(1)),
        ("DELETE FROM ledger_entries WHERE number IN (3, 4)", MISSING.format(2)),
        ("UPDATE ledger_entries SET request_id = 'q' WHERE number = 3", OTHERS),
        ("UPDATE ledger_requests SET last = 2 WHERE request_id = 'r'", OTHERS),
        ("UPDATE ledger_requests SET last = 5 WHERE request_id = 'q'", ""),
    ],
)
def test_a_request_without_its_rows_is_not_acknowledged(booked: Ledger, statement: str, said: str) -> None:
    damage(booked, statement)
    if not said:  # the rows 4 and 5 belong to another request
        assert refused(lambda ledger: charge(ledger, CARD, {"amounts": ["3", "4"]}, request_id="q", **WHO), booked)
        return
    for name in ("charge", "append", "append_many"):
        assert refused(CALLS[name], booked) == said
    assert refused(lambda ledger: refund(ledger, request_id="r", **BACK | {"refund_id": "g"}, **WHO), booked) == said


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM ledger_entries WHERE number = 5", "refund 'f' has 1 rows in the ledger, of which 1 are missing"),
        ("UPDATE ledger_refunds SET last = 3", "refund 'f' has rows of another in the ledger"),
        (
            "UPDATE ledger_entries SET notes = 'refund g' WHERE number = 5",
            "refund 'f' has rows of another in the ledger",
        ),
    ],
)
def test_a_refund_without_its_rows_is_not_acknowledged(booked: Ledger, statement: str, said: str) -> None:
    damage(booked, statement)
    assert refused(CALLS["refund"], booked) == said


def losing(table: str) -> list[str]:
    """A database that drops what is inserted into a table, without an error."""
    if not POSTGRES:
        return [f"CREATE TRIGGER lose BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END"]
    function = "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    return [function, f"CREATE TRIGGER lose BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION lose()"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("ledger_entries", "the database did not keep every row of request 'r'"),
        ("ledger_requests", "request 'r' cannot be booked, and is not in the ledger"),
    ],
)
def test_a_database_that_loses_what_is_written_books_nothing(ledger: Ledger, table: str, said: str) -> None:
    for statement in losing(table):
        damage(ledger, statement)
    for name in ("charge", "append", "append_many"):
        assert refused(CALLS[name], ledger) == said
    damage(ledger, f"DROP TRIGGER lose {f'ON {table}' if POSTGRES else ''}")
    assert ledger.walk("a").rows == 0
    assert CALLS["charge"](ledger).new


def test_a_refund_whose_rows_are_lost_is_not_acknowledged(ledger: Ledger) -> None:
    CALLS["charge"](ledger)
    for statement in losing("ledger_entries"):
        damage(ledger, statement)
    assert refused(CALLS["refund"], ledger) == "the database did not keep every row of request 'r'"
