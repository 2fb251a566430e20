"""A parameter that a model's name gives twice is refused at every door: nothing says which of the two counts."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi import FastAPI
from starlette.testclient import TestClient

from ratecard import QuoteError, RateCard, simulate
from ratecard.cli import main
from ratecard.ledger import charge, open_ledger
from ratecard.requests.body import MOST_PROBLEMS
from ratecard.requests.usage import TextUsage, TokenUsage
from ratecard.server import LiveRateCard, application
from ratecard.server.charges import charges_router

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
TOKENS = {"prompt_tokens": 1000, "completion_tokens": 100}
ESTIMATED: dict[str, Any] = {"prompt_tokens": 1000, "max_completion_tokens": 100}
# (suffix of the model's name, names of the parameters in it)
TWICE = [
    ("enable_web_search=off&enable_web_search=on", ["enable_web_search"]),
    ("enable_web_search=on:enable_web_search=off", ["enable_web_search"]),
    ("enable_web_search=on&enable_web_search=on", ["enable_web_search"]),
    ("enable_web_search=on&disable_thinking=true&enable_web_search=on", ["enable_web_search"]),
    ("disable_thinking=true&disable_thinking=false", ["disable_thinking"]),
    ("character_slug=alan:character_slug=turing", ["character_slug"]),
    ("zzz=1&zzz=2", ["zzz"]),
    ("zzz=&zzz=", ["zzz"]),
    ("a=1&b=1&a=2&b=2&a=3", ["a", "b"]),
]
# Each is given once: in the name, or in the name and in the body, which wins.
ONCE = [
    ("enable_web_search=on&disable_thinking=true", {}),
    ("enable_web_search=off", {"enable_web_search": "on"}),
    ("zzz=1&zzy=1", {"zzz": 2}),
    ("character_slug=a=a", {}),
]
Ask = Callable[[str], str]


def usage_of(model: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "model": model, "usage": TOKENS, **more}


def said(call: Callable[[], object]) -> str:
    """Return the text of a refusal; empty for an answer."""
    try:
        call()
    except QuoteError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def doors(card: RateCard, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Ask]]:
    """Return, for each door, a function from a model's name to its refusal; empty if the door accepts it."""
    prices, folder = card.at(WHEN), tmp_path_factory.mktemp("doors")
    live = LiveRateCard(card, clock=lambda: int(WHEN.timestamp()) * 10**9)
    with open_ledger(f"sqlite:///{folder}/ledger.db") as ledger:
        app: FastAPI = application(live)
        app.include_router(charges_router(ledger, live, lambda: "acme"), prefix="/api/v1")
        client = TestClient(app, base_url="http://test/api/v1")

        def http(path: str, body: dict[str, Any]) -> str:
            answer = client.post(path, json=body)
            assert answer.status_code in (200, 400), answer.text
            return answer.text if answer.status_code == 400 else ""

        def in_a_list(model: str) -> str:
            [answer] = client.post("/rate", json={"usages": [usage_of(model)]}).json()["data"]
            return "" if "exact" in answer else json.dumps(answer)

        def booked(model: str) -> object:
            what: dict[str, Any] = {"account": "acme", "request_id": f"python {model}", "timestamp": WHEN}
            return charge(ledger, card, usage_of(model), **what)

        def booked_over_http(model: str) -> str:
            body = {"usage": usage_of(model), "timestamp": WHEN.isoformat(), "request_id": f"http {len(model)}"}
            return http("/charges", body)

        def simulated(model: str) -> str:
            path = Path(folder, "usage.jsonl")
            row = {"type": "text", "model": model, "timestamp": "2026-10-01", **TOKENS}
            path.write_text(json.dumps(row) + "\n", encoding="utf-8")
            with simulate(path) as answers:
                return " ".join(each.reason for each in answers.unpriced)

        def run(*words: str) -> str:
            result = CliRunner().invoke(main, [*words, "--at=2026-10-01"])
            return result.output if result.exit_code else ""

        yield {
            "rate": lambda model: said(lambda: prices.rate(usage_of(model))),
            "rate without a type": lambda model: said(lambda: prices.rate({"model": model, "usage": TOKENS})),
            "rate of JSON": lambda model: said(lambda: prices.rate(json.dumps(usage_of(model)))),
            "rate of a typed usage": lambda model: said(
                lambda: prices.rate(TextUsage(model=model, usage=TokenUsage.model_validate(TOKENS)))
            ),
            "estimate": lambda model: said(lambda: prices.estimate_text(model, **ESTIMATED)),
            "charge": lambda model: said(lambda: booked(model)),
            "/rate": lambda model: http("/rate", usage_of(model)),
            "/rate of a list": in_a_list,
            "/estimate": lambda model: http("/estimate", {"model": model, **ESTIMATED}),
            "/charges": booked_over_http,
            "ratecard rate": lambda model: run("rate", json.dumps(usage_of(model))),
            "simulate": simulated,
        }


@pytest.mark.parametrize(("suffix", "names"), TWICE)
def test_every_door_refuses_it_and_names_it(doors: dict[str, Ask], suffix: str, names: list[str]) -> None:
    for door, ask in doors.items():
        answer = ask(f"grok-4-3:{suffix}")
        for name in names:
            assert f"Parameter given twice in the model name: '{name}'. Give it once" in answer, (door, answer)


@pytest.mark.parametrize(("suffix", "body"), ONCE)
def test_every_door_takes_what_is_given_once(
    doors: dict[str, Ask], card: RateCard, suffix: str, body: dict[str, Any]
) -> None:
    for door, ask in doors.items():
        assert ask(f"grok-4-3:{suffix}") == "", door
    assert card.at(WHEN).rate(usage_of(f"grok-4-3:{suffix}", service_parameters=body))


def test_a_name_without_a_value_is_said_once(card: RateCard) -> None:
    answer = said(lambda: card.at(WHEN).rate(usage_of("grok-4-3:zzz&zzz&a=1")))
    assert answer.count("'zzz'") == 1
    assert "twice" not in answer


def test_no_more_names_are_said_than_problems(card: RateCard) -> None:
    suffix = "&".join(f"k{number}=1&k{number}=2" for number in range(1000))
    assert said(lambda: card.at(WHEN).rate(usage_of(f"grok-4-3:{suffix}"))).count("twice") == MOST_PROBLEMS
