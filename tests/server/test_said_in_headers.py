"""What an answer says in headers: fields without effect that its body cannot list, and the end of a model."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from asking import asked, post

import ratecard
from ratecard.ledger import open_ledger
from ratecard.server import LiveRateCard, application
from ratecard.server.charges import charges_router
from ratecard.server.http import ignored_fields

IGNORED = "x-service-ignored-fields"
WARNING, DAY = "x-service-model-deprecation-warning", "x-service-model-deprecation-date"
KLING = {"model": "kling-o3-pro-text-to-video", "duration": "5s"}
SONG = {"model": "elevenlabs-music", "duration_seconds": 60}
# Models that end soon after these instants.
ENDING_VIDEO = ("ltx-2-fast-text-to-video", "2026-09-28")
ENDING_TEXT = ("nvidia-nemotron-3-5-lightning-30b-a3b", "2026-08-21")


@contextmanager
def client_at(card: ratecard.RateCard, *day: int, **options: Any) -> Iterator[Any]:
    clock = int(datetime(*day, tzinfo=UTC).timestamp()) * 10**9  # type: ignore[misc, arg-type]
    with asked(application(LiveRateCard(card, clock=lambda: clock), **options)) as client:
        yield client


@pytest.fixture(scope="module")
def client(card: ratecard.RateCard) -> Iterator[Any]:
    with client_at(card, 2026, 10, 1) as found:
        yield found


def sent(client: Any, path: str, body: Any) -> Any:
    return post(client, json.dumps(body).encode(), f"/api/v1{path}")


@pytest.mark.parametrize(
    ("path", "body", "names"),
    [
        ("/video/quote", KLING, None),
        ("/video/quote", {**KLING, "prompt": "a cat"}, "prompt"),
        ("/video/quote", {**KLING, "prompt": "a cat", "target_fps": 60, "upscale_factor": 2}, None),
        ("/video/quote", {**KLING, "größe, cm": 1, "50%": 2, "a b": 3}, "gr%C3%B6%C3%9Fe%2C%20cm, 50%25, a%20b"),
        ("/video/quote", {**KLING, "x\r\nset-cookie: a": 1}, "x%5Cr%5Cnset-cookie:%20a"),
        ("/video/quote", {**KLING, "\ud800": 1}, "%5Cud800"),
        ("/audio/quote", SONG, None),
        ("/audio/quote", {**SONG, "voice": "x", "character_count": 5}, "character_count, voice"),
    ],
)
def test_a_quote_lists_fields_without_effect_in_a_header(
    client: Any, path: str, body: dict[str, Any], names: str | None
) -> None:
    answer = sent(client, path, body)
    assert answer.status_code == 200, answer.text
    expected = ", ".join(sent(client, f"{path}?explain=true", body).json()["ignored"]) if names is None else names
    assert answer.headers.get(IGNORED, "") == expected
    explained = sent(client, f"{path}?explain=true", body)
    assert IGNORED not in explained.headers, "the body lists them"


def test_the_header_is_short_ascii_and_bounded(client: Any) -> None:
    body = {**KLING, **{f"{'ü' * 100}{number}": 1 for number in range(500)}}
    answer = sent(client, "/video/quote", body)
    value = answer.headers[IGNORED]
    assert value.isascii()
    assert 700 < len(value) <= 1024
    assert value.endswith(", ...")
    assert all(re.fullmatch("(%C3%BC){64}", name) for name in value.removesuffix(", ...").split(", "))

    asked_for = iter(["x" * 64] * 10**6)
    ignored_fields(asked_for)
    assert sum(1 for _ in asked_for) + 20 > 10**6 - 20, "no more names are read than are listed"


def test_the_names_are_those_of_ignored(client: Any) -> None:
    body = {**KLING, "prompt": "x", "image_url": "y", "target_fps": 60, "video_url": "https://example.com/a.mp4"}
    listed = sent(client, "/video/quote?explain=true", body).json()["ignored"]
    assert sent(client, "/video/quote", body).headers[IGNORED].split(", ") == listed
    assert listed == ["target_fps", "video_url", "prompt", "image_url"]


def test_a_charge_lists_them_and_a_repeated_one_is_not_rated(card: ratecard.RateCard, tmp_path: Path) -> None:
    usage = {"type": "text", "model": "grok-4-3:zzz=1", "usage": {"prompt_tokens": 1, "completion_tokens": 0}}
    charge = {"usage": usage, "timestamp": "2026-10-01T12:00:00Z", "request_id": "r-1"}
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        live = LiveRateCard(card)
        app = application(live)
        app.include_router(charges_router(ledger, live, lambda: "acme"), prefix="/api/v1")
        with asked(app) as client:
            first, again = sent(client, "/charges", charge), sent(client, "/charges", charge)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert first.headers[IGNORED] == "service_parameters.zzz"
    assert IGNORED not in again.headers


def test_pages_of_other_origins_may_read_every_header_that_is_described(card: ratecard.RateCard) -> None:
    origin = "https://shop.example"
    with client_at(card, 2026, 10, 1, cors_origins=[origin]) as client:
        answer = post(client, json.dumps({**KLING, "prompt": "x"}).encode(), origin=origin)
        description = client.get("/openapi.json").json()
    exposed = {name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")}
    answers = [
        each for path in description["paths"].values() for each in next(iter(path.values()))["responses"].values()
    ]
    described = {name.lower() for each in answers for name in each.get("headers", ())}
    assert IGNORED in described
    assert described <= exposed


def test_stated_seconds_beside_a_source_video_have_no_effect(prices: ratecard.PriceBook) -> None:
    body = {"model": "topaz-video-upscale", "duration": "5s"}
    longer = ratecard.SourceVideo(seconds=20, width=854, height=480, fps=30)
    unknown = ratecard.SourceVideo(width=854, height=480, fps=30)
    quote = prices.quote_video(body, source=longer)
    assert quote.ignored == ("duration",)
    assert quote.exact == prices.quote_video({"model": body["model"]}, source=longer).exact
    assert prices.quote_video({**body, "duration": "Auto"}, source=longer).ignored == ()
    assert prices.quote_video(body, source=unknown).ignored == ()
    assert prices.quote_video(body).ignored == ()
    further = {**body, "prompt": "x", "audio": True}
    assert prices.quote_video(further, source=longer).ignored == ("duration", "audio", "prompt")
    slowed = {"model": "topaz-video-interpolation", "enhancement_model": "Aion", "duration": "5s", "target_fps": 60}
    assert prices.quote_video(slowed, source=longer).ignored == ("duration",)


def test_a_probed_video_says_so_over_http(card: ratecard.RateCard) -> None:
    body = {"model": "topaz-video-upscale", "duration": "5s", "video_url": "https://example.com/a.mp4"}
    source = ratecard.SourceVideo(seconds=20, width=854, height=480, fps=30)
    with client_at(card, 2026, 10, 1, probe=lambda url: source) as client:
        answer = sent(client, "/video/quote", body)
    assert (answer.json(), answer.headers[IGNORED]) == ({"quote": 0.5}, "duration")


@pytest.fixture(scope="module")
def ending(card: ratecard.RateCard) -> Iterator[tuple[Any, Any]]:
    """Clients of a day on which a text model ends soon, and of one on which a video model does."""
    with client_at(card, 2026, 8, 15) as text, client_at(card, 2026, 9, 1) as video:
        yield text, video


def test_the_end_of_a_model_is_said_on_a_refusal_too(ending: tuple[Any, Any]) -> None:
    text, video = ending
    name, day = ENDING_TEXT
    wrong = [
        (text, "/rate", {"model": name, "usage": {"prompt_tokens": -1}}, day),
        (text, "/rate", {"type": "text", "model": f"{name}:zzz=1", "usage": 5}, day),
        (text, "/rate", {"type": "image", "model": name}, day),
        (text, "/estimate", {"model": name}, day),
        (text, "/estimate", {"model": name, "prompt_tokens": 1, "max_completion_tokens": -1}, day),
        (video, "/video/quote", {"model": ENDING_VIDEO[0], "duration": "99s"}, ENDING_VIDEO[1]),
        (video, "/video/quote?explain=no", {"model": ENDING_VIDEO[0], "duration": "6s"}, ENDING_VIDEO[1]),
        (video, "/audio/quote", {"model": ENDING_VIDEO[0]}, ENDING_VIDEO[1]),
        (video, "/rate", {"model": ENDING_VIDEO[0], "duration": "6s", "prompt": "x"}, ENDING_VIDEO[1]),
    ]
    for client, path, body, expected in wrong:
        answer = sent(client, path, body)
        assert answer.status_code == 400, (path, body, answer.text)
        assert answer.headers.get(DAY) == expected, (path, body)
        assert expected in answer.headers[WARNING]
    for query, status in (("never", 400), ("2026-01-01", 404), ("2026-08-21", 404)):
        refused = text.get(f"/api/v1/models/{name}?at={query}")
        assert (refused.status_code, refused.headers.get(DAY)) == (status, day)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model": 5}', b'{"model": []}', b'{"model": "zzz"}', b"{}"])
@pytest.mark.parametrize("path", ["/video/quote", "/audio/quote", "/rate", "/estimate"])
def test_a_refusal_of_no_model_says_nothing_of_one(ending: tuple[Any, Any], path: str, body: bytes) -> None:
    answer = post(ending[0], body, f"/api/v1{path}")
    assert answer.status_code == 400
    assert DAY not in answer.headers


def test_each_entry_of_a_list_says_it_in_fields(ending: tuple[Any, Any]) -> None:
    text, _ = ending
    name, day = ENDING_TEXT
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    usages = [
        {"model": name, "usage": usage},
        {"model": "claude-opus-4-6", "usage": usage},
        {"model": name, "usage": {"prompt_tokens": -1}},
        {"model": "zzz"},
        5,
    ]
    answer = sent(text, "/rate", {"usages": usages})
    alone = sent(text, "/rate", usages[0])
    notice = {"warning": alone.headers[WARNING], "date": alone.headers[DAY]}
    assert [each.get("deprecation") for each in answer.json()["data"]] == [notice, None, notice, None, None]
    assert DAY not in answer.headers
    assert notice["date"] == day
    assert "deprecation" not in alone.json(), "a header says it"
