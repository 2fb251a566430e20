"""Quotes over HTTP are the library's: the same bytes, for every given quote and every kind of refusal."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from asking import BODY, asked, post

import ratecard
from ratecard import QuoteError
from ratecard.load.folder import shipped_folder
from ratecard.server import LiveRateCard, application

# Nanoseconds since 1970.
DAY = int(datetime(2026, 9, 29, tzinfo=UTC).timestamp()) * 10**9


@pytest.fixture(scope="module")
def client(card: ratecard.RateCard) -> Iterator[Any]:
    with asked(application(LiveRateCard(card, clock=lambda: DAY))) as found:
        yield found


def library(ask: Any, body: bytes) -> tuple[int, bytes]:
    try:
        return 200, ask(body).to_json()
    except QuoteError as refusal:
        return 400, refusal.to_json()


BODIES = [
    BODY,
    b'{"model": "kling-o3-pro-text-to-video", "duration": "5s"}',
    b'{"model": "ovi-image-to-video"}',
    b'{"model": "ovi-image-to-video", "prompt": "a cat", "image_url": "x"}',
    b'{"model": "seedance-2-5-reference-to-video-basic", "duration": "auto", "resolution": "480p",'
    b' "aspect_ratio": "16:9", "reference_video_total_duration": 7.25}',
    b'{"model": "topaz-video-upscale", "duration": "10s"}',
    b'{"model": "topaz-video-upscale"}',
    b'{"model": "veo3"}',
    b'{"model": "kling-v3-pro-text-to-video", "duration": "5", "aspect_ratio": "2:1", "target_fps": 500}',
    b"{}",
    b'{"model": 5}',
    b"[]",
    b"null",
    b"",
    b"   ",
    b"x",
    b'{"model": "ovi-image-to-video"} x',
]


@pytest.mark.parametrize("body", BODIES)
def test_a_video_quote_is_the_bytes_of_the_library(client: Any, prices: ratecard.PriceBook, body: bytes) -> None:
    answer = post(client, body)
    assert (answer.status_code, answer.content) == library(prices.quote_video, body)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-ratecard-digest"] == prices.tables.digest


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "elevenlabs-music", "duration_seconds": 60}',
        b'{"model": "elevenlabs-music", "duration_seconds": "90"}',
        b'{"model": "elevenlabs-music", "duration_seconds": 1000000}',
        b'{"model": "tts-kokoro", "character_count": 1234567}',
        b'{"model": "ovi-image-to-video"}',
        b'{"duration_seconds": 60}',
        b"nothing",
    ],
)
def test_an_audio_quote_is_the_bytes_of_the_library(client: Any, prices: ratecard.PriceBook, body: bytes) -> None:
    answer = post(client, body, "/api/v1/audio/quote")
    assert (answer.status_code, answer.content) == library(prices.quote_audio, body)


def test_explain_adds_lines_date_and_digest_and_keeps_the_quote(client: Any, prices: ratecard.PriceBook) -> None:
    answer = post(client, path="/api/v1/video/quote?explain=true")
    assert answer.content.startswith(b'{"quote":0.82,')
    found, quote = json.loads(answer.content), prices.quote_video(BODY)
    assert found == {"quote": 0.82} | quote.to_dict()
    assert found["lines"][0]["source"].startswith("video/grok-imagine.yaml:")
    assert (found["effective"], found["digest"]) == (quote.effective.isoformat(), quote.digest)


@pytest.mark.parametrize(
    ("query", "lines"),
    [("explain=false", False), ("", False), ("explain=true", True), ("explain=true&explain=false", False)],
)
def test_explain_is_true_or_false(client: Any, query: str, lines: bool) -> None:
    assert (b"lines" in post(client, path=f"/api/v1/video/quote?{query}").content) is lines


@pytest.mark.parametrize("word", ["", "1", "True", "yes", "null"])
def test_another_word_for_explain_is_refused(client: Any, word: str) -> None:
    answer = post(client, path=f"/api/v1/video/quote?explain={word}")
    assert answer.status_code == 400
    assert answer.json()["details"]["explain"]["_errors"] == [
        f"Invalid enum value. Expected 'true' | 'false', received '{word}'"
    ]


@pytest.mark.parametrize("path", ["/api/v1/video/quote", "/api/v1/audio/quote"])
def test_another_parameter_is_refused(client: Any, path: str) -> None:
    answer = post(client, path=f"{path}?at=2026-08-03&explain=true&Explain=true")
    words = "Unrecognized key(s) in object: 'at', 'Explain'. Allowed: 'explain'"
    assert (answer.status_code, answer.json()["details"]) == (400, {"_errors": [words]})


def test_a_retiring_model_says_so_in_every_quote(card: ratecard.RateCard) -> None:
    day = int(datetime(2026, 9, 1, tzinfo=UTC).timestamp()) * 10**9
    with asked(application(LiveRateCard(card, clock=lambda: day))) as client:
        answer = post(client, b'{"model": "ltx-2-fast-text-to-video", "duration": "6s", "resolution": "1080p"}')
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-service-model-deprecation-date"] == "2026-09-28"
    assert answer.headers["x-service-model-deprecation-warning"].startswith("ltx-2-fast-text-to-video is retired on")


def test_every_answer_names_the_service(client: Any) -> None:
    answers = [post(client), post(client, b"x"), client.get("/api/v1/models"), client.get("/nowhere")]
    answers += [client.get("/api/v1/billing/usage"), client.get("/api/v1/video/quote"), client.get("/healthz")]
    for answer in answers:
        before, _, after = answer.headers["x-service-version"].partition(".")
        assert before.isdigit(), answer.url
        assert after.isdigit(), answer.url


def test_usage_is_gone_and_says_where(client: Any) -> None:
    answer = client.get("/api/v1/billing/usage")
    assert answer.status_code == 410
    assert answer.headers["deprecation"] == "@1783555200"
    assert answer.headers["sunset"] == "Wed, 16 Sep 2026 00:00:00 GMT"
    assert answer.headers["link"] == '</api/v1/billing/usage-history>; rel="successor-version"'
    assert "/billing/usage-history" in answer.json()["error"]
    for renamed in ("pageSize", "nextCursor", "startTimestamp", "endTimestamp"):
        assert renamed in answer.json()["error"]


def test_usage_links_to_where_the_api_is_mounted(card: ratecard.RateCard) -> None:
    with asked(application(card, base_path="/prices/v2")) as client:
        link = client.get("/prices/v2/billing/usage").headers["link"]
    assert link == '</prices/v2/billing/usage-history>; rel="successor-version"'


def test_usage_answers_404_before_its_sunset(card: ratecard.RateCard) -> None:
    day = int(datetime(2026, 9, 15, tzinfo=UTC).timestamp()) * 10**9
    with asked(application(LiveRateCard(card, clock=lambda: day))) as client:
        answer = client.get("/api/v1/billing/usage")
        assert client.head("/api/v1/billing/usage").status_code == 404
    assert answer.status_code == 404
    assert answer.headers["deprecation"] == "@1783555200"
    assert answer.headers["sunset"] == "Wed, 16 Sep 2026 00:00:00 GMT"
    assert answer.headers["link"] == '</api/v1/billing/usage-history>; rel="successor-version"'
    assert "ends on 2026-09-16. Use /billing/usage-history instead" in answer.json()["error"]


def test_usage_ends_at_midnight_while_it_is_served(card: ratecard.RateCard) -> None:
    now = [int(datetime(2026, 9, 15, 23, 59, 59, tzinfo=UTC).timestamp()) * 10**9]
    with asked(application(LiveRateCard(card, clock=lambda: now[0]))) as client:
        before = client.get("/api/v1/billing/usage")
        now[0] += 10**9
        after, head = client.get("/api/v1/billing/usage"), client.head("/api/v1/billing/usage")
    assert (before.status_code, after.status_code, head.status_code) == (404, 410, 410)
    names = ("deprecation", "link", "sunset")
    assert [before.headers[name] for name in names] == [after.headers[name] for name in names]
    assert [head.headers[name] for name in names] == [after.headers[name] for name in names]


def test_usage_is_not_found_where_the_limits_do_not_have_it(tmp_path: Path) -> None:
    text = (shipped_folder() / "limits.yaml").read_text(encoding="utf-8")
    without = f"{text.partition('    sunsets:')[0]}    sunsets: []\n"
    (tmp_path / "limits.yaml").write_text(without, encoding="utf-8")
    shutil.copy(shipped_folder() / "video/ovi.yaml", tmp_path)
    with asked(application(tmp_path)) as client:
        answer = client.get("/api/v1/billing/usage")
    assert (answer.status_code, answer.json()) == (404, {"error": "Not found: GET /billing/usage"})
    assert "sunset" not in answer.headers
