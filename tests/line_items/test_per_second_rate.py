"""`duration-rate` and `resolution-rate`: seconds x rate; with a flat fee where the table has one."""

from fractions import Fraction

import pytest
from made_up_tables import assert_costs, charge, prices_of

from ratecard import PriceBook

KLING, SEEDANCE_1_5 = "kling-v3-pro-text-to-video", "seedance-1-5-pro-image-to-video-basic"
VIDU, GROK = "vidu-q3-image-to-video", "grok-imagine-1-5-image-to-video-private"
GROK_TEXT, GROK_REFERENCE = "grok-imagine-1-5-text-to-video-private", "grok-imagine-1-5-reference-to-video-private"

RATES = [
    (KLING, "3s", None, False, "0.1232"),
    (KLING, "15s", None, True, "0.1848"),
    (SEEDANCE_1_5, "4s", "480p", False, "0.0189"),
    (SEEDANCE_1_5, "4s", "480p", True, "0.0340"),
    (SEEDANCE_1_5, "12s", "720p", False, "0.0426"),
    (SEEDANCE_1_5, "12s", "720p", True, "0.0767"),
    (SEEDANCE_1_5, "7s", "1080p", False, "0.0957"),
    (SEEDANCE_1_5, "7s", "1080p", True, "0.1722"),
    (VIDU, "16s", "360p", True, "0.08855"),
    (VIDU, "16s", "540p", False, "0.08855"),
    (VIDU, "16s", "720p", False, "0.19481"),
    (VIDU, "16s", "1080p", True, "0.19481"),
    (GROK_TEXT, "15s", "1080p", True, "0.2875"),
]


@pytest.mark.parametrize(("model", "duration", "resolution", "audio", "rate"), RATES)
def test_seconds_times_the_rate_of_the_resolution_and_the_sound(
    prices: PriceBook, model: str, duration: str, resolution: str | None, audio: bool, rate: str
) -> None:
    size = {"resolution": resolution} if resolution else {}
    quote = prices.quote_video({"model": model, "duration": duration, "audio": audio, **size})
    assert_costs(quote, int(duration[:-1]) * Fraction(rate))
    (line,) = quote.lines
    assert (f"{line.quantity}s", line.unit) == (duration, "video_second")
    assert Fraction(line.unit_rate) == Fraction(rate)


def test_sound_is_on_unless_it_is_refused(prices: PriceBook) -> None:
    body = {"model": KLING, "duration": "10s"}
    assert prices.quote_video(body) == prices.quote_video(body | {"audio": True})
    assert_costs(prices.quote_video(body), 10 * Fraction("0.1848"))


@pytest.mark.parametrize(
    ("model", "resolution", "rate"),
    [(GROK, "480p", "0.092"), (GROK, "1080p", "0.2875"), (GROK_REFERENCE, "720p", "0.161")],
)
@pytest.mark.parametrize("seconds", [1, 2, 15])
def test_an_input_image_adds_its_flat_fee_once(
    prices: PriceBook, model: str, resolution: str, rate: str, seconds: int
) -> None:
    quote = prices.quote_video({"model": model, "duration": f"{seconds}s", "resolution": resolution})
    assert_costs(quote, seconds * Fraction(rate) + Fraction("0.0115"))
    assert [(line.sku, str(line.quantity)) for line in quote.lines] == [
        (f"{model}-resolution-rate-{seconds}s-{resolution}", str(seconds)),
        (f"{model}-input-image-fixed", "1"),
    ]


@pytest.mark.parametrize(
    ("seconds", "total"),
    [(2, "0.58"), (14, "4.03")],  # 0.575 and 4.025: ties go up, though the live service answered one cent less
)
def test_a_tie_goes_up(prices: PriceBook, seconds: int, total: str) -> None:
    quote = prices.quote_video({"model": GROK_TEXT, "duration": f"{seconds}s", "resolution": "1080p"})
    assert str(quote.total) == total


def test_the_total_is_rounded_once_and_not_line_by_line() -> None:
    cheap = "method: resolution-rate\nunit: video_second\n"
    made_up = prices_of(
        "{duration: [1s, 2s], audio: none}",
        charge(cheap, ["rate: 0.004"]),
        charge(cheap, ["rate: 0.004"], name="second layer"),
        charge("method: fixed\nunit: clip\n", ["rate: 0.006"], name="start fee"),
    )
    quote = made_up.quote_video({"model": "made-up", "duration": "1s"})
    assert_costs(quote, Fraction("0.004") + Fraction("0.004") + Fraction("0.006"))  # 0.014, not 0.00 + 0.00 + 0.01
    assert [line.sku for line in quote.lines] == [
        "made-up-resolution-rate-1s",
        "made-up-second-layer-resolution-rate-1s",
        "made-up-start-fee-fixed",
    ]


@pytest.mark.parametrize(("audio", "word", "ending"), [("none", "false", ""), ("always", "true", "-audio")])
def test_a_model_without_a_choice_of_sound_ignores_what_is_sent(audio: str, word: str, ending: str) -> None:
    made_up = prices_of(
        f"{{duration: [5s], audio: {audio}}}",
        charge("method: duration-rate\nunit: video_second\n", [f"audio: {word}, rate: 0.2"]),
    )
    for sent in (True, False):
        quote = made_up.quote_video({"model": "made-up", "audio": sent})
        assert_costs(quote, 5 * Fraction("0.2"))
        assert (quote.lines[0].sku, quote.ignored) == (f"made-up-duration-rate-5s{ending}", ("audio",))


@pytest.mark.parametrize(("places", "total"), [(0, "1"), (1, "0.6"), (3, "0.617"), (4, "0.6170")])
def test_the_table_says_to_how_many_places_the_total_is_rounded(places: int, total: str) -> None:
    made_up = prices_of(
        "{duration: [5s], audio: none}",
        charge("method: duration-rate\nunit: video_second\nmarkup: 1.25", ["rate: 0.09872"]),
        rounding=f"{{places: {places}, mode: half-up}}",
    )
    quote = made_up.quote_video({"model": "made-up"})
    assert_costs(quote, 5 * Fraction("0.09872") * Fraction("1.25"), places)
    assert quote.to_json() == f'{{"quote":{total}}}'.encode()
