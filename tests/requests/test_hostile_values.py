"""Any value in any field and any key beside them: a quote or an error tree, never an exception of another kind."""

import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from error_trees import answer, messages, refusal

from ratecard import PriceBook, Quote

FIELDS = (
    "model", "duration", "aspect_ratio", "resolution", "upscale_factor", "enhancement_model", "target_fps",
    "slowdown_factor", "audio", "video_url", "reference_video_total_duration",
)  # fmt: skip
MODELS = (
    "seedance-2-5-reference-to-video-basic",
    "topaz-video-upscale",
    "topaz-video-interpolation",
    "seedvr2-video-upscale",
    "kling-v3-pro-text-to-video",
    "no-such-model",
)
GOOD = {
    "model": MODELS[0],
    "duration": "5s",
    "resolution": "720p",
    "aspect_ratio": "16:9",
    "reference_video_total_duration": Decimal("12.5"),
}


def nested(depth: int, value: Any = None) -> Any:
    for _ in range(depth):
        value = [value]
    return value


class Loud(float):
    def __repr__(self) -> str:
        return f"loud.float64({float(self)})"


STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 5, 10**400, -(10**10_000), 0.5, -0.0, 1e308, 5e-324, float("nan"), float("inf"),
    float("-inf"), Loud(5.0), Loud("nan"), Decimal("1E+400"), Decimal("-1E+999999"), Decimal("1E-999999"),
    Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-0"), 1j, Fraction(1, 3), "", " ", "5s", "auto",
    "-1", "\ud800", "\x00", "_errors", "x" * 100_000, "https://a.b/\udfff", b"5s", bytearray(b"5s"), (), ("5s",), [],
    ["5s"], {}, {"_errors": ["forged"]}, {"_errors": {"_errors": []}}, set(), frozenset({"5s"}), object(), int,
    nested(100_000), range(3), {"a": nested(50)},
)  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_any_value_in_any_field(prices: PriceBook, field: str) -> None:
    for model in MODELS:
        for value in STRANGE:
            answer(prices, {**GOOD, "model": model, field: value})
            answer(prices, {"model": model, field: value})


def test_strange_values_in_all_fields_at_once(prices: PriceBook) -> None:
    dice = random.Random(20260929)  # noqa: S311
    for _ in range(2_000):
        names = dice.sample(FIELDS, dice.randint(1, len(FIELDS)))
        body = {name: dice.choice(STRANGE) for name in names}
        error = answer(prices, body | {"model": dice.choice(MODELS)} if dice.random() < 0.8 else body)
        assert isinstance(error, Quote) or error.error


@pytest.mark.parametrize(
    ("key", "listed"),
    [
        ("_errors", "_errors"),
        ("__class__", "__class__"),
        ("", ""),
        ("\ud800", "\\ud800"),
        ("\x1b[2J\n", "\\x1b[2J\\n"),
        ("a" * 65, "a" * 64),
        ("\n" * 64, "\\n" * 32),
        (5, "5"),
        (2**63, "<int>"),
        (None, "<NoneType>"),
        (1.5, "<float>"),
        (True, "True"),
        (b"model", "<bytes>"),
        ((1, 2), "<tuple>"),
        (float("nan"), "<float>"),
    ],
)  # fmt: skip
def test_any_key_beside_the_fields(prices: PriceBook, key: Any, listed: str) -> None:
    assert prices.quote_video({**GOOD, key: "x"}) == replace(prices.quote_video(GOOD), ignored=(listed,))
    assert messages(prices, {**GOOD, key: "x", "resolution": 5}).keys() == {"resolution"}
    assert messages(prices, {key: ["forged"]}) == {"model": ["Required"]}


def test_a_whole_video_as_a_data_uri_is_no_trouble(prices: PriceBook) -> None:
    url = "data:video/mp4;base64," + "A" * 40_000_000
    assert prices.quote_video({**GOOD, "video_url": url}).ignored == ("video_url",)
    assert messages(prices, {**GOOD, "video_url": url.replace(",", ";", 1)}) == {"video_url": ["Invalid url"]}
    refusal(prices, {**GOOD, "resolution": url})
    refusal(prices, {**GOOD, "model": url})
