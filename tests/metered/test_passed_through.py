"""Names of service parameters that the API does not know: passed through, listed, and never a reason to refuse a bill.

One table of requests is asked at every door: they list the same names and charge the same.
"""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import ratecard
from ratecard import QuoteError
from ratecard.ledger import open_ledger
from ratecard.load.folder import shipped_folder
from ratecard.requests.service_parameters import ServiceParameters
from ratecard.requests.usage import TextUsage, TokenUsage
from ratecard.server import LiveRateCard, application
from ratecard.server.charges import charges_router

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
TOKENS = {"prompt_tokens": 1000, "completion_tokens": 100}
MANY = {f"further_{number}": number for number in range(1000)}
NO_X = "claude-opus-4-6"
Parameters = dict[str, Any]
# (model, parameters of the body, names without effect)
CASES: list[tuple[str, Parameters, list[str]]] = [
    ("grok-4-3", {"not_known": "x"}, ["not_known"]),
    ("grok-4-3", {"not_known": None, "another": {"deep": [1]}}, ["not_known", "another"]),
    ("grok-4-3", {"enable_web_serch": "on"}, ["enable_web_serch"]),
    ("grok-4-3", {"enable_web_search": "on", "zzz": 1}, ["zzz"]),
    ("grok-4-3", {"disable_thinking": True, "zzz": 1}, ["disable_thinking", "zzz"]),
    ("grok-4-3:zzz=1", {}, ["zzz"]),
    ("grok-4-3:zzz=", {}, ["zzz"]),
    ("grok-4-3:zzz=1&enable_web_search=on", {"zzy": 2}, ["zzz", "zzy"]),
    ("grok-4-3:zzz=1", {"zzz": 2}, ["zzz"]),
    ("grok-4-3", {"x" * 100: 1, "tab\t": 1}, ["x" * 64, "tab\\t"]),
    ("grok-4-3", MANY, list(MANY)[:20]),
    (NO_X, {"enable_x_search": True}, ["enable_x_search"]),
    (f"{NO_X}:enable_x_search=true", {}, ["enable_x_search"]),
    (f"{NO_X}:enable_x_search=true", {"enable_web_search": "on"}, ["enable_x_search"]),
    (NO_X, {"enable_x_search": False}, []),
]
Door = Callable[[str, Parameters], tuple[Decimal, list[str]]]


def usage_of(model: str, parameters: Parameters) -> dict[str, Any]:
    body = {"service_parameters": parameters} if parameters else {}
    return {"type": "text", "model": model, "usage": TOKENS, **body}


@pytest.fixture(scope="module")
def doors(card: ratecard.RateCard, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return, for each door, a function from a request to its charge (an estimate: the most) and its ignored fields."""
    prices, clock = card.at(WHEN), lambda: int(WHEN.timestamp()) * 10**9
    live = LiveRateCard(card, clock=clock)
    database = f"sqlite:///{tmp_path_factory.mktemp('ledger')}/ledger.db"
    with open_ledger(database) as ledger:
        app: FastAPI = application(live)
        app.include_router(charges_router(ledger, live, lambda: "acme"), prefix="/api/v1")
        client = TestClient(app, base_url="http://test/api/v1")

        def of_quote(quote: ratecard.Quote) -> tuple[Decimal, list[str]]:
            return quote.exact, list(quote.ignored)

        def typed(model: str, parameters: Parameters) -> tuple[Decimal, list[str]]:
            stated = ServiceParameters.model_validate(
                {name: value for name, value in parameters.items() if value is not None}
            )
            tokens = TokenUsage.model_validate(TOKENS)
            return of_quote(prices.rate(TextUsage(model=model, usage=tokens, service_parameters=stated)))

        def http(path: str, body: dict[str, Any]) -> Any:
            answer = client.post(path, json=body)
            assert answer.status_code == 200, answer.text
            return answer.json()

        def rated(model: str, parameters: Parameters) -> tuple[Decimal, list[str]]:
            answer = http("/rate", usage_of(model, parameters))
            return Decimal(answer["exact"]), answer["ignored"]

        def in_a_list(model: str, parameters: Parameters) -> tuple[Decimal, list[str]]:
            [answer] = http("/rate", {"usages": [usage_of(model, parameters)]})["data"]
            return Decimal(answer["exact"]), answer["ignored"]

        def charged(model: str, parameters: Parameters) -> tuple[Decimal, list[str]]:
            number = len(ledger.page("acme", ledger.walk("acme")).entries)
            usage = usage_of(model, parameters)
            answer = http("/charges", {"usage": usage, "timestamp": WHEN.isoformat(), "request_id": f"r-{number}"})
            return -sum((Decimal(each["amount"]) for each in answer["entries"]), Decimal(0)), []

        yield (
            {
                "python": lambda model, parameters: of_quote(prices.rate(usage_of(model, parameters))),
                "json": lambda model, parameters: of_quote(prices.rate(json.dumps(usage_of(model, parameters)))),
                "typed": typed,
                "/rate": rated,
                "/rate of a list": in_a_list,
                "/charges": charged,
            },
            prices,
            http,
        )


@pytest.mark.parametrize(("model", "parameters", "names"), CASES)
def test_every_door_lists_them_and_charges_what_it_charges_without(
    doors: Any, model: str, parameters: Parameters, names: list[str]
) -> None:
    of, prices, http = doors
    known = {name: value for name, value in parameters.items() if name in ServiceParameters.model_fields}
    plain, _, suffix = model.partition(":")
    without = {name: value for name, value in known.items() if name not in names}
    if "enable_web_search=on" in suffix:
        without = {"enable_web_search": "on", **without}
    expected, listed = prices.rate(usage_of(plain, without)).exact, [f"service_parameters.{name}" for name in names]
    for door, ask in of.items():
        if door == "typed" and None in parameters.values():  # None is a parameter that was left out
            continue
        amount, ignored = ask(model, parameters)
        assert amount == expected, door
        assert ignored == ([] if door == "/charges" else listed), door
    counts = {"prompt_tokens": 1000, "max_completion_tokens": 100}
    estimate = prices.estimate_text(model, **counts, service_parameters=parameters)
    bare = prices.estimate_text(plain, **counts, service_parameters=without)
    assert (estimate.lowest, estimate.highest, list(estimate.ignored)) == (bare.lowest, bare.highest, listed)
    answer = http("/estimate", {"model": model, **counts, "service_parameters": parameters})
    assert (Decimal(answer["highest"]), answer["ignored"]) == (estimate.highest, listed)


@pytest.mark.parametrize(
    ("further", "path"),
    [
        ({"counts": {"not_known": 1}}, "counts"),
        ({"not_known": 1}, "_errors"),
        ({"usage": {**TOKENS, "not_known_tokens": 1}}, "usage"),
        ({"x_search_results": 1}, "x_search_results"),
        ({"service_parameters": {"enable_web_search": "yes"}}, "service_parameters"),
        ({"service_parameters": "on"}, "service_parameters"),
    ],
)
def test_what_may_have_a_price_is_refused_as_before(
    card: ratecard.RateCard, further: dict[str, Any], path: str
) -> None:
    with pytest.raises(QuoteError) as refusal:
        card.at(WHEN).rate({**usage_of(NO_X, {}), **further})
    details = refusal.value.details or {}
    assert path in details
    assert path != "_errors" or details["_errors"]


def test_tables_without_service_parameters_know_none(card: ratecard.RateCard, tmp_path: Path) -> None:
    for name in ("text/grok.yaml", "surcharges.yaml"):
        shutil.copy(shipped_folder() / name, tmp_path)
    prices = ratecard.load_rate_card(tmp_path).at(WHEN)
    with pytest.raises(QuoteError, match="Unrecognized key"):
        prices.rate(usage_of("grok-4-3", {"zzz": 1}))
    with pytest.raises(QuoteError, match="not found"):
        prices.rate(usage_of("grok-4-3:zzz=1", {}))
