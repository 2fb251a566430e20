"""The quote body of audio and music: `model`, `duration_seconds`, `character_count`, in JSON as well."""

from decimal import Decimal
from typing import Any

import pytest
from metered_answers import messages, sound

from ratecard import PriceBook, QuoteError

HEARD = "openai/whisper-large-v3"


@pytest.mark.parametrize(
    ("body", "price"),
    [
        ({"model": "tts-kokoro", "character_count": 1_000_000}, "3.5"),
        ({"model": "elevenlabs-music", "duration_seconds": "61"}, "1.38"),
        (b'{"model": "elevenlabs-music", "duration_seconds": 61}', "1.38"),
        ('{"model": "minimax-music-v2", "prompt": "la"}', "0.04"),
        ({"model": "elevenlabs-tts-v3", "character_count": 250}, "0.02875"),
    ],
)
def test_a_body_is_quoted(prices: PriceBook, body: Any, price: str) -> None:
    assert sound(prices.quote_audio(body)).total == Decimal(price)


def test_the_type_is_the_models_own_and_the_amount_that_of_rate(prices: PriceBook) -> None:
    spoken = prices.quote_audio({"model": "tts-kokoro", "character_count": 7, "duration_seconds": "9"})
    assert spoken.lines == prices.rate({"type": "speech", "model": "tts-kokoro", "characters": 7}).lines
    assert (spoken.type, spoken.ignored) == ("speech", ("duration_seconds",))
    heard = prices.quote_audio({"model": HEARD, "duration_seconds": "90", "character_count": 1})
    assert heard.lines == prices.rate({"type": "transcription", "model": HEARD, "seconds": 90}).lines
    assert (heard.type, heard.ignored) == ("transcription", ("character_count",))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, {"model": ["Required"]}),
        ({"model": None}, {"model": ["Expected string, received null"]}),
        ({"model": 5, "duration_seconds": "x"}, {"model": ["Expected string, received number"]}),
        ({"model": "tts-kokoro"}, {"character_count": ["Required"]}),
        ({"model": HEARD}, {"duration_seconds": ["Required"]}),
        ({"model": HEARD, "duration_seconds": 0.5}, {
            "duration_seconds": ["Expected integer, received float", "Number must be greater than or equal to 1"]}),
        ({"model": "tts-kokoro", "character_count": "7", "duration_seconds": -1}, {
            "character_count": ["Expected number, received string"],
            "duration_seconds": ["Number must be greater than or equal to 1"]}),
        (None, {"": ["Expected object, received null"]}),
        ([], {"": ["Expected object, received array"]}),
        (b"", {"": ["Required"]}),
    ],
)  # fmt: skip
def test_a_wrong_body(prices: PriceBook, body: Any, said: dict[str, list[str]]) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.quote_audio(body)
    assert messages(caught.value) == said


@pytest.mark.parametrize("model", ["grok-4-3", "flux-2-pro", "ovi-image-to-video", "web-search", "crypto-rpc"])
def test_a_model_that_makes_no_sound(prices: PriceBook, model: str) -> None:
    with pytest.raises(QuoteError, match=f"{model} is of type .*, and has no price for audio") as caught:
        prices.quote_audio({"model": model})
    assert caught.value.details is None
    with pytest.raises(QuoteError, match="Specified model not found: eleven-music"):
        prices.quote_audio({"model": "eleven-music"})
