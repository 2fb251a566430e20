"""Which pixels an output has: by resolution and ratio, listed, nearest to the source's, or the dearest."""

from fractions import Fraction

import pytest
from made_up_tables import assert_costs

from ratecard import PriceBook, SourceVideo

REFERENCE_2_0, REFERENCE_2_5 = "seedance-2-0-reference-to-video-basic", "seedance-2-5-reference-to-video-basic"


def cost(pixels: int, rate: str) -> Fraction:
    """5 s out and 10 s of reference video."""
    return Fraction(15 * pixels * 24, 1024 * 1_000_000) * Fraction(rate) * Fraction("1.25")


def body_of(model: str, resolution: str, ratio: str) -> dict[str, object]:
    words = {"model": model, "duration": "5s", "resolution": resolution, "aspect_ratio": ratio}
    return words | {"reference_video_total_duration": 10}


SIZES = [
    (REFERENCE_2_0, "480p", "21:9", 992 * 432, "4.30"),
    (REFERENCE_2_0, "480p", "16:9", 864 * 496, "4.30"),
    (REFERENCE_2_0, "480p", "4:3", 752 * 560, "4.30"),
    (REFERENCE_2_0, "720p", "21:9", 1470 * 630, "4.30"),
    (REFERENCE_2_0, "720p", "3:4", 834 * 1112, "4.30"),
    (REFERENCE_2_0, "1080p", "1:1", 1440 * 1440, "4.70"),
    (REFERENCE_2_0, "4k", "21:9", 4412 * 1892, "2.40"),
    (REFERENCE_2_0, "4k", "9:16", 2160 * 3840, "2.40"),
    (REFERENCE_2_5, "480p", "21:9", 1120 * 480, "6.40"),
    (REFERENCE_2_5, "480p", "16:9", 854 * 480, "6.40"),
    (REFERENCE_2_5, "720p", "4:3", 1112 * 834, "6.40"),
    (REFERENCE_2_5, "1080p", "21:9", 2206 * 946, "7.00"),
]


@pytest.mark.parametrize(("model", "resolution", "ratio", "pixels", "rate"), SIZES)
def test_a_listed_ratio_has_its_listed_size(
    prices: PriceBook, model: str, resolution: str, ratio: str, pixels: int, rate: str
) -> None:
    quote = prices.quote_video(body_of(model, resolution, ratio))
    assert_costs(quote, cost(pixels, rate))
    assert quote.lines[0].note == ""
    assert quote.lines[0].sku.endswith(f"-{ratio.replace(':', 'x')}")


@pytest.mark.parametrize(
    ("word", "model", "resolution", "dearest", "pixels", "rate"),
    [
        ("adaptive", REFERENCE_2_0, "480p", "21:9", 992 * 432, "4.30"),
        ("adaptive", REFERENCE_2_0, "720p", "4:3", 1112 * 834, "4.30"),
        ("adaptive", REFERENCE_2_0, "4k", "21:9", 4412 * 1892, "2.40"),
        ("auto", REFERENCE_2_5, "480p", "21:9", 1120 * 480, "6.40"),
        ("adaptive", REFERENCE_2_5, "1080p", "21:9", 2206 * 946, "7.00"),
    ],
)
@pytest.mark.parametrize("source", [None, SourceVideo(), SourceVideo(height=1080), SourceVideo(width=1920)])
def test_a_source_matched_ratio_of_unknown_size_costs_the_dearest_size_and_says_so(
    prices: PriceBook,
    word: str,
    model: str,
    resolution: str,
    dearest: str,
    pixels: int,
    rate: str,
    source: SourceVideo | None,
) -> None:
    quote = prices.quote_video(body_of(model, resolution, word), source=source)
    assert_costs(quote, cost(pixels, rate))
    assert quote.lines[0].note == f"source size unknown: priced as {dearest}, the dearest"


@pytest.mark.parametrize(
    ("width", "height", "nearest", "pixels"),
    [
        (1920, 1080, "16:9", 1280 * 720),
        (1080, 1920, "9:16", 720 * 1280),
        (500, 500, "1:1", 960 * 960),
        (10_000, 1_000, "21:9", 1470 * 630),
        (1, 9_999, "9:16", 720 * 1280),
        # between 4:3 and 1:1 the middle is the root of 4/3 = 1.1547, not 1.1667
        (1154, 1000, "1:1", 960 * 960),
        (1155, 1000, "4:3", 1112 * 834),
        (1160, 1000, "4:3", 1112 * 834),
        # between 16:9 and 4:3 it is the root of 64/27 = 1.5396, not 1.5556
        (1539, 1000, "4:3", 1112 * 834),
        (1541, 1000, "16:9", 1280 * 720),
        (1000, 1155, "3:4", 834 * 1112),
    ],
)
def test_a_source_matched_ratio_takes_the_nearest_by_the_logarithm(
    prices: PriceBook, width: int, height: int, nearest: str, pixels: int
) -> None:
    source = SourceVideo(width=width, height=height)
    quote = prices.quote_video(body_of(REFERENCE_2_5, "720p", "adaptive"), source=source)
    assert_costs(quote, cost(pixels, "6.40"))
    assert quote.lines[0].note == f"aspect ratio {nearest} is nearest to the source's"


def test_two_notes_of_one_line_are_both_kept(prices: PriceBook) -> None:
    body = body_of(REFERENCE_2_5, "480p", "adaptive") | {"reference_video_total_duration": 2}
    note = prices.quote_video(body).lines[0].note
    assert note == ("source size unknown: priced as 21:9, the dearest; the minimum of 9 s with reference video applies")


def test_a_known_source_changes_nothing_where_a_ratio_is_named(prices: PriceBook) -> None:
    body = body_of(REFERENCE_2_5, "720p", "1:1")
    assert prices.quote_video(body, source=SourceVideo(width=2100, height=900)) == prices.quote_video(body)
