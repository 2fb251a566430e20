"""The router in an application of a host: its hook, its errors, its description, and a real server."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.request import Request as Question
from urllib.request import urlopen

import pytest
import uvicorn
from fastapi import FastAPI, HTTPException
from history_pages import PATH, WHEN, append_each, quote_of
from jsonschema import Draft202012Validator
from prometheus_client import REGISTRY
from sqlalchemy import create_engine
from starlette.applications import Starlette
from starlette.testclient import TestClient
from usage_app import SECRET, account_of, app_of, client_of

from databases import away
from ratecard.history import usage_history_router
from ratecard.ledger import open_ledger, read_ledger
from ratecard.ledger.store import Ledger
from ratecard.server import Bearer


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_bearer_hook_gives_the_account(ledger: Ledger, asynchronous: bool) -> None:
    append_each(ledger, "1", account="acme")

    async def check_later(token: str) -> str | None:
        return {"key": "acme"}.get(token)

    app = FastAPI()
    hook = Bearer(check_later if asynchronous else {"key": "acme"}.get)
    app.include_router(usage_history_router(ledger, hook, secret=SECRET))
    client = TestClient(app)
    answer = client.get(PATH, headers={"authorization": "Bearer key"})
    assert [row.amount for row in read_ledger(answer.text)] == [-1]
    for headers in ({}, {"authorization": "Bearer other"}):
        refused = client.get(PATH, headers=headers)
        assert (refused.status_code, list(refused.json())) == (401, ["error"])
        assert refused.headers["www-authenticate"] == "Bearer"
    assert app.openapi()["paths"][PATH]["get"]["security"] == [{"bearer": []}]


def test_what_a_hook_raises_is_an_error_object(ledger: Ledger) -> None:
    def suspended() -> str:
        raise HTTPException(403, "The account is suspended")

    app = FastAPI()
    app.include_router(usage_history_router(ledger, suspended, secret=SECRET))
    answer = TestClient(app).get(PATH)
    assert (answer.status_code, answer.json()) == (403, {"error": "The account is suspended"})


@pytest.mark.parametrize("mounted", [False, True])
def test_errors_have_the_words_of_every_endpoint(ledger: Ledger, mounted: bool) -> None:
    app: Any = Starlette() if mounted else FastAPI()
    routes = usage_history_router(ledger, account_of, secret=SECRET)
    if mounted:
        app.mount("/", routes)
    else:
        app.include_router(routes)
    client = TestClient(app)
    for method in ("POST", "PUT", "DELETE", "BREW"):
        answer = client.request(method, PATH)
        assert (answer.status_code, answer.json()) == (405, {"error": "Method not allowed. Use GET"})
        assert answer.headers["allow"] == "GET, HEAD"
        assert "x-service-version" in answer.headers
    if mounted:
        answer = client.get(f"{PATH}/2")
        assert (answer.status_code, answer.json()) == (404, {"error": f"Not found: {PATH}/2"})


def test_requests_are_counted(ledger: Ledger) -> None:
    client = client_of(ledger)

    def counted(status: int) -> int:
        labels = {"endpoint": "usage_history", "status": str(status)}
        found = REGISTRY.get_sample_value("ratecard_request_seconds_count", labels)
        return int(found or 0)

    def suspended() -> str:
        raise HTTPException(403, "The account is suspended")

    app = FastAPI()
    app.include_router(usage_history_router(ledger, suspended, secret=SECRET))
    asked: dict[int, Callable[[], Any]] = {
        200: lambda: client.get(PATH),
        400: lambda: client.get(PATH, params={"pageSize": 0}),
        401: lambda: client.get(PATH, headers={"x-account": ""}),
        403: lambda: TestClient(app).get(PATH),
        405: lambda: client.post(PATH),
        406: lambda: client.get(PATH, headers={"accept": "text/html"}),
    }
    for status, ask in asked.items():
        before = counted(status)
        answer = ask()
        assert (answer.status_code, counted(status) - before) == (status, 1), answer.text


def test_a_ledger_that_does_not_answer_is_503(database: str) -> None:
    engine = create_engine(database)
    with open_ledger(engine) as ledger, away(engine):
        answer = client_of(ledger).get(PATH)
    engine.dispose()
    assert (answer.status_code, list(answer.json())) == (503, ["error"])
    assert "127.0.0.1" not in answer.text


def test_the_description_is_what_is_answered(ledger: Ledger) -> None:
    append_each(ledger, "1", "2")
    append_each(ledger, "3", prefix="diem", currency="DIEM")
    ledger.append(quote_of("4", currency="EUR"), account="a", request_id="euro", timestamp=WHEN)
    client = client_of(ledger)
    description = app_of(ledger).openapi()
    described = description["paths"][f"/api/v1{PATH}"]["get"]
    names = [parameter["name"] for parameter in described["parameters"]]
    assert names == ["startTimestamp", "endTimestamp", "currency", "pageSize", "cursor"]
    for size, status in ((1, "200"), (1000, "200"), (0, "400")):
        answer = client.get(PATH, params={"pageSize": size})
        schema = described["responses"][status]["content"]["application/json"]["schema"]
        Draft202012Validator(schema | {"components": description["components"]}).validate(answer.json())
    rows = client.get(PATH).json()["data"]
    assert {(row["currency"], "pricePerUnit" in row, "pricePerUnitUsd" in row) for row in rows} == {
        ("USD", False, True), ("DIEM", False, True), ("EUR", True, False)
    }  # fmt: skip
    schema = {"$ref": "#/components/schemas/UsageEntry", "components": description["components"]}
    assert all(Draft202012Validator(schema).is_valid(row) for row in rows)
    for wrong in ({"pricePerUnit": 1}, {"currency": "usd"}):
        assert not Draft202012Validator(schema).is_valid(rows[0] | wrong)
    assert not Draft202012Validator(schema).is_valid({k: v for k, v in rows[0].items() if k != "pricePerUnitUsd"})
    headers = described["responses"]["200"]["headers"]
    answer = client.get(PATH, params={"pageSize": 1}, headers={"accept": "text/csv"})
    assert set(headers) <= set(answer.headers)
    assert set(described["responses"]) == {"200", "400", "401", "406", "503", "4XX", "5XX"}


@pytest.fixture
def address(ledger: Ledger) -> Iterator[str]:
    """A real server."""
    config = uvicorn.Config(app_of(ledger), port=0, log_level="warning", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "it ended before it answered"
        time.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    yield f"http://{host}:{port}/api/v1{PATH}"
    server.should_exit = True
    thread.join()


def test_a_walk_over_http_while_another_thread_appends(ledger: Ledger, address: str) -> None:
    append_each(ledger, *map(str, range(30)))
    done = threading.Event()

    def append() -> None:
        number = 0
        while not done.is_set():
            append_each(ledger, "7", prefix=f"late-{number}")
            number += 1

    thread = threading.Thread(target=append)
    thread.start()
    try:
        seen, total, question = [], [], f"{address}?pageSize=4"
        while question:
            with urlopen(Question(question, headers={"x-account": "a", "accept-encoding": "gzip"})) as answer:  # noqa: S310
                content = answer.read()
                packed = answer.headers.get("content-encoding") == "gzip"  # the last page may be short
                page = json.loads(gzip.decompress(content) if packed else content)
                total.append(answer.headers["x-pagination-total"])
            seen += [row["inferenceDetails"]["requestId"] for row in page["data"]]
            question = page["nextCursor"] and f"{address}?cursor={page['nextCursor']}"
    finally:
        done.set()
        thread.join()
    assert len(seen) == len(set(seen)) == int(total[0])
    assert set(total) == {total[0]}, "the same on every page"
    assert {f"r-{number}" for number in range(30)} <= set(seen)
