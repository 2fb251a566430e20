"""`token-formula`: (input + output seconds) x pixels x 24 / 1024 tokens, at a rate per million."""

from fractions import Fraction
from math import ceil

import pytest
from made_up_tables import assert_costs, charge, prices_of

from ratecard import PriceBook

TEXT_2_5, REFERENCE_2_5 = "seedance-2-5-text-to-video-basic", "seedance-2-5-reference-to-video-basic"
REFERENCE_2_0 = "seedance-2-0-reference-to-video-basic"
IMAGE_2_0, IMAGE_2_5 = "seedance-2-0-image-to-video-basic", "seedance-2-5-image-to-video-basic"
MARKUP = Fraction("1.25")
SIZES_2_5 = {"480p": 854 * 480, "720p": 1280 * 720, "1080p": 1920 * 1080}
SIZES_2_0 = {"480p": 864 * 496, "720p": 1280 * 720, "1080p": 1920 * 1080, "4k": 3840 * 2160}


def cost(seconds: Fraction | int, pixels: int, list_rate: str) -> Fraction:
    """The published formula, at the provider's list rate x 1.25."""
    return Fraction(seconds) * pixels * 24 / 1024 / 1_000_000 * Fraction(list_rate) * MARKUP


@pytest.mark.parametrize(
    ("reference", "resolution", "list_price"),
    [
        (None, "480p", "0.514"),
        (None, "720p", "1.156"),
        (None, "1080p", "2.843"),
        (30, "480p", "2.152"),
        (30, "720p", "4.838"),
        (30, "1080p", "11.907"),
        (2, "480p", "0.553"),
        (3, "720p", "1.244"),
        (4, "1080p", "3.062"),
    ],
)
def test_the_published_examples_of_5_seconds_at_16_to_9_hold_at_list_price(
    prices: PriceBook, reference: int | None, resolution: str, list_price: str
) -> None:
    body = {"model": REFERENCE_2_5, "duration": "5s", "resolution": resolution, "aspect_ratio": "16:9"}
    with_video = {} if reference is None else {"reference_video_total_duration": reference}
    quote = prices.quote_video(body | with_video)
    assert round(Fraction(quote.exact) / MARKUP, 3) == Fraction(list_price)


@pytest.mark.parametrize(
    ("model", "rates"),
    [
        (REFERENCE_2_5, {"480p": "10.70/6.40", "720p": "10.70/6.40", "1080p": "11.70/7.00"}),
        (REFERENCE_2_0, {"480p": "7.00/4.30", "720p": "7.00/4.30", "1080p": "7.70/4.70", "4k": "4.00/2.40"}),
        ("seedance-2-0-fast-reference-to-video-basic", {"480p": "5.60/3.30", "720p": "5.60/3.30"}),
        ("seedance-2-0-mini-reference-to-video-basic", {"480p": "3.50/2.10", "720p": "3.50/2.10"}),
    ],
)
def test_every_published_rate_without_and_with_reference_video(
    prices: PriceBook, model: str, rates: dict[str, str]
) -> None:
    sizes = SIZES_2_5 if model == REFERENCE_2_5 else SIZES_2_0
    for resolution, both in rates.items():
        without, with_video = both.split("/")
        body = {"model": model, "duration": "6s", "resolution": resolution, "aspect_ratio": "16:9"}
        assert_costs(prices.quote_video(body), cost(6, sizes[resolution], without))
        quote = prices.quote_video(body | {"reference_video_total_duration": 9.5})
        assert_costs(quote, cost(6 + Fraction("9.5"), sizes[resolution], with_video))


@pytest.mark.parametrize(
    ("out", "reference", "billed"),
    [
        (5, "4", 9),  # 5 x 5/3 = 8.33, rounded up: 9; just reached by 5 + 4
        (5, "3.999", 9),
        (5, "4.001", Fraction("9.001")),
        (4, "0.5", 7),
        (6, "4", 10),  # 6 x 5/3 is 10 already: nothing to round up
        (6, "3.5", 10),
        (30, "10", 50),
        (30, "30", 60),
        (5, "7.123456789012", Fraction("12.123456789012")),  # more digits than a line shows
    ],
)
def test_with_reference_video_at_least_five_thirds_of_the_output_are_billed(
    prices: PriceBook, out: int, reference: str, billed: Fraction | int
) -> None:
    body = {"model": REFERENCE_2_5, "duration": f"{out}s", "resolution": "720p", "aspect_ratio": "1:1"}
    quote = prices.quote_video({**body, "reference_video_total_duration": float(reference)})
    assert_costs(quote, cost(billed, 960 * 960, "6.40"))
    least = ceil(Fraction(out) * 5 / 3)
    applies = f"the minimum of {least} s with reference video applies"
    assert quote.lines[0].note == (applies if out + Fraction(reference) < least else "")


def test_the_minimum_is_of_reference_video_only(prices: PriceBook) -> None:
    body = {"model": REFERENCE_2_5, "duration": "30s", "resolution": "480p", "aspect_ratio": "16:9"}
    assert_costs(prices.quote_video(body), cost(30, 854 * 480, "10.70"))


@pytest.mark.parametrize("word", ["-1", "auto", "Auto"])
@pytest.mark.parametrize(("reference", "out"), [("4", 4), ("4.0001", 5), ("12.5", 13), ("29.999", 30), ("30", 30)])
def test_a_source_matched_duration_is_the_reference_rounded_up_and_the_input_is_not(
    prices: PriceBook, word: str, reference: str, out: int
) -> None:
    body = f'{{"model": "{REFERENCE_2_5}", "duration": "{word}", "resolution": "1080p", "aspect_ratio": "9:16",'
    quote = prices.quote_video(f'{body} "reference_video_total_duration": {reference}}}')
    assert_costs(quote, cost(out + Fraction(reference), 1080 * 1920, "7.00"))
    assert quote.lines[0].sku == f"{REFERENCE_2_5}-token-formula-{out}s-1080p-video-input-9x16"


@pytest.mark.parametrize(
    ("model", "resolution", "pixels", "rate"),
    [
        (IMAGE_2_0, "480p", 864 * 496, "7.00"),
        (IMAGE_2_0, "4k", 3840 * 2160, "4.00"),
        (IMAGE_2_5, "480p", 854 * 480, "10.70"),
        (IMAGE_2_5, "1080p", 1920 * 1080, "11.70"),
    ],
)
def test_image_to_video_without_a_ratio_costs_what_16_to_9_costs(
    prices: PriceBook, model: str, resolution: str, pixels: int, rate: str
) -> None:
    quote = prices.quote_video({"model": model, "duration": "10s", "resolution": resolution})
    assert_costs(quote, cost(10, pixels, rate))
    assert quote.lines[0].sku == f"{model}-token-formula-10s-{resolution}"


@pytest.mark.parametrize(("minimum", "billed"), [("0", 6), ("2", 10), ("1", 6), ("3/2", 8)])
def test_the_minimum_is_data_and_0_switches_it_off(minimum: str, billed: int) -> None:
    options = "method: token-formula\nunit: mtoken\nframes_per_second: 24\npixels_per_token: 1024\n"
    made_up = prices_of(
        "{duration: [5s], resolution: [480p], audio: none, reference_video_total_duration: {max: 10}}",
        charge(
            f"{options}reference_minimum: {minimum}\nsizes: [{{resolution: 480p, size: 1000x1000}}]",
            ["video_input: false, rate: 3", "video_input: true, rate: 2"],
        ),
    )
    quote = made_up.quote_video({"model": "made-up", "reference_video_total_duration": 1})
    assert_costs(quote, Fraction(billed * 24 * 2, 1024))


def test_a_rate_may_say_that_it_is_without_reference_video() -> None:
    options = "method: token-formula\nunit: mtoken\nframes_per_second: 24\npixels_per_token: 1024\n"
    made_up = prices_of(
        "{duration: [5s], audio: none}",
        charge(f"{options}sizes: [{{size: 1280x720}}]", ["video_input: false, rate: 3"]),
    )
    quote = made_up.quote_video({"model": "made-up", "reference_video_total_duration": 5})
    assert_costs(quote, Fraction(5 * 1280 * 720 * 24 * 3, 1024 * 1_000_000))
    assert quote.ignored == ("reference_video_total_duration",)


def test_an_amount_is_rounded_to_the_line_places_and_the_total_from_it_once() -> None:
    options = "method: token-formula\nunit: mtoken\nframes_per_second: 1\npixels_per_token: 1\n"
    made_up = prices_of(
        "{duration: [1s, 3s], audio: none}",
        charge(f"{options}sizes: [{{size: 100x49}}]", ["rate: 1"]),
        rounding="{places: 3, mode: half-up, line_places: 4}",
    )
    # 1 x 4,900 pixels / 1,000,000 = 0.0049 exactly; 3 x = 0.0147 -> 0.015
    for duration, exact, total in (("1s", "0.0049", "0.005"), ("3s", "0.0147", "0.015")):
        quote = made_up.quote_video({"model": "made-up", "duration": duration})
        assert (str(quote.exact.normalize()), str(quote.total)) == (exact, total)
    finer = prices_of(
        "{duration: [1s], audio: none}",
        charge(f"{options}sizes: [{{size: 90x55}}]", ["rate: 1"]),
        rounding="{places: 2, mode: half-up, line_places: 3}",
    )
    quote = finer.quote_video({"model": "made-up"})  # 0.00495 -> 0.005 in the line -> 0.01, from the rounded line
    assert (str(quote.exact), str(quote.total)) == ("0.005", "0.01")
