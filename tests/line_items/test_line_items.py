"""Every line: a SKU, quantity x unit rate = amount, and the file and line where its rate stands."""

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from made_up_tables import assert_costs, charge, prices_of

from ratecard import LineItem, PriceBook, SourceVideo
from ratecard.line_items import LineRate
from ratecard.load.folder import shipped_folder

SEEDANCE = "seedance-2-5-reference-to-video-basic"
SOURCE = SourceVideo(seconds=10, width=1920, height=1080, fps=30)

LINES: list[tuple[dict[str, Any], str, str, str]] = [
    # body, what follows the model in its SKU, unit, the rate as the table writes it
    ({"model": "veo3.1-full-text-to-video", "duration": "8s", "resolution": "720p", "aspect_ratio": "16:9"},
     "resolution-rate-8s-720p-audio", "video_second", "0.44"),
    ({"model": "kling-v3-pro-text-to-video", "duration": "5s", "audio": False}, "duration-rate-5s", "video_second",
     "0.1232"),
    ({"model": "ovi-image-to-video"}, "fixed", "clip", "0.22"),
    ({"model": SEEDANCE, "duration": "5s", "resolution": "1080p", "aspect_ratio": "16:9"},
     "token-formula-5s-1080p-16x9", "mtoken", "11.70"),
    ({"model": SEEDANCE, "duration": "5s", "resolution": "1080P", "aspect_ratio": "21:9",
      "reference_video_total_duration": 8}, "token-formula-5s-1080p-video-input-21x9", "mtoken", "7.00"),
    ({"model": "topaz-video-upscale", "enhancement_model": "Artemis HQ", "target_fps": 60},
     "upscale-rate-artemis-hq-above-1080-48fps", "video_second", "0.08"),
    ({"model": "topaz-video-interpolation", "enhancement_model": "Aion"}, "interpolation-rate-aion-up-to-1080",
     "interpolated_second", "0.08"),
    ({"model": "seedvr2-video-upscale"}, "megapixel-rate", "megapixel", "0.001"),
    ({"model": "ltx-2-19b-full-text-to-video", "duration": "5s", "aspect_ratio": "9:16"},
     "megapixel-rate-5s-9x16", "megapixel", "0.0018"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "sku", "unit", "rate"), LINES, ids=[row[1] for row in LINES])
def test_a_line_names_what_was_bought_and_where_its_rate_stands(
    prices: PriceBook, body: dict[str, Any], sku: str, unit: str, rate: str
) -> None:
    quote = prices.quote_video(body, source=SOURCE)
    (line,) = quote.lines
    assert (line.sku, line.unit) == (f"{body['model']}-{sku}", unit)
    assert re.fullmatch(r"[a-z0-9.-]+", line.sku)
    file, _, number = line.source.rpartition(":")
    text = (shipped_folder() / file).read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert f"rate: {rate}}}" in text
    assert_costs(quote, Fraction(line.quantity) * Fraction(line.unit_rate))
    assert (line.list_rate, line.list_source) == (line.unit_rate, line.source), "without a contract they are the list's"


def test_the_unit_rate_has_the_markup_in_it_and_no_trailing_zeros(prices: PriceBook) -> None:
    body = {"model": SEEDANCE, "duration": "5s", "resolution": "1080p", "aspect_ratio": "16:9"}
    assert str(prices.quote_video(body).lines[0].unit_rate) == "14.625"  # 11.70 x 1.25


def test_a_file_and_line_are_those_of_the_rate_that_fits() -> None:
    made_up = prices_of(
        "{duration: [1s, 2s], resolution: [480p, 720p], audio: none}",
        charge(
            "method: duration-rate\nunit: video_second\n", ["resolution: 480p, rate: 1", "resolution: 720p, rate: 2"]
        ),
    )
    sources = [
        made_up.quote_video({"model": "made-up", "duration": "1s", "resolution": resolution}).lines[0].source
        for resolution in ("480p", "720p")
    ]
    files, numbers = zip(*(source.split(":") for source in sources), strict=True)
    assert set(files) == {"video/made-up.yaml"}
    assert int(numbers[1]) == int(numbers[0]) + 1


@pytest.mark.parametrize(("line_places", "shown"), [(2, "0.33"), (6, "0.333333"), (12, "0.333333333333")])
def test_what_no_decimal_holds_is_shown_to_the_line_places_of_the_table(line_places: int, shown: str) -> None:
    made_up = prices_of(
        "{duration: [1s, Auto], audio: none, slowdown_factor: [1, 2], target_fps: {min: 16, max: 120}}",
        charge("method: interpolation-rate\nunit: interpolated_second\nat_frame_rate: 60\n", ["up_to: any, rate: 1"]),
        defaults="{slowdown_factor: 1}",
        mode="interpolation",
        rounding=f"{{places: 2, mode: half-up, line_places: {line_places}}}",
    )
    (line,) = made_up.quote_video({"model": "made-up", "duration": "1s", "target_fps": 20}).lines
    assert (str(line.quantity), str(line.amount)) == (shown, shown)
    assert line.sku == "made-up-interpolation-rate"


def test_a_line_as_a_record_has_its_numbers_as_text_and_a_note_only_where_there_is_one() -> None:
    rate = LineRate("x-fixed", "clip", Decimal("6.25E-10"), "video/x.yaml:7")
    line = LineItem(rate, Decimal("1E+3"), Decimal("6.25E-7"))
    record = {
        "sku": "x-fixed",
        "quantity": "1000",
        "unit": "clip",
        "unit_rate": "0.000000000625",
        "amount": "0.000000625",
        "source": "video/x.yaml:7",
    }
    assert line.to_dict() == record
    assert replace(line, rate=replace(rate, note="so")).to_dict() == {**record, "note": "so"}
