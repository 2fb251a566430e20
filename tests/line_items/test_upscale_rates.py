"""`upscale-rate`: seconds x rate of the output height's tier, doubled from 48 frames per second on."""

from fractions import Fraction
from typing import Any

import pytest
from made_up_tables import assert_costs, charge, prices_of

from ratecard import PriceBook, SourceVideo

TOPAZ = "topaz-video-upscale"
LOW, MIDDLE, HIGH = Fraction("0.0125"), Fraction("0.025"), Fraction("0.10")
UNKNOWN = "height unknown: dearest tier"
DOUBLED = "x2 from 48 frames per second"
NO_FRAME_RATE = "frame rate unknown: x2 as from 48 per second"


@pytest.mark.parametrize(
    ("height", "fps", "factor", "seconds", "total"),
    [
        (480, 30, 2, 10, "0.25"),
        (720, 30, 2, 10, "1.00"),
        (1080, 30, 2, 30, "3.00"),
        (360, 30, 4, 10, "1.00"),
        (480, 60, 2, 10, "0.50"),
    ],
)
def test_the_published_examples(
    prices: PriceBook, height: int, fps: int, factor: int, seconds: int, total: str
) -> None:
    source = SourceVideo(seconds=seconds, height=height, fps=fps)
    quote = prices.quote_video({"model": TOPAZ, "upscale_factor": factor}, source=source)
    assert str(quote.total) == total


@pytest.mark.parametrize(
    ("height", "factor", "rate", "tier"),
    [
        (720, 1, LOW, "up-to-720"),
        (721, 1, MIDDLE, "up-to-1080"),
        (1080, 1, MIDDLE, "up-to-1080"),
        (1081, 1, HIGH, "above-1080"),
        (360, 2, LOW, "up-to-720"),
        (361, 2, MIDDLE, "up-to-1080"),
        (540, 2, MIDDLE, "up-to-1080"),
        (541, 2, HIGH, "above-1080"),
        (180, 4, LOW, "up-to-720"),
        (181, 4, MIDDLE, "up-to-1080"),
        (270, 4, MIDDLE, "up-to-1080"),
        (271, 4, HIGH, "above-1080"),
        (1, 1, LOW, "up-to-720"),
    ],
)
@pytest.mark.parametrize(("model", "part"), [(None, 1), ("Proteus", 1), ("Nyx XL", 1), ("Gaia 2", 2)])
def test_the_tier_goes_by_the_height_of_the_output_and_gaia_2_is_half(
    prices: PriceBook, height: int, factor: int, rate: Fraction, tier: str, model: str | None, part: int
) -> None:
    body: dict[str, Any] = {"model": TOPAZ, "upscale_factor": factor}
    body |= {"enhancement_model": model} if model else {}
    quote = prices.quote_video(body, source=SourceVideo(seconds="12.5", height=height, fps=30))
    assert_costs(quote, Fraction("12.5") * rate / part)
    name = (model or "Proteus").replace(" ", "-").lower()
    assert (quote.lines[0].sku, quote.lines[0].note) == (f"{TOPAZ}-upscale-rate-{name}-{tier}", "")


@pytest.mark.parametrize(
    ("target", "source_fps", "times"),
    [
        (47, None, 1),
        (48, None, 2),
        (49, None, 2),
        (120, None, 2),
        (None, 47, 1),
        (None, 48, 2),
        (None, "47.952", 1),
        (None, "48000/1001", 1),
        (30, 60, 1),  # the requested rate decides, not that of the source
        (60, 30, 2),
        (16, None, 1),
    ],
)
def test_the_price_doubles_from_48_frames_per_second_asked_for_or_else_of_the_source(
    prices: PriceBook, target: int | None, source_fps: int | str | None, times: int
) -> None:
    body = {"model": TOPAZ, "target_fps": target} if target else {"model": TOPAZ}
    quote = prices.quote_video(body, source=SourceVideo(seconds=8, height=360, fps=source_fps))
    assert_costs(quote, 8 * LOW * times)
    assert quote.lines[0].note == (DOUBLED if times == 2 else "")
    assert quote.lines[0].sku.endswith("-up-to-720-48fps" if times == 2 else "-up-to-720")


@pytest.mark.parametrize("source", [None, SourceVideo(), SourceVideo(fps=25), SourceVideo(width=640)])
@pytest.mark.parametrize(
    ("target", "times", "note"), [(None, 2, NO_FRAME_RATE), (47, 1, ""), (48, 2, DOUBLED), (16, 1, "")]
)
def test_stated_seconds_of_unknown_height_cost_the_dearest_tier_and_the_line_says_so(
    prices: PriceBook, source: SourceVideo | None, target: int | None, times: int, note: str
) -> None:
    if target is None and source and source.fps:
        times, note = 1, ""
    body: dict[str, Any] = {"model": TOPAZ, "duration": "9s", "upscale_factor": 1}
    quote = prices.quote_video(body | ({"target_fps": target} if target else {}), source=source)
    assert_costs(quote, 9 * HIGH * times)
    assert quote.lines[0].note == "; ".join(filter(None, (UNKNOWN, note)))


@pytest.mark.parametrize("sent", [{}, {"duration": "30s"}])
@pytest.mark.parametrize(("height", "rate"), [(240, LOW), (480, MIDDLE), (1080, HIGH)])
def test_an_unknown_frame_rate_doubles_at_a_known_height_too(
    prices: PriceBook, sent: dict[str, str], height: int, rate: Fraction
) -> None:
    quote = prices.quote_video({"model": TOPAZ, **sent}, source=SourceVideo(seconds=10, height=height))
    assert_costs(quote, 10 * rate * 2)
    assert quote.lines[0].note == NO_FRAME_RATE
    assert quote.lines[0].sku.endswith("-48fps")


def test_a_portrait_source_is_as_high_as_it_is(prices: PriceBook) -> None:
    """1080x1920 is above 1080, though it has no more pixels than 1920x1080."""
    portrait, landscape = (SourceVideo(seconds=10, width=w, height=h, fps=30) for w, h in ((1080, 1920), (1920, 1080)))
    body = {"model": TOPAZ, "upscale_factor": 1}
    assert_costs(prices.quote_video(body, source=portrait), 10 * HIGH)
    assert_costs(prices.quote_video(body, source=landscape), 10 * MIDDLE)


def test_the_factor_is_2_unless_sent(prices: PriceBook) -> None:
    source = SourceVideo(seconds=3, height=400, fps=24)
    assert_costs(prices.quote_video({"model": TOPAZ}, source=source), 3 * MIDDLE)


def test_the_seconds_of_the_source_count_to_the_last_digit(prices: PriceBook) -> None:
    source = SourceVideo(seconds=Fraction(1001, 30), height=360, fps=30)
    quote = prices.quote_video({"model": TOPAZ}, source=source)
    assert_costs(quote, Fraction(1001, 30) * LOW)
    assert str(quote.lines[0].quantity) == "33.366666666667"


def upscaler(frame_rate: str) -> PriceBook:
    return prices_of(
        "{duration: [5s, Auto], audio: none, upscale_factor: [1, 2], target_fps: {min: 16, max: 120},"
        " video_url: {max_seconds: 60}}",
        charge(
            f"method: upscale-rate\nunit: video_second\nframe_rate: {frame_rate}\n",
            ["up_to: any, rate: 0.5", "up_to: 90, rate: 0.3", "up_to: 1000, rate: 0.9"],
        ),
        defaults="{upscale_factor: 1}",
        mode="upscale",
    )


def test_threshold_factor_and_tiers_are_data() -> None:
    made_up = upscaler("{from: 25, factor: 1.5}")
    for height, fps, expected in (
        (90, 24, Fraction("0.3")),
        (91, 24, Fraction("0.9")),
        (1001, 24, Fraction("0.5")),
        (None, 25, Fraction("0.9") * Fraction("1.5")),  # the dearest tier need not be the highest
        (90, None, Fraction("0.3") * Fraction("1.5")),
    ):
        source = SourceVideo(seconds=1, height=height, fps=fps)
        assert_costs(made_up.quote_video({"model": "made-up"}, source=source), expected)


@pytest.mark.parametrize(
    ("factor", "known", "note"),
    [("0.5", "0.15", "x0.5 from 25 frames per second"), ("1", "0.3", "x1 from 25 frames per second")],
)
def test_an_unknown_frame_rate_costs_no_less_where_more_frames_are_not_dearer(
    factor: str, known: str, note: str
) -> None:
    made_up = upscaler(f"{{from: 25, factor: {factor}}}")
    unknown = made_up.quote_video({"model": "made-up"}, source=SourceVideo(seconds=1, height=90))
    assert_costs(unknown, Fraction("0.3"))
    assert unknown.lines[0].note == ""
    fast = made_up.quote_video({"model": "made-up"}, source=SourceVideo(seconds=1, height=90, fps=25))
    assert_costs(fast, Fraction(known))
    assert fast.lines[0].note == note
