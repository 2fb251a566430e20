"""`fixed` and `duration-resolution-rate`: one price for the clip."""

from fractions import Fraction

import pytest
from made_up_tables import assert_costs, charge, prices_of

from ratecard import PriceBook


@pytest.mark.parametrize(
    ("model", "rate"),
    [
        ("ovi-image-to-video", "0.22"),
        ("veo3-full-image-to-video", "1.76"),
        ("veo3-fast-image-to-video", "0.88"),
    ],
)
def test_a_clip_of_fixed_price_needs_nothing_but_its_model(prices: PriceBook, model: str, rate: str) -> None:
    quote = prices.quote_video({"model": model})
    assert_costs(quote, Fraction(rate))
    (line,) = quote.lines
    assert (line.sku, str(line.quantity), line.unit, str(line.amount)) == (f"{model}-fixed", "1", "clip", rate)


@pytest.mark.parametrize("resolution", ["360p", "540p", "720p", "1080p"])
@pytest.mark.parametrize("audio", [True, False])
def test_8_seconds_of_pixverse_5_6_cost_exactly_twice_5_seconds(
    prices: PriceBook, resolution: str, audio: bool
) -> None:
    body = {"model": "pixverse-v5.6-text-to-video", "resolution": resolution, "audio": audio}
    five = prices.quote_video(body | {"duration": "5s"})
    eight = prices.quote_video(body | {"duration": "8s"})
    assert_costs(eight, 2 * Fraction(five.exact))
    sound = "-audio" if audio else ""
    assert eight.lines[0].sku == f"pixverse-v5.6-text-to-video-duration-resolution-rate-8s-{resolution}{sound}"


def test_a_generation_may_be_the_duration() -> None:
    made_up = prices_of(
        "{duration: [1 gen], audio: none}", charge("method: fixed\nunit: clip\nmarkup: 1.1\n", ["rate: 0.15"])
    )
    for body in ({"model": "made-up"}, {"model": "made-up", "duration": "1 gen"}):
        assert_costs(made_up.quote_video(body), Fraction("0.15") * Fraction("1.1"))


def test_a_clip_may_have_no_duration_at_all() -> None:
    made_up = prices_of("{audio: none}", charge("method: fixed\nunit: clip\n", ["rate: 0.4"]))
    assert_costs(made_up.quote_video({"model": "made-up"}), Fraction("0.4"))
    quote = made_up.quote_video({"model": "made-up", "duration": "30s"})
    assert_costs(quote, Fraction("0.4"))
    assert quote.ignored == ("duration",)


def test_a_generation_may_be_one_of_several_durations_with_a_price_each() -> None:
    rates = [
        "duration: 1 gen, rate: 0.50",
        "duration: 5s, audio: true, rate: 0.30",
        "duration: 5s, audio: false, rate: 0.20",
    ]
    made_up = prices_of(
        "{duration: [5s, 1 gen], audio: configurable}",
        charge("method: duration-resolution-rate\nunit: clip\n", rates),
    )
    for duration, audio, rate, ending in (
        ("1 gen", True, "0.50", "1-gen-audio"),
        ("1 gen", False, "0.50", "1-gen"),
        ("5s", True, "0.30", "5s-audio"),
        ("5s", False, "0.20", "5s"),
    ):
        quote = made_up.quote_video({"model": "made-up", "duration": duration, "audio": audio})
        assert_costs(quote, Fraction(rate))
        assert quote.lines[0].sku == f"made-up-duration-resolution-rate-{ending}"
