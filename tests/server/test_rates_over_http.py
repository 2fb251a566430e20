"""`POST /rate` and `POST /estimate`: a usage of any type, several in one call, and the least and the most."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from asking import asked, post

import ratecard
from ratecard.requests.text_body import body_of_text, usage_of_text
from ratecard.server import LiveRateCard, application
from ratecard.server.schemas import MOST_USAGES
from ratecard.tables.metered import UsageExample
from ratecard.tables.video import VideoExample

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
RATE, ESTIMATE = "/api/v1/rate", "/api/v1/estimate"
SPEECH = {"type": "speech", "model": "tts-kokoro", "characters": 900}


@pytest.fixture(scope="module")
def prices(card: ratecard.RateCard) -> ratecard.PriceBook:
    return card.at(WHEN)


@pytest.fixture(scope="module")
def client(card: ratecard.RateCard) -> Iterator[Any]:
    with asked(application(LiveRateCard(card, clock=lambda: int(WHEN.timestamp()) * 10**9))) as found:
        yield found


def send(client: Any, body: Any, path: str = RATE) -> Any:
    return post(client, json.dumps(body, default=str).encode(), path)


def one_of_each_type(prices: ratecard.PriceBook) -> dict[str, Any]:
    """A worked usage of every type."""
    found: dict[str, Any] = {}
    for model, version in prices._in_effect_all():
        for example in version.examples:
            if isinstance(example, UsageExample):
                found.setdefault(model.type, usage_of_text(model.type, model.model, example.usage))
            elif isinstance(example, VideoExample) and not example.source:
                found.setdefault("video", {"type": "video", "model": model.model, **body_of_text(example.request)})
    return found


def test_a_usage_of_every_type_is_answered_with_its_whole_quote(client: Any, prices: ratecard.PriceBook) -> None:
    usages = one_of_each_type(prices)
    assert set(usages) == {model.type for model, _ in prices._in_effect_all()}
    for type_, usage in usages.items():
        answer = send(client, usage)
        assert (answer.status_code, answer.json()) == (200, prices.rate(json.loads(json.dumps(usage))).to_dict()), type_
        assert answer.headers["x-ratecard-digest"] == prices.tables.digest


def test_several_usages_are_answered_in_their_order(client: Any, prices: ratecard.PriceBook) -> None:
    usages: list[Any] = [*one_of_each_type(prices).values(), {"model": "zzz"}, 5, json.dumps(SPEECH), SPEECH]
    answer = send(client, {"usages": usages})
    assert answer.status_code == 200
    found = answer.json()
    assert (list(found), found["object"], len(found["data"])) == (["object", "data"], "list", len(usages))
    assert found["data"][:-4] == [prices.rate(usage).to_dict() for usage in usages[:-4]]
    assert found["data"][-4] == {"error": "Specified model not found: zzz"}
    refused = [each["details"]["_errors"] for each in found["data"][-3:-1]]
    assert refused == [["Expected object, received number"], ["Expected object, received string"]]
    assert found["data"][-1]["total"] == "0.00315"


def test_no_digit_of_a_count_is_lost(client: Any) -> None:
    body = b'{"model": "openai/whisper-large-v3", "seconds": 0.1234567890123456789}'
    line = post(client, body, RATE).json()["lines"][0]
    assert line["quantity"] == "0.1234567890123456789"
    assert Decimal(line["amount"]) == Decimal(line["unit_rate"]) * Decimal(line["quantity"])


def test_the_most_usages_are_answered_and_one_more_is_refused(client: Any) -> None:
    assert len(send(client, {"usages": [SPEECH] * MOST_USAGES}).json()["data"]) == MOST_USAGES
    answer = send(client, {"usages": [SPEECH] * (MOST_USAGES + 1)})
    assert answer.status_code == 400
    assert answer.json()["details"]["usages"]["_errors"] == ["Array must contain at most 1000 element(s)"]
    assert send(client, {"usages": []}).json() == {"object": "list", "data": []}


@pytest.mark.parametrize(
    ("body", "details"),
    [
        ({"usages": {}}, {"_errors": [], "usages": {"_errors": ["Expected array, received object"]}}),
        (
            {"usages": [], "model": "m"},
            {"_errors": ["Unrecognized key(s) in object: 'model'. Did you mean one of 'usages'?"]},
        ),
        ([SPEECH], {"_errors": ["Expected object, received array"]}),
        ({}, {"_errors": [], "model": {"_errors": ["Required"]}}),
        (
            SPEECH | {"character": 5},
            {"_errors": ["Unrecognized key(s) in object: 'character'. Did you mean 'characters'?"]},
        ),
    ],
)
def test_a_wrong_body_is_answered_with_its_tree(client: Any, body: Any, details: Any) -> None:
    answer = send(client, body)
    assert (answer.status_code, answer.json()) == (400, {"error": "Invalid request body", "details": details})


@pytest.mark.parametrize("path", [RATE, ESTIMATE])
def test_a_query_is_refused_and_never_ignored(client: Any, path: str) -> None:
    answer = send(client, SPEECH, f"{path}?at=2026-08-01&explain")
    said = "Unrecognized key(s) in object: 'at', 'explain'. Allowed: none"
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": "Invalid query parameters", "details": {"_errors": [said]}},
    )


def test_the_key_is_asked_and_the_model_retires_in_a_header(card: ratecard.RateCard) -> None:
    clock = int(datetime(2026, 9, 1, tzinfo=UTC).timestamp()) * 10**9
    with asked(application(LiveRateCard(card, clock=lambda: clock), check={"right": "acme"}.get)) as client:
        assert [send(client, SPEECH, path).status_code for path in (RATE, ESTIMATE)] == [401, 401]
        client.headers["authorization"] = "Bearer right"
        answer = send(client, {"model": "ltx-2-fast-text-to-video", "duration": "6s", "resolution": "1080p"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-service-model-deprecation-date"] == "2026-09-28"


TEXT = {"model": "claude-opus-4-6", "prompt_tokens": 5500, "max_completion_tokens": 1000}


def test_an_estimate_is_the_librarys(client: Any, prices: ratecard.PriceBook) -> None:
    found = prices.estimate_text("claude-opus-4-6", prompt_tokens=5500, max_completion_tokens=1000)
    answer = send(client, TEXT, ESTIMATE)
    assert answer.json() == {
        "type": "text",
        "model": "claude-opus-4-6",
        "lowest": "0.0033",
        "highest": "0.07125",
        "currency": "USD",
        "digest": prices.tables.digest,
        "ignored": [],
    }
    assert (found.lowest, found.highest) == (Decimal("0.0033"), Decimal("0.07125"))
    searching = TEXT | {"model": "claude-opus-4-6:enable_web_scraping=true"}
    assert send(client, searching, ESTIMATE).json()["highest"] == "0.12125"
    counted = TEXT | {"service_parameters": {"enable_web_search": "on"}, "web_search_requests": 3, "type": "text"}
    assert Decimal(send(client, counted, ESTIMATE).json()["highest"]) == found.highest + Decimal("0.03")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prompt_tokens": -1}, {"prompt_tokens": ["Number must be greater than or equal to 0"]}),
        ({"prompt_tokens": None}, {"prompt_tokens": ["Expected number, received null"]}),
        ({"scraped_urls": None}, {"scraped_urls": ["Expected number, received null"]}),
        ({"service_parameters": None}, {"service_parameters": ["Expected object, received null"]}),
        ({"type": "image"}, {"type": ["Expected 'text', the type of claude-opus-4-6"]}),
        ({"type": 5}, {"type": ["Expected string, received number"]}),
        ({"model": 5}, {"model": ["Expected string, received number"]}),
        ({"completion_tokens": 5}, {"": ["Unrecognized key(s) in object: 'completion_tokens'. Did you mean "
                                         "'max_completion_tokens'?"]}),
    ],
)  # fmt: skip
def test_a_wrong_estimate_is_refused_at_its_field(client: Any, changes: Any, said: Any) -> None:
    answer = send(client, TEXT | changes, ESTIMATE)
    details = answer.json()["details"]
    found = {name: details[name]["_errors"] if name else details["_errors"] for name in said}
    assert (answer.status_code, found) == (400, said)


def test_what_an_estimate_needs_is_required(client: Any) -> None:
    details = send(client, {"model": "claude-opus-4-6"}, ESTIMATE).json()["details"]
    assert {name for name in details if name != "_errors"} == {"prompt_tokens", "max_completion_tokens"}
    assert send(client, {}, ESTIMATE).json()["details"]["model"]["_errors"] == ["Required"]


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (
            "tts-kokoro",
            "No estimate for tts-kokoro, which is of type speech: only text has one. POST /rate prices what it counts",
        ),
        (
            "ovi-image-to-video",
            "No estimate for ovi-image-to-video, which is of type video: only text has one. "
            "POST /video/quote prices what it counts",
        ),
        ("zzz", "Specified model not found: zzz"),
    ],
)
def test_what_has_no_estimate_is_refused_by_a_sentence(client: Any, model: str, error: str) -> None:
    answer = send(client, {"model": model}, ESTIMATE)
    assert (answer.status_code, answer.json()) == (400, {"error": error})
