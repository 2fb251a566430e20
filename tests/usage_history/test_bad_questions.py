"""Parameters that are refused, each with its name and what is allowed; and cursors that were not issued."""

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi import FastAPI
from history_pages import PATH, append_each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from usage_app import SECRET, account_of, client_of

from ratecard import RateCard
from ratecard.base.errors import QuoteError
from ratecard.history import usage_history_router
from ratecard.ledger.store import Ledger
from ratecard.load.folder import tables_from
from ratecard.server import LiveRateCard
from ratecard.server.usage_history import Cursors, read_query

DATETIME = "Invalid datetime. Expected ISO 8601 with at most 6 decimal places, like 2026-10-01T00:00:00Z"
CURRENCY = "Invalid enum value. Expected 'USD' | 'DIEM' | 'BUNDLED_CREDITS' | another ISO 4217 code"
CURSOR = "Invalid cursor. Send the nextCursor of the answer before, as it is"
ALONE = "A cursor carries the filters of its first page. Send it alone, or leave it out"
ALLOWED = "Allowed: 'cursor' alone, or 'startTimestamp' | 'endTimestamp' | 'currency' | 'pageSize'"


@pytest.fixture
def client(ledger: Ledger) -> TestClient:
    return client_of(ledger)


def refusal(client: TestClient, parameters: Any, **headers: str) -> dict[str, list[str]]:
    """The messages at each parameter; those of the question as a whole have no name."""
    answer = client.get(PATH, params=parameters, headers=headers)
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.pop("error") == "Invalid query parameters"
    root = body["details"].pop("_errors")
    fields = {name: node["_errors"] for name, node in body["details"].items()}
    return fields | ({"": root} if root else {})


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("pageSize", "0", ["Number must be greater than or equal to 1"]),
        ("pageSize", "1001", ["Number must be less than or equal to 1000"]),
        ("pageSize", "-1", ["Number must be greater than or equal to 1"]),
        ("pageSize", "1.5", ["Expected integer, received float"]),
        ("pageSize", "0.5", ["Expected integer, received float", "Number must be greater than or equal to 1"]),
        ("pageSize", "ten", ["Expected number, received nan"]),
        ("pageSize", "", ["Expected number, received nan"]),
        ("pageSize", "1e2", ["Expected number, received nan"]),
        ("pageSize", "٣", ["Expected number, received nan"]),
        ("pageSize", "9" * 5000, ["Expected number, received nan"]),
        ("currency", "EUX", [f"{CURRENCY}, received 'EUX'"]),
        ("currency", "VCU", [f"{CURRENCY}, received 'VCU'"]),
        ("currency", "usd", [f"{CURRENCY}, received 'usd'"]),
        ("currency", "", [f"{CURRENCY}, received ''"]),
        ("startTimestamp", "yesterday", [DATETIME]),
        ("startTimestamp", "2026-10-01", [DATETIME]),
        ("startTimestamp", "2026-10-01T00:00:00", [DATETIME]),
        ("startTimestamp", "2026-06-31T00:00:00Z", [DATETIME]),
        ("startTimestamp", "2026-10-01T00:00:00.1234567Z", [DATETIME]),
        ("endTimestamp", "2026-10-01T24:00:00Z", [DATETIME]),
        ("endTimestamp", "", [DATETIME]),
        ("endTimestamp", "2026-10-01T00:00:00 02:00", [f"{DATETIME}. In a query, + is written %2B"]),
        ("cursor", "", [CURSOR]),
        ("cursor", "x", [CURSOR]),
        ("cursor", "WyJ4Il0.é", [CURSOR]),
        ("cursor", "." * 10_000, [CURSOR]),
    ],
)  # fmt: skip
def test_a_parameter_that_is_wrong(client: TestClient, name: str, given: str, said: Sequence[str]) -> None:
    assert refusal(client, {name: given}) == {name: said}


def test_a_plus_that_became_a_space_is_no_time_zone(client: TestClient) -> None:
    assert client.get(f"{PATH}?startTimestamp=2026-10-01T00:00:00+00:00").status_code == 400
    assert client.get(f"{PATH}?startTimestamp=2026-10-01T00:00:00%2B00:00").status_code == 200


def test_everything_that_is_wrong_comes_at_once(client: TestClient) -> None:
    wrong = [("pageSize", "x"), ("currency", "Euro"), ("startDate", "2026"), ("limit", "5"), ("pageSize", "2")]
    assert refusal(client, wrong) == {
        "": [
            "Unrecognized key(s) in object: 'startDate', 'limit'",
            "'limit' is now pageSize",
            "'startDate' is now startTimestamp",
            ALLOWED,
        ],
        "pageSize": ["Expected string, received array", "Expected number, received nan"],
        "currency": [f"{CURRENCY}, received 'Euro'"],
    }


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("page", "pageSize and cursor (the nextCursor of the answer before)"),
        ("limit", "pageSize"),
        ("startDate", "startTimestamp"),
        ("endDate", "endTimestamp"),
    ],
)
def test_a_parameter_of_the_endpoint_before_is_answered_by_its_new_name(
    client: TestClient, name: str, now: str
) -> None:
    assert refusal(client, {name: "1", "pageSize": "2"}) == {
        "": [f"Unrecognized key(s) in object: '{name}'", f"'{name}' is now {now}", ALLOWED]
    }


def test_new_names_are_those_of_the_tables_that_are_served(ledger: Ledger) -> None:
    limits = """
limits:
  - effective: 2026-01-01
    checked: 2026-01-01
    source: a test
    sunsets:
      - endpoint: GET /billing/usage
        deprecated: 2026-07-09
        sunset: 2026-09-16
        successor: /billing/usage-history
        renamed: {von: startTimestamp}
      - endpoint: GET /another
        deprecated: 2026-07-09
        sunset: 2026-09-16
        successor: /elsewhere
        renamed: {limit: most}
"""
    tables = LiveRateCard(RateCard(tables_from({"limits.yaml": limits.encode()})))
    app = FastAPI()
    app.include_router(usage_history_router(ledger, account_of, secret=SECRET, tables=tables), prefix="/api/v1")
    client = TestClient(app, base_url="http://test/api/v1", headers={"x-account": "a"})
    assert refusal(client, {"von": "1", "limit": "1"})[""] == [
        "Unrecognized key(s) in object: 'von', 'limit'",
        "'von' is now startTimestamp",
        ALLOWED,
    ]


@pytest.mark.parametrize("end", ["2026-10-01T00:00:00Z", "2026-09-30T23:59:59.999999Z", "2026-10-01T09:00:00+09:00"])
def test_an_empty_window(client: TestClient, end: str) -> None:
    window = {"startTimestamp": "2026-10-01T00:00:00Z", "endTimestamp": end}
    assert refusal(client, window) == {"endTimestamp": ["Must be later than startTimestamp"]}


@pytest.fixture
def cursor(client: TestClient, ledger: Ledger) -> str:
    append_each(ledger, "1", "2", "3")
    return str(client.get(PATH, params={"pageSize": 1}).json()["nextCursor"])


def test_a_cursor_is_used_alone(client: TestClient, cursor: str) -> None:
    filters = {"currency": "USD", "startTimestamp": "2026-10-01T00:00:00Z"}
    for name, text in filters.items():
        assert refusal(client, {"cursor": cursor, name: text}) == {"cursor": [ALONE]}
    assert refusal(client, [("cursor", cursor), ("cursor", cursor)]) == {"cursor": ["Expected string, received array"]}
    assert client.get(PATH, params={"cursor": cursor}).status_code == 200


def test_the_same_page_size_may_be_beside_a_cursor(client: TestClient, cursor: str) -> None:
    alone = client.get(PATH, params={"cursor": cursor})
    assert client.get(PATH, params={"cursor": cursor, "pageSize": 1}).json()["data"] == alone.json()["data"]
    words = "The pages of this cursor have 1 rows. Send the same, or leave it out"
    assert refusal(client, {"cursor": cursor, "pageSize": "2"}) == {"pageSize": [words]}


def test_the_name_of_the_answers_field_is_not_that_of_the_parameter(client: TestClient, cursor: str) -> None:
    details = client.get(PATH, params={"nextCursor": cursor}).json()["details"]
    assert details["_errors"] == [
        "Unrecognized key(s) in object: 'nextCursor'. Did you mean 'cursor'? "
        "It takes the nextCursor of the answer before",
        ALLOWED,
    ]


def test_a_cursor_belongs_to_its_account_and_its_secret(client: TestClient, ledger: Ledger, cursor: str) -> None:
    assert refusal(client, {"cursor": cursor}, **{"x-account": "b"}) == {"cursor": [CURSOR]}
    assert refusal(client_of(ledger, "another secret of the host"), {"cursor": cursor}) == {"cursor": [CURSOR]}
    assert client_of(ledger, SECRET.encode()).get(PATH, params={"cursor": cursor}).status_code == 200


def test_no_character_of_a_cursor_may_change(client: TestClient, cursor: str) -> None:
    changed = {cursor[:place] + other + cursor[place + 1 :] for place in range(len(cursor)) for other in "A.-é"}
    changed |= {cursor[:place] + other + cursor[place:] for place in range(len(cursor) + 1) for other in "A!= "}
    changed |= {cursor[:place] for place in range(len(cursor))} | {cursor * 2}
    for wrong in changed - {cursor}:
        with pytest.raises(QuoteError):
            Cursors(SECRET).read("a", wrong)
    assert refusal(client, {"cursor": cursor[:-1]}) == {"cursor": [CURSOR]}


def test_a_cursor_shows_no_account(ledger: Ledger, client: TestClient) -> None:
    append_each(ledger, "1", "2", account="somebody-else")
    answer = client.get(PATH, params={"pageSize": 1}, headers={"x-account": "somebody-else"})
    assert "somebody" not in repr(Cursors(SECRET).read("somebody-else", answer.json()["nextCursor"]))


def test_a_signed_cursor_of_another_shape_is_refused() -> None:
    cursors = Cursors(SECRET)
    for shape in ([1, 2], {"size": 1}, 5, None, "text"):
        with pytest.raises(QuoteError):
            cursors.read("a", cursors._serializer("a").dumps(shape))


def test_a_short_secret_is_refused(ledger: Ledger) -> None:
    for secret in ("", "fifteen signs !", b"short"):
        with pytest.raises(ValueError, match="the secret of the cursors has"):
            usage_history_router(ledger, account_of, secret=secret)


def test_without_an_account(client: TestClient) -> None:
    del client.headers["x-account"]
    answer = client.get(PATH, params={"pageSize": "wrong"})
    assert (answer.status_code, answer.json()) == (401, {"error": "Authentication failed"})
    assert answer.headers["www-authenticate"] == "Bearer"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(
        st.tuples(st.sampled_from(["pageSize", "currency", "cursor", "startTimestamp"]) | st.text(), st.text())
    )
)
def test_any_query_is_read_or_refused(pairs: list[tuple[str, str]]) -> None:
    try:
        question = read_query(pairs)
        if question.cursor is not None:
            Cursors(SECRET).read("a", question.cursor)
    except QuoteError as error:
        assert error.body()["details"]
