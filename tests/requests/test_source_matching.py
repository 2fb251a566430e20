"""Rules across fields: reference clips, source-matched words, and the video that is to be processed."""

from typing import Any

import pytest
from error_trees import messages

from ratecard import PriceBook, SourceVideo

REFERENCE_2_0, REFERENCE_2_5 = "seedance-2-0-reference-to-video-basic", "seedance-2-5-reference-to-video-basic"
UPSCALE, INTERPOLATION, SEEDVR2 = "topaz-video-upscale", "topaz-video-interpolation", "seedvr2-video-upscale"
FIELD = "reference_video_total_duration"
GOOD = {"duration": "5s", "resolution": "720p", "aspect_ratio": "16:9"}
URL = "https://example.com/a.mp4"
AT_LEAST, AT_MOST = "Number must be greater than or equal to {}", "Number must be less than or equal to {}"
UNREAD = "Could not read the duration of the video"
NO_FRAME_RATE = "Could not read the frame rate of the video"


@pytest.mark.parametrize(
    ("model", "sent", "words"),
    [
        # source-matched words need the reference
        (REFERENCE_2_5, {"duration": "-1"}, ["Required"]),
        (REFERENCE_2_5, {"duration": "auto"}, ["Required"]),
        (REFERENCE_2_5, {"duration": "Auto"}, ["Required"]),
        (REFERENCE_2_5, {"aspect_ratio": "auto"}, ["Required"]),
        (REFERENCE_2_5, {"aspect_ratio": "adaptive"}, ["Required"]),
        (REFERENCE_2_5, {"duration": "auto", "aspect_ratio": "auto"}, ["Required"]),
        (REFERENCE_2_0, {"aspect_ratio": "adaptive"}, ["Required"]),
        (REFERENCE_2_5, {"duration": "-1", FIELD: 0}, ["Required"]),
        # a source-matched duration takes 4 to 30 seconds
        (REFERENCE_2_5, {"duration": "-1", FIELD: 3.99}, [AT_LEAST.format(4)]),
        (REFERENCE_2_5, {"duration": "auto", FIELD: 0.5}, [AT_LEAST.format(4)]),
        (REFERENCE_2_5, {"duration": "auto", FIELD: 30.01}, [AT_MOST.format(30)]),
        # the cap of the family
        (REFERENCE_2_0, {FIELD: 15.01}, [AT_MOST.format(15)]),
        (REFERENCE_2_0, {FIELD: 151}, [AT_MOST.format(15)]),
        (REFERENCE_2_5, {FIELD: 30.01}, [AT_MOST.format(30)]),
        (REFERENCE_2_5, {FIELD: 150}, [AT_MOST.format(30)]),
        (REFERENCE_2_5, {FIELD: -1}, [AT_LEAST.format(0)]),
        (REFERENCE_2_5, {"duration": "-1", FIELD: "12"}, ["Expected number, received string"]),
        (REFERENCE_2_5, {"aspect_ratio": "auto", FIELD: None}, ["Expected number, received null"]),
    ],
)
def test_what_is_wrong_with_the_reference_is_said_once_at_its_own_field(
    prices: PriceBook, model: str, sent: dict[str, Any], words: list[str]
) -> None:
    assert messages(prices, {"model": model, **GOOD, **sent}) == {FIELD: words}


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        (REFERENCE_2_0, {FIELD: 15}),
        (REFERENCE_2_0, {FIELD: 0.001}),
        (REFERENCE_2_5, {FIELD: 30}),
        (REFERENCE_2_5, {"duration": "-1", FIELD: 4}),
        (REFERENCE_2_5, {"duration": "Auto", FIELD: 30, "aspect_ratio": "auto"}),
    ],
)
def test_the_bounds_themselves_are_allowed(prices: PriceBook, model: str, sent: dict[str, Any]) -> None:
    assert prices.quote_video({"model": model, **GOOD, **sent}).ignored == ()


def test_the_reference_is_also_missed_where_other_fields_are_wrong(prices: PriceBook) -> None:
    body = {"model": REFERENCE_2_5, "duration": "-1", "resolution": "8k", "aspect_ratio": "auto"}
    assert list(messages(prices, body)) == ["resolution", FIELD]
    assert list(messages(prices, {**body, "duration": "99s"})) == ["duration", "resolution", FIELD]
    found = messages(prices, {**body, FIELD: 2})
    assert found == {"resolution": found["resolution"], FIELD: [AT_LEAST.format(4)]}


def test_a_model_without_source_matched_words_refuses_them_by_its_own_list(prices: PriceBook) -> None:
    found = messages(prices, {"model": REFERENCE_2_0, **GOOD, "duration": "-1", "aspect_ratio": "auto"})
    assert set(found) == {"duration", "aspect_ratio"}
    assert found["aspect_ratio"][0].endswith("'9:16' | 'adaptive', received 'auto'")


VIDEO_CASES: list[tuple[str, dict[str, Any], SourceVideo | None, list[str] | None]] = [
    (UPSCALE, {}, None, ["Required"]),
    (UPSCALE, {"duration": "Auto"}, None, ["Required"]),
    (UPSCALE, {"duration": "auto"}, None, ["Required"]),
    (UPSCALE, {"duration": "Auto", "video_url": URL}, None, [UNREAD]),
    (UPSCALE, {"video_url": URL}, None, [UNREAD]),
    (UPSCALE, {"video_url": "data:video/mp4;base64,AAAA"}, None, [UNREAD]),
    (UPSCALE, {"video_url": URL}, SourceVideo(height=720, fps=30), [UNREAD]),
    (UPSCALE, {"video_url": "x"}, None, ["Invalid url"]),
    (UPSCALE, {"duration": "30s"}, None, None),
    (UPSCALE, {"duration": "Auto"}, SourceVideo(seconds=300), None),
    (UPSCALE, {"video_url": URL}, SourceVideo(seconds="300.01"), ["The video may have at most 300 seconds"]),
    (SEEDVR2, {}, None, ["Required"]),
    (SEEDVR2, {"duration": "5s"}, None, ["Required"]),
    (SEEDVR2, {"duration": "5s", "video_url": URL}, None, ["Could not read the size of the video"]),
    (SEEDVR2, {"video_url": URL}, SourceVideo(seconds=5, width=9), ["Could not read the size of the video"]),
    (SEEDVR2, {"video_url": URL}, SourceVideo(seconds=5, height=9), ["Could not read the size of the video"]),
    (SEEDVR2, {"video_url": URL}, SourceVideo(5, 9, 9), [NO_FRAME_RATE]),
    (SEEDVR2, {"video_url": URL}, SourceVideo(5, 900, 900, 30), None),
    (INTERPOLATION, {"enhancement_model": "Aion", "target_fps": 24}, None, ["Required"]),
    (INTERPOLATION, {"enhancement_model": "Aion", "target_fps": 24, "video_url": URL}, None, [UNREAD]),
    (SEEDVR2, {"duration": "5s"}, SourceVideo(fps=30), ["Could not read the size of the video"]),
    (SEEDVR2, {"duration": "5s"}, SourceVideo(width=9, height=9), [NO_FRAME_RATE]),
    (INTERPOLATION, {"enhancement_model": "Aion"}, SourceVideo(seconds=5, fps=30), None),
    (INTERPOLATION, {"enhancement_model": "Aion", "duration": "5s", "video_url": URL}, None, [NO_FRAME_RATE]),
    (INTERPOLATION, {"enhancement_model": "Aion", "video_url": URL}, SourceVideo(5, 9, 9), [NO_FRAME_RATE]),
    (INTERPOLATION, {"enhancement_model": "Aion", "duration": "5s"}, SourceVideo(height=720), [NO_FRAME_RATE]),
    (INTERPOLATION, {"enhancement_model": "Aion", "video_url": URL}, SourceVideo(height=720), [UNREAD]),
    (INTERPOLATION, {"enhancement_model": "Aion", "duration": "5s", "video_url": URL, "target_fps": 24}, None, None),
]


@pytest.mark.parametrize(("model", "sent", "source", "words"), VIDEO_CASES)
def test_what_is_missing_of_the_video_is_said_at_video_url(
    prices: PriceBook, model: str, sent: dict[str, Any], source: SourceVideo | None, words: list[str] | None
) -> None:
    body = {"model": model, **sent}
    if words is None:
        assert prices.quote_video(body, source=source).total > 0
    else:
        assert messages(prices, body, source) == {"video_url": words}


def test_the_seconds_of_the_source_go_before_the_stated_ones(prices: PriceBook) -> None:
    quote = prices.quote_video({"model": UPSCALE, "duration": "30s"}, source=SourceVideo(seconds=2, height=360))
    assert quote.lines[0].quantity == 2


def test_interpolation_without_a_video_wants_the_frame_rate_that_is_asked_for(prices: PriceBook) -> None:
    body = {"model": INTERPOLATION, "enhancement_model": "Aion", "duration": "5s"}
    assert messages(prices, body) == {"target_fps": ["Required"]}
    assert list(messages(prices, {"model": INTERPOLATION})) == ["enhancement_model", "target_fps", "video_url"]


@pytest.mark.parametrize("url", [{}, {"video_url": URL}])
def test_a_wrong_frame_rate_of_an_interpolation_is_the_only_thing_wrong(prices: PriceBook, url: dict[str, str]) -> None:
    body = {"model": INTERPOLATION, "enhancement_model": "Aion", "duration": "5s", "target_fps": 121, **url}
    assert messages(prices, body) == {"target_fps": [AT_MOST.format(120)]}


def test_a_wrong_video_of_an_interpolation_is_the_only_thing_wrong(prices: PriceBook) -> None:
    body = {"model": INTERPOLATION, "enhancement_model": "Aion", "video_url": "x"}
    assert messages(prices, body) == {"video_url": ["Invalid url"]}


@pytest.mark.parametrize("word", ["-1", "1 gen", "31s", None])
@pytest.mark.parametrize("sent", [{}, {"video_url": URL}])
def test_a_wrong_duration_of_an_upscale_is_the_only_thing_wrong(
    prices: PriceBook, word: str | None, sent: dict[str, Any]
) -> None:
    found = messages(prices, {"model": UPSCALE, "duration": word, **sent})
    listed = " | ".join(f"'{seconds}s'" for seconds in range(1, 31)) + " | 'Auto'"
    wrong = f"Invalid enum value. Expected {listed}, received '{word}'"
    assert found == {"duration": [wrong if word else f"Expected {listed}, received null"]}
