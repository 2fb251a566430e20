"""Fields that are valid and change nothing: accepted, listed in the order of the specification."""

from dataclasses import replace
from typing import Any

import pytest
from error_trees import messages

from ratecard import PriceBook

KLING, SEEDANCE = "kling-v3-pro-text-to-video", "seedance-2-0-text-to-video-basic"
TOKEN = {"model": SEEDANCE, "duration": "5s", "resolution": "720p", "aspect_ratio": "16:9"}
REFERENCE = {**TOKEN, "model": "seedance-2-0-reference-to-video-basic"}

CASES: list[tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = [
    # a good body, the fields added to it, and those of them that are listed
    (TOKEN, {"audio": False}, ("audio",)),
    (TOKEN, {"audio": True}, ("audio",)),
    (TOKEN, {"reference_video_total_duration": 12.5}, ("reference_video_total_duration",)),
    (TOKEN, {"reference_video_total_duration": 0}, ("reference_video_total_duration",)),
    (TOKEN, {"target_fps": 60}, ("target_fps",)),
    (TOKEN, {"slowdown_factor": 8, "upscale_factor": 1}, ("upscale_factor", "slowdown_factor")),
    (TOKEN, {"video_url": "data:video/mp4;base64,AAAA"}, ("video_url",)),
    (TOKEN, {"enhancement_model": "no such model"}, ("enhancement_model",)),
    (REFERENCE, {"reference_video_total_duration": 12.5}, ()),
    ({"model": KLING, "duration": "5s"}, {"audio": False}, ()),
    ({"model": KLING, "duration": "5s"}, {"aspect_ratio": "9:16"}, ("aspect_ratio",)),
    ({"model": KLING, "duration": "5s"}, {"resolution": "2160p"}, ("resolution",)),
    ({"model": "kling-v3-turbo-pro-text-to-video", "duration": "5s"}, {"audio": True}, ("audio",)),
    ({"model": "ovi-image-to-video"}, {"duration": "5s", "audio": False}, ("duration", "audio")),
    ({"model": "topaz-video-upscale", "duration": "5s"}, {"slowdown_factor": 2}, ("slowdown_factor",)),
    ({"model": "topaz-video-upscale", "duration": "5s"}, {"audio": True, "target_fps": 60}, ("audio",)),
]


@pytest.mark.parametrize(("body", "more", "ignored"), CASES)
def test_a_field_without_effect_on_the_model_is_listed(
    prices: PriceBook, body: dict[str, Any], more: dict[str, Any], ignored: tuple[str, ...]
) -> None:
    quote = prices.quote_video({**body, **more})
    assert quote.ignored == ignored
    if set(ignored) == set(more):
        assert replace(quote, ignored=()) == prices.quote_video(body)
    backwards = prices.quote_video(dict(reversed({**body, **more}.items())))
    assert backwards == quote


def test_what_has_no_effect_is_listed_in_the_order_of_the_specification(prices: PriceBook) -> None:
    more = {
        "reference_video_total_duration": 5,
        "video_url": "https://a.b",
        "slowdown_factor": 1,
        "target_fps": 24,
        "enhancement_model": "x",
        "upscale_factor": 2,
        "resolution": "720p",
        "aspect_ratio": "16:9",
    }
    quote = prices.quote_video({"model": KLING, "duration": "5s", "audio": True, **more})
    assert quote.ignored == tuple(reversed(more))


def test_a_field_without_effect_is_still_checked_by_type_and_against_the_values_of_the_api(prices: PriceBook) -> None:
    body = {"model": KLING, "duration": "5s"}
    assert messages(prices, {**body, "target_fps": 500}) == {"target_fps": ["Number must be less than or equal to 120"]}
    found = messages(prices, {**body, "resolution": "8k", "reference_video_total_duration": 151})
    assert found["resolution"][0].startswith("Invalid enum value. Expected '256p' | '360p' | ")
    assert found["reference_video_total_duration"] == ["Number must be less than or equal to 150"]


def test_a_field_that_the_model_has_is_checked_against_its_own_list_even_without_effect(prices: PriceBook) -> None:
    found = messages(prices, {"model": KLING, "duration": "5s", "aspect_ratio": "4:3"})
    assert found == {"aspect_ratio": ["Invalid enum value. Expected '16:9' | '9:16' | '1:1', received '4:3'"]}


@pytest.mark.parametrize("value", ["a cat", None, 5, {"_errors": ["forged"]}, [[]], b"x", object()])
def test_a_field_that_is_not_of_a_quote_is_listed_and_not_refused(prices: PriceBook, value: Any) -> None:
    more = {"prompt": value, "image_url": value, "_errors": value, "Duration": value, "": value}
    assert prices.quote_video({**TOKEN, **more}) == replace(prices.quote_video(TOKEN), ignored=tuple(more))
    assert prices.quote_video({**TOKEN, **more, "audio": True}).ignored == ("audio", *more)
    assert list(messages(prices, {**TOKEN, **more, "duration": 5})) == ["duration"]


def test_at_most_20_names_are_listed_each_cut_at_64_characters(prices: PriceBook) -> None:
    names = [f"{number:02}{'x' * 80}" for number in range(30)]
    body = {**TOKEN, **dict.fromkeys(names)}
    assert prices.quote_video(body).ignored == tuple(name[:64] for name in names[:20])
    with_known = prices.quote_video({**body, "audio": True, "target_fps": 60}).ignored
    assert with_known == ("target_fps", "audio", *(name[:64] for name in names[:18]))
