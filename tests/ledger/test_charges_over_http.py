"""`POST /charges` and its refunds, on a real ledger. `make test-postgres` runs this on PostgreSQL."""

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from jsonschema import Draft202012Validator
from kept import rows, sums
from sqlalchemy import Engine, create_engine
from starlette.testclient import TestClient

import ratecard
from databases import away
from ratecard.base.errors import QuoteError
from ratecard.base.messages import too_big
from ratecard.ledger import Clock, open_ledger
from ratecard.ledger.store import Ledger
from ratecard.server import Bearer, LiveRateCard
from ratecard.server.charges import BookedEntry, charges_router
from ratecard.server.http import LONG_BODY
from ratecard.server.usage_history import UsageEntry

WHEN = "2026-10-01T12:00:00+00:00"
USAGE = {"type": "video", "model": "ovi-image-to-video"}
SKU = "ovi-image-to-video-fixed"
CHARGE = {"usage": USAGE, "timestamp": WHEN, "request_id": "r-1"}
BACK = {"id": "f-1", "sku": SKU, "timestamp": WHEN, "amount": "0.10"}
KEYS = {"key-of-a": "a", "key-of-b": "b"}
Json = dict[str, Any]


@pytest.fixture(scope="module")
def live(card: ratecard.RateCard) -> LiveRateCard:
    return LiveRateCard(card)


@pytest.fixture
def app(ledger: Ledger, live: LiveRateCard) -> FastAPI:
    app = FastAPI()
    app.include_router(charges_router(ledger, live, Bearer(KEYS.get)), prefix="/api/v1")
    return app


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    headers = {"authorization": "Bearer key-of-a"}
    with TestClient(app, base_url="http://test/api/v1", headers=headers) as found:
        yield found


def charged(client: TestClient, **changes: Any) -> Any:
    return client.post("/charges", json=CHARGE | changes)


def back(client: TestClient, request_id: str = "r-1", **changes: Any) -> Any:
    body = {name: value for name, value in (BACK | changes).items() if value is not None}
    return client.post(f"/charges/{request_id}/refunds", json=body)


def said(answer: Any, *path: str) -> list[str]:
    assert answer.status_code == 400, answer.text
    node = answer.json()["details"]
    for name in path:
        node = node[name]
    return list(node["_errors"])


def test_a_usage_is_charged_to_the_account_of_the_key(client: TestClient, ledger: Ledger) -> None:
    answer = charged(client, execution_ms=840)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {
        "object": "charge",
        "request_id": "r-1",
        "timestamp": WHEN,
        "entries": [
            {
                "timestamp": WHEN,
                "sku": SKU,
                "pricePerUnitUsd": "0.22",
                "unit": "1",
                "amount": "-0.22",
                "currency": "USD",
                "notes": "ovi-image-to-video",
                "inferenceDetails": {"requestId": "r-1", "inferenceExecutionTime": 840},
            }
        ],
    }
    assert [len(rows(ledger, who)) for who in "ab"] == [1, 0]
    assert charged(client, authorization=None).status_code == 400
    other = client.post("/charges", json=CHARGE, headers={"authorization": "Bearer key-of-b"})
    assert other.status_code == 200
    assert [len(rows(ledger, who)) for who in "ab"] == [1, 1]
    assert client.post("/charges", json=CHARGE, headers={"authorization": "Bearer other"}).status_code == 401


def test_the_timestamp_decides_the_price(client: TestClient, card: ratecard.RateCard) -> None:
    usage = {"type": "image", "model": "qwen-image-3"}
    amounts = []
    for version in card.tables.models["qwen-image-3"].versions:
        when = datetime.combine(version.effective, datetime.min.time(), UTC)
        answer = charged(client, usage=usage, timestamp=when.isoformat(), request_id=str(when))
        expected = card.at(when).rate(usage).total
        assert answer.json()["entries"][0]["amount"] == f"-{expected.normalize():f}"
        amounts.append(expected)
    assert len(set(amounts)) == 2
    before = when - timedelta(days=1)
    answer = charged(client, usage=usage, timestamp=before.isoformat(), request_id="early")
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("No price for qwen-image-3 on ")


def test_the_same_request_gets_the_same_answer_and_other_content_409(client: TestClient, ledger: Ledger) -> None:
    first = charged(client)
    again = charged(client, timestamp="2026-10-01T14:00:00+02:00")
    assert (again.status_code, again.content) == (200, first.content)
    for changes in ({"usage": {**USAGE, "metadata": {}}}, {"timestamp": "2026-10-01T12:00:01Z"}, {"currency": "DIEM"}):
        answer = charged(client, **changes)
        assert answer.status_code == 409
        assert answer.json()["error"].startswith("request 'r-1' is in the ledger already, and not the same: its ")
    assert len(rows(ledger, "a")) == 1


@pytest.mark.parametrize("metadata", ["", "x" * LONG_BODY])
def test_other_tables_change_nothing_of_what_was_charged(
    client: TestClient, live: LiveRateCard, monkeypatch: pytest.MonkeyPatch, metadata: str
) -> None:
    def gone(*_: object) -> None:
        raise QuoteError("No price")

    usage = {**USAGE, "metadata": {"of": metadata}}
    first = charged(client, usage=usage)
    monkeypatch.setattr(ratecard.PriceBook, "rate", gone)
    again = charged(client, usage=usage)
    assert (again.status_code, again.content) == (200, first.content)
    assert charged(client, usage=usage, request_id="new").json() == {"error": "No price"}


def test_balances_that_pay(client: TestClient, ledger: Ledger) -> None:
    answer = charged(client, paid={"DIEM": "0.15", "USD": 0.07})
    assert [(row["amount"], row["currency"]) for row in answer.json()["entries"]] == [
        ("-0.15", "DIEM"),
        ("-0.07", "USD"),
    ]
    assert charged(client, request_id="r-2", currency="DIEM").json()["entries"][0]["currency"] == "DIEM"
    assert said(charged(client, request_id="r", paid={"USD": "0.2"}), "paid") == [
        "paid adds up to 0.2 USD, but the charge is 0.22 USD"
    ]
    assert said(charged(client, request_id="r", currency="EUR"), "currency") == [
        "currency='EUR'. Allowed: USD, DIEM, BUNDLED_CREDITS"
    ]
    answer = back(client, amount="0.10")
    assert [(row["amount"], row["currency"]) for row in answer.json()["entries"]] == [("0.07", "USD"), ("0.03", "DIEM")]


def test_everything_that_is_wrong_with_a_charge_is_said_at_once(client: TestClient, ledger: Ledger) -> None:
    body = {
        "usage": {"type": "video", "model": "kling-o3-pro-text-to-video", "duration": "99s"},
        "timestamp": WHEN,
        "request_id": "",
        "execution_ms": 0.5,
        "paid": {"USD": "1e3", "DIEM": -1},
        "account": "b",
    }
    answer = client.post("/charges", json=body)
    assert answer.json()["error"] == "Invalid request body"
    assert said(answer)[0].startswith("Unrecognized key(s) in object: 'account'.")
    assert said(answer, "usage", "duration")[0].startswith("Invalid enum value. Expected '3s' | ")
    assert said(answer, "request_id") == ["String must contain at least 1 character(s)"]
    assert said(answer, "execution_ms") == ["Expected integer, received float"]
    assert said(answer, "paid", "USD") == [
        "Invalid amount. Expected digits like 0.25, at most 100 before and after the point"
    ]
    assert said(answer, "paid", "DIEM") == ["Number must be greater than or equal to 0"]
    more = {"usage": [], "timestamp": "2026-10-01", "paid": 1, "execution_ms": 2**53 + 1}
    answer = client.post("/charges", json=more)
    assert said(answer, "usage") == ["Expected object, received array"]
    assert said(answer, "execution_ms") == [too_big(2**53)]
    assert said(answer, "timestamp")[0].startswith("Invalid datetime.")
    assert said(answer, "request_id") == ["Required"]
    assert said(answer, "paid") == ["Expected object, received number"]
    assert said(charged(client, usage={"model": "kling-o3-pro-text-to-video", "duration": 5}), "usage", "duration")
    assert said(charged(client, usage={"model": "x" * 1000}, currency=5), "usage")[0].startswith("Specified model")
    assert said(client.post("/charges", content=b"", headers={"content-type": "application/json"})) == ["Required"]
    assert charged(client, usage={"model": "zzz"}).json() == {"error": "Specified model not found: zzz"}
    assert rows(ledger, "a") == []


@pytest.mark.parametrize("wrong", [None, True, 5, 0.5, "x", [], {}, [1], {"x": 1}, 10**400, chr(0xD800)])
def test_a_value_of_any_kind_is_answered(client: TestClient, wrong: Any) -> None:
    """Whatever a client sends in place of a field is refused there, or means what it says."""
    for path, body in (("/charges", CHARGE), ("/charges/r-1/refunds", BACK)):
        for name in (*body, "paid", "currency", "execution_ms", "corrected"):
            content = json.dumps({**body, name: wrong})
            answer = client.post(path, content=content, headers={"content-type": "application/json"})
            assert answer.status_code in (200, 400, 404, 409), answer.text
            assert set(answer.json()) <= {"error", "details"} or answer.status_code == 200


@pytest.mark.parametrize("number", [0, "x"])
def test_no_name_of_a_balance_is_repeated_whole(client: TestClient, number: Any) -> None:
    """Neither a long name, nor one without UTF-8, nor a thousand of them."""
    for names in (["Z" * 10_000], [chr(0xD800)], [f"K{place}" for place in range(1000)]):
        content = json.dumps(CHARGE | {"paid": dict.fromkeys(names, number)})
        answer = client.post("/charges", content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert len(answer.content) < 10_000
    assert said(charged(client, currency="Z" * 10_000), "currency") == ["String must contain at most 200 character(s)"]


def test_an_amount_has_at_most_so_many_digits(client: TestClient) -> None:
    charged(client)
    for number in ("1e-99999999", "1e99999999", "1e100", "1e-101", "1E9999999999999999999"):
        content = json.dumps({**BACK, "amount": 0}).replace('"amount": 0', f'"amount": {number}')
        answer = client.post("/charges/r-1/refunds", content=content, headers={"content-type": "application/json"})
        assert said(answer, "amount") == [
            "Invalid amount. Expected digits like 0.25, at most 100 before and after the point"
        ]
    assert back(client, amount=f"0.{'0' * 99}1").status_code == 200


def test_a_query_is_refused_and_books_nothing(client: TestClient, ledger: Ledger) -> None:
    for path in ("/charges?dry_run=true", "/charges/r-1/refunds?dry_run=true"):
        answer = client.post(path, json=CHARGE if path.startswith("/charges?") else BACK)
        words = "Unrecognized key(s) in object: 'dry_run'. Allowed: none"
        assert (answer.status_code, answer.json()["details"]) == (400, {"_errors": [words]})
    assert not rows(ledger, "a")


def test_a_timestamp_without_a_date_in_utc(client: TestClient) -> None:
    charged(client)
    for when in ("9999-12-31T23:30:00-01:00", "0001-01-01T00:30:00+01:00"):
        usage = {"type": "image", "model": "qwen-image-3"} if when[0] == "0" else USAGE
        for answer in (back(client, timestamp=when), charged(client, usage=usage, timestamp=when, request_id="r")):
            assert said(answer, "timestamp") == [f"{when} has no date in UTC"]


def test_a_timestamp_that_cannot_be(client: TestClient, ledger: Ledger) -> None:
    """It is at most an hour ahead of the clock, and of a refund not before its charge; a retry is answered always."""
    noon = datetime.fromisoformat(WHEN)
    ledger.clock = Clock(now=lambda: noon)
    limit = (noon + timedelta(hours=1)).isoformat()
    first = charged(client, timestamp=limit)
    assert first.status_code == 200
    for when in ("2026-10-01T13:00:00.000001Z", "2999-01-01T00:00:00Z"):
        ahead = f"is ahead of the clock. Allowed: at most {limit}"
        assert said(charged(client, timestamp=when, request_id="r-2"), "timestamp") == [
            f"timestamp {datetime.fromisoformat(when).isoformat()} of request 'r-2' {ahead}"
        ]
        assert said(back(client, timestamp=when), "timestamp")[0].endswith(ahead)
    before = f"Must not be before the charge, which is of {limit}"
    assert said(back(client, timestamp="1970-01-01T00:00:00Z"), "timestamp") == [before]
    assert back(client, timestamp=limit).status_code == 200
    ledger.clock = Clock(now=lambda: noon - timedelta(days=1))
    again = charged(client, timestamp=limit)
    assert (again.status_code, again.content) == (200, first.content)
    assert len(rows(ledger, "a")) == 2


def test_a_damaged_ledger_is_no_fault_of_the_client(app: FastAPI, client: TestClient, ledger: Ledger) -> None:
    charged(client)
    with ledger._engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM ledger_entries")
    with TestClient(app, "http://test/api/v1", raise_server_exceptions=False, headers=dict(client.headers)) as other:
        assert charged(other).status_code == back(other).status_code == 500


def test_what_is_no_body(client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    assert client.post("/charges", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
    assert client.post("/charges", content=b" " * (2**20 + 1), headers=headers).status_code == 413
    assert client.get("/charges").status_code == 405
    assert client.post("/charges/refunds", json=BACK).status_code in (404, 405)


def test_refunds_pay_back_once_and_never_more_than_the_charge(client: TestClient, ledger: Ledger) -> None:
    charged(client)
    first = back(client)
    assert (first.status_code, first.json()["object"], first.json()["id"]) == (200, "refund", "f-1")
    assert [(row["amount"], row["unit"]) for row in first.json()["entries"]] == [("0.1", "0")]
    assert back(client, amount=0.1).content == first.content
    answer = back(client, amount="0.11")
    assert (answer.status_code, answer.json()) == (
        409,
        {"error": "refund 'f-1' is in the ledger already, and not the same: its content differs"},
    )
    assert said(back(client, id="f-2", amount="0.13"), "amount") == ["Number must be less than or equal to 0.12"]
    assert said(back(client, id="f-2", amount=None, corrected="0.2"), "corrected") == [
        "Number must be less than or equal to 0.12",
        "More than was charged is a new charge",
    ]
    assert said(back(client, id="f-2", sku="x"), "sku") == [f"Invalid enum value. Expected '{SKU}', received 'x'"]
    for path in ("r-2", "r/1", "r%01"):
        answer = back(client, path)
        assert answer.status_code == 404
        assert answer.json()["error"].startswith("Not found: no charge '")
    assert back(client, id="f-2", amount=None, corrected="0.02").json()["entries"][0]["amount"] == "0.1"
    assert {name: str(amount) for name, amount in sums(rows(ledger, "a")).items()} == {"USD": "0.02"}


def test_everything_that_is_wrong_with_a_refund_is_said_at_once(client: TestClient) -> None:
    answer = client.post("/charges/r-1/refunds", json={"id": 5, "sku": "a\nb", "reason": "x", "amount": None})
    assert said(answer)[0].startswith("Unrecognized key(s) in object: 'reason'.")
    assert said(answer, "id") == ["Expected string, received number"]
    assert said(answer, "sku") == ["Must have printable characters only, received 'a\nb'"]
    assert said(answer, "timestamp") == ["Required"]
    assert said(answer, "amount") == ["Expected string, received null"]
    for changes in ({"corrected": "1"}, {"amount": None}):
        assert said(back(client, **changes), "amount") == ["Exactly one of amount and corrected is needed"]
    assert said(back(client, amount="0.00"), "amount") == ["Number must be greater than 0"]


def test_the_longest_name_and_the_least_amount_are_taken(client: TestClient) -> None:
    assert charged(client, request_id="r" * 200).status_code == 200
    assert said(charged(client, request_id="r" * 201), "request_id")
    for number in (0, "0", "0.00"):
        assert charged(client, request_id=f"r{number}").status_code == 200
        answer = back(client, f"r{number}", id=f"f{number}", amount=None, corrected=number)
        assert answer.status_code == 200, answer.text
        assert answer.json()["entries"][0]["amount"] == "0.22"


def test_a_request_id_may_have_a_slash(client: TestClient) -> None:
    assert charged(client, request_id="2026/10/r 1").status_code == 200
    assert back(client, "2026%2F10%2Fr%201").status_code == 200


def test_the_description_is_what_is_answered(app: FastAPI, client: TestClient) -> None:
    description = app.openapi()
    paths = {path: each["post"] for path, each in description["paths"].items()}
    assert list(paths) == ["/api/v1/charges", "/api/v1/charges/{request_id}/refunds"]
    for path, each in paths.items():
        content = each["requestBody"]["content"]["application/json"]
        [example] = content["examples"].values()
        assert content["schema"].keys() == {"$ref"}, "a component with a name"
        validator = Draft202012Validator(content["schema"] | {"components": description["components"]})
        validator.validate(example["value"])
        assert not validator.is_valid(example["value"] | {"further": 1})
        assert not validator.is_valid(example["value"] | {"amount": "0.10", "corrected": "0.10"})
        assert not validator.is_valid({name: example["value"][name] for name in ("timestamp",)})
        for status, body in (
            ("200", example["value"]),
            ("409", {**example["value"], "timestamp": "2026-10-03T00:00Z"}),
            ("400", {}),
        ):
            answer = client.post(path.removeprefix("/api/v1").format(request_id="r-1"), json=body)
            assert answer.status_code == int(status), answer.text
            schema = each["responses"][status]["content"]["application/json"]["schema"]
            Draft202012Validator(schema | {"components": description["components"]}).validate(answer.json())
        assert each["security"] == [{"bearer": []}]
    statuses = {"200", "400", "401", "409", "413", "415", "503", "4XX", "5XX"}
    assert [set(each["responses"]) for each in paths.values()] == [statuses, statuses | {"404"}]
    names = set(description["components"]["schemas"])
    assert {
        "ChargeRequest",
        "RefundRequest",
        "ChargeAnswer",
        "RefundAnswer",
        "BookedEntry",
        "InvalidRequest",
        "ErrorObject",
    } <= names
    assert "null" not in json.dumps(description["components"]["schemas"]["BookedEntry"])
    assert "BookedDetails" not in names
    assert BookedEntry.model_fields.keys() == UsageEntry.model_fields.keys()


@pytest.fixture
def engine(database: str) -> Iterator[Engine]:
    """A database of the host's, whose connections are its own."""
    made = create_engine(database)
    yield made
    made.dispose()


def test_a_database_that_is_gone_is_503_with_one_line_and_back_by_itself(
    engine: Engine, live: LiveRateCard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ratecard.ledger")
    ledger, app = open_ledger(engine), FastAPI()
    app.include_router(charges_router(ledger, live, Bearer(KEYS.get)), prefix="/api/v1")
    client = TestClient(app, base_url="http://test/api/v1", headers={"authorization": "Bearer key-of-a"})
    charged(client)
    with away(engine):
        for _ in range(3):
            for answer in (charged(client, request_id="r-2"), back(client)):
                assert answer.status_code == 503
                words = "The ledger is not available now. Send the same again later: it is booked once"
                assert (answer.json(), answer.headers["retry-after"]) == ({"error": words}, "1")
    for _ in range(2):
        assert charged(client, request_id="r-2").status_code == 200
        assert back(client).status_code == 200
    [gone, again] = [record.getMessage() for record in caplog.records if record.name == "ratecard.ledger"]
    assert gone.startswith("the ledger's database does not answer: connection failed: ")
    assert gone.endswith("; each request tries again")
    assert "\n" not in gone
    assert again == "the ledger's database answers again"
    assert len(rows(ledger, "a")) == 3
