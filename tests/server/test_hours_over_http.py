"""A server prices at the instant of each request, where rates have hours or a version begins within a day."""

from datetime import datetime
from typing import Any

import pytest
from asking import asked

from ratecard import RateCard
from ratecard.load.folder import tables_from
from ratecard.server import LiveRateCard, application

TABLE = """family: made-up
models:
  - model: m
    aliases: [m-latest]
    provider: someone
    name: Made up
    type: text
    currency: USD
    versions:
      - effective: 2026-10-02T12:00:00Z
        announced: 2026-10-01
        checked: 2026-10-01
        source: nowhere
        rounding: none
        charges:
          - {charge: tokens, method: tokens, unit: mtoken, rates: [{tokens: [input, output], rate: 9}]}
        examples:
          - {usage: {prompt_tokens: 0, completion_tokens: 0}, total: 0}
      - effective: 2026-01-01
        checked: 2026-01-01
        source: nowhere
        rounding: none
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            rates:
              - {tokens: [input, output], rate: 1}
              - {tokens: input, hours: "16:30..00:30", weekdays: [wed, thu], zone: Europe/Berlin, rate: 2}
        examples:
          - {usage: {prompt_tokens: 0, completion_tokens: 0}, total: 0}
"""


class Clock:
    def __init__(self) -> None:
        self.now = 0

    def set(self, instant: str) -> None:
        """Set the clock to an instant, with its microseconds."""
        at = datetime.fromisoformat(instant)
        self.now = int(at.replace(microsecond=0).timestamp()) * 10**9 + at.microsecond * 1000


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def live(clock: Clock) -> LiveRateCard:
    clock.set("2026-10-01T00:00:00Z")
    return LiveRateCard(RateCard(tables_from({"m.yaml": TABLE.encode()})), clock=lambda: clock.now)


@pytest.mark.parametrize(
    ("instant", "total"),
    [
        ("2026-10-01T14:29:59.999999Z", "1"),
        ("2026-10-01T14:30:00Z", "2"),
        ("2026-10-01T22:29:59.999999Z", "2"),
        ("2026-10-01T22:30:00Z", "1"),
        ("2026-10-02T11:59:59.999999Z", "1"),
        ("2026-10-02T12:00:00Z", "9"),
        ("2026-10-07T14:30:00Z", "9"),
    ],
)
def test_a_request_is_priced_at_its_instant(live: LiveRateCard, clock: Clock, instant: str, total: str) -> None:
    clock.set(instant)
    with asked(application(live)) as client:
        body = {"model": "m", "tokens": {"input": 1_000_000}}
        answer = client.post("/api/v1/rate", json=body)
        assert answer.json()["total"].rstrip("0").rstrip(".") == total


def test_one_server_follows_the_hours(live: LiveRateCard, clock: Clock) -> None:
    found = []
    with asked(application(live)) as client:
        for instant in ("T14:29:59Z", "T14:30:00Z", "T22:29:59Z", "T22:30:00Z", "T14:30:00Z"):
            clock.set(f"2026-10-01{instant}")
            answer = client.post("/api/v1/rate", json={"model": "m-latest", "tokens": {"input": 1_000_000}})
            found.append(str(answer.json()["total"])[0])
            assert (answer.json()["asked"], answer.json()["model"]) == ("m-latest", "m")
    assert "".join(found) == "12212"


def test_the_listing_has_windows_names_and_instants(live: LiveRateCard, clock: Clock) -> None:
    clock.set("2026-10-02T11:00:00Z")
    with asked(application(live)) as client:
        answer = client.get("/api/v1/models/m-latest")
        listed: Any = answer.json()
    assert (listed["id"], listed["aliases"], listed["provider"]) == ("m", ["m-latest"], "someone")
    assert listed["pricing"]["charges"][0]["rates"][1] == {
        "tokens": ["input"],
        "hours": ["16:30..00:30"],
        "weekdays": ["wed", "thu"],
        "zone": ["Europe/Berlin"],
        "rate": "2",
    }
    assert [each["pricing"]["effective"] for each in listed["upcoming"]] == ["2026-10-02T12:00:00Z"]
    with asked(application(live)) as client:
        answer = client.post("/api/v1/rate", json={"model": "m", "tokens": {"input": 1}})
    assert answer.headers["x-service-model-price-change-date"] == "2026-10-02T12:00:00Z"
    assert answer.headers["x-service-model-price-change-warning"] == "The prices of m change on 2026-10-02T12:00:00Z."


def test_a_request_of_another_provider_is_refused(live: LiveRateCard) -> None:
    with asked(application(live)) as client:
        body = {"model": "m", "provider": "another", "tokens": {"input": 1}}
        answer = client.post("/api/v1/rate", json=body)
    assert answer.status_code == 400
    assert "Expected 'someone', received 'another'" in answer.text
