"""Songs by the song, by the band that holds their seconds, by the second, or by the thousand characters."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from metered_answers import amounts, made_up, refused, sound, total

from ratecard import PriceBook, QuoteError

BANDS = "{charge: song, method: duration-band, unit: song, rates: [%s]}"


@pytest.mark.parametrize(
    ("model", "fields", "price", "sku"),
    [
        ("minimax-music-v2", {}, "0.04", "fixed"),
        ("elevenlabs-music", {}, "0.69", "duration-based-60s"),
        ("elevenlabs-music", {"duration_seconds": 3}, "0.69", "duration-based-60s"),
        ("elevenlabs-music", {"duration_seconds": "60"}, "0.69", "duration-based-60s"),
        ("elevenlabs-music", {"duration_seconds": 61}, "1.38", "duration-based-120s"),
        ("elevenlabs-music", {"duration_seconds": 600.0}, "6.9", "duration-based-600s"),
        ("ace-step-15", {}, "0.03", "duration-based-60s"),
        ("elevenlabs-sound-effects-v2", {"duration_seconds": 10}, "0.023", "audio-second"),
        ("elevenlabs-tts-v3", {"character_count": 1_000}, "0.115", "kcharacter"),
        ("elevenlabs-tts-v3", {"character_count": 1}, "0.000115", "kcharacter"),
        ("elevenlabs-tts-v3", {"character_count": 0}, "0", "kcharacter"),
    ],
)
def test_each_way_to_bill_music(prices: PriceBook, model: str, fields: dict[str, Any], price: str, sku: str) -> None:
    quote = sound(prices.rate({"type": "music", "model": model, **fields}))
    assert amounts(quote) == {sku: Decimal(price)}
    assert quote == prices.quote_audio({"model": model, **fields})


@pytest.mark.parametrize(
    ("seconds", "answer"),
    [(1, 3), (9, 3), (10, 5), (20, 5), (30, 8), (21, "No price for 21 s"), (29, "No price for 29 s"),
     (31, "Number must be less than or equal to 30")],
)  # fmt: skip
def test_bands_may_have_gaps_and_stand_in_any_order(tmp_path: Path, seconds: int, answer: Any) -> None:
    rates = "{seconds: 30..30, rate: 8}, {seconds: [1..9], rate: 3}, {seconds: 10..20, rate: 5}"
    prices = made_up(tmp_path, "music", BANDS % rates)
    if isinstance(answer, int):
        assert total(prices, "music", "m", duration_seconds=seconds) == answer
    else:
        assert refused(prices, {"type": "music", "model": "m", "duration_seconds": seconds}) == {
            "duration_seconds": [answer]
        }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (0, ["Number must be greater than or equal to 1"]),
        ("0", ["Number must be greater than or equal to 1"]),
        (-5, ["Number must be greater than or equal to 1"]),
        (0.5, ["Expected integer, received float", "Number must be greater than or equal to 1"]),
        (61.5, ["Expected integer, received float"]),
        ("61.5", ["Expected number, received string"]),
        ("-5", ["Expected number, received string"]),
        ("", ["Expected number, received string"]),
        ("60s", ["Expected number, received string"]),
        ("６０", ["Expected number, received string"]),
        ("9" * 5000, ["Expected number, received string"]),
        (True, ["Expected number, received boolean"]),
        (None, ["Expected number, received null"]),
        ([60], ["Expected number, received array"]),
    ],
)
@pytest.mark.parametrize("model", ["elevenlabs-music", "minimax-music-v2", "elevenlabs-sound-effects-v2"])
def test_wrong_seconds_are_refused_whether_or_not_they_matter(
    prices: PriceBook, model: str, given: Any, said: list[str]
) -> None:
    assert refused(prices, {"type": "music", "model": model, "duration_seconds": given}) == {"duration_seconds": said}
    with pytest.raises(QuoteError, match="duration_seconds"):
        prices.quote_audio({"model": model, "duration_seconds": given})


@pytest.mark.parametrize(
    ("model", "fields", "ignored"),
    [
        ("minimax-music-v2", {"duration_seconds": 9, "character_count": 9}, ("duration_seconds", "character_count")),
        ("elevenlabs-music", {"character_count": 9}, ("character_count",)),
        ("elevenlabs-sound-effects-v2", {"duration_seconds": 9, "character_count": 9}, ("character_count",)),
        ("elevenlabs-tts-v3", {"character_count": 9, "duration_seconds": 9}, ("duration_seconds",)),
    ],
)
def test_the_other_count_has_no_effect_and_is_named(
    prices: PriceBook, model: str, fields: dict[str, int], ignored: tuple[str, ...]
) -> None:
    assert prices.rate({"type": "music", "model": model, **fields}).ignored == ignored
    said = refused(prices, {"type": "music", "model": model, **fields, "character_count": "9"})
    assert said == {"character_count": ["Expected number, received string"]}


def test_what_is_billed_is_required(prices: PriceBook) -> None:
    for model, field in (("elevenlabs-sound-effects-v2", "duration_seconds"), ("elevenlabs-tts-v3", "character_count")):
        assert refused(prices, {"type": "music", "model": model}) == {field: ["Required"]}
