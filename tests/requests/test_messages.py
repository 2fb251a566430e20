"""The words at each field, as clients know them."""

from decimal import Decimal
from typing import Any

import pytest
from error_trees import messages, refusal

from ratecard import PriceBook

MODEL = "seedance-2-0-text-to-video-basic"
RATIOS = "'21:9' | '16:9' | '4:3' | '1:1' | '3:4' | '9:16'"
SIZES = "'480p' | '720p' | '1080p' | '4k'"
SECONDS = " | ".join(f"'{seconds}s'" for seconds in range(4, 16))
GOOD = {"model": MODEL, "duration": "5s", "resolution": "720p", "aspect_ratio": "16:9"}
NOT_LISTED = "Invalid enum value. Expected {}, received '{}'"
LITERALS = "Invalid literal value, expected {}"
NAN, INFINITY = float("nan"), float("inf")

CASES: list[tuple[str, Any, list[str]]] = [
    ("duration", "zzz", [NOT_LISTED.format(SECONDS, "zzz")]),
    ("duration", "3s", [NOT_LISTED.format(SECONDS, "3s")]),
    ("duration", "16s", [NOT_LISTED.format(SECONDS, "16s")]),
    ("duration", "5S", [NOT_LISTED.format(SECONDS, "5S")]),
    ("duration", "", [NOT_LISTED.format(SECONDS, "")]),
    ("duration", "auto", [NOT_LISTED.format(SECONDS, "auto")]),
    ("duration", 5, [f"Expected {SECONDS}, received number"]),
    ("duration", None, [f"Expected {SECONDS}, received null"]),
    ("duration", ["5s"], [f"Expected {SECONDS}, received array"]),
    ("duration", {"5s": 1}, [f"Expected {SECONDS}, received object"]),
    ("aspect_ratio", "99:1", [NOT_LISTED.format(RATIOS, "99:1")]),
    ("aspect_ratio", "2:3", [NOT_LISTED.format(RATIOS, "2:3")]),
    ("aspect_ratio", True, [f"Expected {RATIOS}, received boolean"]),
    ("aspect_ratio", NAN, [f"Expected {RATIOS}, received nan"]),
    ("resolution", "2160p", [NOT_LISTED.format(SIZES, "2160p")]),
    ("resolution", " 720p", [NOT_LISTED.format(SIZES, " 720p")]),
    ("resolution", 720, [f"Expected {SIZES}, received number"]),
    ("upscale_factor", 3, [LITERALS.format(1), LITERALS.format(2), LITERALS.format(4)]),
    ("upscale_factor", "2", [LITERALS.format(1), LITERALS.format(2), LITERALS.format(4)]),
    ("upscale_factor", True, [LITERALS.format(1), LITERALS.format(2), LITERALS.format(4)]),
    ("upscale_factor", 2.5, [LITERALS.format(1), LITERALS.format(2), LITERALS.format(4)]),
    ("slowdown_factor", 0, [LITERALS.format(number) for number in (1, 2, 4, 8)]),
    ("slowdown_factor", None, [LITERALS.format(number) for number in (1, 2, 4, 8)]),
    ("enhancement_model", 5, ["Expected string, received number"]),
    ("enhancement_model", None, ["Expected string, received null"]),
    ("target_fps", 15, ["Number must be greater than or equal to 16"]),
    ("target_fps", 121, ["Number must be less than or equal to 120"]),
    ("target_fps", 0.5, ["Expected integer, received float", "Number must be greater than or equal to 16"]),
    ("target_fps", 24.5, ["Expected integer, received float"]),
    ("target_fps", Decimal("120.5"), ["Expected integer, received float", "Number must be less than or equal to 120"]),
    ("target_fps", INFINITY, ["Expected integer, received float", "Number must be less than or equal to 120"]),
    ("target_fps", -INFINITY, ["Expected integer, received float", "Number must be greater than or equal to 16"]),
    ("target_fps", 10**300, ["Number must be less than or equal to 120"]),
    ("target_fps", -(10**5_000), ["Expected integer, received float", "Number must be greater than or equal to 16"]),
    ("target_fps", "24", ["Expected number, received string"]),
    ("target_fps", False, ["Expected number, received boolean"]),
    ("target_fps", None, ["Expected number, received null"]),
    ("target_fps", NAN, ["Expected number, received nan"]),
    ("target_fps", Decimal("sNaN"), ["Expected number, received nan"]),
    ("target_fps", [24], ["Expected number, received array"]),
    ("audio", "true", ["Expected boolean, received string"]),
    ("audio", 1, ["Expected boolean, received number"]),
    ("audio", None, ["Expected boolean, received null"]),
    ("video_url", "no url", ["Invalid url"]),
    ("video_url", "", ["Invalid url"]),
    ("video_url", "https://", ["Invalid url"]),
    ("video_url", 5, ["Expected string, received number"]),
    ("video_url", {}, ["Expected string, received object"]),
    ("reference_video_total_duration", "5", ["Expected number, received string"]),
    ("reference_video_total_duration", True, ["Expected number, received boolean"]),
    ("reference_video_total_duration", None, ["Expected number, received null"]),
    ("reference_video_total_duration", NAN, ["Expected number, received nan"]),
    ("reference_video_total_duration", -0.5, ["Number must be greater than or equal to 0"]),
    ("reference_video_total_duration", Decimal("150.01"), ["Number must be less than or equal to 150"]),
    ("reference_video_total_duration", INFINITY, ["Number must be less than or equal to 150"]),
    ("reference_video_total_duration", Decimal("1E-401"), ["Number must have at most 400 decimal places"]),
]


@pytest.mark.parametrize(("field", "given", "words"), CASES, ids=[f"{row[0]} {n}" for n, row in enumerate(CASES)])
def test_one_wrong_field_of_a_good_body_has_its_own_message(
    prices: PriceBook, field: str, given: Any, words: list[str]
) -> None:
    error = refusal(prices, {**GOOD, field: given})
    assert error.body() == {"error": "Invalid request body", "details": {"_errors": [], field: {"_errors": words}}}


@pytest.mark.parametrize("field", ["duration", "resolution", "aspect_ratio"])
def test_a_field_on_which_the_price_depends_is_required(prices: PriceBook, field: str) -> None:
    body = {name: value for name, value in GOOD.items() if name != field}
    assert messages(prices, body) == {field: ["Required"]}


def test_a_ratio_is_not_required_where_the_price_does_not_depend_on_it(prices: PriceBook) -> None:
    quote = prices.quote_video({"model": "kling-v3-pro-text-to-video", "duration": "5s"})
    assert quote.ignored == ()


def test_all_errors_come_at_once_in_the_order_of_the_fields(prices: PriceBook) -> None:
    wrong: dict[str, Any] = {field: [] for field, _, _ in reversed(CASES)}
    found = messages(prices, {**wrong, "model": MODEL})
    assert list(found) == [
        "duration",
        "aspect_ratio",
        "resolution",
        "upscale_factor",
        "enhancement_model",
        "target_fps",
        "slowdown_factor",
        "audio",
        "video_url",
        "reference_video_total_duration",
    ]
    assert list(messages(prices, {"audio": 1, "resolution": 5, "model": MODEL})) == [
        "duration", "aspect_ratio", "resolution", "audio",
    ]  # fmt: skip


def test_the_example_of_the_issue_word_for_word(prices: PriceBook) -> None:
    body = {**GOOD, "aspect_ratio": "99:1", "target_fps": 500}
    assert refusal(prices, body).body() == {
        "error": "Invalid request body",
        "details": {
            "_errors": [],
            "aspect_ratio": {
                "_errors": [
                    "Invalid enum value. Expected '21:9' | '16:9' | '4:3' | '1:1' | '3:4' | '9:16', received '99:1'"
                ]
            },
            "target_fps": {"_errors": ["Number must be less than or equal to 120"]},
        },
    }


def test_a_value_is_echoed_short_and_never_interpreted(prices: PriceBook) -> None:
    for given, echoed in (
        ("x" * 1_000_000, "x" * 100 + "…"),
        ("%s {0} \\' <b>\u202e\n", "%s {0} \\' <b>\u202e\n"),
        ("\ud800", "\\ud800"),
    ):
        assert messages(prices, {**GOOD, "resolution": given}) == {"resolution": [NOT_LISTED.format(SIZES, echoed)]}
