"""Characters spoken and seconds heard."""

from decimal import Decimal
from typing import Any

import pytest
from metered_answers import amounts, refused, sentence, sound, total

from ratecard import PriceBook

SPEECH, HEARD = "tts-kokoro", "openai/whisper-large-v3"


@pytest.mark.parametrize(("characters", "price"), [(1_000_000, "3.5"), (1, "0.0000035"), (0, "0"), (10**12, "3500000")])
def test_speech_is_billed_by_the_character(prices: PriceBook, characters: int, price: str) -> None:
    quote = sound(prices.rate({"type": "speech", "model": SPEECH, "characters": characters}))
    assert amounts(quote) == {"mcharacter": Decimal(price)}
    assert quote.type == "speech"


@pytest.mark.parametrize("seconds", [0, 1, 61, 0.5, 0.1, Decimal("0.001"), Decimal("1E+2"), 10**12])
def test_transcription_is_billed_by_the_exact_second(prices: PriceBook, seconds: Any) -> None:
    one = total(prices, "transcription", HEARD, seconds=1)
    quote = sound(prices.rate({"type": "transcription", "model": HEARD, "seconds": seconds}))
    assert amounts(quote) == {"audio-second": one * Decimal(str(seconds))}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (..., ["Required"]),
        (None, ["Expected number, received null"]),
        (-1, ["Number must be greater than or equal to 0"]),
        (True, ["Expected number, received boolean"]),
        ("61", ["Expected number, received string"]),
        (float("nan"), ["Expected number, received nan"]),
        (float("inf"), ["Number must be less than or equal to 1000000000000"]),
        (float("-inf"), ["Number must be greater than or equal to 0"]),
        ([], ["Expected number, received array"]),
    ],
)
def test_a_wrong_count(prices: PriceBook, given: Any, said: list[str]) -> None:
    for type_, model, field in (("speech", SPEECH, "characters"), ("transcription", HEARD, "seconds")):
        usage = {"type": type_, "model": model, field: given}
        if given is ...:
            del usage[field]
        assert refused(prices, usage)[field][-1:] == said


def test_only_seconds_may_have_a_fraction(prices: PriceBook) -> None:
    spoken = refused(prices, {"type": "speech", "model": SPEECH, "characters": 0.5})
    assert spoken == {"characters": ["Expected integer, received float"]}
    endless = {"type": "transcription", "model": HEARD, "seconds": Decimal("1E-401")}
    assert refused(prices, endless) == {"seconds": ["Number must have at most 400 decimal places"]}
    assert total(prices, "transcription", HEARD, seconds=Decimal("1E-400")) > 0


def test_each_model_has_the_price_of_its_own_type(prices: PriceBook) -> None:
    for type_, model in (("speech", HEARD), ("transcription", SPEECH), ("music", SPEECH), ("image", HEARD)):
        said = sentence(prices, {"type": type_, "model": model, "characters": 1, "seconds": 1})
        assert said.endswith(f", and has no price for {type_}")
