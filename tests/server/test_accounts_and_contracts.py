"""Each account is answered by its own contract, and no byte of any answer tells of another's."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
from fastapi import Depends, FastAPI, Header, Request
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from contract_tables import SEARCH, TEXT, VIDEO, card_of, contract
from ratecard.base.errors import Fault, QuoteError, TableError
from ratecard.card import RateCard
from ratecard.ledger import Clock, open_ledger
from ratecard.ledger.store import Ledger
from ratecard.price_book import PriceBook
from ratecard.server import Bearer, LiveRateCard
from ratecard.server.app import application
from ratecard.server.charges import charges_router
from ratecard.server.usage_history import usage_history_router

NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)
KEYS = {"key-of-a": "account-a", "key-of-b": "account-b", "key-of-nobody": "account-n"}
CLIP, _, SECRET = VIDEO.partition("  - model: hidden")


def tables(*secret: str) -> dict[str, str]:
    """The tables that everybody sees, and a file for each of these models."""
    own = {f"{name}.yaml": f"family: {name}\nmodels:\n  - model: {name}{SECRET}" for name in secret}
    return {"text.yaml": TEXT, "search.yaml": SEARCH, "video.yaml": CLIP, **own}


A = contract("- {for: {type: text}, percent: -20%}\n- {for: {model: secret-a}, only: true}", "acme", "account-a")
B = contract(
    "- {for: {model: tiered}, rate: 1.5}\n- {for: {model: secret-b}, only: true}\n- {for: {model: flat}, closed: true}",
    "bumble",
    "account-b",
)
EVERYBODY = tables("secret-a", "secret-b")
WITHOUT = {"account-a": tables("secret-a"), "account-b": tables("secret-b"), "account-n": tables()}


# Status, headers and body, without digests.
Answer = tuple[int, list[tuple[str, str]], str]


class Server:
    """An application with every endpoint, and a ledger."""

    def __init__(self, card: RateCard, ledger: Ledger) -> None:
        live = LiveRateCard(card, clock=lambda: int(NOW.timestamp()) * 10**9)
        self.app = application(live, check=KEYS.get)
        guard = Bearer(KEYS.get)
        self.app.include_router(charges_router(ledger, live, guard), prefix="/api/v1")
        history = usage_history_router(ledger, guard, secret="0123456789abcdef", tables=live)  # noqa: S106
        self.app.include_router(history, prefix="/api/v1")
        self.client = TestClient(self.app, base_url="http://test", raise_server_exceptions=False)

    def answers(self, key: str) -> dict[str, Answer]:
        """Return the answers to a key for each request."""
        return asyncio.run(self._answers(key))

    async def _answers(self, key: str) -> dict[str, Answer]:
        """In one event loop: a client of Starlette has one for each request, which takes most of the time of a test."""
        headers = {"authorization": f"Bearer {key}", "x-request-id": "r", "accept-encoding": "identity"}
        found = {}
        app = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=app, base_url="http://test", headers=headers) as client:
            for name, method, path, body in requests():
                answer = await client.request(method, path, json=body)
                heads = sorted(answer.headers.items())
                found[name] = answer.status_code, [(key, plain(value)) for key, value in heads], plain(answer.text)
        return found


def plain(text: str) -> str:
    """A text without digests and lengths: tables of other models have another one."""
    return re.sub("[0-9a-f]{16}", "DIGEST", text)


NAMES = ("tiered", "flat", "clip", "secret-a", "secret-b", "secret-c", "web-search", "secret", "tierd")


def requests() -> Iterator[tuple[str, str, str, Any]]:
    """Everything that the server answers, with each name: what it is, method, path, body."""
    base = "/api/v1"
    probes = [f"{at}/{name}" for at in ("", base) for name in ("healthz", "livez", "readyz")]
    for path in (*probes, "/openapi.json"):
        yield path, "GET", path, None
    for query in ("", "?type=video", "?type=text", "?type=image", "?at=2026-12-01", "?at=2025-01-01", "?at=2028-01-01"):
        yield f"models{query}", "GET", f"{base}/models{query}", None
    for name in NAMES:
        for query in ("", "?at=2026-12-01", "?at=2028-01-01"):
            yield f"models/{name}{query}", "GET", f"{base}/models/{name}{query}", None
        usages: list[dict[str, Any]] = [
            {"model": name, "tokens": {"input": 500, "output": 10}},
            {"type": "video", "model": name, "duration": "5s", "resolution": "480p"},
            {"model": name, "count": 3},
            {"type": "image", "model": name},
        ]
        for number, usage in enumerate(usages):
            yield f"rate {name} {number}", "POST", f"{base}/rate", usage
        yield f"rate {name} list", "POST", f"{base}/rate", {"usages": usages}
        estimated = {"model": name, "prompt_tokens": 10, "max_completion_tokens": 10}
        yield f"estimate {name}", "POST", f"{base}/estimate", estimated
        for query in ("", "?explain=true"):
            body = {"model": name, "duration": "5s", "resolution": "480p"}
            yield f"video {name}{query}", "POST", f"{base}/video/quote{query}", body
            yield f"video {name}{query} alone", "POST", f"{base}/video/quote{query}", {"model": name}
        yield f"audio {name}", "POST", f"{base}/audio/quote", {"model": name, "character_count": 5}
        for at in ("2026-11-01T00:00:00Z", "2026-09-01T00:00:00Z"):
            for number, usage in enumerate(usages[:2]):
                charge = {"usage": usage, "timestamp": at, "request_id": f"{name} {number} {at}"}
                yield f"charge {name} {number} {at}", "POST", f"{base}/charges", charge
                yield f"charge {name} {number} {at} again", "POST", f"{base}/charges", charge
                yield f"wrong {name} {number} {at}", "POST", f"{base}/charges", charge | {"execution_ms": -1}
            refund = {"id": f"f {name} {at}", "sku": f"{name}-x", "timestamp": at, "amount": "0.01"}
            yield f"refund {name} {at}", "POST", f"{base}/charges/{name} 0 {at}/refunds", refund
    for query in ("", "?currency=USD"):
        yield f"history{query}", "GET", f"{base}/billing/usage-history{query}", None
    yield "billing", "GET", f"{base}/billing/usage", None
    for name in NAMES:
        yield f"HEAD {name}", "HEAD", f"{base}/models/{name}", None
        yield f"OPTIONS {name}", "OPTIONS", f"{base}/models/{name}", None
    others = (("GET", "/metrics"), ("GET", f"{base}/metrics"), ("GET", f"{base}/nothing"), ("PUT", f"{base}/rate"))
    for method, path in others:
        yield f"{method} {path}", method, path, None


# Counters of the process, which continue from server to server.
UNLIKE = ("GET /metrics", "GET /api/v1/metrics")


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[RateCard], Server]]:
    folder, ledgers = tmp_path_factory.mktemp("ledgers"), list[Ledger]()

    def made(card: RateCard) -> Server:
        ledger = open_ledger(f"sqlite:///{folder}/{len(ledgers)}.db", clock=Clock(now=lambda: NOW))
        ledgers.append(ledger)
        return Server(card, ledger)

    yield made
    for ledger in ledgers:
        ledger.close()


@pytest.fixture(scope="module")
def answers_of(serve: Callable[[RateCard], Server]) -> dict[str, dict[str, Any]]:
    """Return the answers of one server, with the contracts of all, to each key."""
    server = serve(card_of(A, B, tables=EVERYBODY))
    return {key: server.answers(key) for key in KEYS}


def test_the_requests_are_of_every_endpoint(serve: Callable[[RateCard], Server]) -> None:
    asked = {re.sub(r"\?.*", "", path) for _, _, path, _ in requests()}
    for path in routes(serve(card_of()).app):
        assert any(re.fullmatch(re.sub(r"\{[^}]*\}", ".+", path), each) for each in asked), path


def routes(app: FastAPI) -> set[str]:
    """The paths that the application answers, also those that openapi.json does not list, but for its own pages."""
    every = {context.path for context in iter_route_contexts(app.routes)}
    return ({str(path) for path in every} | set(app.openapi()["paths"])) - {"/docs", "/docs/oauth2-redirect"}


@pytest.mark.parametrize(("key", "own", "others"), [
    ("key-of-a", [A], ("bumble", "account-b", "secret-b")),
    ("key-of-b", [B], ("acme", "account-a", "secret-a")),
    ("key-of-nobody", [], ("bumble", "account-b", "secret-b", "acme", "account-a", "secret-a")),
])  # fmt: skip
def test_no_byte_tells_an_account_of_the_terms_of_another(
    serve: Callable[[RateCard], Server],
    answers_of: dict[str, dict[str, Any]],
    key: str,
    own: list[str],
    others: tuple[str, ...],
) -> None:
    everything = answers_of[key]
    alone = serve(card_of(*own, tables=WITHOUT[KEYS[key]]))
    for name, answer in alone.answers(key).items():
        if name not in UNLIKE:
            # The place of a contract depends on the number of contracts.
            there, here = (re.sub(r"contracts/c\d", "contracts/c", str(each)) for each in (everything[name], answer))
            assert there == here, name
        said = {word for word in others if word in str(everything[name]) and word not in name}
        assert not said, (name, said)


def test_each_account_pays_by_its_own_contract(answers_of: dict[str, dict[str, Any]]) -> None:
    prices: dict[str, list[Any]] = {}
    for key, answers in answers_of.items():
        prices[key] = [answers[f"rate {name} 0"][0] for name in ("tiered", "flat", "secret-a")]
        rated = json.loads(answers["rate tiered 0"][2])
        charged = json.loads(answers["charge tiered 0 2026-11-01T00:00:00Z"][2])
        prices[key] += [rated["total"], rated.get("contract"), charged["entries"][0].get("contract")]
        for name, (status, headers, _) in answers.items():
            if "/livez" not in name and "/readyz" not in name and "openapi" not in name and "metrics" not in name:
                assert ("cache-control", "private") in headers or status in (204, 404, 405, 410), name
                assert "Authorization" in dict(headers).get("vary", "") or status in (204, 404, 405, 410), name
        listed = {each["id"] for each in json.loads(answers["models"][2])["data"]}
        prices[key].append(sorted(name for name in NAMES if name in listed))
    everyone = ["clip", "tiered", "web-search"]
    assert prices == {
        "key-of-a": [200, 200, 400, "0.000864", "acme", "acme", sorted([*everyone, "flat", "secret-a"])],
        "key-of-b": [200, 400, 400, "0.000765", "bumble", "bumble", sorted([*everyone, "secret-b"])],
        "key-of-nobody": [200, 200, 400, "0.00108", None, None, sorted([*everyone, "flat"])],
    }


def test_a_check_of_keys_that_fails_is_answered_503(caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: str) -> str:
        raise RuntimeError("the directory of keys is away")

    app = application(LiveRateCard(card_of(A, tables=EVERYBODY)), check=fails)
    client = TestClient(app, raise_server_exceptions=False, headers={"authorization": "Bearer k"})
    for method, path in (("GET", "/api/v1/models"), ("POST", "/api/v1/rate"), ("POST", "/api/v1/video/quote")):
        answer = client.request(method, path, json={} if method == "POST" else None)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "directory" not in answer.text
    assert "the check of keys failed" in caplog.text


@pytest.mark.parametrize("account", [42, True, ("account-a",)])
def test_an_account_that_is_not_text_is_answered_503_and_never_the_list(
    account: object, caplog: pytest.LogCaptureFixture
) -> None:
    usage = {"type": "text", "model": "tiered", "tokens": {"input": 500, "output": 10}}
    for contracts, status in (([contract("", accounts="42")], 503), ([], 200)):
        app = application(LiveRateCard(card_of(*contracts)), check=lambda _: account)
        client = TestClient(app, raise_server_exceptions=False, headers={"authorization": "Bearer k"})
        assert client.post("/api/v1/rate", json=usage).status_code == status
    assert "an account that is not text" in caplog.text


def test_the_next_change_in_healthz_is_not_that_of_a_kept_model() -> None:
    retired = SECRET.replace("    name:", "    retired: {on: 2026-11-20}\n    name:", 1)
    kept = {**tables(), "secret-a.yaml": f"family: secret-a\nmodels:\n  - model: secret-a{retired}"}
    for contracts, changes_at in (([A], None), ([], "2026-11-20T00:00:00+00:00")):
        live = LiveRateCard(card_of(*contracts, tables=kept), clock=lambda: int(NOW.timestamp()) * 10**9)
        answer = TestClient(application(live, check=KEYS.get)).get(
            "/healthz", headers={"authorization": "Bearer key-of-nobody"}
        )
        assert answer.json()["changes_at"] == changes_at


def test_a_refusal_in_healthz_names_no_contract_and_no_kept_model() -> None:
    live = LiveRateCard(card_of(A, B, tables=EVERYBODY))
    tree = ("models", 0, "name")
    hidden = [
        Fault("contracts/acme.yaml", 1, tree, "is wrong"),
        Fault("served:contracts/acme.yaml", 1, ("acme",), "contract 'acme' vanished"),
        Fault("secret-a.yaml", 9, ("secret-a",), "secret-a was edited"),
    ]
    live.refuse(TableError([*hidden, Fault("video.yaml", 3, tree, "is wrong")]))
    headers = {"authorization": "Bearer key-of-nobody"}
    refusal = TestClient(application(live, check=KEYS.get)).get("/healthz", headers=headers).json()["last_refusal"]
    assert (refusal["count"], refusal["faults"]) == (1, ["video.yaml:3: is wrong"])


def test_without_keys_everyone_is_answered_the_list() -> None:
    client = TestClient(application(LiveRateCard(card_of(A, tables=EVERYBODY))))
    usage = {"type": "text", "model": "tiered", "tokens": {"input": 500, "output": 10}}
    for headers in ({}, {"authorization": "Bearer key-of-a"}):
        answer = client.post("/api/v1/rate", json=usage, headers=headers)
        assert "contract" not in answer.json()
        assert "cache-control" not in answer.headers


def failing(_: str = "") -> str:
    raise RuntimeError("the directory of accounts is away")


async def failing_later() -> str:
    return failing()


def failing_by_header(request: Request, x_account: Annotated[str, Header()] = "") -> str:
    return failing(x_account or request.url.path)


class Failing:
    async def __call__(self) -> str:
        return failing()


def failing_in_parts() -> Iterator[str]:
    yield failing()


async def failing_in_parts_later() -> AsyncIterator[str]:
    yield failing()


class FailingInParts:
    def __call__(self) -> Iterator[str]:
        yield failing()


def failing_before(_: Annotated[str, Depends(failing_later)]) -> str:
    return "account-a"


def number_in_parts() -> Iterator[int]:
    yield 42


@pytest.mark.parametrize(
    "account_of",
    [
        failing,
        failing_later,
        failing_by_header,
        Failing(),
        partial(failing, "k"),
        lambda: 42,
        lambda: ("account-a",),
        failing_in_parts,
        failing_in_parts_later,
        FailingInParts(),
        failing_before,
        number_in_parts,
    ],
)
def test_a_function_of_the_host_that_fails_is_answered_503(
    account_of: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    live = LiveRateCard(card_of(A, tables=EVERYBODY))
    with open_ledger(f"sqlite:///{tmp_path}/l.db", clock=Clock(now=lambda: NOW)) as ledger:
        app = FastAPI()
        app.include_router(charges_router(ledger, live, account_of))
        app.include_router(usage_history_router(ledger, account_of, secret="0123456789abcdef", tables=live))  # noqa: S106
        client = TestClient(app, raise_server_exceptions=False)
        for method, path in (("POST", "/charges"), ("POST", "/charges/r/refunds"), ("GET", "/billing/usage-history")):
            answer = client.request(method, path, json={} if method == "POST" else None)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1"), path
            assert "directory" not in answer.text
    assert "the check of accounts failed" in caplog.text or "an account that is not text" in caplog.text


def test_a_function_of_the_host_may_have_a_part_after_the_answer(tmp_path: Path) -> None:
    parts: list[str] = []

    def account_of(x_account: Annotated[str, Header()]) -> Iterator[str]:
        parts.append("before")
        yield x_account
        parts.append("after")

    async def account_of_later(x_account: Annotated[str, Header()]) -> AsyncIterator[str]:
        for account in account_of(x_account):
            yield account

    with open_ledger(f"sqlite:///{tmp_path}/l.db") as ledger:
        for function in (account_of, account_of_later):
            app = FastAPI()
            app.include_router(usage_history_router(ledger, function, secret="0123456789abcdef"))  # noqa: S106
            client = TestClient(app)
            assert client.get("/billing/usage-history", headers={"x-account": "account-a"}).status_code == 200
    assert parts == ["before", "after"] * 2


def test_what_is_answered_to_an_account_of_the_host_is_kept_from_shared_caches(tmp_path: Path) -> None:
    with open_ledger(f"sqlite:///{tmp_path}/l.db") as ledger:
        app = FastAPI()
        app.include_router(usage_history_router(ledger, lambda: "account-a", secret="0123456789abcdef"))  # noqa: S106
        answer = TestClient(app).get("/billing/usage-history")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "private")


def test_a_wrong_example_of_a_contract_is_answered_503_and_its_fault_is_in_the_log_alone(
    serve: Callable[[RateCard], Server], caplog: pytest.LogCaptureFixture
) -> None:
    wrong = A + "examples:\n  - {model: tiered, usage: {prompt_tokens: 5, completion_tokens: 1}, total: 77}\n"
    server = serve(card_of(wrong, B, tables=EVERYBODY))
    statuses = {key: server.answers(key) for key in KEYS}
    for name in ("models", "rate tiered 0", "video clip", "charge tiered 0 2026-11-01T00:00:00Z", "estimate tiered"):
        assert [statuses[key][name][0] for key in KEYS] == [503, *[statuses[key][name][0] for key in list(KEYS)[1:]]]
        status, headers, text = statuses["key-of-a"][name]
        assert json.loads(text)["error"] == "Prices are not available now. Try again later"
        assert {"acme", "77", "contracts/"}.isdisjoint(re.split(r"[ ,:\"]", text)), (status, headers)
    assert not any(answer[0] >= 500 for key in list(KEYS)[1:] for answer in statuses[key].values())
    assert (
        "no price is answered until the tables are mended: contracts/c0.yaml:10: acme: the example says 77"
        in caplog.text
    )


def calls(act: Callable[[], object]) -> int:
    """Return the number of calls of functions in this library and in Python: the work behind the time of an answer."""
    count = 0

    def counted(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def test_the_first_answer_to_an_account_does_not_look_at_every_model() -> None:
    """It is made where everybody else waits for answers."""
    text = contract("- {for: {type: video}, percent: -20%}", "acme", "account-a")

    def work(models: int) -> int:
        card = card_of(text, tables=tables(*(f"m-{number}" for number in range(models))))
        return calls(partial(LiveRateCard(card).now().under, "account-a"))

    assert work(21) - work(1) < 20 * 100


def test_a_model_that_is_kept_for_another_takes_the_work_of_an_unknown_one() -> None:
    """Time is noisy, so the calls are counted: an answer that looked for the contract would make more."""
    card = card_of(A, B, tables=tables("secret-a", "secret-b"))
    for account in ("account-n", "account-b"):
        book = card.at(NOW, account=account)

        def refused(name: str, book: PriceBook = book) -> None:
            for ask in (book.rate, book.quote_video):
                with pytest.raises(QuoteError):
                    ask({"type": "video", "model": name, "duration": "5s"} if ask == book.rate else {"model": name})

        # The first call of each fills what is kept for an account, such as the names for suggestions.
        _, _, kept, unknown = (calls(partial(refused, f"secret-{name}")) for name in "azaz")
        assert kept == unknown, account


def test_what_holds_later_is_announced_to_the_account_that_has_it_alone(serve: Callable[[RateCard], Server]) -> None:
    """`a` has -20 % until 2027, then another contract until February, then the list; `b` begins on 2026-12-01."""
    first = contract("- {for: {type: text}, percent: -20%}", "first", "account-a", until="2027-01-01")
    then = contract("- {for: {type: text}, rate: 9}", "then", "account-a", begins="2027-01-01", until="2027-02-01")
    begins = contract("- {for: {model: flat}, factor: 2}", "begins", "account-b", begins="2026-12-01")
    server = serve(card_of(first, then, begins, tables=EVERYBODY))
    upcoming: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for key in KEYS:
        for name in ("flat", "clip"):
            answer = server.client.get(f"/api/v1/models/{name}", headers={"authorization": f"Bearer {key}"})
            change = answer.headers.get("x-service-model-price-change-date", "")
            listed = [each["pricing"] for each in answer.json()["upcoming"]]
            upcoming[key, name] = [(each["effective"], each["charges"][0]["rates"][0]["rate"]) for each in listed]
            assert change == (listed[0]["effective"] if listed else "")
    assert upcoming == {
        ("key-of-a", "flat"): [("2027-01-01", "9"), ("2027-02-01", "1")],
        ("key-of-a", "clip"): [],
        ("key-of-b", "flat"): [("2026-12-01", "2"), ("2027-10-01", "1")],
        ("key-of-b", "clip"): [],
        ("key-of-nobody", "flat"): [],
        ("key-of-nobody", "clip"): [],
    }
    for day, rate in (("2026-11-20", "0.8"), ("2027-01-15", "9"), ("2027-03-01", "1")):
        answer = server.client.get(f"/api/v1/models/flat?at={day}", headers={"authorization": "Bearer key-of-a"})
        assert answer.json()["pricing"]["charges"][0]["rates"][0]["rate"] == rate


def test_a_price_of_a_model_that_is_out_of_reach_then_is_not_announced(serve: Callable[[RateCard], Server]) -> None:
    """`a` loses `secret-a` with its contract, and `b` cannot use `flat` from December until October."""
    kept = "- {for: {model: secret-a}, only: true}\n- {for: {model: secret-a}, rate: 0.2}"
    keeps = contract(kept, "keeps", "account-a", until="2026-12-01")
    first = contract("- {for: {model: flat}, factor: 2}", "first", "account-b", until="2026-12-01")
    closes = contract("- {for: {model: flat}, closed: true}", "closes", "account-b", begins="2026-12-01")
    client = serve(card_of(keeps, first, closes, tables=EVERYBODY)).client
    for key, name, dates in (("key-of-a", "secret-a", []), ("key-of-b", "flat", ["2027-10-01"])):
        headers = {"authorization": f"Bearer {key}"}
        answer = client.get(f"/api/v1/models/{name}", headers=headers)
        assert [each["pricing"]["effective"] for each in answer.json()["upcoming"]] == dates
        assert answer.headers.get("x-service-model-price-change-date") == (dates[0] if dates else None)
        assert client.get(f"/api/v1/models/{name}?at=2026-12-02", headers=headers).status_code == 404


def test_the_end_of_a_contract_is_announced_with_the_prices_that_follow(serve: Callable[[RateCard], Server]) -> None:
    """The list, which was announced, rises in January below a contract that holds until June."""
    start, versions, version = TEXT.rpartition("    versions:\n")
    dearer = version.replace("rate: 1}", "rate: 7}").replace(
        "2026-01-01", "2027-01-01\n        announced: 2026-09-01", 1
    )
    text = start + versions + dearer.replace("checked: 2027", "checked: 2026") + version
    fixed = contract("- {for: {model: flat}, rate: 2}", "fixed", "account-a", until="2027-06-01")
    client = serve(card_of(fixed, tables={"text.yaml": text})).client
    answer = client.get("/api/v1/models/flat", headers={"authorization": "Bearer key-of-a"})
    listed = [each["pricing"] for each in answer.json()["upcoming"]]
    rates = [(each["effective"], each["charges"][0]["rates"][0]["rate"]) for each in listed]
    assert rates == [("2027-01-01", "2"), ("2027-06-01", "7")]
    changes = {"key-of-a": "2027-06-01", "key-of-nobody": "2027-01-01"}
    for key, day in changes.items():
        answer = client.get("/api/v1/models/flat", headers={"authorization": f"Bearer {key}"})
        assert answer.headers["x-service-model-price-change-date"] == day, "no price of the account changes before"
