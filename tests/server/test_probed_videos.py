"""The video of a request is probed where its price depends on it, and nowhere else."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from asking import QUOTE, asked, post

import ratecard
from ratecard import QuoteError, SourceVideo
from ratecard.server import LiveRateCard, application
from ratecard.server.http import LONG_BODY

URL = "https://example.com/clip.mp4"
CLIP = SourceVideo(seconds="10", width=854, height=480, fps=30)
NOW = int(datetime(2026, 10, 1, tzinfo=UTC).timestamp()) * 10**9
UNREADABLE = QuoteError("Invalid request body", [(("video_url",), "Could not read the video: no such host")])


class Probe:
    def __init__(self, answer: Any = CLIP) -> None:
        self.answer, self.asked = answer, list[str]()

    def __call__(self, url: str) -> SourceVideo:
        self.asked.append(url)
        if isinstance(self.answer, Exception):
            raise self.answer
        found: SourceVideo = self.answer
        return found


def answered(card: ratecard.RateCard, probe: Any, body: dict[str, Any] | bytes) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with asked(application(LiveRateCard(card, clock=lambda: NOW), probe=probe)) as client:
        return post(client, raw)


UPSCALE = {"model": "topaz-video-upscale", "upscale_factor": 2, "video_url": URL}
PROBED: list[dict[str, Any]] = [
    UPSCALE,
    {"model": "topaz-video-interpolation", "enhancement_model": "Apollo", "target_fps": 60, "video_url": URL},
    {"model": "seedvr2-video-upscale", "video_url": URL},
    UPSCALE | {"duration": "7s"},
    {
        "model": "seedance-2-5-reference-to-video-basic",
        "duration": "5s",
        "resolution": "720p",
        "aspect_ratio": "adaptive",
        "reference_video_total_duration": 6,
        "video_url": URL,
    },
]
NOT_PROBED: list[dict[str, Any]] = [
    {"model": "kling-o3-pro-text-to-video", "duration": "5s", "video_url": URL},
    {"model": "veo3", "video_url": URL},
    {"model": "claude-opus-4-6", "video_url": URL},
    {"model": ["topaz-video-upscale"], "video_url": URL},
    {"video_url": URL},
    UPSCALE | {"video_url": "no url"},
    UPSCALE | {"video_url": 5},
    {"model": "topaz-video-upscale", "duration": "7s"},
    PROBED[-1] | {"aspect_ratio": "16:9"},
]


@pytest.mark.parametrize("body", PROBED, ids=lambda body: str(body["model"]))
def test_a_price_that_depends_on_the_video_is_that_of_the_probed_one(card: ratecard.RateCard, body: Any) -> None:
    probe = Probe()
    answer = answered(card, probe, body)
    expected = card.at(datetime(2026, 10, 1, tzinfo=UTC)).quote_video(body, source=CLIP)
    assert (answer.status_code, answer.content) == (200, expected.to_json())
    assert probe.asked == [URL]


def test_an_address_that_was_probed_is_not_listed_as_ignored(card: ratecard.RateCard) -> None:
    body = json.dumps(PROBED[-1]).encode()
    with asked(application(LiveRateCard(card, clock=lambda: NOW), probe=Probe())) as client:
        assert post(client, body, f"{QUOTE}?explain=true").json()["ignored"] == []
    with asked(application(LiveRateCard(card, clock=lambda: NOW))) as client:
        assert post(client, body, f"{QUOTE}?explain=true").json()["ignored"] == ["video_url"]


def test_a_clip_of_ten_seconds_costs_what_the_public_example_says(card: ratecard.RateCard) -> None:
    assert answered(card, Probe(), UPSCALE).content == b'{"quote":0.25}'


@pytest.mark.parametrize("body", NOT_PROBED, ids=lambda body: str(body.get("model")))
def test_nothing_is_fetched_for_a_price_that_does_not_depend_on_it(card: ratecard.RateCard, body: Any) -> None:
    probe = Probe()
    answer = answered(card, probe, body)
    assert probe.asked == []
    assert answer.content == answered(card, None, body).content


@pytest.mark.parametrize(
    ("body", "query", "wrong"),
    [
        (UPSCALE | {"upscale_factor": 3}, "", ["upscale_factor"]),
        (UPSCALE | {"upscale_factor": 3, "resolution": "9k"}, "", ["resolution", "upscale_factor"]),
        (PROBED[1] | {"target_fps": 500}, "", ["target_fps"]),
        (UPSCALE, "?explain=maybe", ["explain"]),
        (UPSCALE, "?explain=true&explain=false", ["explain"]),
        (UPSCALE, "?foo=1", []),  # it is said of the query as a whole
    ],
)
def test_nothing_is_fetched_for_a_request_that_is_wrong(
    card: ratecard.RateCard, body: dict[str, Any], query: str, wrong: list[str]
) -> None:
    probe = Probe(UNREADABLE)
    with asked(application(LiveRateCard(card, clock=lambda: NOW), probe=probe)) as client:
        answer = post(client, json.dumps(body).encode(), QUOTE + query)
    assert (answer.status_code, sorted(set(answer.json()["details"]) - {"_errors"})) == (400, wrong)
    assert probe.asked == []


def test_without_a_probe_the_video_is_unknown(card: ratecard.RateCard) -> None:
    answer = answered(card, None, UPSCALE)
    assert answer.status_code == 400
    assert answer.json()["details"]["video_url"]["_errors"] == ["Could not read the duration of the video"]


def test_a_video_that_cannot_be_read_is_an_error_on_video_url(card: ratecard.RateCard) -> None:
    answer = answered(card, Probe(UNREADABLE), UPSCALE)
    assert (answer.status_code, answer.content) == (400, UNREADABLE.to_json())


def test_a_probe_may_be_a_coroutine(card: ratecard.RateCard) -> None:
    async def probe(url: str) -> SourceVideo:
        return CLIP

    class Callable:
        async def __call__(self, url: str) -> SourceVideo:
            return CLIP

    for each in (probe, Callable()):
        assert answered(card, each, UPSCALE).content == b'{"quote":0.25}'


def test_a_probe_that_returns_something_else_is_a_mistake_of_the_host(card: ratecard.RateCard) -> None:
    assert answered(card, Probe({"seconds": 10}), UPSCALE).status_code == 500
    unknown = answered(card, Probe(None), UPSCALE)
    assert unknown.json()["details"]["video_url"]["_errors"] == ["Could not read the duration of the video"]


def test_a_field_written_in_escapes_is_found(card: ratecard.RateCard) -> None:
    probe = Probe()
    body = json.dumps(UPSCALE).encode().replace(b"video_url", b"video\\u005furl")
    assert answered(card, probe, body).content == b'{"quote":0.25}'
    assert probe.asked == [URL]


def test_a_long_data_uri_is_read_without_keeping_others_waiting(card: ratecard.RateCard) -> None:
    probe = Probe()
    uri = "data:video/mp4;base64," + base64.b64encode(bytes(LONG_BODY)).decode()
    assert answered(card, probe, UPSCALE | {"video_url": uri}).content == b'{"quote":0.25}'
    assert probe.asked == [uri]
