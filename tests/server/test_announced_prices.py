"""Models by type, by day and by id; and prices that are announced, in the listing and in headers."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from asking import asked, post

import ratecard
from ratecard.server import LiveRateCard, application

MODEL = "grok-imagine-1-5-image-to-video-private"
BODY = json.dumps({"model": MODEL, "duration": "5s", "resolution": "720p"}).encode()
CHANGE = "x-service-model-price-change-date"


@contextmanager
def client_on(card: ratecard.RateCard, year: int, month: int, day: int) -> Iterator[Any]:
    clock = int(datetime(year, month, day, 23, 59, tzinfo=UTC).timestamp()) * 10**9
    with asked(application(LiveRateCard(card, clock=lambda: clock))) as client:
        yield client


@pytest.fixture(scope="module")
def client(card: ratecard.RateCard) -> Iterator[Any]:
    with client_on(card, 2026, 10, 1) as found:
        yield found


def with_versions(card: ratecard.RateCard, name: str, *changes: dict[str, Any]) -> ratecard.RateCard:
    """A card on which a model has further versions, made from its newest one, the last of them newest."""
    model = card.tables.models[name]
    further = [model.versions[0].model_copy(update={"examples": (), **change}) for change in changes]
    changed = model.model_copy(update={"versions": (*reversed(further), *model.versions)})
    return ratecard.RateCard(replace(card.tables, models={**card.tables.models, name: changed}))


def charges(card: ratecard.RateCard, rate: str) -> Any:
    """The charges of the model, at another rate of one resolution."""
    seconds, *others = card.tables.models[MODEL].versions[0].charges
    rates = [
        each.model_copy(update={"rate": Decimal(rate)}) if each.attributes["resolution"] == ("720p",) else each
        for each in seconds.rates
    ]
    return (seconds.model_copy(update={"rates": tuple(rates)}), *others)


@pytest.fixture(scope="module")
def announced(card: ratecard.RateCard) -> ratecard.RateCard:
    """Grok costs 0.25 from 2027-01-01, which is announced on 2026-12-01, and more later, which is not announced."""
    first = {"effective": date(2027, 1, 1), "announced": date(2026, 12, 1), "charges": charges(card, "0.25")}
    return with_versions(card, MODEL, first, {"effective": date(2027, 2, 1), "charges": charges(card, "0.35")})


def rate_of(listed: Any) -> str:
    [rate] = [each["rate"] for each in listed["pricing"]["charges"][0]["rates"] if each.get("resolution") == ["720p"]]
    return str(rate)


def test_an_announced_price_shows_before_it_takes_effect(announced: ratecard.RateCard) -> None:
    with client_on(announced, 2026, 11, 30) as client:
        assert client.get(f"/api/v1/models/{MODEL}").json()["upcoming"] == []
        assert CHANGE not in post(client, BODY).headers
    with client_on(announced, 2026, 12, 31) as client:
        listed = client.get(f"/api/v1/models/{MODEL}")
        assert rate_of(listed.json()) == "0.161"
        [upcoming] = listed.json()["upcoming"]
        assert (upcoming["pricing"]["effective"], upcoming["pricing"]["announced"]) == ("2027-01-01", "2026-12-01")
        assert rate_of(upcoming) == "0.25"
        assert upcoming["constraints"]["duration"]
        [same] = [each for each in client.get("/api/v1/models").json()["data"] if each["id"] == MODEL]
        assert same == listed.json()
        for answer in (listed, post(client, BODY), post(client, BODY, "/api/v1/rate")):
            assert answer.headers[CHANGE] == "2027-01-01"
            warning = f"The prices of {MODEL} change on 2027-01-01, 00:00 UTC."
            assert answer.headers["x-service-model-price-change-warning"] == warning
        assert CHANGE not in post(client, b'{"model": "ovi-image-to-video"}').headers
    with client_on(announced, 2027, 1, 1) as client:
        listed = client.get(f"/api/v1/models/{MODEL}")
        assert (rate_of(listed.json()), listed.json()["upcoming"]) == ("0.25", [])
        assert CHANGE not in listed.headers


def test_a_price_is_announced_from_the_first_instant_of_its_day(announced: ratecard.RateCard) -> None:
    midnight = int(datetime(2026, 12, 1, tzinfo=UTC).timestamp()) * 10**9
    for clock, told in ((midnight - 1, 0), (midnight, 1)):
        with asked(application(LiveRateCard(announced, clock=lambda clock=clock: clock))) as client:  # type: ignore[misc]
            assert len(client.get(f"/api/v1/models/{MODEL}").json()["upcoming"]) == told


def test_the_next_of_several_announced_prices_is_first(card: ratecard.RateCard) -> None:
    told = date(2026, 12, 1)
    days = [date(2027, 1, 1), date(2027, 2, 1), date(2027, 3, 1)]
    rates = ("0.161", "0.25", "0.35")
    later = with_versions(
        card,
        MODEL,
        *(
            {"effective": day, "announced": told, "charges": charges(card, rate)}
            for day, rate in zip(days, rates, strict=True)
        ),
    )
    with client_on(later, 2026, 12, 31) as client:
        listed = client.get(f"/api/v1/models/{MODEL}")
    assert [each["pricing"]["effective"] for each in listed.json()["upcoming"]] == [day.isoformat() for day in days]
    assert listed.headers[CHANGE] == "2027-02-01", "the first version changes no price"


def test_the_price_of_a_day_is_shown_as_far_as_it_is_announced(announced: ratecard.RateCard) -> None:
    path = f"/api/v1/models/{MODEL}"
    with client_on(announced, 2026, 12, 31) as client:
        days = {day: client.get(path, params={"at": day}).json() for day in ("2026-12-31", "2027-01-01", "2027-03-01")}
        assert [rate_of(each) for each in days.values()] == ["0.161", "0.25", "0.25"]
        assert [len(each["upcoming"]) for each in days.values()] == [1, 0, 0]
        every = client.get("/api/v1/models", params={"at": "2027-03-01", "type": "video"}).json()["data"]
        assert days["2027-03-01"] in every
    with client_on(announced, 2026, 11, 30) as client:
        later = client.get(path, params={"at": "2027-03-01"}).json()
        assert rate_of(later) == "0.161", "no price is told before it is announced"


def test_a_future_model_is_listed_when_it_is_announced(card: ratecard.RateCard) -> None:
    model = card.tables.models["tts-kokoro"]
    version = model.versions[0].model_copy(update={"effective": date(2027, 1, 1)})
    for day, status in ((None, 404), (date(2027, 1, 1), 404), (date(2026, 12, 1), 200)):
        future = model.model_copy(update={"versions": (version.model_copy(update={"announced": day}),)})
        tables = replace(card.tables, models={**card.tables.models, "tts-kokoro": future})
        with client_on(ratecard.RateCard(tables), 2026, 12, 31) as client:
            now = client.get("/api/v1/models/tts-kokoro")
            assert now.json()["error"].startswith("No price for tts-kokoro on 2026-12-31.")
            then = client.get("/api/v1/models/tts-kokoro", params={"at": "2027-01-01"})
            assert then.status_code == status
            if status == 404:
                assert then.json() == {"error": "No price for tts-kokoro on 2027-01-01 is announced"}
            listed = client.get("/api/v1/models", params={"at": "2027-01-01"}).json()["data"]
            assert ("tts-kokoro" in {each["id"] for each in listed}) == (status == 200)


def test_models_are_listed_by_their_type(client: Any, card: ratecard.RateCard) -> None:
    every = client.get("/api/v1/models").json()["data"]
    for type_ in {model.type for model in card.tables.models.values()}:
        found = client.get("/api/v1/models", params={"type": type_})
        assert found.json() == {"data": [each for each in every if each["type"] == type_], "object": "list"}
        packed = client.get("/api/v1/models", params={"type": type_}, headers={"accept-encoding": "gzip"})
        assert packed.json() == found.json()


def test_models_are_listed_as_they_were_on_a_day(client: Any, card: ratecard.RateCard) -> None:
    with client_on(card, 2026, 8, 1) as then:
        expected = then.get("/api/v1/models").json()["data"]
    found = client.get("/api/v1/models", params={"at": "2026-08-01"}).json()["data"]
    assert [{**each, "upcoming": None} for each in found] == [{**each, "upcoming": None} for each in expected]
    assert found != client.get("/api/v1/models").json()["data"]


@pytest.mark.parametrize(
    ("query", "details"),
    [
        ("at=2026-02-30", {"_errors": [], "at": {"_errors": ["Invalid date. Expected YYYY-MM-DD, like 2026-10-01"]}}),
        ("at=", {"_errors": [], "at": {"_errors": ["Invalid date. Expected YYYY-MM-DD, like 2026-10-01"]}}),
        (
            "kind=text",
            {"_errors": ["Unrecognized key(s) in object: 'kind'. Allowed: 'type' | 'at', each once"]},
        ),
        ("type=text&type=image", {"_errors": ["Given twice: 'type'. Allowed: 'type' | 'at', each once"]}),
    ],
)
def test_a_wrong_query_is_refused(client: Any, query: str, details: Any) -> None:
    answer = client.get(f"/api/v1/models?{query}")
    assert (answer.status_code, answer.json()) == (400, {"error": "Invalid query parameters", "details": details})


def test_a_type_that_is_not_one_is_refused_with_those_that_are(client: Any) -> None:
    [said] = client.get("/api/v1/models?type=txt").json()["details"]["type"]["_errors"]
    assert said.startswith("Invalid enum value. Expected 'edit' | 'embedding' | 'image'")
    assert client.get(f"/api/v1/models/{MODEL}?type=video").status_code == 400


def test_every_model_is_found_by_its_id_slashes_too(client: Any) -> None:
    every = client.get("/api/v1/models").json()["data"]
    some = [each for each in every if "/" in each["id"]] + every[::40]
    assert any("/" in each["id"] for each in some)
    for each in some:
        assert client.get(f"/api/v1/models/{each['id']}").json() == each


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("grok-4", "Specified model not found: grok-4. Did you mean: "),
        (
            "ltx-2-fast-text-to-video",
            "Specified model not found: ltx-2-fast-text-to-video. It was retired on 2026-09-28",
        ),
        ("a/b/c", "Specified model not found: a/b/c"),
    ],
)
def test_a_model_that_is_not_there_is_404_in_the_words_of_a_quote(client: Any, name: str, words: str) -> None:
    answer = client.get(f"/api/v1/models/{name}")
    assert (answer.status_code, list(answer.json())) == (404, ["error"])
    assert answer.json()["error"].startswith(words)
