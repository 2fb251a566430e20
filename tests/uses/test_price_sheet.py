"""The price sheet: every cell once, each with the quote of its own body."""

from collections import Counter
from datetime import date
from itertools import product
from pathlib import Path

import pytest

from ratecard import PriceBook, QuoteError, RateCard
from ratecard.load.folder import shipped_folder, tables_from
from ratecard.views.sheet import SHEET_COLUMNS, Cell, price_cells

SOUND = Path(__file__).parents[1] / "tables" / "sound"


def cells(prices: PriceBook, name: str) -> list[Cell]:
    return list(price_cells(prices, name))


def test_the_cells_of_a_model_are_every_choice_that_its_price_depends_on(prices: PriceBook) -> None:
    found = {(cell.body["duration"], cell.body["audio"]) for cell in cells(prices, "kling-o3-pro-text-to-video")}
    assert found == set(product([f"{seconds}s" for seconds in range(3, 16)], [False, True]))


def test_a_field_without_effect_makes_no_cells(prices: PriceBook) -> None:
    assert [cell.body for cell in cells(prices, "ovi-image-to-video")] == [{"model": "ovi-image-to-video"}]


def test_source_matched_words_are_no_cells(prices: PriceBook) -> None:
    bodies = [cell.body for cell in cells(prices, "seedance-2-0-reference-to-video-basic")]
    assert "adaptive" not in {body["aspect_ratio"] for body in bodies}
    with_reference = Counter("reference_video_total_duration" in body for body in bodies)
    assert with_reference[True] == with_reference[False] == 12 * 6 * 4


def test_an_upscaler_has_a_cell_in_every_tier_with_and_without_the_step_of_its_frame_rate(prices: PriceBook) -> None:
    found = [
        (cell.body["target_fps"], cell.quote.lines[0].sku.partition("proteus-")[2])
        for cell in cells(prices, "topaz-video-upscale")
        if cell.body["enhancement_model"] == "Proteus" and cell.body["upscale_factor"] == 2
    ]
    tiers = ("up-to-720", "up-to-1080", "above-1080")
    assert found == [(16, tier) for tier in tiers] + [(48, f"{tier}-48fps") for tier in tiers]


@pytest.mark.parametrize(
    ("edit", "model", "shown"),
    [
        (("max: 120", "max: 40"), "topaz-video-upscale", {16, 40}),
        (("min: 16", "min: 60"), "topaz-video-upscale", {60}),
        (("from: 48,", "from: 47.5,"), "topaz-video-upscale", {16, 48}),
        (("{from: 48, factor: 2}", "{from: 48, factor: 0.5}"), "topaz-video-upscale", {16, 48}),
        (("max: 120", "max: 50"), "topaz-video-interpolation", {50}),
    ],
)
def test_the_frame_rates_of_cells_are_those_that_a_request_may_have(
    edit: tuple[str, str], model: str, shown: set[int]
) -> None:
    lines = (shipped_folder() / "video/topaz.yaml").read_text().replace(*edit).splitlines(keepends=True)
    # The examples have the frame rates of the shipped table.
    text = "".join(line for line in lines if "target_fps: 120," not in line and "target_fps: 60}" not in line)
    files = {name: (shipped_folder() / name).read_bytes() for name in ("units.yaml", "vocabulary.yaml")}
    edited = RateCard(tables_from({**files, "video/topaz.yaml": text.encode()}))
    found = price_cells(edited._unproved.at(date(2026, 10, 1)), model)
    assert {cell.body["target_fps"] for cell in found} == shown


def test_a_tier_below_every_output_makes_no_cells() -> None:
    text = (
        (SOUND / "upscale.yaml").read_text().replace("{up_to: 720, rate", "{up_to: 2, rate").replace("0.13}", "0.50}")
    )
    prices = RateCard(tables_from({"upscale.yaml": text.encode()})).at(date(2026, 10, 1))
    found = {(cell.body["upscale_factor"], cell.video and cell.video.height) for cell in cells(prices, "upscale-video")}
    assert found == {(1, 2), (1, 4), (2, 1), (2, 2), (4, 1)}


@pytest.mark.parametrize("name", ["topaz-video-interpolation", "seedvr2-video-upscale", "ltx-2-19b-full-text-to-video"])
def test_each_cell_is_the_quote_of_its_body_and_video(prices: PriceBook, name: str) -> None:
    for cell in cells(prices, name):
        assert cell.quote == prices.quote_video(cell.body, source=cell.video)


def test_no_two_cells_of_any_video_model_are_the_same(prices: PriceBook) -> None:
    for model in prices.models("video"):
        rows = [tuple(cell.row().values()) for cell in price_cells(prices, model.model)]
        assert len(set(rows)) == len(rows) > 0


def test_a_row_says_everything_as_text(prices: PriceBook) -> None:
    row = cells(prices, "kling-o3-pro-text-to-video")[0].row()
    assert tuple(row) == SHEET_COLUMNS
    assert (row["duration"], row["audio"], row["total"], row["exact"]) == ("3s", "false", "0.37", "0.3696")
    assert row["source"].startswith("video/kling-o3.yaml:")


def test_a_row_names_the_source_video_and_every_line(prices: PriceBook) -> None:
    assert cells(prices, "topaz-video-upscale")[0].row()["source_video"] == "10 s, 1280x720, 30 fps"
    assert " + " in cells(prices, "grok-imagine-1-5-image-to-video-private")[0].row()["sku"]


def test_a_model_without_a_price_then_has_no_sheet(card: RateCard) -> None:
    with pytest.raises(QuoteError, match="Its first version takes effect on 2025-12-01"):
        list(price_cells(card.at(date(2020, 1, 1)), "ovi-image-to-video"))
