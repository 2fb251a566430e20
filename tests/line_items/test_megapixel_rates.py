"""`megapixel-rate`: width x height x frames / 1,000,000 x rate."""

from fractions import Fraction
from math import ceil

import pytest
from made_up_tables import assert_costs, charge, prices_of

from ratecard import PriceBook, SourceVideo

SEEDVR2 = "seedvr2-video-upscale"
LTX_2 = "ltx-2-19b-{kind}-{mode}-to-video"


@pytest.mark.parametrize(("kind", "rate"), [("distilled", "0.0008"), ("full", "0.0018")])
@pytest.mark.parametrize("mode", ["text", "image"])
@pytest.mark.parametrize(("ratio", "pixels"), [("16:9", 1280 * 720), ("1:1", 960 * 960), ("9:16", 720 * 1280)])
@pytest.mark.parametrize(("duration", "frames"), [("5s", 121), ("8s", 193), ("10s", 241), ("18s", 433)])
def test_ltx_2_19b_has_24_frames_a_second_and_one_more(
    prices: PriceBook, kind: str, rate: str, mode: str, ratio: str, pixels: int, duration: str, frames: int
) -> None:
    model = LTX_2.format(kind=kind, mode=mode)
    quote = prices.quote_video({"model": model, "duration": duration, "aspect_ratio": ratio})
    megapixels = Fraction(pixels * frames, 1_000_000)
    assert_costs(quote, megapixels * Fraction(rate) * Fraction("1.10"))
    (line,) = quote.lines
    assert (line.unit, Fraction(line.quantity)) == ("megapixel", megapixels)
    assert line.sku == f"{model}-megapixel-rate-{duration}-{ratio.replace(':', 'x')}"


def test_seedvr2_of_1920x1080_and_121_frames_costs_0_2509_at_list_price(prices: PriceBook) -> None:
    source = SourceVideo(seconds=Fraction(121, 24), width=960, height=540, fps=24)
    quote = prices.quote_video({"model": SEEDVR2, "upscale_factor": 2}, source=source)
    assert_costs(quote, Fraction(1920 * 1080 * 121, 1_000_000) * Fraction("0.001") * Fraction("1.25"))
    assert round(Fraction(quote.exact) / Fraction("1.25"), 4) == Fraction("0.2509")
    assert quote.lines[0].note == "1920x1080 out"


@pytest.mark.parametrize(("sent", "factor"), [(None, 2), (1, 1), (2, 2), (4, 4)])
@pytest.mark.parametrize(("seconds", "fps"), [("10", "30"), ("7.3", "29.97"), ("1", "30000/1001")])
def test_the_output_of_seedvr2_is_the_source_enlarged_and_the_factor_is_2_unless_sent(
    prices: PriceBook, sent: int | None, factor: int, seconds: str, fps: str
) -> None:
    body = {"model": SEEDVR2} if sent is None else {"model": SEEDVR2, "upscale_factor": sent}
    quote = prices.quote_video(body, source=SourceVideo(seconds=seconds, width=640, height=360, fps=fps))
    frames = Fraction(seconds) * Fraction(fps)
    assert_costs(quote, 640 * factor * 360 * factor * frames / 1_000_000 * Fraction("0.00125"))


def test_stated_seconds_serve_where_those_of_the_source_are_unknown(prices: PriceBook) -> None:
    source = SourceVideo(width=640, height=360, fps=25)
    quote = prices.quote_video({"model": SEEDVR2, "duration": "4s"}, source=source)
    assert_costs(quote, Fraction(1280 * 720 * 4 * 25, 1_000_000) * Fraction("0.00125"))


@pytest.mark.parametrize(("words", "round_up"), [("exact", False), ("rounded-up", True)])
@pytest.mark.parametrize(("size", "pixels"), [("1000x1000", 10**6), ("1001x1000", 1_001_000), ("999x1000", 999_000)])
def test_a_table_may_round_megapixels_up(words: str, round_up: bool, size: str, pixels: int) -> None:
    made_up = prices_of(
        "{duration: [5s, 6s], audio: none}",
        charge(
            f"method: megapixel-rate\nunit: megapixel\nmegapixels: {words}\nframes: {{per_second: 8}}\n"
            f"sizes: [{{size: {size}}}]\n",
            ["rate: 0.07"],
        ),
    )
    megapixels = Fraction(pixels * 8 * 5, 1_000_000)
    quote = made_up.quote_video({"model": "made-up", "duration": "5s"})
    assert_costs(quote, (ceil(megapixels) if round_up else megapixels) * Fraction("0.07"))


def test_a_rate_may_go_by_resolution() -> None:
    made_up = prices_of(
        "{duration: [5s, 6s], resolution: [480p, 720p], audio: none}",
        charge(
            "method: megapixel-rate\nunit: megapixel\nframes: {per_second: 10, plus: 1}\n"
            "sizes: [{resolution: 480p, size: 800x480}, {resolution: 720p, size: 1280x720}]\n",
            ["resolution: 480p, rate: 0.001", "resolution: 720p, rate: 0.003"],
        ),
    )
    for resolution, pixels, rate in (("480p", 800 * 480, "0.001"), ("720p", 1280 * 720, "0.003")):
        quote = made_up.quote_video({"model": "made-up", "duration": "6s", "resolution": resolution})
        assert_costs(quote, Fraction(pixels * 61, 1_000_000) * Fraction(rate))
        assert quote.lines[0].sku == f"made-up-megapixel-rate-6s-{resolution}"
