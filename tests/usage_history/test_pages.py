"""What the usage history answers: pages in the order of time, JSON or CSV, with every digit."""

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from history_pages import PATH, WHEN, answers, append_each, quote_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from usage_app import client_of

from ratecard.ledger import read_ledger
from ratecard.ledger.store import Ledger
from ratecard.line_items import LedgerEntry

CSV = {"accept": "text/csv"}


@pytest.fixture
def client(ledger: Ledger) -> TestClient:
    return client_of(ledger)


def amounts(client: TestClient, **filters: Any) -> list[Decimal]:
    return [-row.amount for answer in answers(client, **filters) for row in read_ledger(answer.text)]


def test_a_page_is_what_the_specification_says(client: TestClient, ledger: Ledger) -> None:
    ledger.append(
        replace(quote_of("0.10"), tokens=(7, 9)), account="a", request_id="r-1", timestamp=WHEN, execution_ms=840
    )
    answer = client.get(PATH)
    assert answer.headers["content-type"] == "application/json"
    assert answer.text == (
        '{"object":"list","data":[{"timestamp":"2026-10-01T00:00:00+00:00","sku":"sku","pricePerUnitUsd":0.1,"unit":1,"amount":-0.1,'
        '"currency":"USD","notes":"model, 1","inferenceDetails":{"requestId":"r-1","inferenceExecutionTime":840,'
        '"promptTokens":7,"completionTokens":9}}],"nextCursor":null}'
    )
    assert client.get(PATH, headers={"x-account": "b"}).json() == {"object": "list", "data": [], "nextCursor": None}


def test_every_row_once_in_order_whatever_the_size_of_a_page(client: TestClient, ledger: Ledger) -> None:
    append_each(ledger, *"123456789")
    for size in (1, 2, 4, 9, 10, 1000):
        found = list(answers(client, pageSize=size))
        assert [row.amount for answer in found for row in read_ledger(answer.text)] == [-n for n in range(1, 10)]
        assert len(found) == -(-9 // size)
        for number, answer in enumerate(found, 1):
            pagination = [answer.headers[f"x-pagination-{name}"] for name in ("limit", "page", "total", "total-pages")]
            assert pagination == [str(size), str(number), "9", str(len(found))]


def test_filters(client: TestClient, ledger: Ledger) -> None:
    append_each(ledger, *"1234", prefix="usd")
    append_each(ledger, *"5678", prefix="diem", currency="DIEM")
    assert amounts(client, currency="DIEM", pageSize=3) == [5, 6, 7, 8]
    assert amounts(client, currency="BUNDLED_CREDITS") == []
    window = {"startTimestamp": "2026-10-01T00:01:00Z", "endTimestamp": "2026-10-01T00:03:00Z"}
    assert amounts(client, **window, currency="USD") == [2, 3], "from the first on, before the second"
    assert amounts(client, **window, pageSize=1) == [2, 6, 3, 7], "the cursor carries the filters"
    assert amounts(client, startTimestamp="2026-10-01T09:03:00+09:00") == [4, 8]
    assert amounts(client, endTimestamp="2026-10-01T00:00:00.000001Z") == [1, 5]


def test_rows_that_are_added_meanwhile_neither_shift_nor_repeat_a_page(client: TestClient, ledger: Ledger) -> None:
    append_each(ledger, *"123456")
    seen = []
    for page, answer in enumerate(answers(client, pageSize=2)):
        seen += [-row.amount for row in read_ledger(answer.text)]
        for minute in (-1, 1, 3, 99):
            ledger.append(
                quote_of("9"), account="a", request_id=f"{page}:{minute}", timestamp=WHEN + timedelta(minutes=minute)
            )
    assert seen == [1, 2, 3, 4, 5, 6]
    assert len(amounts(client)) == 6 + 3 * 4


def test_csv_is_a_file_a_page_with_the_cursor_in_a_header(client: TestClient, ledger: Ledger) -> None:
    append_each(ledger, *"123")
    found = list(answers(client, headers=CSV, pageSize=2))
    assert [len(read_ledger(answer.text)) for answer in found] == [2, 1]
    assert found[0].headers["content-type"] == "text/csv; charset=utf-8"
    assert "x-next-cursor" in found[0].headers
    assert "x-next-cursor" not in found[1].headers
    names = [answer.headers["content-disposition"] for answer in found]
    assert all(re.fullmatch(r'attachment; filename="usage-history-[0-9TZ.]+\.csv"', name) for name in names)
    assert names == sorted(set(names))
    assert found[0].text.splitlines()[1] == ('2026-10-01T00:00:00+00:00,sku,1,1,-1,USD,"model, 1",r-0,,,')


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("text/*", "text/csv"),
        ("TEXT/CSV", "text/csv"),
        ("text/csv; header=present", "text/csv"),
        ("application/json, text/csv", "application/json"),
        ("application/json;q=0.5, text/csv", "text/csv"),
        ("text/csv;q=0, */*", "application/json"),
        ("*/*;q=0.1, text/csv;q=0.05", "application/json"),
        ("text/html, application/xml;q=0.9, */*;q=0.8", "application/json"),
    ],
)
def test_the_client_chooses_the_media_type(client: TestClient, accept: str | None, media: str) -> None:
    del client.headers["accept"]
    answer = client.get(PATH, headers={} if accept is None else {"accept": accept})
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, media)
    assert answer.headers["vary"] == "Accept, Authorization"


@pytest.mark.parametrize("accept", ["text/html", "image/*", "application/json;q=0", "text/csv;q=nan", "nonsense"])
def test_no_other_media_type_is_sent(client: TestClient, accept: str) -> None:
    answer = client.get(PATH, headers={"accept": accept})
    assert (answer.status_code, answer.json()) == (406, {"error": "Accept application/json or text/csv"})


NUMBERS = st.decimals(min_value=0, max_value=10**30, allow_nan=False, allow_infinity=False)
REQUESTS = st.lists(st.tuples(st.integers(0, 5), st.lists(NUMBERS, max_size=3)), max_size=8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests=REQUESTS, size=st.integers(1, 4))
def test_json_and_csv_say_the_same_and_all(
    client: TestClient, ledger: Ledger, requests: list[tuple[int, list[Decimal]]], size: int
) -> None:
    account = uuid4().hex
    kept: list[LedgerEntry] = []
    for number, (minute, each) in enumerate(requests):
        quote, when = quote_of(*each), WHEN + timedelta(minutes=minute)
        for _ in range(2):
            ledger.append(quote, account=account, request_id=f"r-{number}", timestamp=when)
        kept += quote.ledger_entries(timestamp=when, request_id=f"r-{number}")
    expected = [str(row) for row in sorted(kept, key=lambda row: row.timestamp)]
    for accept in ("application/json", "text/csv"):
        found = answers(client, headers={"accept": accept, "x-account": account}, pageSize=size)
        assert [str(row) for answer in found for row in read_ledger(answer.content)] == expected
