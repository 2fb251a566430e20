"""The ledger in a database: each charge once, complete and exact. `make test-postgres` runs this on PostgreSQL."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept import AMOUNTS, WHEN, pages, quote_of, rows
from sqlalchemy.exc import OperationalError

from databases import POSTGRES
from ledger_rows import USAGES
from nightly import examples
from ratecard import InstantError, PriceBook
from ratecard.base.messages import echo
from ratecard.ledger import Clock, LedgerConflictError, LedgerError, LedgerUnavailableError, open_ledger
from ratecard.ledger.rows import difference
from ratecard.ledger.schema import prepare
from ratecard.ledger.store import Ledger
from ratecard.line_items import InferenceDetails, LedgerEntry


def test_the_rows_of_every_type_of_quote_come_back_as_they_were(ledger: Ledger, prices: PriceBook) -> None:
    expected: list[LedgerEntry] = []
    for number, usage in enumerate(USAGES):
        quote, when = prices.rate(usage), WHEN + timedelta(seconds=number)
        assert ledger.append(quote, account="a", request_id=f"r-{number}", timestamp=when, execution_ms=number)
        expected += quote.ledger_entries(timestamp=when, request_id=f"r-{number}", execution_ms=number)
    assert rows(ledger, "a") == expected
    assert list(map(str, rows(ledger, "a"))) == list(map(str, expected)), "with every zero"


@settings(max_examples=examples(12, nightly=60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(amounts=st.lists(AMOUNTS, min_size=10, max_size=15))
def test_no_digit_is_lost(ledger: Ledger, amounts: list[Decimal]) -> None:
    account = uuid4().hex
    with localcontext(prec=3):
        ledger.append(quote_of(*amounts), account=account, request_id="r", timestamp=WHEN)
        kept = rows(ledger, account)
    expected = quote_of(*amounts).ledger_entries(timestamp=WHEN, request_id="r")
    assert [format(row.amount, "f") for row in kept] == [format(row.amount, "f") for row in expected]


def test_a_number_that_no_float_can_hold_keeps_its_digits(database: str, ledger: Ledger) -> None:
    """SQLite would make 0.1 of it, and 1E+30 of thirty digits, in a column of numbers."""
    digits = ("0.1000000000000000055511151231257827", "123456789012345678901234567890.000000000001")
    ledger.append(quote_of(*digits), account="a", request_id="r", timestamp=WHEN)
    assert [str(row.amount) for row in rows(ledger, "a")] == [f"-{number}" for number in digits]
    if database.startswith("sqlite"):
        with ledger._engine.connect() as connection:
            kinds = connection.exec_driver_sql("SELECT DISTINCT typeof(amount), typeof(unit) FROM ledger_entries")
            assert kinds.all() == [("text", "text")]
            lossy = connection.exec_driver_sql("SELECT CAST(amount AS NUMERIC) FROM ledger_entries").scalars().all()
            assert [str(number) for number in lossy] != [f"-{number}" for number in digits]


def test_a_retry_never_charges_twice(ledger: Ledger) -> None:
    quote = quote_of("0.1", "0.2")
    assert ledger.append(quote, account="a", request_id="r", timestamp=WHEN, execution_ms=5) is True
    before = rows(ledger, "a")
    later = WHEN + timedelta(minutes=1)
    assert ledger.append(quote, account="a", request_id="r", timestamp=WHEN, execution_ms=5) is False
    assert ledger.append(quote, account="a", request_id="r", timestamp=later, execution_ms=9) is False
    assert rows(ledger, "a") == before
    assert [row.details.execution_ms for row in before if row.details] == [5, 5]


def test_a_request_id_belongs_to_its_account(ledger: Ledger) -> None:
    assert ledger.append(quote_of("1"), account="a", request_id="r", timestamp=WHEN)
    assert ledger.append(quote_of("2"), account="b", request_id="r", timestamp=WHEN)
    assert [row.amount for account in "ab" for row in rows(ledger, account)] == [Decimal(-1), Decimal(-2)]
    assert rows(ledger, "c") == []


def test_the_same_request_with_another_charge_is_refused(ledger: Ledger) -> None:
    ledger.append(quote_of("0.1", "0.2"), account="a", request_id="r", timestamp=WHEN)
    for other, said in (
        (quote_of("0.1"), "it has 2 rows, not 1"),
        (quote_of("0.1", "0.3"), "pricePerUnitUsd of row 2 is 0.2, not 0.3"),
        (quote_of("0.1", "0.2", model="other"), "sku of row 1 is m-0, not other-0"),
        (replace(quote_of("0.1", "0.2"), tokens=(1, 2)), "promptTokens of row 1 is None, not 1"),
    ):
        with pytest.raises(LedgerConflictError) as caught:
            ledger.append(other, account="a", request_id="r", timestamp=WHEN)
        assert str(caught.value) == f"request 'r' is in the ledger already, and not the same: {said}"
    with pytest.raises(LedgerConflictError) as caught:
        ledger.append(quote_of("0.1", "0.2"), account="a", request_id="r", timestamp=WHEN, currency="DIEM")
    words = "request 'r' is in the ledger already, and not the same: currency of row 1 is USD, not DIEM"
    assert str(caught.value) == words
    assert len(rows(ledger, "a")) == 2
    assert ledger.append(quote_of("0.10", "0.20"), account="a", request_id="r", timestamp=WHEN) is False, "equal"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("sku", {"sku": "other"}),
        ("currency", {"currency": "DIEM"}),
        ("pricePerUnitUsd", {"price_per_unit": Decimal(2)}),
        ("unit", {"unit": Decimal(2)}),
        ("amount", {"amount": Decimal(-2)}),
        ("notes", {"notes": "other"}),
        ("requestId", {"details": InferenceDetails("s", None, 1, 2)}),
        ("promptTokens", {"details": InferenceDetails("r", None, 3, 2)}),
        ("completionTokens", {"details": InferenceDetails("r", None, 1, 3)}),
    ],
)
def test_every_field_of_a_row_makes_another_charge(name: str, changes: dict[str, Any]) -> None:
    details = InferenceDetails("r", None, 1, 2)
    row = LedgerEntry(WHEN.isoformat(), "s", Decimal(1), Decimal(1), Decimal(-1), "USD", "m", details)
    assert difference([row, row], [row, replace(row, **changes)]).startswith(f"{name} of row 2 is ")
    attempt = replace(row, timestamp="2026-10-02T00:00:00Z", details=replace(details, execution_ms=5))
    assert difference([row], [attempt]) == ""


def test_a_request_that_costs_nothing_is_kept_too(ledger: Ledger) -> None:
    assert ledger.append(quote_of(), account="a", request_id="r", timestamp=WHEN) is True
    assert ledger.append(quote_of(), account="a", request_id="r", timestamp=WHEN) is False
    with pytest.raises(LedgerConflictError) as caught:
        ledger.append(quote_of("1"), account="a", request_id="r", timestamp=WHEN)
    assert str(caught.value) == "request 'r' is in the ledger already, and not the same: it has 0 rows, not 1"
    assert rows(ledger, "a") == []


def test_a_quote_lands_in_whole_or_not_at_all(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr("ratecard.ledger.booking.row_of", lambda *_: 1 // 0)
        ledger.append(quote_of("1", "2"), account="a", request_id="r", timestamp=WHEN)
    with ledger._engine.connect() as connection:
        for table in ("ledger_accounts", "ledger_requests", "ledger_entries"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0  # noqa: S608
    assert ledger.append(quote_of("1", "2"), account="a", request_id="r", timestamp=WHEN)
    assert len(rows(ledger, "a")) == 2


def test_what_cannot_be_kept_is_refused_before_anything_is_written(ledger: Ledger) -> None:
    for name in ("", "x" * 201, "a\0b", "a\nb", chr(0xD800), None, 5):
        for account, request_id in ((name, "r"), ("a", name)):
            with pytest.raises(LedgerError) as caught:
                ledger.append(quote_of("1"), account=account, request_id=request_id, timestamp=WHEN)  # type: ignore[arg-type]
            field = "request_id" if account == "a" else "account"
            assert str(caught.value) == f"{field}={echo(repr(name))}. Allowed: 1 to 200 printable characters"
    for count in (-1, 1 << 63, True, 1.5):
        with pytest.raises(LedgerError) as wrong:
            ledger.append(quote_of("1"), account="a", request_id="r", timestamp=WHEN, execution_ms=count)  # type: ignore[arg-type]
        assert str(wrong.value) == f"execution_ms={count!r}. Allowed: a whole number, zero or more, of 64 bits"
    for tokens in ((1 << 63, 1), (1, 1 << 63)):
        with pytest.raises(LedgerError) as many:
            ledger.append(replace(quote_of("1"), tokens=tokens), account="a", request_id="r", timestamp=WHEN)
        assert str(many.value) == f"tokens='{1 << 63}'. Allowed: a whole number, zero or more, of 64 bits".replace(
            "'", ""
        )
    naive, late = WHEN.replace(tzinfo=None), datetime(9999, 12, 31, 23, 30, tzinfo=timezone(-timedelta(hours=1)))
    for when, said in (
        (naive, f"{naive!r} has no time zone. Write an aware one, like datetime(..., tzinfo=UTC)"),
        (late, f"{late.isoformat()} has no date in UTC"),
    ):
        with pytest.raises(InstantError) as unknown:
            ledger.append(quote_of("1"), account="a", request_id="r", timestamp=when)
        assert str(unknown.value) == said
    assert rows(ledger, "a") == []


def test_what_can_just_be_kept(ledger: Ledger) -> None:
    most = (1 << 63) - 1
    quote = replace(quote_of("1"), tokens=(most, 0))
    assert ledger.append(quote, account="a" * 200, request_id="r" * 200, timestamp=WHEN, execution_ms=most)
    assert ledger.append(quote_of("1"), account="b", request_id="r", timestamp=WHEN, execution_ms=0)
    [row] = rows(ledger, "a" * 200)
    assert row.details == InferenceDetails("r" * 200, most, most, 0)
    assert [row.details and row.details.execution_ms for row in rows(ledger, "b")] == [0]


def test_a_window_holds_its_first_row_and_not_its_end(ledger: Ledger) -> None:
    """The first row of an account has the number 1, and is the first of its instant."""
    step = timedelta(microseconds=1)
    ledger.append(quote_of("1", "2"), account="a", request_id="r-1", timestamp=WHEN)
    ledger.append(quote_of("3"), account="a", request_id="r-2", timestamp=WHEN + step)
    for start, end, expected in (
        (WHEN, None, [1, 2, 3]),
        (WHEN, WHEN + step, [1, 2]),
        (WHEN + step, None, [3]),
        (WHEN + step, WHEN + 2 * step, [3]),
        (WHEN - step, WHEN, []),
        (WHEN + 2 * step, None, []),
        (None, WHEN, []),
        (None, WHEN + step, [1, 2]),
    ):
        for size in (1, 2, 3, 1000):
            assert [-row.amount for row in rows(ledger, "a", start=start, end=end, size=size)] == expected
        assert ledger.walk("a", start=start, end=end).total == len(expected)


def test_time_is_kept_to_the_microsecond_and_shown_in_utc(ledger: Ledger) -> None:
    tokyo = timezone(timedelta(hours=9))
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    ledger.clock = Clock(now=lambda: last)
    moments = [first, datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), WHEN, last]
    for number, moment in enumerate(moments):
        shown = moment if moment in (first, last) else moment.astimezone(tokyo)
        ledger.append(quote_of("1"), account="a", request_id=f"r-{number}", timestamp=shown)
    assert [row.timestamp for row in rows(ledger, "a")] == [moment.isoformat() for moment in moments]


def test_a_window_is_half_open_and_of_one_currency(ledger: Ledger) -> None:
    for minute in range(4):
        when = WHEN + timedelta(minutes=minute)
        for currency in ("USD", "DIEM"):
            ledger.append(
                quote_of(str(minute)), account="a", request_id=f"{currency}-{minute}", timestamp=when, currency=currency
            )
    start, end = WHEN + timedelta(minutes=1), WHEN + timedelta(minutes=3)
    assert [row.amount for row in rows(ledger, "a", start=start, end=end)] == [-1, -1, -2, -2]
    assert [row.amount for row in rows(ledger, "a", start=start, end=end, currency="DIEM", size=1)] == [-1, -2]
    assert ledger.walk("a", start=start, end=end, currency="DIEM").total == 2
    assert ledger.walk("a").total == 8
    assert rows(ledger, "a", start=end, end=start) == []


def test_a_walk_sees_what_was_there_when_it_began(ledger: Ledger) -> None:
    for number in range(0, 10, 2):
        when = WHEN + timedelta(minutes=number)
        ledger.append(quote_of(str(number)), account="a", request_id=f"r-{number}", timestamp=when)
    seen = []
    for place, page in enumerate(pages(ledger, "a", size=2)):
        seen += [row.amount for row in page]
        for minute in (-1, 5, 99):  # before the rows that were read, between those to come, and after all of them
            when = WHEN + timedelta(minutes=minute)
            ledger.append(quote_of("7"), account="a", request_id=f"late-{place}-{minute}", timestamp=when)
    assert seen == [0, -2, -4, -6, -8]
    assert len(rows(ledger, "a")) == 5 + 3 * 3


def test_the_pages_of_one_instant(ledger: Ledger) -> None:
    ledger.append(quote_of(*"12345"), account="a", request_id="r", timestamp=WHEN)
    assert [[-row.amount for row in page] for page in pages(ledger, "a", size=2)] == [[1, 2], [3, 4], [5]]
    assert [len(page) for page in pages(ledger, "a", size=5)] == [5], "no empty page at the end"
    for filters, words in (
        ({"size": 0}, "size=0. Allowed: 1 or more"),
        ({"size": True}, "size=True. Allowed: 1 or more"),
        ({"currency": "usd"}, "currency 'usd' is not an ISO 4217 code. Write three capitals, like USD"),
    ):
        with pytest.raises(ValueError) as caught:
            ledger.walk("a", **filters)
        assert str(caught.value) == words


@settings(max_examples=examples(20, nightly=100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 9), st.integers(-3, 3), st.lists(st.integers(0, 9), max_size=3)), max_size=20
    ),
    size=st.integers(1, 5),
)
def test_any_appends_and_retries_give_every_row_once_in_order(
    ledger: Ledger, steps: list[tuple[int, int, list[int]]], size: int
) -> None:
    account, charged = uuid4().hex, {}
    for request, minute, amounts in steps:
        quote = quote_of(*map(str, amounts))
        arguments = {"account": account, "request_id": f"r-{request}", "timestamp": WHEN + timedelta(minutes=minute)}
        if request not in charged:
            assert ledger.append(quote, **arguments)  # type: ignore[arg-type]
            charged[request] = (minute, amounts)
        elif charged[request][1] == amounts:
            assert not ledger.append(quote, **arguments)  # type: ignore[arg-type]
        else:
            with pytest.raises(LedgerConflictError):
                ledger.append(quote, **arguments)  # type: ignore[arg-type]
    in_time = sorted(charged.items(), key=lambda item: item[1][0])  # stable: in the order of the appends
    expected = [(f"r-{request}", Decimal(-amount)) for request, (_, amounts) in in_time for amount in amounts]
    found = list(pages(ledger, account, size=size))
    assert [(row.details and row.details.request_id, row.amount) for page in found for row in page] == expected
    assert all(len(page) == size for page in found[:-1])
    assert ledger.walk(account).total == len(expected)


EXAMPLES = "Write sqlite:///ledger.db, or postgresql://user@host/name"
IN_MEMORY = ("sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true", "sqlite:///file:x?mode=memory")


@pytest.mark.parametrize("url", IN_MEMORY)
def test_a_ledger_in_memory_is_refused(url: str) -> None:
    with pytest.raises(LedgerError) as caught:
        open_ledger(url)
    assert str(caught.value) == f"a ledger in memory would be lost, and differ between threads. {EXAMPLES}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ledger.db", "the URL of the database cannot be read"),
        ("mysql://user:secret@host/name", "a ledger cannot be kept in mysql"),
        ("postgresql+psycopg2://user:secret@host/name", "a ledger cannot be kept in postgresql+psycopg2"),
        ("postgres+psycopg://user:secret@host/name", "a ledger cannot be kept in postgres+psycopg"),
    ],
)
def test_another_database_is_refused(url: str, said: str) -> None:
    with pytest.raises(LedgerError) as caught:
        open_ledger(url)
    assert str(caught.value) == f"{said}. {EXAMPLES}"


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailableError) as caught:
        open_ledger(f"sqlite:///{tmp_path}/none/ledger.db")
    assert str(caught.value) == "the ledger's database does not answer: unable to open database file"
    (tmp_path / "text.db").write_text("this is no database\n" * 100)
    with pytest.raises(LedgerUnavailableError) as caught:
        open_ledger(f"sqlite:///{tmp_path}/text.db")
    assert (
        str(caught.value) == "the ledger's database does not answer: the tables cannot be made: file is not a database"
    )


@pytest.mark.parametrize("collisions", [1, 9])
def test_processes_that_collide_while_they_make_the_tables_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collisions: int
) -> None:
    """And nothing looks at the tables once they are there."""
    errors = [OperationalError("CREATE TABLE", None, Exception("it exists"))] * collisions
    outcomes = iter([*errors, None])

    def collide(connect: Any) -> None:
        if (error := next(outcomes)) is not None:
            raise error
        prepare(connect)

    monkeypatch.setattr("ratecard.ledger.database.prepare", collide)
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        assert rows(ledger, "a") == []
    assert list(outcomes) == []


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_way_to_write_postgresql(scheme: str) -> None:
    """As hosts write it, and as SQLAlchemy does: each tries to connect, and says that the server does not answer."""
    with pytest.raises(LedgerUnavailableError) as caught:
        open_ledger(f"{scheme}://user:secret@127.0.0.1:1/name")
    assert str(caught.value).startswith("the ledger's database does not answer: connection failed: ")
    assert "secret" not in str(caught.value)


@pytest.mark.skipif(not POSTGRES, reason="needs a PostgreSQL")
def test_a_postgres_url_is_the_same_database(database: str) -> None:
    other = database.replace("postgresql://", "postgres://")
    assert other != database
    with open_ledger(database) as one, open_ledger(other) as two:
        one.append(quote_of("1"), account="a", request_id="r", timestamp=WHEN)
        assert len(rows(two, "a")) == 1
