"""The cases of the specification that are easy to read two ways, as they were decided."""

from typing import Any

import pytest
from error_trees import messages, refusal

from ratecard import PriceBook

TEXT_2_0, REFERENCE_2_5 = "seedance-2-0-text-to-video-basic", "seedance-2-5-reference-to-video-basic"
UPSCALE, INTERPOLATION, SEEDVR2 = "topaz-video-upscale", "topaz-video-interpolation", "seedvr2-video-upscale"
GOOD = {"model": REFERENCE_2_5, "duration": "5s", "resolution": "720p", "aspect_ratio": "16:9"}
API_DURATIONS = " | ".join(f"'{word}'" for word in (*(f"{n}s" for n in range(1, 31)), "-1", "1 gen", "auto", "Auto"))
API_RATIOS = (
    "'1:1' | '2:3' | '3:2' | '3:4' | '4:3' | '4:5' | '5:4' | '9:16' | '9:21' | '16:9' | '21:9' | '2:1' | "
    "'adaptive' | 'auto'"
)
API_SIZES = (
    "'256p' | '360p' | '480p' | '540p' | '580p' | '720p' | '1080p' | '1440p' | '2160p' | '4k' | '1x' | '2x' | '4x' | "
    "'2K' | '768P' | 'true_1080p'"
)


def test_0_seconds_of_reference_video_are_none(prices: PriceBook) -> None:
    for nothing in (0, 0.0, -0.0):
        assert prices.quote_video({**GOOD, "reference_video_total_duration": nothing}) == prices.quote_video(GOOD)
    body = {**GOOD, "aspect_ratio": "adaptive", "reference_video_total_duration": 0}
    assert messages(prices, body) == {"reference_video_total_duration": ["Required"]}


def test_a_body_without_audio_asks_for_it(prices: PriceBook) -> None:
    body = {"model": "kling-v3-pro-text-to-video", "duration": "5s"}
    assert prices.quote_video(body) == prices.quote_video({**body, "audio": True})
    assert prices.quote_video(body).total > prices.quote_video({**body, "audio": False}).total


def test_auto_stands_in_the_list_of_durations_after_the_seconds_with_minus_1(prices: PriceBook) -> None:
    listed = " | ".join(f"'{word}'" for word in (*(f"{n}s" for n in range(4, 31)), "-1", "auto"))
    found = messages(prices, {**GOOD, "duration": "31s"})
    assert found == {"duration": [f"Invalid enum value. Expected {listed}, received '31s'"]}


@pytest.mark.parametrize("given", ["2x", "720p", "nonsense", 5, None])
@pytest.mark.parametrize("model", [UPSCALE, SEEDVR2])
def test_an_upscale_model_wants_a_factor_and_no_resolution(prices: PriceBook, model: str, given: Any) -> None:
    found = messages(prices, {"model": model, "duration": "5s", "video_url": "https://a.b/c.mp4", "resolution": given})
    assert found["resolution"] == ["Use upscale_factor instead of resolution"]


def test_a_model_without_factors_takes_no_offence_at_a_resolution(prices: PriceBook) -> None:
    body = {"model": INTERPOLATION, "duration": "5s", "enhancement_model": "Aion", "target_fps": 24}
    assert prices.quote_video({**body, "resolution": "1080p"}).ignored == ("resolution",)


@pytest.mark.parametrize("spelling", ["2160p", "2160P", "4k", "4K"])
def test_the_4k_of_ltx_is_2160p_on_the_wire(prices: PriceBook, spelling: str) -> None:
    body = {"model": "ltx-2-v2-3-fast-image-to-video", "duration": "6s", "aspect_ratio": "16:9"}
    quote = prices.quote_video({**body, "resolution": spelling})
    assert quote == prices.quote_video({**body, "resolution": "2160p"})
    assert "-2160p" in quote.lines[0].sku
    found = messages(prices, {**body, "resolution": "8k"})
    assert found == {"resolution": ["Invalid enum value. Expected '1080p' | '1440p' | '2160p', received '8k'"]}


@pytest.mark.parametrize(
    ("model", "sent", "own", "listed"),
    [
        ("minimax-h3-text-to-video", ["2k", "2K"], "2K", "'768P' | '2K'"),
        ("minimax-h3-max-turbo-text-to-video", ["480p", "480P"], "480P", "'480P' | '768P' | '1080P'"),
        (TEXT_2_0, ["4k", "4K"], "4k", "'480p' | '720p' | '1080p' | '4k'"),
        (TEXT_2_0, ["720P", "720p"], "720p", "'480p' | '720p' | '1080p' | '4k'"),
    ],
)
def test_resolutions_match_in_any_case_and_messages_use_the_spelling_of_the_model(
    prices: PriceBook, model: str, sent: list[str], own: str, listed: str
) -> None:
    body = {"model": model, "duration": "5s", "aspect_ratio": "16:9"}
    for word in sent:
        assert prices.quote_video({**body, "resolution": word}) == prices.quote_video({**body, "resolution": own})
    found = messages(prices, {**body, "resolution": "zzz"})
    assert found == {"resolution": [f"Invalid enum value. Expected {listed}, received 'zzz'"]}


def test_an_unknown_model_is_the_whole_answer_whatever_else_is_wrong(prices: PriceBook) -> None:
    for rest in ({}, {"duration": 5, "target_fps": "x", "audio": None}):
        error = refusal(prices, {"model": "kling-3-pro-text-to-video", **rest})
        assert error.body() == {
            "error": "Specified model not found: kling-3-pro-text-to-video. Did you mean: kling-o3-pro-text-to-video, "
            "kling-v3-pro-text-to-video, kling-2.6-pro-text-to-video?"
        }
        assert error.details is None


@pytest.mark.parametrize(
    ("name", "echoed"), [("", ""), ("§§§", "§§§"), ("\udfff", "\\udfff"), ("q" * 999, "q" * 100 + "…")]
)
def test_a_name_like_no_model_gets_no_suggestion(prices: PriceBook, name: str, echoed: str) -> None:
    assert refusal(prices, {"model": name}).body() == {"error": f"Specified model not found: {echoed}"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Required"),
        ({"model": None}, "Expected string, received null"),
        ({"model": 5}, "Expected string, received number"),
        ({"model": [TEXT_2_0]}, "Expected string, received array"),
        ({"model": {}}, "Expected string, received object"),
        ({"model": True}, "Expected string, received boolean"),
    ],
)
def test_without_a_model_the_other_fields_are_checked_against_the_values_of_the_api(
    prices: PriceBook, body: dict[str, Any], message: str
) -> None:
    assert messages(prices, body) == {"model": [message]}
    wide = {"duration": "1 gen", "aspect_ratio": "4:5", "resolution": "TRUE_1080P", "enhancement_model": "anything"}
    wide_numbers = {"target_fps": 16, "upscale_factor": 4, "slowdown_factor": 8, "reference_video_total_duration": 150}
    assert messages(prices, body | wide | wide_numbers) == {"model": [message]}
    wrong = {"duration": "31s", "aspect_ratio": "99:1", "resolution": "8k", "target_fps": 500, "audio": 0}
    assert messages(prices, body | wrong) == {
        "model": [message],
        "duration": [f"Invalid enum value. Expected {API_DURATIONS}, received '31s'"],
        "aspect_ratio": [f"Invalid enum value. Expected {API_RATIOS}, received '99:1'"],
        "resolution": [f"Invalid enum value. Expected {API_SIZES}, received '8k'"],
        "target_fps": ["Number must be less than or equal to 120"],
        "audio": ["Expected boolean, received number"],
    }
