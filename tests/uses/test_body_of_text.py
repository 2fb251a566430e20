"""Fields as text -> the JSON values of a body: what fits is converted, what does not stays for the API to refuse."""

from decimal import Decimal
from typing import Any

import pytest

from ratecard import PriceBook, QuoteError
from ratecard.requests.text_body import body_of_text

NUMBERS = ("upscale_factor", "target_fps", "slowdown_factor", "reference_video_total_duration")


@pytest.mark.parametrize("field", NUMBERS)
@pytest.mark.parametrize("text", ["0", "2", "7.50", "-1", "0.1", "123456789012345678901234567890.5"])
def test_numbers_keep_every_digit(field: str, text: str) -> None:
    value = body_of_text({field: text})[field]
    assert isinstance(value, Decimal)
    assert str(value) == text


@pytest.mark.parametrize(
    "text", ["two", "1e3", "0x10", "NaN", "Infinity", "1,5", "1_000", "٣", "--1", "1." + "0" * 401]
)
def test_what_is_no_plain_number_stays_text(prices: PriceBook, text: str) -> None:
    assert body_of_text({"target_fps": text}) == {"target_fps": text}
    with pytest.raises(QuoteError) as refused:
        prices.quote_video({"model": "ovi-image-to-video", **body_of_text({"target_fps": text})})
    assert refused.value.problems == ((("target_fps",), "Expected number, received string"),)


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("False", False), ("TRUE", True), ("yes", "yes"), ("1", "1"), ("None", "None")]
)
def test_audio_is_true_or_false(text: str, value: Any) -> None:
    assert body_of_text({"audio": text}) == {"audio": value}


def test_a_word_stays_a_word_and_nothing_is_left_out() -> None:
    assert body_of_text({"model": "5", "duration": "5", "resolution": "", "prompt": "a cat"}) == {
        "model": "5",
        "duration": "5",
        "prompt": "a cat",
    }
