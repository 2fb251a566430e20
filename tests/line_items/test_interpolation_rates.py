"""`interpolation-rate`: seconds x slowdown x frames per second / 60 x rate of the source height's tier."""

from fractions import Fraction
from typing import Any

import pytest
from made_up_tables import assert_costs, charge, prices_of

from ratecard import PriceBook, SourceVideo

TOPAZ = "topaz-video-interpolation"
MARKUP = Fraction("1.25")
RATES = {"Apollo": ("0.03", "0.10"), "Chronos": ("0.03", "0.10"), "Aion": ("0.08", "0.30")}


@pytest.mark.parametrize("model", RATES)
@pytest.mark.parametrize(("height", "tier"), [(240, 0), (1080, 0), (1081, 1), (2160, 1), (None, 1)])
@pytest.mark.parametrize(("fps", "slowdown"), [(60, None), (16, 1), (24, 2), (25, 4), (120, 8)])
def test_linear_in_frame_rate_and_slow_motion_at_the_tier_of_the_source(
    prices: PriceBook, model: str, height: int | None, tier: int, fps: int, slowdown: int | None
) -> None:
    body: dict[str, Any] = {"model": TOPAZ, "enhancement_model": model, "target_fps": fps}
    body |= {"slowdown_factor": slowdown} if slowdown else {}
    quote = prices.quote_video(body, source=SourceVideo(seconds=7, height=height))
    assert_costs(quote, 7 * (slowdown or 1) * Fraction(fps, 60) * Fraction(RATES[model][tier]) * MARKUP)
    (line,) = quote.lines
    assert line.note == ("" if height else "height unknown: dearest tier")
    assert line.sku == f"{TOPAZ}-interpolation-rate-{model.lower()}-{'above' if tier else 'up-to'}-1080"


def test_without_target_fps_the_source_keeps_its_frame_rate(prices: PriceBook) -> None:
    body = {"model": TOPAZ, "enhancement_model": "Aion", "slowdown_factor": 2}
    quote = prices.quote_video(body, source=SourceVideo(seconds="10.01", height=720, fps="30000/1001"))
    assert_costs(quote, Fraction("10.01") * 2 * Fraction(30000, 1001) / 60 * Fraction("0.08") * MARKUP)


def test_what_is_asked_for_counts_and_not_the_frame_rate_of_the_source(prices: PriceBook) -> None:
    body = {"model": TOPAZ, "enhancement_model": "Apollo", "target_fps": 30}
    quote = prices.quote_video(body, source=SourceVideo(seconds=6, height=720, fps=60))
    assert_costs(quote, 6 * Fraction(30, 60) * Fraction("0.03") * MARKUP)


def test_stated_seconds_serve_without_a_source(prices: PriceBook) -> None:
    body = {"model": TOPAZ, "enhancement_model": "Apollo", "target_fps": 50, "duration": "20s"}
    assert_costs(prices.quote_video(body), 20 * Fraction(50, 60) * Fraction("0.10") * MARKUP)


def test_the_frame_rate_of_the_rates_is_data() -> None:
    made_up = prices_of(
        "{duration: [5s, Auto], audio: none, slowdown_factor: [1, 2], target_fps: {min: 16, max: 120}}",
        charge(
            "method: interpolation-rate\nunit: interpolated_second\nat_frame_rate: 24\n",
            ["up_to: any, rate: 0.25"],
        ),
        defaults="{slowdown_factor: 2}",
        mode="interpolation",
    )
    quote = made_up.quote_video({"model": "made-up", "duration": "5s", "target_fps": 48})
    assert_costs(quote, 5 * 2 * Fraction(48, 24) * Fraction("0.25"))
