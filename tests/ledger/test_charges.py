"""Charges and refunds as functions. `make test-postgres` runs this on PostgreSQL."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from kept import WHEN, Card, at_rates, quote_of, rows, sums
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.orm import Session

from ratecard import InstantError, QuoteError, RateCard, TextUsage
from ratecard.accounts import CurrencyError
from ratecard.ledger import (
    BookedCharge,
    BookedRefund,
    LedgerConflictError,
    LedgerError,
    NewCharge,
    RefundError,
    append_many,
    append_many_async,
    charge,
    charge_async,
    open_ledger,
    refund,
    refund_async,
)
from ratecard.ledger.store import Ledger
from ratecard.tables.limits import Rates

HALF = Rates(DIEM=Decimal("0.5"), BUNDLED_CREDITS=Decimal("0.8"))
WHO: dict[str, Any] = {"account": "a", "request_id": "r", "timestamp": WHEN}


def booked(ledger: Any, *amounts: str, rates: Rates = HALF, **options: Any) -> BookedCharge:
    return charge(ledger, Card(rates), {"amounts": list(amounts)}, **(WHO | options))


def back(ledger: Any, refund_id: str, sku: str = "m-0", **options: Any) -> BookedRefund:
    given: dict[str, Any] = {name: Decimal(options.pop(name)) for name in ("amount", "corrected") if name in options}
    return refund(ledger, refund_id=refund_id, sku=sku, **(WHO | options | given))


def paid_back(found: BookedRefund) -> list[tuple[str, str]]:
    return [(str(row.amount), row.currency) for row in found.entries]


def test_a_usage_is_rated_at_its_instant(ledger: Ledger, card: RateCard) -> None:
    usage = {"type": "image", "model": "qwen-image-3"}
    charged = []
    for number, day in enumerate(version.effective for version in card.tables.models["qwen-image-3"].versions):
        when = datetime(day.year, day.month, day.day, tzinfo=UTC)
        found = charge(ledger, card, usage, account="a", request_id=f"r-{number}", timestamp=when, execution_ms=7)
        expected = card.at(when).rate(usage).ledger_entries(timestamp=when, request_id=f"r-{number}", execution_ms=7)
        assert found == BookedCharge(f"r-{number}", when.isoformat(), expected, True)
        charged.append(found.entries[0].amount)
    assert len(set(charged)) == 2
    assert [row.details and row.details.execution_ms for row in rows(ledger, "a")] == [7, 7]


def test_the_same_request_gets_the_same_answer_and_is_not_rated_again(ledger: Ledger) -> None:
    card, usage = Card(), {"amounts": ["0.1", "0.2"], "n": 1}
    first = charge(ledger, card, usage, **WHO, execution_ms=5)
    again = {"n": Decimal("1.0"), "amounts": ["0.1", "0.2"]}
    elsewhere = WHEN.astimezone()
    second = charge(ledger, card, again, **(WHO | {"timestamp": elsewhere}), execution_ms=9)
    assert (first.new, second.new) == (True, False)
    assert second == replace(first, new=False)
    assert first.to_dict() == second.to_dict()
    assert card.rated == 1, "the tables may have changed since, and nothing that was charged"
    assert len(rows(ledger, "a")) == 2


def test_other_content_is_refused(ledger: Ledger) -> None:
    booked(ledger, "0.1")
    later = WHEN + timedelta(seconds=1)
    words = "request 'r' is in the ledger already, and not the same: "
    others: list[tuple[Any, Any, str]] = [
        ({"amounts": ["0.1"], "n": 1}, {}, "its content differs"),
        ({"amounts": ["0.10"]}, {}, "its content differs"),
        ({"amounts": ["0.1"]}, {"currency": "DIEM"}, "its content differs"),
        ({"amounts": ["0.1"]}, {"paid": {"USD": Decimal("0.1")}}, "its content differs"),
        ({"amounts": ["0.1"]}, {"timestamp": later}, f"its timestamp is {WHEN.isoformat()}, not {later.isoformat()}"),
    ]
    for usage, options, said in others:
        with pytest.raises(LedgerConflictError) as caught:
            charge(ledger, Card(HALF), usage, **(WHO | options))
        assert str(caught.value) == words + said
    assert len(rows(ledger, "a")) == 1
    # Nothing is kept of the time of a charge without rows.
    booked(ledger, request_id="free")
    with pytest.raises(LedgerConflictError, match=r"^request 'free' .* not the same: its content differs$"):
        booked(ledger, request_id="free", timestamp=later)


def test_zero_is_the_same_content_with_or_without_a_sign(ledger: Ledger, card: RateCard) -> None:
    tokens = {"type": "text", "model": "claude-opus-4-6", "usage": {"prompt_tokens": 5, "completion_tokens": 0}}
    assert charge(ledger, card, tokens, **WHO).new
    negative = tokens | {"usage": {"prompt_tokens": 5, "completion_tokens": -0.0}}
    assert not charge(ledger, card, negative, **WHO).new


def test_a_charge_and_an_append_of_the_same_rows_are_the_same(ledger: Ledger) -> None:
    quote = at_rates(quote_of("0.1"), HALF)
    ledger.append(quote, **WHO)
    assert booked(ledger, "0.1").new is False
    later = booked(ledger, "0.1", timestamp=WHEN + timedelta(days=1))
    assert (later.new, later.timestamp) == (False, WHEN.isoformat()), "that of the first stays"
    with pytest.raises(LedgerConflictError) as caught:
        booked(ledger, "0.2")
    assert str(caught.value).endswith("not the same: pricePerUnitUsd of row 1 is 0.1, not 0.2")
    assert booked(ledger, "0.3", request_id="s").new
    assert ledger.append(at_rates(quote_of("0.3"), HALF), **(WHO | {"request_id": "s"})) is False


def test_what_has_no_price_is_not_charged(ledger: Ledger, card: RateCard) -> None:
    with pytest.raises(QuoteError):
        charge(ledger, card, {"type": "text", "model": "none"}, **WHO)
    with pytest.raises(InstantError):
        charge(ledger, card, {"model": "ovi-image-to-video"}, **(WHO | {"timestamp": WHEN.replace(tzinfo=None)}))
    with pytest.raises(CurrencyError):
        booked(ledger, "1", paid={"USD": Decimal("0.9")})
    for name in ("account", "request_id"):
        with pytest.raises(LedgerError, match=rf"^{name}='a.x00b'\. Allowed: 1 to 200 printable characters$"):
            charge(ledger, Card(), {"amounts": ["1"]}, **(WHO | {name: "a\0b"}))
    assert rows(ledger, "a") == []


def test_a_typed_usage_is_its_fields(ledger: Ledger, card: RateCard) -> None:
    usage = {"type": "text", "model": "claude-opus-4-6", "usage": {"prompt_tokens": 10, "completion_tokens": 1}}
    first = charge(ledger, card, TextUsage.model_validate(usage), **WHO)
    assert charge(ledger, card, usage, **WHO) == replace(first, new=False)


def test_a_refund_goes_back_in_reverse_order_of_payment(ledger: Ledger) -> None:
    """DIEM pays 0.10 of 1 dollar with 0.20, bundled credits pay 0.40 with 0.50, dollars the rest."""
    paid = {"DIEM": Decimal("0.20"), "BUNDLED_CREDITS": Decimal("0.50"), "USD": Decimal("0.50")}
    charged = booked(ledger, "1", paid=paid)
    assert [str(row.amount) for row in charged.entries] == ["-0.2", "-0.5", "-0.5"]
    assert paid_back(back(ledger, "f-1", amount="0.3")) == [("0.3", "USD")]
    assert paid_back(back(ledger, "f-2", amount="0.4")) == [("0.2", "USD"), ("0.25", "BUNDLED_CREDITS")]
    assert paid_back(back(ledger, "f-3", corrected="0.02")) == [("0.25", "BUNDLED_CREDITS"), ("0.16", "DIEM")]
    assert sums(rows(ledger, "a")) == {"DIEM": Decimal("0.04"), "BUNDLED_CREDITS": 0, "USD": 0}
    assert paid_back(back(ledger, "f-4", corrected="0")) == [("0.04", "DIEM")]
    assert not any(sums(rows(ledger, "a")).values())


def test_the_rows_of_a_refund(ledger: Ledger) -> None:
    booked(ledger, "1", "2")
    later = WHEN + timedelta(days=1)
    found = back(ledger, "f-1", "m-1", amount="0.5", timestamp=later)
    assert found.to_dict() == {
        "object": "refund",
        "id": "f-1",
        "request_id": "r",
        "sku": "m-1",
        "timestamp": later.isoformat(),
        "entries": [
            {
                "timestamp": later.isoformat(),
                "sku": "m-1",
                "pricePerUnitUsd": "2",
                "unit": "0",
                "amount": "0.5",
                "currency": "USD",
                "notes": "refund f-1",
                "inferenceDetails": {"requestId": "r"},
            }
        ],
    }
    assert rows(ledger, "a", start=later) == list(found.entries)


def test_the_same_refund_pays_back_once(ledger: Ledger) -> None:
    booked(ledger, "1")
    booked(ledger, "1", request_id="s")
    first = back(ledger, "f-1", amount="0.5")
    assert back(ledger, "f-1", amount="0.50") == replace(first, new=False)
    corrected = back(ledger, "f-2", corrected="0.2")
    assert paid_back(corrected) == [("0.3", "USD")]
    assert back(ledger, "f-2", corrected="0.2") == replace(corrected, new=False)
    late = WHEN + timedelta(seconds=1)
    for options in ({"amount": "0.4"}, {"corrected": "0.5"}, {"amount": "0.5", "request_id": "s"}):
        with pytest.raises(LedgerConflictError) as caught:
            back(ledger, "f-1", **options)
        assert str(caught.value) == "refund 'f-1' is in the ledger already, and not the same: its content differs"
    with pytest.raises(LedgerConflictError, match="its timestamp is "):
        back(ledger, "f-1", amount="0.5", timestamp=late)
    assert sums(rows(ledger, "a")) == {"USD": Decimal("1.2")}


def test_the_same_ids_of_two_accounts_are_two_charges_and_two_refunds(ledger: Ledger) -> None:
    """Their rows have other numbers: the second of `b` is a charge, where that of `a` is a refund."""
    for account in "ab":
        assert booked(ledger, "1", account=account).new
    booked(ledger, "5", account="b", request_id="only in b")
    for account in "ab":
        found = back(ledger, "f-1", amount="0.6", account=account)
        assert (found.new, paid_back(found)) == (True, [("0.6", "USD")])
    for account in "ab":
        with pytest.raises(RefundError, match=r"^amount: Number must be less than or equal to 0\.4$"):
            back(ledger, "f-2", amount="0.5", account=account)
        assert paid_back(back(ledger, "f-2", corrected="0", account=account)) == [("0.4", "USD")]
    assert [sums(rows(ledger, who)) for who in "ab"] == [{"USD": Decimal(0)}, {"USD": Decimal(5)}]


def test_the_refunds_of_one_sku_leave_the_others_as_they_are(ledger: Ledger) -> None:
    booked(ledger, "1", "2")
    assert paid_back(back(ledger, "f-1", "m-1", amount="1.5")) == [("1.5", "USD")]
    assert paid_back(back(ledger, "f-2", "m-0", amount="1")) == [("1", "USD")]
    assert paid_back(back(ledger, "f-3", "m-1", corrected="0")) == [("0.5", "USD")]


def test_a_refund_never_exceeds_the_charge(ledger: Ledger) -> None:
    booked(ledger, "1", "2")
    booked(ledger, request_id="free")
    back(ledger, "f-1", amount="0.4")
    refusals: list[tuple[dict[str, Any], str, tuple[str, ...]]] = [
        ({"amount": "0.61"}, "amount", ("Number must be less than or equal to 0.6",)),
        ({"corrected": "0.7"}, "corrected",
         ("Number must be less than or equal to 0.6", "More than was charged is a new charge")),
        ({"amount": "0"}, "amount", ("Number must be greater than 0",)),
        ({"amount": "1", "sku": "m-2"}, "sku",
         ("Invalid enum value. Expected 'm-0' | 'm-1', received 'm-2'",)),
        ({"amount": "1", "request_id": "free"}, "sku", ("The charge cost nothing",)),
        ({"amount": "1", "request_id": "s"}, "request_id", ("no charge 's' of this account",)),
        ({"amount": "1", "account": "b"}, "request_id", ("no charge 'r' of this account",)),
    ]  # fmt: skip
    for options, field, messages in refusals:
        with pytest.raises(RefundError) as caught:
            back(ledger, "f-2", **options)
        assert (caught.value.field, caught.value.messages) == (field, messages)
    assert paid_back(back(ledger, "f-2", amount="0.6")) == [("0.6", "USD")]
    assert paid_back(back(ledger, "f-3", corrected="0")) == [], "it comes to nothing already"
    assert sums(rows(ledger, "a")) == {"USD": Decimal(2)}
    assert ledger.walk("b").rows == 0


def test_what_a_refund_needs(ledger: Ledger) -> None:
    booked(ledger, "1")
    one: Any = 0.5
    both = "a refund has an amount, or what is corrected: one of the two"
    too_long = "has more than 400 digits before or after the point, too many to be exact"
    for options, said in (
        ({}, both),
        ({"amount": Decimal(1), "corrected": Decimal(0)}, both),
        ({"amount": one}, "amount=0.5 must be a Decimal or an int; a float has lost its digits already"),
        ({"amount": Decimal("NaN")}, "amount=Decimal('NaN') must be a finite number, zero or more"),
        ({"corrected": Decimal(-1)}, "corrected=Decimal('-1') must be a finite number, zero or more"),
        # What is left after it would be no exact amount, so that no further refund could be made.
        *(({"amount": Decimal(long)}, f"amount {too_long}") for long in ("1e-401", "1e401")),
    ):  # fmt: skip
        with pytest.raises(LedgerError) as caught:
            refund(ledger, refund_id="f", sku="m-0", **WHO, **options)
        assert str(caught.value) == said


def test_a_row_of_an_earlier_release_does_not_say_what_a_balance_was_worth(ledger: Ledger) -> None:
    for request_id, currency in (("r", "DIEM"), ("s", "USD")):
        booked(ledger, "1", request_id=request_id, currency=currency)
    with ledger._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger_entries SET worth = NULL")
    with pytest.raises(RefundError) as caught:
        back(ledger, "f", amount="1")
    words = "sku: the row does not say what one DIEM was worth: an earlier release wrote it"
    assert str(caught.value) == words
    assert paid_back(back(ledger, "f", amount="1", request_id="s")) == [("1", "USD")]


def test_many_charges_are_written_together_or_not_at_all(ledger: Ledger) -> None:
    def many(*amounts: str, account: str = "a") -> list[NewCharge]:
        return [NewCharge(quote_of(each), account, f"r-{number}", WHEN) for number, each in enumerate(amounts)]

    mixed = [charge for pair in zip(many("1", "2"), many("3", "4", account="b"), strict=True) for charge in pair]
    assert append_many(ledger, mixed) == [True] * 4
    assert append_many(ledger, [*many("1", "2", "5"), *many("1", "2")]) == [False, False, True, False, False]
    with pytest.raises(LedgerConflictError, match=r"^request 'r-1' is in the ledger already"):
        append_many(ledger, [*many("3", "4", "6", account="b"), *many("1", "9", "5", "7")])
    with pytest.raises(LedgerConflictError, match=r"^request 'r-0' is in the ledger already"):
        append_many(ledger, [*many("1", account="c"), *many("2", account="c")])
    assert append_many(ledger, [*many("7", account="d"), *many("7", account="d")]) == [True, False], "twice in one call"
    assert append_many(ledger, []) == []
    assert append_many(ledger, [*many("9", account="A"), *many("1")]) == [True, False]
    assert append_many(ledger, [*many("1", "2", "5"), *many("3", "4", account="b")]) == [False] * 5, "each is kept"
    assert [[-row.amount for row in rows(ledger, who)] for who in "abc"] == [[1, 2, 5], [3, 4], []]
    assert [ledger.walk(who).rows for who in "abc"] == [3, 2, 0], "numbered without a gap"


def test_charges_that_can_be_read_only_once_are_refused_and_not_lost(ledger: Ledger) -> None:
    def charges() -> Any:
        return (NewCharge(quote_of("1"), "a", f"r-{number}", WHEN) for number in range(3))

    with pytest.raises(LedgerError, match=r"Pass a list: append_many\(ledger, list\(charges\)\)"):
        append_many(ledger, charges())
    with pytest.raises(LedgerError, match="Pass a list"):
        asyncio.run(append_many_async(ledger, charges()))
    assert rows(ledger, "a") == []
    assert asyncio.run(append_many_async(ledger, tuple(charges()))) == [True] * 3


def test_accounts_are_locked_in_one_order(ledger: Ledger) -> None:
    """Otherwise two processes with the same accounts wait for each other."""
    locked: list[str] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if statement.startswith("INSERT INTO ledger_accounts"):
            locked.extend(parameters.values() if isinstance(parameters, dict) else parameters)

    event.listen(ledger._engine, "before_cursor_execute", note)
    append_many(ledger, [NewCharge(quote_of("1"), account, "r", WHEN) for account in ("b", "c", "a", "b")])
    assert [each for each in locked if isinstance(each, str)] == ["a", "b", "c"]


def test_a_refund_locks_its_account_before_it_reads_what_is_left(ledger: Ledger) -> None:
    """Otherwise two refunds at once could exceed the charge together."""
    booked(ledger, "1")
    statements: list[str] = []
    event.listen(ledger._engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    back(ledger, "f", amount="1")
    [lock, *_] = (place for place, each in enumerate(statements) if each.startswith("INSERT INTO ledger_accounts"))
    assert all(lock < place for place, each in enumerate(statements) if "FROM ledger_refunds" in each)


def engine_for(url: str) -> Engine:
    return create_engine(url.replace("postgresql://", "postgresql+psycopg://"))


def test_in_the_transaction_of_the_host(ledger: Ledger, database: str) -> None:
    engine = engine_for(database)
    with engine.connect() as connection:
        assert booked(connection, "1").new
        assert append_many(connection, [NewCharge(quote_of("2"), "a", "s", WHEN)]) == [True]
        assert back(connection, "f", amount="0.5").new
        connection.rollback()
    assert rows(ledger, "a") == []
    with Session(engine) as session:
        assert booked(session.connection(), "1").new
        assert back(session.connection(), "f", amount="0.5").new
        session.commit()
    assert sums(rows(ledger, "a")) == {"USD": Decimal("0.5")}
    engine.dispose()


def test_a_refusal_leaves_the_transaction_of_the_host_as_it_was(ledger: Ledger, database: str) -> None:
    booked(ledger, "1")
    booked(ledger, "1", account="b")
    engine = engine_for(database)
    with engine.connect() as connection:
        new = [NewCharge(quote_of("3"), account, "new", WHEN) for account in "ab"]
        for refused in (
            lambda: booked(connection, "2"),
            lambda: append_many(connection, [*new, NewCharge(quote_of("2"), "b", "r", WHEN)]),
            lambda: back(connection, "f", amount="2"),
        ):
            with pytest.raises(LedgerError):
                refused()
        assert booked(connection, "4", request_id="s").new
        connection.commit()
    assert [[-row.amount for row in rows(ledger, who)] for who in "ab"] == [[1, 4], [1]]
    assert [ledger.walk(who).rows for who in "ab"] == [2, 1], "numbered without a gap"
    engine.dispose()


def test_a_ledger_on_the_engine_of_the_host(database: str) -> None:
    engine = engine_for(database)
    with open_ledger(engine) as ledger:
        assert booked(ledger, "1").new
        pool, idle = engine.pool, ledger.connections()[1]
    assert engine.pool is pool, "an engine that is disposed of gets another"
    assert ledger.connections() == (0, idle) != (0, 0), "they are still connected"
    with engine.connect() as connection:
        assert booked(connection, "1").new is False
    with open_ledger(database) as own:
        assert own.connections() != (0, 0)
    assert own.connections() == (0, 0), "its own are closed"
    engine.dispose()
    driver = SimpleNamespace(paramstyle="qmark", __version__="2.3.0")
    with pytest.raises(LedgerError) as caught:
        open_ledger(create_engine("mssql+pymssql://host:1/name", module=driver))
    assert str(caught.value) == "a ledger cannot be kept in mssql. Allowed: sqlite, postgresql"


async def used(writer: Ledger | AsyncConnection) -> list[Any]:
    card: Any = Card(HALF)
    first = await charge_async(writer, card, {"amounts": ["1"]}, **WHO)
    many = await append_many_async(writer, [NewCharge(quote_of("2"), "b", "s", WHEN)])
    gone = await refund_async(writer, refund_id="f", sku="m-0", amount=Decimal("0.5"), **WHO)
    with pytest.raises(LedgerConflictError):
        await charge_async(writer, card, {"amounts": ["2"]}, **WHO)
    return [first.new, *many, gone.new]


def test_the_forms_for_an_event_loop_say_what_the_others_say() -> None:
    for function, form in ((charge, charge_async), (append_many, append_many_async), (refund, refund_async)):
        assert form.__doc__ == function.__doc__


def test_in_an_event_loop(ledger: Ledger) -> None:
    assert asyncio.run(used(ledger)) == [True] * 3
    assert asyncio.run(used(ledger)) == [False] * 3
    assert [sums(rows(ledger, who)) for who in "ab"] == [{"USD": Decimal("0.5")}, {"USD": Decimal(2)}]


def test_nothing_but_an_asynchronous_connection_needs_greenlet() -> None:
    code = "import sys; sys.modules['greenlet'] = None; from ratecard.ledger import charge_async"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_in_the_asynchronous_transaction_of_the_host(ledger: Ledger, database: str) -> None:
    url = database.replace("postgresql://", "postgresql+psycopg://").replace("sqlite://", "sqlite+aiosqlite://")

    async def host(end: Callable[[AsyncConnection], Any]) -> list[Any]:
        engine = create_async_engine(url)
        async with engine.connect() as connection:
            found = await used(connection)
            await end(connection)
        await engine.dispose()
        return found

    assert asyncio.run(host(AsyncConnection.rollback)) == [True] * 3
    assert rows(ledger, "a") == rows(ledger, "b") == []
    assert asyncio.run(host(AsyncConnection.commit)) == [True] * 3
    assert asyncio.run(host(AsyncConnection.commit)) == [False] * 3
    assert [sums(rows(ledger, who)) for who in "ab"] == [{"USD": Decimal("0.5")}, {"USD": Decimal(2)}]
