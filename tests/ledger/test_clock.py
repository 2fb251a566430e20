"""A new charge is not far ahead of the clock, and a refund not before its charge. `make test-postgres` too."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from kept import WHEN, Card, quote_of, rows, sums
from sqlalchemy import create_engine

from ratecard import InstantError
from ratecard.ledger import Clock, LedgerConflictError, LedgerError, NewCharge, RefundError, append_many, charge, refund
from ratecard.ledger import open_ledger as open_
from ratecard.ledger.store import Ledger

HOUR, TICK = timedelta(hours=1), timedelta(microseconds=1)
NOON = Clock(now=lambda: WHEN)
CARD: Any = Card()
FAR = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.fixture
def at_noon(ledger: Ledger) -> Ledger:
    ledger.clock = NOON
    return ledger


def booked(writer: Any, timestamp: datetime, request_id: str = "r", **options: Any) -> bool:
    who: dict[str, Any] = {"account": "a", "request_id": request_id, "timestamp": timestamp}
    return charge(writer, CARD, {"amounts": ["1"]}, **who, **options).new


def many(writer: Any, *timestamps: datetime, **options: Any) -> list[bool]:
    new = [NewCharge(quote_of("1"), "a", f"m-{number}", when) for number, when in enumerate(timestamps)]
    return append_many(writer, new, **options)


def appended(ledger: Ledger, timestamp: datetime, request_id: str = "r") -> bool:
    return ledger.append(quote_of("1"), account="a", request_id=request_id, timestamp=timestamp)


def paid_back(writer: Any, timestamp: datetime, refund_id: str = "f", **options: Any) -> bool:
    what: dict[str, Any] = {"account": "a", "request_id": "r", "sku": "m-0", "amount": Decimal("0.1")}
    return refund(writer, refund_id=refund_id, timestamp=timestamp, **what, **options).new


def late(kind: str, name: str, given: datetime, allowed: datetime = WHEN + HOUR) -> str:
    words = f"timestamp {given.isoformat()} of {kind} {name!r} is ahead of the clock"
    return f"{words}. Allowed: at most {allowed.isoformat()}"


def refused(call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(InstantError) as caught:
        call(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize("when", [WHEN + HOUR + TICK, WHEN + 2 * HOUR, FAR])
def test_a_new_charge_ahead_of_the_clock_is_refused(at_noon: Ledger, when: datetime) -> None:
    assert refused(booked, at_noon, when) == late("request", "r", when)
    assert refused(appended, at_noon, when) == late("request", "r", when)
    assert refused(many, at_noon, WHEN, when, WHEN) == late("request", "m-1", when)
    assert rows(at_noon, "a") == []
    assert at_noon.walk("a").rows == 0, "nothing was numbered"


def test_charges_within_the_hour_and_in_the_past_are_booked(at_noon: Ledger) -> None:
    moments = [WHEN + HOUR, WHEN, WHEN - HOUR, datetime(1969, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)]
    for number, when in enumerate(moments):
        assert booked(at_noon, when, f"r-{number}")
    assert many(at_noon, *moments) == [True] * len(moments)


def test_a_retry_is_answered_though_it_would_be_refused_as_new(at_noon: Ledger) -> None:
    """An earlier release booked them, or the clock has been set back since."""
    at_noon.clock = Clock(now=lambda: FAR)
    assert booked(at_noon, FAR)
    assert appended(at_noon, FAR, "s")
    assert many(at_noon, FAR, WHEN) == [True, True]
    at_noon.clock = NOON
    assert not booked(at_noon, FAR)
    assert not booked(at_noon, FAR, "s"), "booked as rows, without its usage"
    assert not appended(at_noon, FAR, "s")
    assert many(at_noon, FAR, WHEN) == [False, False]
    assert refused(many, at_noon, FAR, WHEN, FAR) == late("request", "m-2", FAR), "only what is new"
    with pytest.raises(LedgerConflictError):
        booked(at_noon, FAR + HOUR)
    assert len(rows(at_noon, "a")) == 4
    assert at_noon.walk("a").rows == 4, "numbered without a gap"


def test_a_refund_is_not_before_its_charge_nor_ahead_of_the_clock(at_noon: Ledger) -> None:
    booked(at_noon, WHEN)
    for when in (WHEN - TICK, datetime(1970, 1, 1, tzinfo=UTC)):
        with pytest.raises(RefundError) as caught:
            paid_back(at_noon, when)
        words = f"Must not be before the charge, which is of {WHEN.isoformat()}"
        assert (caught.value.field, caught.value.messages) == ("timestamp", (words,))
    assert refused(paid_back, at_noon, WHEN + HOUR + TICK) == late("refund", "f", WHEN + HOUR + TICK)
    assert paid_back(at_noon, WHEN + HOUR)
    assert paid_back(at_noon, WHEN, "g")
    at_noon.clock = Clock(now=lambda: WHEN - HOUR * 9)
    assert not paid_back(at_noon, WHEN + HOUR), "a retry"
    assert sums(rows(at_noon, "a")) == {"USD": Decimal("0.8")}


def test_what_was_charged_too_late_can_be_paid_back(at_noon: Ledger) -> None:
    at_noon.clock = Clock(now=lambda: FAR)
    booked(at_noon, FAR)
    at_noon.clock = NOON
    assert refused(paid_back, at_noon, FAR + TICK) == late("refund", "f", FAR + TICK, FAR)
    assert paid_back(at_noon, FAR)


def test_the_setting(database: str) -> None:
    with open_(database, clock=Clock(ahead=60, now=lambda: WHEN)) as ledger:
        minute = timedelta(minutes=1)
        assert refused(booked, ledger, WHEN + minute + TICK) == late(
            "request", "r", WHEN + minute + TICK, WHEN + minute
        )
        assert booked(ledger, WHEN + minute)
        assert many(ledger, WHEN + HOUR, clock=NOON) == [True], "that of the call counts"
        assert paid_back(ledger, WHEN + HOUR, clock=NOON)
        assert booked(ledger, WHEN + HOUR, "s", clock=NOON)
    wrong: Any
    for wrong in (-1, True, 1.5, "60", None, 366 * 86_400 + 1):
        with pytest.raises(LedgerError) as caught:
            Clock(ahead=wrong)
        assert str(caught.value) == f"ahead={wrong!r}. Allowed: a whole number of seconds, 0 to 31622400"
    assert Clock(ahead=0, now=lambda: WHEN).latest() == Clock(ahead=60, now=lambda: WHEN - minute).latest()
    with pytest.raises(InstantError):
        Clock(now=lambda: WHEN.replace(tzinfo=None)).latest()


def test_without_a_setting_it_is_an_hour_ahead_of_the_machine(ledger: Ledger, database: str) -> None:
    """The only test that needs a machine whose clock is right to some minutes."""
    now, minutes = datetime.now(UTC), timedelta(minutes=9)
    engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        for writer in (ledger, connection):
            assert refused(booked, writer, now + HOUR + minutes).startswith("timestamp ")
            assert refused(many, writer, now + HOUR + minutes).startswith("timestamp ")
        assert booked(connection, now + HOUR - minutes)
        assert booked(connection, now + HOUR + minutes, "s", clock=Clock(ahead=7200))
        assert refused(paid_back, connection, now + 2 * HOUR).startswith("timestamp ")
        connection.commit()
    assert [len(rows(ledger, who)) for who in "a"] == [2]
    engine.dispose()
